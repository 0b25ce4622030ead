"""Views on views are validated once, follow what they are made of, and cost as much as there are of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from scurry.errors import ValidationError
from scurry.sql.plan import rewriting
from scurry.sql.validator.select import SelectValidator
from scurry.table import DataTypes, EnvironmentSettings, TableEnvironment
from scurry.table.udf import udf


@pytest.fixture(params=["STREAMING", "BATCH"])
def tables(request: pytest.FixtureRequest) -> TableEnvironment:
    streaming = request.param == "STREAMING"
    settings = EnvironmentSettings.in_streaming_mode() if streaming else EnvironmentSettings.in_batch_mode()
    found = TableEnvironment.create(settings)
    found.get_config().set("scurry.runner", "local")
    found.execute_sql("CREATE VIEW a AS SELECT 1 AS x, 2 AS y")
    found.execute_sql("CREATE VIEW b AS SELECT x + 1 AS z FROM a")
    found.execute_sql("CREATE VIEW c AS SELECT z FROM b")
    return found


def rows(tables: TableEnvironment, query: str) -> list[Any]:
    with tables.execute_sql(query).collect() as found:
        return [tuple(row) for row in found]


def test_the_time_of_a_query_is_not_kept_with_the_plan_of_a_view(tables: TableEnvironment) -> None:
    tables.execute_sql("CREATE VIEW now AS SELECT CURRENT_TIMESTAMP AS t")
    recent = "t > TIMESTAMP '2020-01-01 00:00:00'"
    tables.execute_sql(f"CREATE VIEW later AS SELECT CAST(t AS STRING) AS t FROM now WHERE {recent}")
    first = rows(tables, "SELECT * FROM later")
    time.sleep(0.01)  # more than the millisecond that the time is given in
    assert rows(tables, "SELECT * FROM later") > first


def test_a_view_on_a_view_follows_when_that_is_altered(tables: TableEnvironment) -> None:
    assert rows(tables, "SELECT * FROM c") == [(2,)]
    tables.execute_sql("ALTER VIEW a AS SELECT CAST(10 AS BIGINT) AS x")
    assert rows(tables, "SELECT * FROM c") == [(11,)]


def test_a_view_on_a_view_follows_when_that_is_made_again(tables: TableEnvironment) -> None:
    tables.execute_sql("DROP VIEW a")
    with pytest.raises(ValidationError):
        tables.execute_sql("SELECT * FROM c")
    tables.execute_sql("CREATE VIEW a AS SELECT 5 AS x")
    assert rows(tables, "SELECT * FROM c") == [(6,)]


def test_a_temporary_view_hides_the_one_that_a_view_is_made_of(tables: TableEnvironment) -> None:
    assert rows(tables, "SELECT * FROM c") == [(2,)]
    tables.execute_sql("CREATE TEMPORARY VIEW a AS SELECT 7 AS x")
    assert rows(tables, "SELECT * FROM c") == [(8,)]


def test_a_view_follows_when_a_function_in_it_is_registered_again(tables: TableEnvironment) -> None:
    for factor in (2, 3):
        function = udf(lambda x, factor=factor: x * factor, result_type=DataTypes.INT())
        tables.drop_temporary_system_function("times")
        tables.create_temporary_system_function("times", function)
        tables.execute_sql("CREATE VIEW IF NOT EXISTS d AS SELECT times(z) AS t FROM c")
        assert rows(tables, "SELECT * FROM d") == [(2 * factor,)]


def test_settings_are_those_of_the_present_statement(tables: TableEnvironment) -> None:
    tables.execute_sql("CREATE VIEW e AS SELECT CAST(TIMESTAMP '2020-01-01 00:00:00' AS TIMESTAMP_LTZ(3)) AS t FROM c")
    for zone in ("UTC", "Asia/Tokyo"):
        tables.get_config().set("table.local-time-zone", zone)
        assert rows(tables, "SELECT CAST(t AS STRING) FROM e") == [("2020-01-01 00:00:00.000",)]


def test_a_view_may_be_joined_with_itself(tables: TableEnvironment) -> None:
    assert rows(tables, "SELECT a.z, b.z FROM c AS a, c AS b WHERE a.z = b.z") == [(2, 2)]


def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> Counter[str]:
    calls, real = Counter[str](), getattr(owner, name)

    def counting(*arguments: Any, **named: Any) -> Any:
        calls[name] += 1
        return real(*arguments, **named)

    monkeypatch.setattr(owner, name, counting)
    return calls


def chain(tables: TableEnvironment, count: int, query: Callable[[int], str]) -> None:
    for number in range(1, count):
        tables.execute_sql(f"CREATE VIEW v{number} AS {query(number)} FROM v{number - 1} WHERE v <> {number}")


def test_each_statement_validates_its_own_query_only(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    tables.execute_sql("CREATE TEMPORARY VIEW v0 AS SELECT 1 AS v")
    chain(tables, 20, lambda number: "SELECT v")
    calls = counted(monkeypatch, SelectValidator, "plan")
    tables.explain_sql("SELECT v FROM v19")
    assert calls["plan"] == 2  # that view has been a query so far
    tables.explain_sql("SELECT v FROM v19")
    assert calls["plan"] == 3


def test_conditions_are_rewritten_once_on_their_way_through_views(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = []
    for count in (20, 40):
        tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        tables.execute_sql("CREATE TABLE v0 (v INT) WITH ('connector' = 'datagen')")
        tables.execute_sql("CREATE TABLE sink (v INT) WITH ('connector' = 'blackhole')")
        chain(tables, count, lambda number: f"SELECT v + {number} AS v")
        with monkeypatch.context() as patch:
            calls = counted(patch, rewriting, "with_parts")
            tables.create_statement_set().add_insert_sql(f"INSERT INTO sink SELECT v FROM v{count - 1}").explain()
        parts.append(calls["with_parts"])
    assert parts[1] < parts[0] * 6  # texts of nested expressions are quadratic; eight times as many are cubic
