"""Functions of users in queries: in BATCH and STREAMING, in-process. What Flink does was asked of Flink 2.3."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest

from scurry.common.types import Row
from scurry.errors import ArgumentError, ArgumentTypeError, JobError, OperatorError, UnsupportedError, ValidationError
from scurry.table import (
    AggregateFunction,
    AsyncScalarFunction,
    DataTypes,
    EnvironmentSettings,
    FunctionContext,
    ListView,
    ScalarFunction,
    TableEnvironment,
    TableFunction,
)
from scurry.table.udf import udaf, udf, udtaf, udtf

LETTERS = "(VALUES (1, 'a,b'), (2, CAST(NULL AS STRING)), (3, 'c')) t(i, s)"
WEIGHTS = "(VALUES ('a', 1, 2), ('a', 4, 1), ('b', 5, 5)) t(k, v, w)"


@pytest.fixture(params=["batch", "streaming"])
def env(request: pytest.FixtureRequest) -> TableEnvironment:
    return environment(request.param)


@pytest.fixture
def batch() -> TableEnvironment:
    return environment("batch")


def environment(mode: str) -> TableEnvironment:
    settings = EnvironmentSettings.in_batch_mode() if mode == "batch" else EnvironmentSettings.in_streaming_mode()
    made = TableEnvironment.create(settings)
    made.get_config().set("table.local-time-zone", "Europe/Berlin").set("scurry.runner", "local")
    made.get_config().set("parallelism.default", "1")
    return made


def rows(env: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    with env.execute_sql(query).collect() as found:
        return [tuple(row) for row in found]


def failure(env: TableEnvironment, query: str) -> str:
    with pytest.raises((OperatorError, JobError)) as caught:
        rows(env, query)
    return str(caught.value)


def show_values(*values: Any) -> str:
    return " ; ".join(f"{type(value).__name__} {value}" for value in values)


shown = udf(show_values, result_type=DataTypes.STRING())


class Scaled(ScalarFunction):
    def open(self, function_context: FunctionContext) -> None:
        self.factor = 10

    def eval(self, x: int) -> int:
        return x * self.factor


class WeightedAverage(AggregateFunction[Any, Any]):
    def create_accumulator(self) -> list[int]:
        return [0, 0]

    def accumulate(self, accumulator: list[int], *args: Any) -> None:
        value, weight = args
        accumulator[0] += value * weight
        accumulator[1] += weight

    def get_value(self, accumulator: list[int]) -> float | None:
        return accumulator[0] / accumulator[1] if accumulator[1] else None

    def get_result_type(self) -> str:
        return "DOUBLE"

    def get_accumulator_type(self) -> str:
        return "ARRAY<BIGINT>"


# ------------------------------------------------------------------ scalar functions


def test_a_scalar_function_is_called_for_each_row(env: TableEnvironment) -> None:
    env.create_temporary_function("label", udf(lambda n, s: None if s is None else f"{s}#{n}", result_type="STRING"))
    assert rows(env, f"SELECT label(i, s) FROM {LETTERS}") == [("a,b#1",), (None,), ("c#3",)]


def test_a_function_stands_where_expressions_stand(env: TableEnvironment) -> None:
    env.create_temporary_function("scaled", udf(Scaled(), result_type=DataTypes.BIGINT()))
    assert rows(env, f"SELECT i, scaled(i) + 1 FROM {LETTERS} WHERE scaled(i) > 10") == [(2, 21), (3, 31)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("CAST(0.1 AS FLOAT)", "float 0.10000000149011612"),
        ("1.50", "Decimal 1.50"),
        ("X'0AFF'", r"bytes b'\n\xff'"),
        ("DATE '2024-02-29'", "date 2024-02-29"),
        ("TIME '12:34:56'", "time 12:34:56"),
        ("CAST(TIMESTAMP '2024-01-01 00:00:01.123456789' AS TIMESTAMP(9))", "datetime 2024-01-01 00:00:01.123456"),
        # PyFlink's coder puts the session's zone on the wall clock of UTC.
        ("TO_TIMESTAMP_LTZ(1717200001123, 3)", "datetime 2024-06-01 00:00:01.123000+02:00"),
        ("ARRAY[1, CAST(NULL AS INT)]", "list [1, None]"),
        ("MAP['k', 1]", "dict {'k': 1}"),
        ("CAST(ROW(1, 'x') AS ROW<a INT, b STRING>)", "Row Row(a=1, b='x')"),
        ("ARRAY[ROW(1, DATE '2020-01-01')]", "list [Row(EXPR$0=1, EXPR$1=datetime.date(2020, 1, 1))]"),
        ("TRUE, CAST(NULL AS INT)", "bool True ; NoneType None"),
    ],
)
def test_functions_get_pyflinks_values(batch: TableEnvironment, value: str, expected: str) -> None:
    batch.create_temporary_function("shown", shown)
    assert rows(batch, f"SELECT shown({value})") == [(expected,)]


def test_a_type_that_functions_do_not_take_is_named(batch: TableEnvironment) -> None:
    batch.create_temporary_function("shown", shown)
    with pytest.raises(UnsupportedError, match="Python UDF doesn't support logical type MULTISET<INT"):
        rows(batch, "SELECT shown(COLLECT(a)) FROM (VALUES (1), (2)) t(a)")


@pytest.mark.parametrize(
    ("result", "type", "expected"),
    [
        (1.7, "BIGINT", 1),
        (True, "INT", 1),
        (1, "DOUBLE", 1.0),
        ("abcdef", "CHAR(3)", "abcdef"),
        (Decimal("1.256"), "DECIMAL(5, 2)", Decimal("1.26")),
        (
            datetime.datetime(2024, 1, 1, 1, 2, 3, 456000),
            "TIMESTAMP(3)",
            datetime.datetime(2024, 1, 1, 1, 2, 3, 456000),
        ),
        (datetime.datetime(2024, 1, 1, 5), "DATE", datetime.date(2024, 1, 1)),
        (datetime.time(1, 2, 3, 4000), "TIME(3)", datetime.time(1, 2, 3, 4000)),
        (bytearray(b"x"), "BYTES", bytearray(b"x")),
        ([1, None], "ARRAY<INT>", [1, None]),
        ({"a": 1}, "MAP<STRING, INT>", {"a": 1}),
        (Row(1, "a"), "ROW<a INT, b STRING>", Row(1, "a")),
        (1, "BOOLEAN", True),
        (None, "INT", None),
    ],
)
def test_results_are_converted_as_pyflink_does(batch: TableEnvironment, result: Any, type: str, expected: Any) -> None:
    batch.create_temporary_function("made", udf(lambda: result, result_type=type))
    assert rows(batch, "SELECT made()") == [(expected,)]


@pytest.mark.parametrize(
    ("result", "type"),
    [("5", "INT"), (300, "TINYINT"), (1, "STRING"), (Decimal("12345.2"), "DECIMAL(5, 2)"), (1.5, "DECIMAL(5, 2)")],
)
def test_a_result_that_does_not_fit_names_function_and_row(env: TableEnvironment, result: Any, type: str) -> None:
    env.create_temporary_function(
        "made", udf(lambda i: result if i == 3 else None, result_type=type, name="my_function")
    )
    message = failure(env, f"SELECT made(i) FROM {LETTERS}")
    assert repr(result) in message
    assert "in function 'my_function'" in message
    assert ": 3}" in message.partition("record: ")[2]


def test_what_a_function_raises_names_its_line_and_the_row(env: TableEnvironment) -> None:
    def inverse(n: int) -> float:
        return 1 / (n - 2)  # cause

    env.create_temporary_function("inverse", udf(inverse, result_type=DataTypes.DOUBLE()))
    message = failure(env, f"SELECT inverse(i) FROM {LETTERS}")
    assert "ZeroDivisionError: division by zero" in message
    assert "in inverse: return 1 / (n - 2)  # cause" in message
    assert "in function 'inverse' defined at" in message
    assert ": 2}" in message.partition("record: ")[2]


def test_in_a_branch_of_case_the_row_is_still_named(batch: TableEnvironment) -> None:
    batch.create_temporary_function("inverse", udf(lambda n: 1 / (n - 3), result_type=DataTypes.DOUBLE()))
    message = failure(batch, f"SELECT CASE WHEN i > 1 THEN inverse(i) END FROM {LETTERS}")
    assert ": 3}" in message.partition("record: ")[2]


def test_declared_argument_types_are_what_arguments_are_converted_to(batch: TableEnvironment) -> None:
    declared = udf(lambda n: type(n).__name__, input_types=[DataTypes.DOUBLE()], result_type=DataTypes.STRING())
    batch.create_temporary_function("f", declared)
    assert rows(batch, "SELECT f(1)") == [("float",)]
    with pytest.raises(ValidationError, match=r"Invalid argument type at position 0. Data type DOUBLE expected"):
        batch.sql_query("SELECT f('a')")
    with pytest.raises(ValidationError, match=r"No match found for function signature f\(<NUMERIC>, <NUMERIC>\)"):
        batch.sql_query("SELECT f(1, 2)")


def test_a_function_is_opened_once_and_closed(batch: TableEnvironment, tmp_path: Path) -> None:
    log = tmp_path / "log"

    class Logged(ScalarFunction):
        def open(self, function_context: FunctionContext) -> None:
            self.write(f"open {function_context.get_job_parameter('k', 'none')}")

        def eval(self, n: int) -> int:
            return n

        def close(self) -> None:
            self.write("close")

        def write(self, line: str) -> None:
            with log.open("a") as file:
                file.write(line + "\n")

    batch.get_config().set("pipeline.global-job-parameters", "k:v")
    batch.create_temporary_function("logged", udf(Logged(), result_type=DataTypes.BIGINT()))
    rows(batch, f"SELECT logged(i), logged(i + 1) FROM {LETTERS}")
    assert log.read_text().splitlines() == ["open v", "close"]


def test_a_task_has_a_copy_of_the_object(batch: TableEnvironment) -> None:
    class Counting(ScalarFunction):
        def __init__(self) -> None:
            self.count = 0

        def eval(self, n: int) -> int:
            self.count += 1
            return self.count

    counting = Counting()
    batch.create_temporary_function("counting", udf(counting, result_type=DataTypes.BIGINT(), deterministic=None))
    for _ in range(2):
        assert rows(batch, f"SELECT counting(i) FROM {LETTERS}") == [(1,), (2,), (3,)]
    assert counting.count == 0


def test_a_function_that_is_not_deterministic_is_called_for_every_use(batch: TableEnvironment) -> None:
    class Next(ScalarFunction):
        count = 0

        def eval(self) -> int:
            self.count += 1
            return self.count

        def is_deterministic(self) -> bool:
            return False

    batch.create_temporary_function("following", udf(Next(), result_type=DataTypes.INT()))
    assert rows(batch, "SELECT following(), following()") == [(1, 2)]


def test_coroutines_of_several_rows_run_at_the_same_time(env: TableEnvironment) -> None:
    class Met(AsyncScalarFunction):
        def open(self, function_context: FunctionContext) -> None:
            self.waiting = 0

        async def eval(self, n: int) -> int:
            self.waiting += 1
            while self.waiting < 3:
                await asyncio.sleep(0.001)
            return n * 2

    env.create_temporary_function("met", udf(Met(), result_type=DataTypes.BIGINT()))
    assert rows(env, f"SELECT met(i) FROM {LETTERS}") == [(2,), (4,), (6,)]


def test_pandas_functions_get_series_and_constants_as_values(env: TableEnvironment) -> None:
    def described(series: Any, constant: Any) -> Any:
        return pd.Series([f"{series.dtype} {type(constant).__name__}"] * len(series))

    env.create_temporary_function("described", udf(described, result_type="STRING", func_type="pandas"))
    env.create_temporary_function("added", udf(lambda a, b: a + b, result_type="BIGINT", func_type="pandas"))
    assert rows(env, f"SELECT described(i, 1), added(i, i) FROM {LETTERS}") == [
        ("int32 int", 2),
        ("int32 int", 4),
        ("int32 int", 6),
    ]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda s: s[:1], "The result length '1' of Pandas UDF 'vector' is not equal to the input length '3'"),
        (lambda s: 5, "the result of Pandas UDF 'vector'"),
    ],
)
def test_a_pandas_function_returns_a_series_of_all_rows(batch: TableEnvironment, function: Any, message: str) -> None:
    declared = udf(function, result_type=DataTypes.INT(), func_type="pandas", name="vector")
    batch.create_temporary_function("vector", declared)
    assert message in failure(batch, f"SELECT vector(i) FROM {LETTERS}")


# ------------------------------------------------------------------ table functions


def split(text: str | None) -> Iterator[tuple[int, str]]:
    yield from enumerate(text.split(",") if text else [])


def test_a_table_function_makes_rows_of_each_row(env: TableEnvironment) -> None:
    env.create_temporary_function("parts", udtf(split, result_types=[DataTypes.BIGINT(), DataTypes.STRING()]))
    joined = f"SELECT i, x, y FROM {LETTERS} {{}} LATERAL TABLE(parts(s)) AS z(x, y) {{}}"
    inner = [(1, 0, "a"), (1, 1, "b"), (3, 0, "c")]
    assert rows(env, joined.format(",", "")) == inner
    assert rows(env, joined.format("JOIN", "ON TRUE")) == inner
    assert rows(env, joined.format("LEFT JOIN", "ON TRUE")) == [*inner[:2], (2, None, None), inner[2]]


def test_without_names_the_columns_are_those_of_the_declared_row(batch: TableEnvironment) -> None:
    batch.create_temporary_function("named", udtf(lambda: (1, "x"), result_types="ROW<a INT, b STRING>"))
    batch.create_temporary_function("unnamed", udtf(lambda: (1, "x"), result_types=["INT", "STRING"]))
    query = batch.sql_query("SELECT * FROM LATERAL TABLE(named()), LATERAL TABLE(unnamed())")
    assert query.get_schema().get_field_names() == ["a", "b", "f0", "f1"]


def test_lists_ranges_and_generators_are_rows_and_others_one_row(batch: TableEnvironment) -> None:
    class Several(TableFunction):
        def eval(self, *args: Any) -> Any:
            return {1: 5, 2: [(5,), Row(6), 7], 3: range(2), 4: (7,)}.get(args[0])

    batch.create_temporary_function("several", udtf(Several(), result_types=DataTypes.BIGINT()))
    query = "SELECT i, x FROM (VALUES (1), (2), (3), (4), (5)) t(i), LATERAL TABLE(several(i)) AS z(x)"
    assert rows(batch, query) == [(1, 5), (2, 5), (2, 6), (2, 7), (3, 0), (3, 1), (4, 7)]


def test_a_wrong_number_of_columns_is_an_error_with_the_row(batch: TableEnvironment) -> None:
    batch.create_temporary_function("wide", udtf(lambda n: (n, n), result_types=DataTypes.BIGINT(), name="wide"))
    message = failure(batch, f"SELECT x FROM {LETTERS}, LATERAL TABLE(wide(i)) AS z(x)")
    assert "1 columns are declared, got 2" in message and "record: {'i': 1" in message


# ------------------------------------------------------------------ aggregate functions


def test_an_aggregate_function_aggregates_groups(batch: TableEnvironment) -> None:
    batch.create_temporary_function("average", WeightedAverage())
    query = f"SELECT k, average(v, w), SUM(v) FROM {WEIGHTS} GROUP BY k"
    assert rows(batch, query) == [("a", 2.0, 5), ("b", 5.0, 5)]
    assert rows(batch, f"SELECT average(v, w) FILTER (WHERE w > 1) FROM {WEIGHTS}") == [(27 / 7,)]


def test_without_rows_the_value_is_that_of_a_new_accumulator(batch: TableEnvironment) -> None:
    batch.create_temporary_function("average", WeightedAverage())
    assert rows(batch, f"SELECT average(v, w) FROM {WEIGHTS} WHERE FALSE") == [(None,)]


def test_accumulators_may_have_views(batch: TableEnvironment) -> None:
    class Joined(AggregateFunction[Any, Any]):
        def create_accumulator(self) -> Row:
            return Row(ListView())

        def accumulate(self, accumulator: Row, *args: Any) -> None:
            accumulator[0].add(str(args[0]))

        def get_value(self, accumulator: Row) -> str:
            return "+".join(accumulator[0])

    list_of_texts = DataTypes.ROW([DataTypes.FIELD("l", DataTypes.LIST_VIEW(DataTypes.STRING()))])
    batch.create_temporary_function(
        "joined", udaf(Joined(), result_type=DataTypes.STRING(), accumulator_type=list_of_texts)
    )
    assert rows(batch, f"SELECT k, joined(v) FROM {WEIGHTS} GROUP BY k") == [("a", "1+4"), ("b", "5")]


def test_what_an_aggregate_function_raises_names_the_row(batch: TableEnvironment) -> None:
    class Broken(WeightedAverage):
        def accumulate(self, accumulator: list[int], *args: Any) -> None:
            accumulator[0] += 1 // (args[0] - 5)  # cause

    batch.create_temporary_function("broken", Broken())
    message = failure(batch, f"SELECT broken(v, w) FROM {WEIGHTS}")
    assert "# cause" in message and "record: (5, 5)" in message


def test_pandas_aggregates_get_the_series_of_a_group(batch: TableEnvironment) -> None:
    batch.create_temporary_function("mean", udaf(lambda v: v.mean(), result_type="DOUBLE", func_type="pandas"))
    assert rows(batch, f"SELECT k, mean(v) FROM {WEIGHTS} GROUP BY k") == [("a", 2.5), ("b", 5.0)]
    over = f"SELECT v, mean(v) OVER (PARTITION BY k ORDER BY w) FROM {WEIGHTS}"
    assert sorted(rows(batch, over)) == [(1, 2.5), (4, 4.0), (5, 5.0)]


def test_aggregates_of_users_are_not_nested_and_not_in_where(batch: TableEnvironment) -> None:
    batch.create_temporary_function("average", WeightedAverage())
    with pytest.raises(ValidationError, match="Aggregate expressions cannot be nested"):
        batch.sql_query(f"SELECT average(average(v, w), w) FROM {WEIGHTS}")
    with pytest.raises(ValidationError, match="Aggregate expression is illegal in WHERE clause"):
        batch.sql_query(f"SELECT k FROM {WEIGHTS} WHERE average(v, w) > 1")


# ------------------------------------------------------------------ names


def test_a_system_function_hides_a_built_in_one_and_others_do_not(batch: TableEnvironment) -> None:
    other = udf(lambda s: "mine", result_type=DataTypes.STRING())
    batch.create_temporary_function("`upper`", other)
    assert rows(batch, "SELECT UPPER('a'), default_database.`upper`('a')") == [("A", "mine")]
    batch.create_temporary_system_function("upper", other)
    assert rows(batch, "SELECT UPPER('a')") == [("mine",)]
    batch.drop_temporary_system_function("upper")
    assert rows(batch, "SELECT UPPER('a')") == [("A",)]


def test_functions_of_modules_are_imported_when_they_are_called(
    batch: TableEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_functions.py").write_text(
        "from scurry.table.udf import udf\n\n@udf(result_type='BIGINT')\ndef double(n):\n    return 2 * n\nplain = 1\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    batch.execute_sql("CREATE FUNCTION twice AS 'own_functions.double' LANGUAGE PYTHON")
    batch.execute_sql("CREATE TEMPORARY SYSTEM FUNCTION twice2 AS 'own_functions.double' LANGUAGE PYTHON")
    assert rows(batch, "SELECT twice(2), twice2(3)") == [(4, 6)]
    batch.execute_sql("ALTER FUNCTION twice AS 'own_functions.plain' LANGUAGE PYTHON")
    with pytest.raises(ValidationError, match=r"not the result of udf\(\), udtf\(\) or udaf\(\)"):
        batch.sql_query("SELECT twice(2)")
    batch.execute_sql("CREATE TEMPORARY FUNCTION missing AS 'no_module.f' LANGUAGE PYTHON")
    with pytest.raises(ValidationError, match="Cannot load Python function 'no_module.f' for missing"):
        batch.sql_query("SELECT missing(2)")
    batch.execute_sql("CREATE TEMPORARY FUNCTION java AS 'com.F' LANGUAGE JAVA")
    with pytest.raises(UnsupportedError, match="scurry runs functions in Python only"):
        batch.sql_query("SELECT java(2)")


def test_registered_functions_are_listed(batch: TableEnvironment) -> None:
    batch.create_temporary_function("f", shown)
    batch.create_temporary_system_function("g", shown)
    assert batch.list_user_defined_functions() == ["f", "g"]
    assert rows(batch, "SHOW USER FUNCTIONS") == [("f",), ("g",)]
    with pytest.raises(ValidationError, match="A function 'default_catalog.default_database.f' does already exist"):
        batch.create_temporary_function("f", shown)


def test_kinds_of_functions_stand_at_their_places(batch: TableEnvironment) -> None:
    batch.create_temporary_function("f", shown)
    batch.create_temporary_function("g", udtf(split, result_types=["BIGINT", "STRING"]))
    with pytest.raises(ValidationError, match="Cannot call table function here: 'g'"):
        batch.sql_query("SELECT g('a')")
    with pytest.raises(ValidationError, match="'f' cannot be used as a table function") as error:
        batch.sql_query("SELECT * FROM LATERAL TABLE(f(1))")
    assert error.value.span is not None and error.value.span.column == 29, "the call is underlined"


@pytest.mark.parametrize(
    ("declare", "error", "message"),
    [
        (lambda: udf(5, result_type="INT"), ArgumentTypeError, "Invalid function: not a function or callable"),
        (lambda: udf(Scaled, result_type="INT"), ArgumentTypeError, "Invalid function"),
        (lambda: udf(lambda: 1), ArgumentTypeError, "Invalid returnType: returnType should be DataType or str"),
        (
            lambda: udf(lambda: 1, result_type="INT", func_type="fast"),
            ArgumentError,
            "must be one of 'general, pandas, arrow'",
        ),
        (lambda: udf(Scaled(), result_type="INT", deterministic=False), ArgumentError, "Inconsistent deterministic"),
        (lambda: udtf(split, result_types=cast(Any, [5])), ArgumentTypeError, "result_type should be DataType or str"),
        (lambda: udaf(lambda v: v, result_type="INT"), ArgumentTypeError, "is an AggregateFunction"),
        (lambda: udtaf(lambda v: v, result_type="INT"), ArgumentTypeError, "udtaf takes a TableAggregateFunction"),
    ],
)
def test_a_wrong_declaration_says_what_is_wrong(declare: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        declare()


def test_only_declared_functions_can_be_registered(batch: TableEnvironment) -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected what udf\(\), udtf\(\) or udaf\(\) returns"):
        batch.create_temporary_function("f", len)
    with pytest.raises(ArgumentError, match="'NUMBER' is no SQL type"):
        batch.create_temporary_function("f", udf(len, result_type="NUMBER"))
