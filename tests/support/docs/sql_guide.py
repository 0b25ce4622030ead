"""The pages of docs/sql, and tutorials like them: each one's statements run in one session of `scurry sql`.

`cd tests && PYTHONPATH=. ../.venv/bin/python -m support.docs.sql_guide` writes what they print into the pages.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

from scurry.sql.client.client import SqlClient
from scurry.sql.client.embedded import EmbeddedExecutor
from support import TESTS

__all__ = ["GUIDE", "PAGES", "TUTORIALS", "with_results"]

GUIDE = TESTS.parent / "docs" / "sql"
#: Its pages that have statements, and tutorials that are such pages.
TUTORIALS = [GUIDE.parent / "tutorials" / name for name in ("funnel.md", "taxi.md")]
PAGES = sorted(page for page in GUIDE.glob("*.md") if "```sql\n" in page.read_text(encoding="utf-8"))
#: What the first page of the guide tells readers to set, too.
SETTINGS = {
    "scurry.runner": "local",
    "parallelism.default": "1",
    "table.dml-sync": "true",
    "table.local-time-zone": "UTC",
    "sql-client.display.max-column-width": "12",
    "sql-client.display.print-time-cost": "false",
}
_EXAMPLE = re.compile(r"^```sql\n(?P<code>.*?)^```\n(?P<shown>\n+```text\n.*?^```\n)?", re.MULTILINE | re.DOTALL)


def with_results(page: str) -> str:
    """Return a page with what its statements print, one block after the other, in the present directory.

    Raises:
        AssertionError: A block without a result prints something.
    """
    executor = EmbeddedExecutor(dict(SETTINGS))
    try:
        return _EXAMPLE.sub(lambda example: _with_result(example, executor), page)
    finally:
        executor.close()


def _with_result(example: re.Match[str], executor: EmbeddedExecutor) -> str:
    lines: list[str] = []
    SqlClient(executor, lines.append, lines.append).run(example["code"])
    printed = "\n".join(line for line in "\n".join(lines).split("\n") if _is_result(line)).strip("\n")
    if example["shown"] is None:
        assert not printed, f"{example['code']}\nprints\n{printed}"
        return example[0]
    return f"```sql\n{example['code']}```\n\n```text\n{printed}\n```\n"


def _is_result(line: str) -> bool:
    return not line.startswith(("[INFO]", "Job ID: ", "Received a total of"))


def _write(pages: list[Path]) -> None:
    for page in pages:
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as directory:
            os.chdir(directory)
            os.symlink(TESTS.parent / "examples", "examples")
            try:
                page.write_text(with_results(text), encoding="utf-8")
            except AssertionError as error:
                print(f"{page.name}: {error}")


if __name__ == "__main__":
    every = [*PAGES, *TUTORIALS]
    _write([page for page in every if page.stem in sys.argv[1:]] or every)
