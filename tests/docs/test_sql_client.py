"""The examples of docs/sql-client.md: each `sql` block followed by a `text` block prints the latter, in one session."""

from __future__ import annotations

import re

from scurry.sql.client.client import SqlClient
from scurry.sql.client.embedded import EmbeddedExecutor
from support import TESTS

PAGE = (TESTS.parent / "docs" / "sql-client.md").read_text()
EXAMPLE = re.compile(r"```sql\n(.*?)```\s*```text\n(.*?)```", re.DOTALL)


def test_statements_print_what_the_page_says() -> None:
    executor = EmbeddedExecutor({"scurry.runner": "local", "parallelism.default": "1"})
    try:
        for statements, expected in EXAMPLE.findall(PAGE):
            lines: list[str] = []
            SqlClient(executor, lines.append, lines.append).run(statements)
            shown = re.sub(r"\d+\.\d\d seconds", "N seconds", "\n".join(lines))
            assert re.sub(r"Job ID: [0-9a-f]{32}", "Job ID: ID", shown).rstrip() == expected.rstrip()
    finally:
        executor.close()


def test_every_setting_of_the_client_is_listed() -> None:
    import inspect

    from scurry.sql.client import results

    read = set(re.findall(r'"(sql-client\.[\w.-]+)"', inspect.getsource(results)))
    assert read - {key for key in read if f"`{key}`" in PAGE} == {"sql-client.display.max-column-width"}
