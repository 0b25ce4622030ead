"""Ask real Flink for its refusals again: PYTHON-OF-PYFLINK tests/sql/vectors/record.py

Each line of `flink_refusals.jsonl` has a query, and words of Flink's refusal; lines whose words Flink does not say are
printed. Flink's own connectors cannot be searched, so that what it accepts ends in a ClassCastException there.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

LINES = Path(__file__).with_name("flink_refusals.jsonl")
sys.path.insert(0, str(Path(__file__).parents[2]))


def main() -> None:
    os.environ["PATH"] = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
    from pyflink.table import EnvironmentSettings, TableEnvironment

    from support.vector_tables import TABLES

    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for table in TABLES:
        env.execute_sql(table.replace("PATH", "/tmp"))
    wrong = 0
    for line in map(json.loads, LINES.read_text(encoding="utf-8").splitlines()):
        try:
            said = env.explain_sql(line["query"])
        except Exception as error:
            said = str(error)
        if line["says"] not in said:
            wrong += 1
            print(line, said[:2000], sep="\n")
    print(f"{wrong} lines differ")


if __name__ == "__main__":
    main()
