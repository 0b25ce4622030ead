"""A statement is validated, optimised and checked once, and each of its sources and sinks is created once."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest

from scurry.sql import validator
from scurry.sql.connectors import factories
from scurry.sql.planner import rules
from scurry.sql.planner.changelog import Changelogs
from scurry.sql.statements.session import TableSession
from scurry.table import TableEnvironment
from support.statements.tables import environment

INSERT = "INSERT INTO o SELECT k, COUNT(*) FROM a GROUP BY k"


def bounded(mode: str, tmp_path: Path) -> TableEnvironment:
    env = environment(mode == "STREAMING")
    (tmp_path / "in.csv").write_text("1\n2\n2\n")
    env.execute_sql(
        f"CREATE TABLE a (k INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/in.csv', 'format' = 'csv')"
    )
    env.execute_sql("CREATE TABLE o (k INT, n BIGINT) WITH ('connector' = 'blackhole')")
    env.execute_sql("CREATE TABLE p (k INT, n BIGINT) WITH ('connector' = 'blackhole')")
    env.execute_sql("CREATE VIEW v AS SELECT k, COUNT(*) AS n FROM a GROUP BY k")
    env.execute_sql(
        "CREATE TABLE timed (k INT, t AS TO_TIMESTAMP_LTZ(k, 3), WATERMARK FOR t AS t) WITH ('connector' = "
        f"'filesystem', 'path' = '{tmp_path}/in.csv', 'format' = 'csv')"
    )
    return env


@contextmanager
def counted(*functions: Callable[..., Any]) -> Iterator[Counter[str]]:
    """Count the calls of functions wherever they are imported."""
    counts: Counter[str] = Counter()

    def counting(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            counts[function.__name__] += 1
            return function(*arguments, **named)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for function in functions:
            replaced = counting(function)
            for name, module in list(sys.modules.items()):
                if name.startswith("scurry") and vars(module).get(function.__name__) is function:
                    patch.setattr(module, function.__name__, replaced)
        init = Changelogs.__init__

        def roots_counted(self: Changelogs, roots: Any, *others: Any) -> None:
            counts["Changelogs"] += bool(roots)  # rules look at single nodes, without roots
            init(self, roots, *others)

        patch.setattr(Changelogs, "__init__", roots_counted)
        asked = TableSession._for_functions

        def functions_counted(self: TableSession) -> Any:
            counts["for_functions"] += 1
            return asked(self)

        patch.setattr(TableSession, "_for_functions", functions_counted)
        yield counts


FUNCTIONS = (factories.create_source, factories.create_sink, validator.validate_query, rules.optimized)
ONCE = {"create_source": 1, "validate_query": 1, "optimized": 1, "for_functions": 1}


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize(
    ("statement", "sinks"),
    [
        (INSERT, 1),
        ("SELECT k, COUNT(*) FROM a GROUP BY k", 0),
        ("SELECT k, n FROM v WHERE n > 0", 0),
        ("INSERT INTO o SELECT k, n FROM v", 1),
        (f"EXPLAIN {INSERT}", 1),
        ("EXPLAIN SELECT k, COUNT(*) FROM a GROUP BY k", 0),
    ],
)
def test_a_statement_is_planned_once(statement: str, sinks: int, mode: str, tmp_path: Path) -> None:
    env = bounded(mode, tmp_path)
    with counted(*FUNCTIONS) as counts:
        result = env.execute_sql(statement)
        if statement.startswith("SELECT"):
            list(result.collect())
        else:
            result.wait()
    expected = {**ONCE, **({"create_sink": 1} if sinks else {})}
    if mode == "STREAMING":
        # EXPLAIN shows columns as they were written, and infers the changes of what it shows.
        expected["Changelogs"] = 2 if statement.startswith("EXPLAIN INSERT") else 1
    assert {name: count for name, count in counts.items() if count} == expected


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_a_statement_set_plans_each_insertion_once_and_reads_a_table_once(mode: str, tmp_path: Path) -> None:
    env = bounded(mode, tmp_path)
    both = "EXECUTE STATEMENT SET BEGIN INSERT INTO o SELECT k, 1 FROM a; INSERT INTO p SELECT k, 2 FROM a; END"
    with counted(*FUNCTIONS) as counts:
        env.execute_sql(both).wait()
    expected = {"create_source": 1, "create_sink": 2, "validate_query": 2, "optimized": 2, "for_functions": 1}
    if mode == "STREAMING":
        expected["Changelogs"] = 1
    assert {name: count for name, count in counts.items() if count} == expected


def test_the_watermark_of_a_table_is_planned_once_beside_the_query(tmp_path: Path) -> None:
    env = bounded("STREAMING", tmp_path)
    with counted(*FUNCTIONS) as counts:
        env.execute_sql("INSERT INTO o SELECT k, 1 FROM timed").wait()
    assert (counts["validate_query"], counts["optimized"], counts["create_source"]) == (2, 2, 1)


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_a_statement_set_of_the_api_is_planned_as_one_statement(mode: str, tmp_path: Path) -> None:
    env = bounded(mode, tmp_path)
    with counted(*FUNCTIONS) as counts:
        statements = env.create_statement_set()
        statements.add_insert_sql("INSERT INTO o SELECT k, 1 FROM a")
        statements.add_insert_sql("INSERT INTO p SELECT k, 2 FROM a")
        statements.execute().wait()
    expected = {"create_source": 1, "create_sink": 2, "validate_query": 2, "optimized": 2}
    assert {name: counts[name] for name in expected} == expected
    assert counts["Changelogs"] == (mode == "STREAMING")


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize("begin", ["CREATE TABLE q", "CREATE OR REPLACE TABLE p", "REPLACE TABLE p"])
def test_create_table_as_is_planned_once(begin: str, mode: str, tmp_path: Path) -> None:
    env = bounded(mode, tmp_path)
    with counted(*FUNCTIONS) as counts:
        env.execute_sql(f"{begin} WITH ('connector' = 'blackhole') AS SELECT k, COUNT(*) AS n FROM a GROUP BY k").wait()
    assert {name: counts[name] for name in (*ONCE, "create_sink")} == {**ONCE, "create_sink": 1}
    assert counts["Changelogs"] == (mode == "STREAMING")


def test_a_set_that_is_executed_makes_new_sources_for_what_is_added_later(tmp_path: Path) -> None:
    env = bounded("BATCH", tmp_path)
    statements = env.create_statement_set()
    with counted(*FUNCTIONS) as counts:
        for _ in range(2):
            statements.add_insert_sql("INSERT INTO o SELECT k, 1 FROM a")
            statements.execute().wait()
    assert counts["create_source"] == 2


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_a_job_reads_the_version_of_a_delta_table_that_was_checked(mode: str, tmp_path: Path) -> None:
    env = bounded(mode, tmp_path)
    rows = pa.table({"k": pa.array([1, 2], pa.int32())})
    deltalake.write_deltalake(str(tmp_path / "d"), rows)
    env.execute_sql(f"CREATE TABLE d (k INT) WITH ('connector' = 'delta', 'table-path' = '{tmp_path}/d')")
    statements = env.create_statement_set()
    statements.add_insert_sql("INSERT INTO o SELECT k, 1 FROM d")
    deltalake.write_deltalake(str(tmp_path / "d"), rows, mode="append")
    result = statements.execute()
    result.wait()
    job: Any = result.get_job_client()
    assert job.get_metrics().result()["Sink[default_catalog.default_database.o].numRecordsIn"] == 2
