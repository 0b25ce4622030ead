"""Record what EXPLAIN of real Flink shows: PYTHON-OF-PYFLINK tests/sql/statements/plans/record.py < STATEMENTS.

Each line is a mode, a name and a statement (`batch j3 SELECT ...`), which is added to the file of its mode in
`explained`. One that is recorded already is left out, one that Flink refuses is shown.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

DIRECTORY = Path(__file__).parent / "explained"


def main() -> None:
    """Record the statements of the standard input."""
    environments: dict[str, Any] = {}
    for line in sys.stdin:
        mode, name, statement = line.rstrip("\n").split(" ", 2)
        file = DIRECTORY / f"{mode}.txt"
        if f"#### {name}\n" in file.read_text():
            continue
        env = environments.get(mode) or environments.setdefault(mode, environment(mode))
        try:
            text = env.explain_sql(statement)
        except Exception as error:
            print(f"{mode} {name}: {str(error)[:500]}", file=sys.stderr)
            continue
        with file.open("a") as written:
            written.write(f"#### {name}\n{statement}\n{text.strip()}\n\n")


def environment(mode: str) -> Any:
    """Return an environment of real Flink with the tables."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    settings = EnvironmentSettings.in_streaming_mode() if mode == "streaming" else EnvironmentSettings.in_batch_mode()
    env = TableEnvironment.create(settings)
    env.get_config().set("table.local-time-zone", "UTC")
    for statement in (DIRECTORY / "tables.sql").read_text().split(";\n")[:-1]:
        env.execute_sql(statement)
    return env


if __name__ == "__main__":
    main()
