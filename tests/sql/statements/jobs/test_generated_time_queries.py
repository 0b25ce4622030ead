"""Queries over event time made at random: their results in STREAMING are those of BATCH and of SQLite.

Rows and changes are never late; what is late is the subject of other tests.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from scurry.table import TableEnvironment
from support.cases import cases
from support.statements.compared_queries import (
    CONNECTORS,
    DUPLICATES,
    OPTIONS,
    PARALLELISM,
    fed,
    in_batch,
    in_sqlite,
    streamed,
)
from support.statements.generated_queries import Query
from support.statements.generated_time_queries import TIME_TABLES, VIEWS, time_changes, time_queries
from support.statements.tables import environment

_START = 1704067200  # 2024-01-01 00:00:00


def with_tables(streaming: bool, **options: Any) -> TableEnvironment:
    env = environment(streaming, **options)
    for table in TIME_TABLES:
        key = (
            ", PRIMARY KEY (id) NOT ENFORCED"
            if streaming and (table.has_key or options.items() >= DUPLICATES.items())
            else ""
        )
        connector = CONNECTORS[table.kind if streaming else "INSERT"]
        env.execute_sql(
            f"CREATE TABLE {table.name} (id INT, k STRING, v BIGINT, ts TIMESTAMP(3), "
            f"WATERMARK FOR ts AS ts - INTERVAL '{table.lag}' SECOND(4){key}) WITH ({connector})"
        )
        for name, (text, _) in VIEWS.items():
            env.execute_sql(f"CREATE VIEW {table.name}_{name} AS {text.format(table.name)}")
    return env


def with_times(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its time in milliseconds since 1970."""
    return row | {"ts": (_START + row["ts"]) * 1_000}


def check(query: Query, tables: Any, parallelism: list[int], options: dict[str, str]) -> None:
    batches, left = tables
    views = [
        f"CREATE VIEW {table.name}_{name} AS {text.format(table.name)}"
        for table in TIME_TABLES
        for name, (_, text) in VIEWS.items()
    ]
    columns = "id INTEGER, k TEXT, v INTEGER, ts INTEGER"
    wanted = in_sqlite(f"SELECT * FROM {query.sqlite}", left, columns, views)
    text = f"SELECT * FROM {query.flink}"
    if "SYSTEM_TIME" not in text and "SESSION(" not in text:  # Flink has them in STREAMING only
        timed = {name: [with_times(row) for row in rows] for name, rows in left.items()}
        assert in_batch(with_tables(False, **options), text, timed) == wanted
    given = [[(name, [(kind, with_times(row)) for kind, row in some]) for name, some in batch] for batch in batches]
    assert streamed(with_tables(True, **options), text, given, parallelism) == wanted


TABLES_FED = fed(TIME_TABLES, time_changes)


@given(query=time_queries(), tables=TABLES_FED, parallelism=PARALLELISM, options=OPTIONS)
@settings(max_examples=cases(40))
def test_any_cut_restart_and_parallelism_leaves_what_batch_finds_in_event_time(
    query: Query, tables: Any, parallelism: list[int], options: dict[str, str]
) -> None:
    check(query, tables, parallelism, options)


WAYS = [(time_queries(), check)]


@pytest.mark.nightly
def test_many_queries_in_event_time() -> None:
    @given(query=time_queries(), tables=TABLES_FED, parallelism=PARALLELISM, options=OPTIONS)
    @settings(max_examples=2000)
    def run(query: Query, tables: Any, parallelism: list[int], options: dict[str, str]) -> None:
        check(query, tables, parallelism, options)

    run()
