"""Functions whose types come from type hints, functions on Arrow columns, and rows as instances of classes."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from scurry.errors import ArgumentTypeError, JobError, ValidationError
from scurry.table import AggregateFunction, EnvironmentSettings, TableEnvironment
from scurry.table.expressions import col
from scurry.table.udf import udaf, udf, udtf


@dataclass
class Point:
    x: int
    y: int | None


@dataclass
class Line:
    name: str
    ends: list[Point]


class Pair(NamedTuple):
    first: int
    second: str


@pytest.fixture
def env() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.get_config().set("scurry.runner", "local").set("parallelism.default", "1")
    return made


def rows(env: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    with env.execute_sql(query).collect() as found:
        return [tuple(row) for row in found]


def test_types_are_those_of_hints(env: TableEnvironment) -> None:
    @udf
    def shout(text: str, times: int | None = 1) -> str | None:
        return text.upper() * (times or 1)

    env.create_temporary_function("shout", shout)
    assert rows(env, "SELECT shout('a', CAST(2 AS SMALLINT))") == [("AA",)]


@pytest.mark.parametrize(
    ("hint", "type"),
    [
        (bool, "BOOLEAN"),
        (int | None, "BIGINT"),
        (Decimal, "DECIMAL(38, 18)"),
        (datetime.datetime, "TIMESTAMP(6)"),
        (list[float], "ARRAY<DOUBLE>"),
        (dict[str, bytes], "MAP<STRING, BYTES>"),
        (tuple[int, datetime.date], "ROW<`f0` BIGINT, `f1` DATE>"),
        (Line, "ROW<`name` STRING, `ends` ARRAY<ROW<`x` BIGINT, `y` BIGINT>>>"),
        (Pair, "ROW<`first` BIGINT, `second` STRING>"),
    ],
)
def test_hints_have_sql_types(env: TableEnvironment, hint: Any, type: str) -> None:
    def made() -> Any: ...

    made.__annotations__["return"] = hint
    env.create_temporary_function("made", udf(made))
    assert env.sql_query("SELECT made() AS a").get_schema().get_field_data_types()[0].as_summary_string() == type


def test_a_function_without_result_type_and_hint_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="Invalid returnType: returnType should be DataType or str but is None"):
        udf(lambda x: x)


def test_rows_are_dataclasses_where_hints_say_so(env: TableEnvironment) -> None:
    @udf
    def mirrored(line: Line) -> Line:
        return Line(line.name + "'", [Point(-end.x, end.y) for end in line.ends])

    env.create_temporary_function("mirrored", mirrored)
    line = "ROW('l', ARRAY[ROW(1, 2), ROW(3, CAST(NULL AS INT))])"
    query = f"SELECT m.name, m.ends[1].x, m.ends[2].x, m.ends[2].y FROM (SELECT mirrored({line}) m)"
    assert rows(env, query) == [("l'", -1, -3, None)]


def test_table_functions_have_the_columns_of_their_hints(env: TableEnvironment) -> None:
    @udtf
    def points(count: int) -> Iterator[Point]:
        for x in range(count):
            yield Point(x, x * x)

    @udtf
    def pairs(count: int) -> list[Pair]:
        return [Pair(each, str(each)) for each in range(count)]

    env.create_temporary_function("points", points)
    env.create_temporary_function("pairs", pairs)
    query = "SELECT x, y, `first`, `second` FROM LATERAL TABLE(points(3)), LATERAL TABLE(pairs(2)) WHERE `first` = x"
    assert rows(env, query) == [(0, 0, 0, "0"), (1, 1, 1, "1")]


def test_aggregate_functions_have_the_types_of_their_hints(env: TableEnvironment) -> None:
    class Extent(AggregateFunction[Point, list[int]]):
        def create_accumulator(self) -> list[int]:
            return []

        def accumulate(self, accumulator: list[int], value: int) -> None:
            accumulator.append(value)

        def get_value(self, accumulator: list[int]) -> Point:
            return Point(min(accumulator), max(accumulator))

    env.create_temporary_function("extent", udaf(Extent()))
    query = "SELECT e.x, e.y FROM (SELECT extent(v) e FROM (VALUES (3), (1), (2)) t(v))"
    assert rows(env, query) == [(1, 3)]


def test_arrow_functions_take_and_return_arrays(env: TableEnvironment) -> None:
    env.create_temporary_function("added", udf(pc.add, result_type="BIGINT", func_type="arrow"))
    env.create_temporary_function("mean", udaf(pc.mean, result_type="DOUBLE", func_type="arrow"))
    values = "(VALUES (1, 'a'), (CAST(NULL AS INT), 'b'), (3, 'a')) t(v, k)"
    assert rows(env, f"SELECT added(v, v), added(v, 1) FROM {values}") == [(2, 2), (None, None), (6, 4)]
    assert rows(env, f"SELECT k, mean(v) FROM {values} GROUP BY k") == [("a", 2.0), ("b", None)]


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (pa.array([1, 2]), "The result length '2' of Arrow UDF 'made' is not equal to the input length '1'"),
        ([1], "the result of Arrow UDF 'made'"),
        (pa.array(["x"]), "Failed to parse string: 'x'"),
    ],
)
def test_what_an_arrow_function_returns_is_checked(env: TableEnvironment, result: Any, message: str) -> None:
    env.create_temporary_function("made", udf(lambda x: result, result_type="INT", func_type="arrow", name="made"))
    with pytest.raises(JobError, match=message):
        rows(env, "SELECT made(x) FROM (VALUES (1)) t(x)")


# ------------------------------------------------------------------ named arguments


def test_arguments_may_have_the_names_of_parameters(env: TableEnvironment) -> None:
    class Weighted(AggregateFunction[int, list[int]]):
        def create_accumulator(self) -> list[int]:
            return [0]

        def accumulate(self, accumulator: list[int], amount: int, weight: int) -> None:
            accumulator[0] += amount * weight * weight

        def get_value(self, accumulator: list[int]) -> int:
            return accumulator[0]

    env.create_temporary_function("reduced", udf(lambda a, b: a - b, result_type="INT"))
    env.create_temporary_function("weighted", udaf(Weighted()))
    env.create_temporary_function("spread", udtf(lambda low, high: list(range(low, high)), result_types="ROW<x INT>"))
    assert rows(env, "SELECT reduced(b => 1, a => 5), reduced(5, 1)") == [(4, 4)]
    assert rows(env, "SELECT weighted(weight => w, amount => v) FROM (VALUES (2, 3)) t(v, w)") == [(18,)]
    assert rows(env, "SELECT x FROM LATERAL TABLE(spread(high => 4, low => 2))") == [(2,), (3,)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("reduced(a => 1, 2)", "have names: all of them, each another one, or none"),
        ("reduced(a => 1, c => 2)", "has no argument 'c'; its arguments are: a, b"),
        ("reduced(b => 1)", "needs an argument 'a'"),
    ],
)
def test_wrong_names_of_arguments_are_refused(env: TableEnvironment, call: str, message: str) -> None:
    env.create_temporary_function("reduced", udf(lambda a, b: a - b, result_type="INT"))
    with pytest.raises(ValidationError, match=message):
        env.sql_query(f"SELECT {call}")


@dataclass
class _Place:
    city: str
    zips: list[int]


@dataclass
class _Person:
    name: str
    born: datetime.date | None
    place: _Place


def test_a_table_of_dataclasses_has_the_types_of_their_hints() -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("scurry.runner", "local")
    table = env.from_elements([_Person("ann", None, _Place("Rome", [1, 2]))])
    assert table.get_schema().get_field_names() == ["name", "born", "place"]
    [row] = table.select(col("name"), col("born"), col("place").get("zips")).execute().collect()
    assert tuple(row) == ("ann", None, [1, 2])
