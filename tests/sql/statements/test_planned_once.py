"""A statement is validated, optimised and checked once, and each of its sources and sinks is created once."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog

from scurry.connectors.lakes import delta_table
from scurry.connectors.lakes.iceberg_table import IcebergTable
from scurry.sql import validator
from scurry.sql.connectors import factories
from scurry.sql.connectors.contract import TableContext
from scurry.sql.planner import rules
from scurry.sql.planner.changelog import Changelogs
from scurry.sql.statements import session
from scurry.sql.statements.session import TableSession
from scurry.table import Table, TableEnvironment, TableResult
from scurry.table.expressions import col, lit
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
        expected["Changelogs"] = 1
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


TARGET = "WITH ('connector' = 'blackhole')"
QUERY = "SELECT k, COUNT(*) AS n FROM a GROUP BY k"
SELF_JOIN = "SELECT x.k, y.n FROM a AS x JOIN (SELECT k, COUNT(*) AS n FROM a GROUP BY k) AS y ON x.k = y.k"


def of_sql(env: TableEnvironment, *inserts: str) -> TableResult:
    statements = env.create_statement_set()
    for each in inserts:
        statements.add_insert_sql(each)
    return statements.execute()


def of_tables(env: TableEnvironment) -> TableResult:
    statements = env.create_statement_set()
    statements.add(env.sql_query(QUERY).insert_into("o"))
    statements.add_insert("p", env.sql_query("SELECT k, CAST(1 AS BIGINT) FROM a"))
    return statements.execute()


def combined(env: TableEnvironment) -> Table:
    return env.sql_query("SELECT k, CAST(1 AS BIGINT) AS n FROM a").union_all(env.sql_query(QUERY))


#: A way to write tables, the number of its sinks, and of the queries that it checks one by one; one if not given.
WRITTEN: dict[str, tuple[Callable[[TableEnvironment], TableResult], int, *tuple[int, ...]]] = {
    "execute_sql": (lambda env: env.execute_sql(INSERT), 1),
    "execute_sql, a table read twice": (lambda env: env.execute_sql(f"INSERT INTO o {SELF_JOIN}"), 1),
    "statement set in SQL": (
        lambda env: env.execute_sql(f"EXECUTE STATEMENT SET BEGIN {INSERT}; {INSERT.replace(' o ', ' p ')}; END"),
        2,
    ),
    "CREATE TABLE AS": (lambda env: env.execute_sql(f"CREATE TABLE q {TARGET} AS {QUERY}"), 1),
    "CREATE OR REPLACE TABLE AS": (lambda env: env.execute_sql(f"CREATE OR REPLACE TABLE p {TARGET} AS {QUERY}"), 1),
    "REPLACE TABLE AS": (lambda env: env.execute_sql(f"REPLACE TABLE p {TARGET} AS {QUERY}"), 1),
    "compiled plan": (lambda env: env.compile_plan_sql(INSERT).execute(), 1),
    "sql_query, execute_insert": (lambda env: env.sql_query(QUERY).execute_insert("o"), 1),
    "sql_query, insert_into": (lambda env: env.sql_query(QUERY).insert_into("o").execute(), 1),
    "operations of a table": (
        lambda env: env.sql_query(QUERY).filter(col("k") > 0).select(col("k"), col("n")).execute_insert("o"),
        1,
    ),
    "from_path": (lambda env: env.from_path("a").select(col("k"), lit(1)).execute_insert("o"), 1),
    "combined tables": (lambda env: combined(env).execute_insert("o"), 1, 2),
    "statement set of statements": (lambda env: of_sql(env, INSERT, "INSERT INTO p SELECT k, 2 FROM a"), 2),
    "statement set of tables": (of_tables, 2, 2),
}


def check_created_once(env: TableEnvironment, way: str, mode: str) -> None:
    write, sinks, *queries = WRITTEN[way]
    with counted(*FUNCTIONS) as counts:
        write(env).wait()
    assert (counts["create_source"], counts["create_sink"]) == (*(queries or [1]), sinks)
    if way != "compiled plan":  # its changes are inferred when it is compiled, and again of what it says
        assert counts["Changelogs"] == (mode == "STREAMING")


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize("way", WRITTEN)
def test_each_source_and_sink_is_created_once_however_tables_are_written(way: str, mode: str, tmp_path: Path) -> None:
    if (way, mode) == ("compiled plan", "BATCH"):
        pytest.skip("plans are compiled in STREAMING")
    check_created_once(bounded(mode, tmp_path), way, mode)


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize(
    "way", ["execute_sql", "CREATE TABLE AS", "sql_query, execute_insert", "statement set of tables"]
)
def test_each_source_and_sink_is_created_once_on_spark(way: str, mode: str, tmp_path: Path) -> None:
    env = bounded(mode, tmp_path)
    env.get_config().set("scurry.runner", "spark")
    check_created_once(env, way, mode)


def test_a_set_that_is_executed_makes_new_sources_for_what_is_added_later(tmp_path: Path) -> None:
    env = bounded("BATCH", tmp_path)
    statements = env.create_statement_set()
    with counted(*FUNCTIONS) as counts:
        for _ in range(2):
            statements.add_insert_sql("INSERT INTO o SELECT k, 1 FROM a")
            statements.execute().wait()
    assert counts["create_source"] == 2


class Lake:
    """A lake table `d` with a column, to which a program adds rows while a statement is planned and executed."""

    def __init__(self, kind: str, env: TableEnvironment, directory: Path) -> None:
        self.kind = kind
        self.place = str(directory / "lake")
        importlib.import_module(f"scurry.sql.connectors.lakes.{kind}")  # before a test patches what it imports
        self.options = {"connector": "delta", "table-path": self.place}
        self.opened = (delta_table, "open_table") if kind == "delta" else (IcebergTable, "load")
        if kind == "iceberg":
            properties = {
                "type": "sql",
                "uri": f"sqlite:///{directory}/catalog.db",
                "warehouse": f"file://{self.place}",
            }
            (directory / "lake").mkdir()
            catalog = load_catalog("lakes", **properties)
            catalog.create_namespace("shop")
            self.table = catalog.create_table("shop.d", pa.schema([("k", pa.int32())]))
            self.options = {"connector": "iceberg", "catalog-name": "lakes", "catalog-database": "shop"}
            self.options |= {"catalog-type": "sql", "uri": properties["uri"], "warehouse": properties["warehouse"]}
        self.add()
        listed = ", ".join(f"'{key}' = '{value}'" for key, value in self.options.items())
        env.execute_sql(f"CREATE TABLE d (k INT) WITH ({listed})")

    def add(self) -> None:
        """Add two rows."""
        rows = pa.table({"k": pa.array([1, 2], pa.int32())})
        if self.kind == "delta":
            deltalake.write_deltalake(self.place, rows, mode="append")
        else:
            self.table.append(rows)


@pytest.fixture(params=["delta", "iceberg"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def records_written(result: TableResult) -> int:
    result.wait()
    job: Any = result.get_job_client()
    count: int = job.get_metrics().result()["Sink[default_catalog.default_database.o].numRecordsIn"]
    return count


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_a_job_reads_the_version_of_a_lake_table_that_was_checked(
    kind: str, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = bounded(mode, tmp_path)
    lake = Lake(kind, env, tmp_path)
    created = factories.create_source

    def then_added(context: TableContext) -> Any:
        source = created(context)
        lake.add()
        return source

    monkeypatch.setattr(session, "create_source", then_added)
    assert records_written(env.execute_sql("INSERT INTO o SELECT k, 1 FROM d")) == 2


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_tables_and_statement_sets_read_what_a_lake_table_has_when_they_are_executed(
    kind: str, mode: str, tmp_path: Path
) -> None:
    env = bounded(mode, tmp_path)
    lake = Lake(kind, env, tmp_path)
    table, statements = env.sql_query("SELECT k, CAST(1 AS BIGINT) FROM d"), env.create_statement_set()
    statements.add_insert_sql("INSERT INTO o SELECT k, 1 FROM d")
    pipeline = table.insert_into("o")
    lake.add()
    assert [records_written(each.execute()) for each in (statements, pipeline)] == [4, 4]
    lake.add()
    assert [records_written(each) for each in (pipeline.execute(), table.execute_insert("o"))] == [6, 6]


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_the_log_of_a_lake_table_is_read_once_for_a_statement(
    kind: str, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = bounded(mode, tmp_path)
    lake = Lake(kind, env, tmp_path)
    owner, name = lake.opened
    opened, calls = getattr(owner, name), Counter[str]()

    def counting(*arguments: Any, **named: Any) -> Any:
        calls[name] += 1
        return opened(*arguments, **named)

    for module in [owner, *(each for key, each in sys.modules.items() if key.startswith("scurry"))]:
        if vars(module).get(name) is opened:
            monkeypatch.setattr(module, name, counting)
    assert records_written(env.execute_sql("INSERT INTO o SELECT k, 1 FROM d")) == 2
    assert calls[name] == 1
