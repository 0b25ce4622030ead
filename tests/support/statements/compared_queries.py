"""Queries made at random beside BATCH and SQLite: what their changes leave is what these find in the rows left."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from hypothesis import reject
from hypothesis import strategies as st

from scurry.errors import ValidationError
from scurry.sql.evaluation.batch.executor import execute_batch
from scurry.sql.plan.nodes import Scan
from scurry.sql.planner.rules import EXCLUDABLE
from scurry.sql.statements.planning import planned
from scurry.sql.statements.queries import plan_query
from scurry.sql.syntax.parser import parse
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import from_values, to_values
from scurry.table import TableEnvironment
from support.statements.fed_queries import FedQuery

__all__ = [
    "CONNECTORS",
    "DUPLICATES",
    "MINI_BATCH",
    "OPTIONS",
    "PARALLELISM",
    "WITHOUT_RULES",
    "Left",
    "Rows",
    "fed",
    "in_batch",
    "in_sqlite",
    "rows_left",
    "streamed",
]

Rows = list[tuple[Any, ...]]
Left = dict[str, list[dict[str, Any]]]

CONNECTORS = {
    "INSERT": "'connector' = 'filesystem', 'path' = '/none', 'format' = 'json'",
    "RETRACT": "'connector' = 'filesystem', 'path' = '/none', 'format' = 'debezium-json'",
    "UPSERT": "'connector' = 'upsert-kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'none:1', "
    "'key.format' = 'json', 'value.format' = 'json'",
}


def in_batch(env: TableEnvironment, text: str, left: Left) -> Rows:
    """Return the rows of a query in BATCH."""
    session: Any = env._session
    (plan,) = planned(session, [plan_query(session, parse(text))]).plans  # type: ignore[arg-type]

    def read(scan: Scan) -> Iterator[pa.RecordBatch]:
        columns = [
            from_values([row[column.name] for row in left[scan.path[-1]]], arrow_type(column.type))
            for column in scan.schema
        ]
        yield pa.RecordBatch.from_arrays(columns, names=list(scan.schema.names))

    batches = execute_batch(plan, session.for_functions(), read)
    return sorted((row for each in batches for row in zip(*map(to_values, each.columns), strict=True)), key=str)


def in_sqlite(text: str, left: Left, columns: str = "id INTEGER, k TEXT, v INTEGER", views: Sequence[str] = ()) -> Rows:
    """Return the rows of a query in SQLite."""
    names = ", ".join(f":{column.split()[0]}" for column in columns.split(", "))
    with sqlite3.connect(":memory:") as connection:
        for name, rows in left.items():
            connection.execute(f"CREATE TABLE {name} ({columns})")
            connection.executemany(f"INSERT INTO {name} VALUES ({names})", rows)
        for view in views:
            connection.execute(view)
        return sorted(connection.execute(text), key=str)


def rows_left(table: Any, given: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the rows of a table after some changes."""
    left: list[dict[str, Any]] = []
    for kind, row in given:
        if table.kind == "UPSERT":
            left = [each for each in left if each["id"] != row["id"]]
        elif kind in ("-U", "-D"):
            left.remove(row)
        if kind in ("+I", "+U"):
            left.append(row)
    return left


@st.composite
def fed(draw: st.DrawFn, tables: Sequence[Any], changes: Any) -> tuple[list[list[tuple[str, list[Any]]]], Left]:
    """Return micro-batches of changes of all tables, and the rows that they leave."""
    given = {table: draw(changes(table)) for table in tables}
    left = {table.name: rows_left(table, some) for table, some in given.items()}
    ahead = {table.name: list(some) for table, some in given.items()}
    batches = []
    while any(ahead.values()):
        batch = []
        for name, some in ahead.items():
            count = draw(st.integers(0, len(some))) if some else 0
            if count:
                batch.append((name, some[:count]))
                del some[:count]
        if not batch:
            batch = [(name, some[:]) for name, some in ahead.items() if some]
            ahead = {}
        batches.append(batch)
    return batches, left


def streamed(env: TableEnvironment, text: str, batches: Any, parallelism: list[int]) -> Rows:
    """Return what a query leaves, restarted before each batch with the next parallelism of a list."""
    try:
        query = FedQuery(env, text, parallelism[0])
    except ValidationError as error:
        if "order by clause with non-constant fields" in str(error):
            reject()  # Flink refuses such a Top-N, too
        raise
    for number, batch in enumerate(batches):
        if 0 < number < len(parallelism):
            query.restart(parallelism[number])
        query.feed(batch)
    query.end()
    return query.rows()


PARALLELISM = st.lists(st.integers(1, 4), min_size=1, max_size=4)
MINI_BATCH = {"table.exec.mini-batch.enabled": "true"}
WITHOUT_RULES = {"scurry.optimizer.excluded-rules": ";".join(rule.__name__ for rule in EXCLUDABLE)}
ONE_PHASE = MINI_BATCH | {"table.optimizer.agg-phase-strategy": "ONE_PHASE"}
SPLIT = MINI_BATCH | {"table.optimizer.distinct-agg.split.enabled": "true"}
DUPLICATES = {"table.exec.source.cdc-events-duplicate": "true"}
OPTIONS = st.sampled_from(
    [
        {},
        MINI_BATCH,
        ONE_PHASE,
        WITHOUT_RULES,
        MINI_BATCH | WITHOUT_RULES,
        SPLIT,
        SPLIT | {"table.optimizer.incremental-agg-enabled": "false", "table.exec.mini-batch.size": "2"},
        DUPLICATES,
        DUPLICATES | MINI_BATCH,
        {"table.optimizer.multi-join.enabled": "true"},
        {"table.optimizer.reuse-sub-plan-enabled": "false"},
    ]
)
