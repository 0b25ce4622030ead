"""Record what real Flink answers: PYTHON-OF-PYFLINK tests/edge_values/record.py [PART-OF-NAME ...]."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.edge_values import (
    DEFINITIONS,
    MODES,
    Query,
    jobs,
    path_of,
    record,
    recorded,
    rows_by_name,
    shown_rows,
    union,
    write_files,
)

QUERIES_PER_JOB = 12


def main() -> None:
    os.environ["PATH"] = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
    parts = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        write_files(directory)
        for mode in os.environ.get("MODE", " ".join(MODES)).split():
            found = recorded(mode) if path_of(mode).exists() else {}
            env = _environment(mode, directory)
            for together in jobs(mode, QUERIES_PER_JOB):
                chosen = [each for each in together if not parts or any(part in each.name for part in parts)]
                env.get_config().set("table.local-time-zone", together[0].zone)
                if chosen:
                    found.update(_answers(env, chosen))
                print(mode, together[0].name, file=sys.stderr, flush=True)
                record(mode, found)


def _answers(env: Any, chosen: list[Query]) -> dict[str, list[str]]:
    """Ask all in one job; if that fails, one by one."""
    found: dict[str, list[str]] = {}
    for query in chosen:
        if query.is_printed:
            printed = _printed(env, query.plain)
            found[f"print {query.name}"] = [printed] if printed.startswith("!") else shown_rows(printed)
    printed = _printed(env, union(chosen))
    if not printed.startswith("!"):
        rows = rows_by_name(printed)
        return found | {query.name: rows.get(query.name, []) for query in chosen}
    if len(chosen) == 1:
        return found | {chosen[0].name: [printed]}
    for start in (0, len(chosen) // 2):
        half = chosen[start : start + len(chosen) // 2] if start == 0 else chosen[start:]
        for name, answer in _answers(env, half).items():
            found.setdefault(name, answer)
    return found


def _environment(mode: str, directory: str) -> Any:
    from pyflink.table import EnvironmentSettings, TableEnvironment

    chosen = EnvironmentSettings.in_batch_mode() if mode == "batch" else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(chosen)
    env.get_config().set("parallelism.default", "1").set("table.display.max-column-width", "400")
    env.get_config().set("taskmanager.memory.network.min", "512mb").set("taskmanager.memory.network.max", "512mb")
    for statement in DEFINITIONS:
        env.execute_sql(statement.replace("{tmp}", directory))
    return env


def _printed(env: Any, statement: str) -> str:
    from pyflink.java_gateway import get_gateway

    jvm = get_gateway().jvm
    stream = jvm.java.io.ByteArrayOutputStream()
    before = jvm.System.out
    jvm.System.setOut(jvm.java.io.PrintStream(stream, True))
    try:
        env.execute_sql(statement)._j_table_result.print()
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines()]
        last = [line for line in lines if line.startswith(("Caused by:", ": ", "org.apache"))][-1:] or lines[:1]
        return f"! {re.sub(r'^(Caused by: |: )', '', last[0])[:300]}"
    finally:
        jvm.System.setOut(before)
    return str(stream.toString())


if __name__ == "__main__":
    main()
