"""Record the canonical texts of Flink's parser: PYTHON-OF-PYFLINK tests/sql/record_canonical.py [NAME ...].

A file of `tests/sql/canonical` has statements of one line, each after `> `, and what Flink makes of each: its text
(`SqlNode.toString`), or `! ` and the first line of the error.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

CANONICAL = Path(__file__).parent / "canonical"


def main() -> None:
    os.environ["PATH"] = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
    from pyflink.table import EnvironmentSettings, TableEnvironment

    parser = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())._j_tenv.getParser()
    supplier = parser.getClass().getDeclaredField("calciteParserSupplier")
    supplier.setAccessible(True)
    calcite = supplier.get(parser).get()
    for path in sorted(CANONICAL.glob("*.txt")):
        if sys.argv[1:] and path.stem not in sys.argv[1:]:
            continue
        statements = re.findall(r"^> (.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        path.write_text("".join(f"> {each}\n{answer(calcite, each)}\n" for each in statements), encoding="utf-8")


def answer(calcite: object, statement: str) -> str:
    try:
        return str(calcite.parse(statement).toString())  # type: ignore[attr-defined]
    except Exception as error:
        return "! " + re.split(r"Parser(?:EOF)?Exception: ", str(error))[1].splitlines()[0]


if __name__ == "__main__":
    main()
