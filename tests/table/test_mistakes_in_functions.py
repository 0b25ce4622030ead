"""What users get wrong in functions of tables: the message names the function, its line and the row."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from scurry.errors import ScurryError, UnpicklableFunctionError
from scurry.table import AggregateFunction, ScalarFunction, TableAggregateFunction, TableEnvironment
from scurry.table.expressions import col
from scurry.table.udf import udaf, udf, udtaf, udtf
from support.statements.tables import environment, rows

SCALAR = "SELECT f(v) FROM numbers"
LATERAL = "SELECT x FROM numbers, LATERAL TABLE(f(v)) AS t(x)"
LOCK = threading.Lock()


@pytest.fixture(params=[True, False], ids=["STREAMING", "BATCH"])
def env(request: Any) -> TableEnvironment:
    env = environment(request.param)
    env.create_temporary_view("numbers", env.from_elements([(7,)], ["v"]))
    return env


class OpenFails(ScalarFunction):
    def open(self, function_context: Any) -> None:
        raise ValueError("no such file")

    def eval(self, v: int) -> int:
        return v


class CloseFails(ScalarFunction):
    def close(self) -> None:
        raise ValueError("cannot close")

    def eval(self, v: int) -> int:
        return v


class Summed(AggregateFunction[Any, Any]):
    def create_accumulator(self) -> Any:
        return [0]

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        accumulator[0] += args[0]

    def get_value(self, accumulator: Any) -> Any:
        return accumulator[0]


class NoList(Summed):
    def create_accumulator(self) -> Any:
        return 0


class NoValue(Summed):
    def get_value(self, accumulator: Any) -> Any:
        return accumulator


class StopsWhileAccumulating(Summed):
    def accumulate(self, accumulator: Any, *args: Any) -> None:
        next(iter(()))


class Divides(AggregateFunction[Any, Any]):
    def create_accumulator(self) -> Any:
        return [0]

    def accumulate(self, accumulator: Any, value: int) -> None:
        accumulator[0] += 1 / (value - 7)

    def get_value(self, accumulator: Any) -> Any:
        return accumulator[0]


class EmitsNothing(TableAggregateFunction[Any, Any]):
    def create_accumulator(self) -> Any:
        return []

    def accumulate(self, accumulator: Any, value: int) -> None:
        accumulator.append(1 / (value - 7))

    def emit_value(self, accumulator: Any) -> Any:
        yield from accumulator


class StopsWithoutAValue(Summed):
    def get_value(self, accumulator: Any) -> Any:
        return next(iter(()))


def pandas(function: Callable[..., Any]) -> Any:
    return udf(function, result_type="BIGINT", func_type="pandas")


MISTAKES = [
    (udf(lambda v, w: v, result_type="BIGINT"), SCALAR, "missing 1 required positional argument: 'w'", "{'v': 7}"),
    (udf(lambda v: "x", result_type="BIGINT"), SCALAR, "declared type BIGINT does not accept 'x'", "{'v': 7}"),
    (udf(lambda v: 2**40, result_type="INT"), SCALAR, "declared type INT does not accept 1099511627776", "{'v': 7}"),
    (udf(lambda v: (1,), result_type="ROW<a INT, b INT>"), SCALAR, "2 fields are declared, got 1", "{'v': 7}"),
    (udf(lambda v: (v for _ in ()), result_type="BIGINT"), SCALAR, "does not accept <generator object", "{'v': 7}"),
    (
        udf(lambda v: next(iter(())), result_type="BIGINT"),
        SCALAR,
        "StopIteration: it was not raised by a gen",
        "'v': 7",
    ),
    (udf(OpenFails(), result_type="BIGINT"), SCALAR, "ValueError: no such file", "in open: raise ValueError"),
    (udf(CloseFails(), result_type="BIGINT"), SCALAR, "ValueError: cannot close", "in close: raise ValueError"),
    (udtf(lambda v: [(v, v)], result_types=["BIGINT"]), LATERAL, "1 columns are declared, got 2", "{'v': 7}"),
    (udtf(lambda v: (1 / 0 for _ in "a"), result_types=["BIGINT"]), LATERAL, "ZeroDivisionError", "{'v': 7}"),
    (udaf(NoList(), result_type="BIGINT"), SCALAR, "'int' object is not subscriptable", "record: (7,)"),
    (udaf(NoValue(), result_type="BIGINT"), SCALAR, "declared type BIGINT does not accept [7]", ""),
    (udaf(Divides(), result_type="DOUBLE"), SCALAR, "ZeroDivisionError", "record: {'value': 7}"),
    (udaf(StopsWhileAccumulating(), result_type="BIGINT"), SCALAR, "StopIteration", "record: (7,)"),
    (udaf(StopsWithoutAValue(), result_type="BIGINT"), SCALAR, "StopIteration", ""),
    (pandas(lambda v: v[:0]), SCALAR, "The result length '0' of Pandas UDF", ""),
    (pandas(lambda v: 5), SCALAR, "declared type pandas.Series or pandas.DataFrame does not accept 5", ""),
    (
        udaf(lambda v: v, result_type="BIGINT", func_type="pandas"),
        SCALAR,
        "an aggregate function returns a value, not a column",
        "",
    ),
]


@pytest.mark.parametrize(("function", "query", "message", "row"), MISTAKES, ids=range(len(MISTAKES)))
def test_the_message_names_the_function_and_the_row(
    env: TableEnvironment, function: Any, query: str, message: str, row: str
) -> None:
    env.create_temporary_function("f", function)
    with pytest.raises(ScurryError) as caught:
        rows(env, query)
    said = str(caught.value)
    assert message in said and row in said
    assert __file__ in said


def test_a_table_aggregate_names_the_function_and_the_row(env: TableEnvironment) -> None:
    best = udtaf(EmitsNothing(), result_type="ROW<a DOUBLE>")
    table = env.from_path("numbers").flat_aggregate(best(col("v")).alias("a")).select(col("a"))
    with pytest.raises(ScurryError, match="ZeroDivisionError") as caught:
        table.execute().print()
    said = str(caught.value)
    assert "record: {'value': 7}" in said and __file__ in said and "EmitsNothing" in said


def test_what_cannot_be_pickled_is_to_be_made_in_open(env: TableEnvironment) -> None:
    function = udf(lambda v: (LOCK, v)[1], result_type="BIGINT")
    with pytest.raises(UnpicklableFunctionError, match=r"(?s)cannot pickle '_thread.lock' object.*in open\(\)"):
        env.create_temporary_function("f", function)


class WithoutEval(ScalarFunction):
    def open(self, function_context: Any) -> None:
        pass


class WithoutValue(AggregateFunction[int, list[int]]):
    def create_accumulator(self) -> list[int]:
        return [0]

    def accumulate(self, accumulator: list[int], *args: Any) -> None:
        pass


@pytest.mark.parametrize(("made", "missing"), [(WithoutEval, "eval"), (WithoutValue, "get_value")])
def test_a_class_without_its_methods_has_no_objects(made: Any, missing: str) -> None:
    with pytest.raises(TypeError, match=f"Can't instantiate abstract class .* {missing}"):
        made()
