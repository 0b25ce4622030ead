"""Every operator of STREAMING goes on from savepoints at other parallelisms, with the same final table."""

from __future__ import annotations

import random
import re
import sqlite3
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from scurry.table import TableEnvironment
from support.statements.operator_queries import OF_TWO_TABLES, QUERIES, SETTINGS, TIME
from support.statements.tables import environment, files, read, until, write


def at(second: int) -> str:
    return f"2024-01-01 00:{second // 60:02d}:{second % 60:02d}"


def write_stage(directory: Path, stage: int, table: list[dict[str, Any]]) -> dict[str, int]:
    """Write a file for each table, whose times are after those of earlier stages; return how many changes each has."""
    chance = random.Random(stage)
    changes = {}
    for name in ("t", "u", "rates"):
        some = []
        for second in range(100 * stage, 100 * stage + 90, 6):
            row: dict[str, Any] = {
                "k": chance.choice(["a", "b", "c", "d", None]),
                "ts": at(second + chance.randint(0, 2)),
            }
            some.append({**row, "id": second, "v": chance.randint(0, 9), "rate": second})
        write(directory / name, f"f{stage}", *some)
        changes[name] = len(some)
    messages = []
    for number in range(25):
        change = {"id": 100 * stage + number, "k": chance.choice(["a", "b", "c", None]), "v": chance.randint(0, 9)}
        before, after = None, None
        if table and chance.random() < 0.4:
            before = table.pop(chance.randrange(len(table)))
        if before is None or chance.random() < 0.6:
            after = change if before is None else {**change, "id": before["id"]}
            table.append(after)
        kind = "c" if before is None else "d" if after is None else "u"
        messages.append({"before": before, "after": after, "op": kind})
    write(directory / "c", f"f{stage}", *messages)
    changes["c"] = changes["normalized"] = sum(
        (each["before"] is not None) + (each["after"] is not None) for each in messages
    )
    return changes


def tables(directory: Path, monitored: bool, settings: dict[str, str]) -> TableEnvironment:
    env = environment(**settings)
    options = {"source.monitor-interval": "10 ms"} if monitored else {}
    for name in ("t", "u"):
        files(env, name, f"id INT, k STRING, v INT, {TIME}", directory / name, **options)
    columns = f"k STRING, rate INT, {TIME}, PRIMARY KEY (k) NOT ENFORCED"
    files(env, "rates", columns, directory / "rates", **options)
    files(env, "c", "id INT, k STRING, v INT", directory / "c", format="debezium-json", **options)
    columns = "id INT, k STRING, v INT, PRIMARY KEY (id) NOT ENFORCED"
    files(env, "normalized", columns, directory / "c", format="debezium-json", **options)
    env.execute_sql(
        "CREATE TABLE d (k STRING, name STRING) WITH ('connector' = 'jdbc', 'table-name' = 'd', "
        f"'url' = 'jdbc:sqlite:{directory}/d.db')"
    )
    return env


def into(env: TableEnvironment, query: str, directory: Path) -> Any:
    """Start writing the changes of a query."""
    schema = env.sql_query(query).get_resolved_schema()
    types = [each.as_summary_string().replace("*ROWTIME*", "") for each in schema.get_column_data_types()]
    listed = ", ".join(f"c{number} {kind.replace(' NOT NULL', '')}" for number, kind in enumerate(types))
    files(env, "written", listed, directory, format="debezium-json")
    return env.execute_sql(f"INSERT INTO written {query}").get_job_client()


def table_of(directory: Path) -> list[tuple[Any, ...]]:
    """Return the rows that written changes leave."""
    found: Counter[tuple[Any, ...]] = Counter()
    for message in read(directory):
        for side, count in (("before", -1), ("after", 1)):
            if message[side] is not None:
                found[tuple(message[side].values())] += count
    assert all(count >= 0 for count in found.values())
    return sorted(found.elements(), key=str)


def has_read(job: Any, count: int) -> bool:
    return bool(job._job.execution.totals.records_in == count)


@pytest.mark.parametrize("name", QUERIES)
def test_an_operator_goes_on_at_other_parallelisms_with_the_same_final_table(name: str, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "d.db") as database:
        database.execute("CREATE TABLE d (k TEXT, name TEXT)")
        database.executemany("INSERT INTO d VALUES (?, ?)", [("a", "ann"), ("b", "bob"), ("b", "bert")])
    query, settings = QUERIES[name], SETTINGS.get(name, {})
    # A reader without a file would hold back event time until the input ends.
    idle = {} if name in OF_TWO_TABLES else {"table.exec.source.idle-timeout": "50 ms"}
    savepoint, left = None, list[dict[str, Any]]()
    for stage, parallelism in enumerate((2, 4, 1)):
        changes = write_stage(tmp_path, stage, left)
        start = {"parallelism.default": str(parallelism), **settings, **idle}
        if savepoint is not None:
            start["execution.state-recovery.path"] = savepoint
        job = into(tables(tmp_path, True, start), query, tmp_path / "out")
        count = sum(number for table, number in changes.items() if re.search(rf"\b{table}\b(?!\.)", query))
        until(partial(has_read, job, count))
        savepoint = job.stop_with_savepoint(stage == 2, str(tmp_path / "savepoints")).result()
    whole = into(tables(tmp_path, False, {"parallelism.default": "1", **settings}), query, tmp_path / "whole")
    whole.get_job_execution_result().result()
    assert table_of(tmp_path / "out") == table_of(tmp_path / "whole")
    assert table_of(tmp_path / "whole")
