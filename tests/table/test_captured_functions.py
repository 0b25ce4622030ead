"""Functions of tables are captured at their first use: what the program changes later does not reach the job.

The results are those of PyFlink 2.3.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import threading
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import pytest

import scurry.table
from scurry.common import Row
from scurry.common._api import ApiObject
from scurry.errors import UnpicklableFunctionError
from scurry.table import DataTypes, EnvironmentSettings, Table, TableEnvironment
from scurry.table.expressions import col
from scurry.table.udf import (
    AggregateFunction,
    ArgumentHint,
    ArgumentTrait,
    ProcessTableFunction,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
    udaf,
    udf,
    udtaf,
    udtf,
)

INT = DataTypes.INT()
Program = Callable[[TableEnvironment, Table, list[int]], list[Any]]


def environment(streaming: bool) -> TableEnvironment:
    modes = EnvironmentSettings.in_streaming_mode if streaming else EnvironmentSettings.in_batch_mode
    environment = TableEnvironment.create(modes())
    environment.get_config().set("scurry.runner", "local")
    return environment


def add(k: list[int]) -> Any:
    return udf(lambda value: value + k[0] * 10, result_type=INT)


class Sums(AggregateFunction[Any, Any]):
    def __init__(self, k: list[int]) -> None:
        self.k = k

    def create_accumulator(self) -> list[int]:
        return [0]

    def accumulate(self, accumulator: list[int], value: int) -> None:
        accumulator[0] += value * self.k[0]

    def get_value(self, accumulator: list[int]) -> int:
        return accumulator[0]


class Scalar(ScalarFunction):
    def __init__(self, k: list[int]) -> None:
        self.k = k

    def eval(self, value: int) -> int:
        return value + self.k[0] * 10


class Twice(TableFunction):
    def __init__(self, k: list[int]) -> None:
        self.k = k

    def eval(self, value: int) -> Any:
        yield value + self.k[0] * 10


def called(env: TableEnvironment, function: Any) -> Callable[[], Table]:
    env.create_temporary_function("f", function)
    return lambda: env.sql_query("SELECT f(a) FROM t")


def registered(env: TableEnvironment, function: Any) -> Callable[[], Table]:
    env.create_temporary_system_function("f", function)
    return lambda: env.sql_query("SELECT f(a) FROM t")


class Adds(ProcessTableFunction):
    def __init__(self, k: list[int]) -> None:
        self.k = k

    def eval(self, input: Annotated[Row, ArgumentHint(ArgumentTrait.ROW_SEMANTIC_TABLE)]) -> Iterator[int]:
        yield input.a + self.k[0]


class Top(TableAggregateFunction[Any, Any]):
    def __init__(self, k: list[int]) -> None:
        self.k = k

    def create_accumulator(self) -> list[int]:
        return [0]

    def accumulate(self, accumulator: list[int], value: int) -> None:
        accumulator[0] = max(accumulator[0], value)

    def emit_value(self, accumulator: list[int]) -> Iterator[int]:
        yield accumulator[0] + self.k[0]


def at_once(table: Table) -> Callable[[], Table]:
    return lambda: table


def top(k: list[int]) -> Any:
    return udtaf(Top(k), result_type="INT", accumulator_type="ARRAY<INT>")(col("a")).alias("b")


def pandas_sum(k: list[int]) -> Any:
    return udaf(lambda column: column.sum() + k[0], result_type=INT, func_type="pandas")(col("a")).alias("b")


#: Give a function whose results depend on a list; return what makes the table once that has changed.
PROGRAMS: dict[str, Callable[[TableEnvironment, Table, list[int]], Callable[[], Table]]] = {
    "FunctionMethods.create_temporary_function.function": lambda env, t, k: called(env, add(k)),
    "FunctionMethods.create_temporary_system_function.function": lambda env, t, k: registered(env, add(k)),
    "FunctionMethods.from_call.func": lambda env, t, k: at_once(env.from_call(Adds(k), t.as_argument("input"))),
    "an object": lambda env, t, k: called(env, udf(Scalar(k), result_type=INT)),
    "pandas": lambda env, t, k: called(env, udf(lambda s: s + k[0] * 10, result_type=INT, func_type="pandas")),
    "an aggregate": lambda env, t, k: called(env, udaf(Sums(k), result_type=INT, accumulator_type="ARRAY<INT>")),
    "in an expression": lambda env, t, k: at_once(t.select(add(k)(col("a")))),
    "an expression that is used later": lambda env, t, k: (lambda call: lambda: t.select(call))(add(k)(col("a"))),
    "CombiningMethods.join_lateral.table_function_call": lambda env, t, k: at_once(
        t.join_lateral(udtf(Twice(k), result_types=[INT])(col("a")).alias("b"))
    ),
    "CombiningMethods.left_outer_join_lateral.table_function_call": lambda env, t, k: at_once(
        t.left_outer_join_lateral(udtf(Twice(k), result_types=[INT])(col("a")).alias("b"))
    ),
    "Table.map.func": lambda env, t, k: at_once(t.map(udf(lambda r: r[0] + k[0], result_type=INT))),
    "Table.flat_map.func": lambda env, t, k: at_once(t.flat_map(udtf(lambda r: [r[0] + k[0]], result_types=[INT]))),
    "Table.flat_aggregate.func": lambda env, t, k: at_once(t.flat_aggregate(top(k)).select(col("b"))),
    "Table.process.func": lambda env, t, k: at_once(t.process(Adds(k))),
    "GroupedTable.aggregate.func": lambda env, t, k: at_once(
        t.group_by(col("a")).aggregate(pandas_sum(k)).select(col("a"), col("b"))
    ),
    "GroupedTable.flat_aggregate.func": lambda env, t, k: at_once(
        t.group_by(col("a")).flat_aggregate(top(k)).select(col("a"), col("b"))
    ),
    "Table.aggregate.func": lambda env, t, k: at_once(t.aggregate(pandas_sum(k)).select(col("b"))),
}

#: Parameters that need no program of their own, and why.
ELSEWHERE = {
    "PartitionedTable.process.func": "as Table.process",
    "WindowGroupedTable.aggregate.func": "as GroupedTable.aggregate",
    "Catalog.create_function.function": "the name of a class in a module",
    "Catalog.alter_function.new_function": "the name of a class in a module",
}

#: What has to be BATCH, or STREAMING.
ONLY_BATCH = {"Table.aggregate.func", "GroupedTable.aggregate.func"}
ONLY_STREAMING = {"Table.flat_aggregate.func", "GroupedTable.flat_aggregate.func"}


def test_no_method_that_takes_a_function_is_left_out() -> None:
    found = set()
    for module in pkgutil.walk_packages(scurry.table.__path__, "scurry.table."):
        for cls in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(cls) and issubclass(cls, ApiObject):
                found |= {each for each in _parameters_of(cls) if each not in ELSEWHERE}
    assert found <= PROGRAMS.keys()
    assert len(found) > 10


def _parameters_of(cls: type) -> Iterator[str]:
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        method = inspect.unwrap(method)
        for parameter in inspect.signature(method).parameters.values() if not name.startswith("_") else ():
            given = re.search("func", parameter.name) and re.search(r"Any|Function|Callable", str(parameter.annotation))
            if given or "Callable" in str(parameter.annotation):
                yield f"{method.__qualname__}.{parameter.name}"


def results(program: Any, streaming: bool, before: int, after: int) -> list[str]:
    k, env = [before], environment(streaming)
    table = env.from_elements([(1,), (2,)], DataTypes.ROW([DataTypes.FIELD("a", INT)]))
    env.create_temporary_view("t", table)
    made = program(env, table, k)
    k[0] = after
    with made().execute().collect() as rows:
        return sorted(map(str, rows))


@pytest.mark.parametrize("streaming", [False, True], ids=["BATCH", "STREAMING"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_function_sees_the_variables_of_its_first_use(name: str, streaming: bool) -> None:
    if name in (ONLY_BATCH if streaming else ONLY_STREAMING):
        pytest.skip("the function is of the other mode")
    program = PROGRAMS[name]
    given = results(program, streaming, 1, 1)
    assert results(program, streaming, 2, 2) != given
    assert results(program, streaming, 1, 2) == given


def test_a_function_used_again_is_that_of_its_first_use() -> None:
    k, env = [2], environment(False)
    t = env.from_elements([(1,), (2,)], ["a"])
    add_k = add(k)
    env.create_temporary_function("f1", add_k)
    k[0] = 3
    env.create_temporary_function("f2", add_k)
    k[0] = 4
    env.create_temporary_view("t", t.select(col("a"), add_k(col("a")).alias("b")))
    with env.sql_query("SELECT a, b, f1(a), f2(a) FROM t").execute().collect() as rows:
        assert [list(row) for row in rows] == [[1, 21, 21, 21], [2, 22, 22, 22]]


def test_elements_are_those_of_the_moment_when_they_are_given() -> None:
    elements = [[1], [2]]
    table = environment(False).from_elements(elements, ["a"])
    elements[0][0] = 77
    with table.execute().collect() as rows:
        assert [row[0] for row in rows] == [1, 2]


def test_a_function_that_cannot_be_pickled_is_refused_at_its_first_use() -> None:
    lock = threading.Lock()
    function = udf(lambda value: (lock, value)[1], result_type=INT)
    with pytest.raises(UnpicklableFunctionError, match="variable 'lock'"):
        environment(False).create_temporary_function("f", function)
