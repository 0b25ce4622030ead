"""Jobs of tables of files that are stopped and go on from savepoints, and the rows that their changes leave."""

from __future__ import annotations

import random
import re
import sqlite3
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scurry.table import TableEnvironment
from support.statements.operator_queries import BY_ANOTHER_KEY, FUNCTIONS, TIME, smallest
from support.statements.tables import environment, files, read, write

__all__ = ["has_read", "insert", "rows_left", "tables", "write_names", "write_stage"]


def at(second: int) -> str:
    return f"2024-01-01 00:{second // 60:02d}:{second % 60:02d}"


def write_names(directory: Path) -> None:
    """Write the table that is looked up."""
    with sqlite3.connect(directory / "d.db") as database:
        database.execute("CREATE TABLE d (k TEXT, name TEXT)")
        database.executemany("INSERT INTO d VALUES (?, ?)", [("a", "ann"), ("b", "bob"), ("b", "bert")])


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
        change: dict[str, Any] = {"id": 100 * stage + number, "ts": at(100 * stage + number)}
        change |= {"k": chance.choice(["a", "b", "c", None]), "v": chance.randint(0, 9)}
        before, after = None, None
        if table and chance.random() < 0.4:
            before = table.pop(chance.randrange(len(table)))
        if before is None or chance.random() < 0.6:
            after = change if before is None else {**change, "id": before["id"]}
            table.append(after)
        kind = "c" if before is None else "d" if after is None else "u"
        messages.append({"before": before, "after": after, "op": kind})
    write(directory / "c", f"f{stage}", *messages)
    changes["c"] = changes["normalized"] = changes["timed"] = sum(
        (each["before"] is not None) + (each["after"] is not None) for each in messages
    )
    return changes


def tables(directory: Path, monitored: bool, settings: Mapping[str, str], streaming: bool = True) -> TableEnvironment:
    """Return an environment with the tables; monitored ones wait for files that are added."""
    env = environment(streaming, **settings)
    options = {"source.monitor-interval": "10 ms"} if monitored else {}
    for name in ("t", "u"):
        files(env, name, f"id INT, k STRING, v INT, {TIME}", directory / name, **options)
    columns = f"k STRING, rate INT, {TIME}, PRIMARY KEY (k) NOT ENFORCED"
    files(env, "rates", columns, directory / "rates", **options)
    files(env, "c", "id INT, k STRING, v INT", directory / "c", format="debezium-json", **options)
    columns = "id INT, k STRING, v INT, PRIMARY KEY (id) NOT ENFORCED"
    files(env, "normalized", columns, directory / "c", format="debezium-json", **options)
    files(env, "timed", f"id INT, k STRING, v INT, {TIME}", directory / "c", format="debezium-json", **options)
    env.execute_sql(
        "CREATE TABLE d (k STRING, name STRING) WITH ('connector' = 'jdbc', 'table-name' = 'd', "
        f"'url' = 'jdbc:sqlite:{directory}/d.db')"
    )
    for name, function in FUNCTIONS.items():
        env.create_temporary_function(name, function)
    env.create_temporary_view("smallest", smallest(env.from_path("t")))
    return env


def insert(
    env: TableEnvironment, queries: Mapping[str, str], directory: Path, types_in: TableEnvironment | None = None
) -> Any:
    """Start one job that writes the changes of queries, each into files of its own."""
    statements = []
    for number, (name, query) in enumerate(queries.items()):
        schema = (types_in or env).sql_query(query).get_resolved_schema()
        types = [each.as_summary_string().replace("*ROWTIME*", "") for each in schema.get_column_data_types()]
        listed = ", ".join(f"c{number} {kind.replace(' NOT NULL', '')}" for number, kind in enumerate(types))
        text = f"INSERT INTO written{number} {query}"
        if name == BY_ANOTHER_KEY:
            _keyed(env, f"written{number}", listed, directory / name)
            text += " ON CONFLICT DO DEDUPLICATE"
        else:
            files(env, f"written{number}", listed, directory / name, format="debezium-json")
        statements.append(text)
    return env.execute_sql(f"EXECUTE STATEMENT SET BEGIN {'; '.join(statements)}; END").get_job_client()


def _keyed(env: TableEnvironment, name: str, columns: str, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(directory / "written.db") as database:
        database.execute(f"CREATE TABLE IF NOT EXISTS written ({columns}, PRIMARY KEY (c0))")
    env.execute_sql(
        f"CREATE TABLE {name} ({columns}, PRIMARY KEY (c0) NOT ENFORCED) WITH ('connector' = 'jdbc', "
        f"'table-name' = 'written', 'url' = 'jdbc:sqlite:{directory}/written.db')"
    )


def has_read(job: Any, changes: Mapping[str, int]) -> bool:
    """Return whether a job has read so many changes of each table."""
    execution = job._job.execution
    return all(
        execution.totals.counters.get((source.id, "numRecordsOut"), 0) == changes[table]
        for source in execution.plan.sources.values()
        for table in re.findall(r"\w+", source.name)
        if table in changes
    )


def rows_left(directory: Path) -> list[tuple[Any, ...]]:
    """Return the rows that written changes leave."""
    if (directory / "written.db").exists():
        with sqlite3.connect(directory / "written.db") as database:
            return sorted(database.execute("SELECT * FROM written"), key=str)
    found: Counter[tuple[Any, ...]] = Counter()
    for message in read(directory):
        for side, count in (("before", -1), ("after", 1)):
            if message[side] is not None:
                found[tuple(message[side].values())] += count
    assert all(count >= 0 for count in found.values())
    return sorted(found.elements(), key=str)
