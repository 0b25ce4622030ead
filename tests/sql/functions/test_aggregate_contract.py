"""Every aggregate declares its properties, which hold, and no module has a list of aggregates of its own."""

from __future__ import annotations

import ast
import dataclasses
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import scurry
from scurry.sql.evaluation.user_functions.aggregate import GeneralAccumulator, _ColumnsAccumulator
from scurry.sql.functions.aggregate.catalogue import aggregate_names, lookup_aggregate, properties_of
from scurry.sql.functions.aggregate.definition import (
    USER_DEFINED,
    Accumulator,
    Additive,
    AggregateFunction,
    AggregateProperties,
    AggregateSite,
    Selecting,
)
from scurry.sql.functions.aggregate.moments import StableMoments
from scurry.sql.functions.bitmaps import bits_of, packed
from scurry.sql.functions.definition import Argument, EvaluationContext
from scurry.sql.types import BigIntType, BitmapType, DataType, DoubleType, IntType, SymbolType, VarCharType
from scurry.sql.types.arrow import arrow_type, as_array
from scurry.sql.types.values import to_values
from support.cases import cases

_SOURCES = Path(scurry.__file__).parent
#: Modules that may name aggregates side by side, and why: none decides what an aggregate can do.
_TRANSLATIONS = {
    "spark/tables/aggregates.py": "the texts of aggregates in Spark's SQL",
    "sql/planner/explain/batch/aggregates.py": "what Flink's implementations of aggregates are like, for EXPLAIN",
    "sql/planner/explain/written.py": "sums as Flink rewrites them, for EXPLAIN",
    "sql/planner/rules/explained/averages.py": "sums as Flink rewrites them, for EXPLAIN",
    "sql/planner/rules/explained/windows.py": "sums as Flink rewrites them, for EXPLAIN",
    "sql/functions/table_types.py": "results that the Table API declares otherwise, of scalar functions too",
    "sql/statements/table_operations/flink_names.py": "names of functions in the Table API",
    "table/_operations/windows.py": "what Flink's Table API supposes of windows without rows",
}


def _functions() -> list[AggregateFunction]:
    found = {id(function): function for name in aggregate_names() if (function := lookup_aggregate(name)) is not None}
    return list(found.values())


def _each(*properties: str) -> pytest.MarkDecorator:
    """Run a test for each aggregate of groups that declares some properties."""
    found = [each for each in _functions() if each.make is not None]
    chosen = [each for each in found if all(getattr(each.properties, name) for name in properties)]
    return pytest.mark.parametrize("function", [pytest.param(each, id=each.name) for each in chosen])


class _Call:
    """An accumulator of a function, and random rows for it."""

    def __init__(self, function: AggregateFunction, seed: int, is_over: bool = False) -> None:
        self.random = random.Random(f"{function.name} {seed}")
        self.arguments = _arguments(function)
        session = EvaluationContext()
        site = AggregateSite(function.name, self.arguments, session, is_over=is_over)
        signature = function.infer(site)
        assert function.make is not None
        self.accumulator = function.make(site, signature.result_type)

    def rows(self, count: int, nulls: bool = True) -> list[pa.Array]:
        return [self._column(each, place, count, nulls) for place, each in enumerate(self.arguments)]

    def _column(self, argument: Argument, place: int, count: int, nulls: bool) -> pa.Array:
        kind = arrow_type(argument.type)
        if argument.is_literal:
            return pa.array([argument.value] * count, kind)
        keys = self.random.sample(range(100), count)  # those of JSON_OBJECTAGG are unique
        values = [self._value(argument.type, place, key) for key in keys]
        hide = nulls and len(self.arguments) == 1
        return pa.array([None if hide and self.random.random() < 0.2 else each for each in values], kind)

    def _value(self, data_type: DataType, place: int, key: int) -> Any:
        if isinstance(data_type, BitmapType):
            return packed(bits_of(self.random.sample(range(20), 3)))
        number = key if place == 0 and len(self.arguments) > 1 else self.random.randint(-8, 8)
        return f"v{number}" if isinstance(data_type, VarCharType) else number

    def state(self, columns: list[pa.Array]) -> list[pa.Array]:
        return _whole(self.accumulator.partial(columns, np.zeros(len(columns[0]), dtype=np.int64), 1))

    def retracted(self, columns: list[pa.Array]) -> list[pa.Array]:
        return _whole(self.accumulator.retract(columns, np.zeros(len(columns[0]), dtype=np.int64), 1))

    def merged(self, *states: list[pa.Array]) -> list[pa.Array]:
        columns = [pa.concat_arrays(each) for each in zip(*states, strict=True)]
        return _whole(self.accumulator.merge(columns, np.zeros(len(states), dtype=np.int64), 1))

    def value(self, state: list[pa.Array]) -> Any:
        column = as_array(self.accumulator.result(state))
        (found,) = to_values(column)
        return dict(found) if pa.types.is_map(column.type) else found

    def value_of(self, columns: list[pa.Array]) -> Any:
        return self.value(self.state(columns))


def _arguments(function: AggregateFunction) -> tuple[Argument, ...]:
    name = function.name
    symbol = Argument(SymbolType(), True, "NULL ON NULL")
    if name == "PERCENTILE":
        return Argument(BigIntType()), Argument(DoubleType(), True, 0.5)
    if name.startswith("JSON_OBJECT"):
        return Argument(VarCharType(10)), Argument(BigIntType()), symbol
    if name.startswith("JSON_ARRAY"):
        return Argument(BigIntType()), symbol
    if name == "LISTAGG":
        return (Argument(VarCharType(10)),)
    if name.startswith("BITMAP_"):
        return (Argument(IntType() if "BUILD" in name else BitmapType()),)
    return (Argument(BigIntType()),)


def _whole(columns: list[Any]) -> list[pa.Array]:
    return list(map(as_array, columns))


def _slices(columns: list[pa.Array], cuts: list[int]) -> list[list[pa.Array]]:
    bounds = [0, *sorted(cuts), len(columns[0])]
    return [[each.slice(one, other - one) for each in columns] for one, other in zip(bounds, bounds[1:], strict=False)]


def _rounded(value: Any) -> Any:
    return round(value, 9) if isinstance(value, float) else value


def test_properties_have_no_defaults() -> None:
    assert all(each.default is dataclasses.MISSING for each in dataclasses.fields(AggregateProperties))


@pytest.mark.parametrize("function", _functions(), ids=lambda each: each.name)
def test_an_aggregate_is_of_groups_or_of_places(function: AggregateFunction) -> None:
    assert (function.make is None) == (function.place is not None) == (function.at_places is not None)


@pytest.mark.parametrize("kind", [GeneralAccumulator, _ColumnsAccumulator])
def test_user_defined_functions_have_the_contract_of_built_in_ones(kind: type) -> None:
    assert issubclass(kind, Accumulator)
    assert properties_of(object()) is USER_DEFINED


@pytest.mark.parametrize("is_over", [False, True])
@_each()
def test_merged_parts_are_the_whole(function: AggregateFunction, is_over: bool) -> None:
    for seed in range(cases(12)):
        call = _Call(function, seed, is_over)
        if function.name == "SINGLE_VALUE":
            one = call.rows(1)
            assert call.value(call.merged(call.state(one), call.state(_slices(one, [1])[1]))) == call.value_of(one)
            continue
        columns = call.rows(12)
        parts = _slices(columns, [call.random.randint(0, 12) for _ in range(3)])
        found = call.value(call.merged(*map(call.state, parts)))
        assert _rounded(found) == _rounded(call.value_of(columns))


@pytest.mark.parametrize("is_over", [False, True])
@_each()
def test_retracting_what_was_added_gives_the_value_before(function: AggregateFunction, is_over: bool) -> None:
    for seed in range(cases(12)):
        call = _Call(function, seed, is_over)
        assert call.accumulator.retractable == isinstance(call.accumulator, Additive)
        if not call.accumulator.retractable:
            with pytest.raises(NotImplementedError):
                call.retracted(call.rows(1))
            return
        before, more = call.rows(6), call.rows(4)
        found = call.merged(call.state(before), call.state(more), call.retracted(more))
        assert call.value(found) == call.value_of(before)


def test_moments_take_back_the_values_that_were_added() -> None:
    numbers = [3.0, 5.0, 1.0, 7.0]
    state = before = StableMoments.advanced((0, 0.0, 0.0), 2.0, 1)
    for sign in (1, -1):
        for number in numbers[::sign]:
            state = StableMoments.advanced(state, number, sign)
    assert state == pytest.approx(before)


@_each()
def test_the_order_of_rows_matters_where_it_is_declared(function: AggregateFunction) -> None:
    differs = False
    for seed in range(cases(12)):
        call = _Call(function, seed)
        columns = call.rows(1 if function.name == "SINGLE_VALUE" else 8)
        order = list(range(len(columns[0])))
        call.random.shuffle(order)
        shuffled = [each.take(pa.array(order)) for each in columns]
        differs |= _rounded(call.value_of(shuffled)) != _rounded(call.value_of(columns))
    assert differs != function.properties.order_free


@_each("distinct_free")
def test_repeated_values_change_nothing_where_it_is_declared(function: AggregateFunction) -> None:
    for seed in range(cases(12)):
        call = _Call(function, seed)
        columns = call.rows(8)
        assert call.value_of([pa.concat_arrays([each, each[:5]]) for each in columns]) == call.value_of(columns)


@pytest.mark.parametrize("is_over", [False, True])
@_each()
def test_selected_values_are_those_of_rows(function: AggregateFunction, is_over: bool) -> None:
    call = _Call(function, 0, is_over)
    assert function.properties.selects_value == isinstance(call.accumulator, Selecting)
    if function.properties.selects_value:
        (column,) = call.rows(8)
        assert call.value_of([column]) in column.to_pylist()


@_each()
def test_the_value_of_no_rows_is_the_declared_one(function: AggregateFunction) -> None:
    call = _Call(function, 0)
    assert call.value_of(call.rows(0)) == function.properties.value_of_nothing


@_each("is_value_of_one_row")
def test_the_value_of_one_row_is_its_argument(function: AggregateFunction) -> None:
    for seed in range(cases(12)):
        call = _Call(function, seed)
        columns = call.rows(1)
        assert call.value_of(columns) == columns[0][0].as_py()


@_each("growth")
def test_more_rows_move_the_value_in_the_declared_direction(function: AggregateFunction) -> None:
    for seed in range(cases(12)):
        call = _Call(function, seed)
        columns = call.rows(8, nulls=False)
        values = [call.value_of([each[:count] for each in columns]) for count in range(1, 9)]
        assert values == sorted(values, reverse=function.properties.growth < 0)


def test_no_module_has_a_list_of_aggregates() -> None:
    found = [
        f"{path.relative_to(_SOURCES)}:{line}: {', '.join(names)}"
        for path in sorted(_SOURCES.rglob("*.py"))
        if _SOURCES / "sql" / "functions" / "aggregate" not in path.parents
        and path.relative_to(_SOURCES).as_posix() not in _TRANSLATIONS
        for line, names in _lists_of_aggregates(ast.parse(path.read_text()))
    ]
    assert not found, "declare a property of the functions instead:\n" + "\n".join(found)


def test_no_operator_looks_for_attributes_of_accumulators() -> None:
    packages = [
        _SOURCES / "sql" / each
        for each in ("operators/aggregation", "operators/groups", "operators/over", "operators/windows")
    ]
    packages += [_SOURCES / "sql" / "evaluation" / each for each in ("batch", "matching")]
    found = [
        f"{path.relative_to(_SOURCES)}:{node.lineno}"
        for package in packages
        for path in sorted(package.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("hasattr", "getattr")
    ]
    assert not found, "make it part of the contract in functions/aggregate/definition.py: " + ", ".join(found)


@cache
def _names() -> frozenset[str]:
    return frozenset(aggregate_names())


def _lists_of_aggregates(module: ast.Module) -> Iterator[tuple[int, list[str]]]:
    for node in ast.walk(module):
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            texts: list[Any] = [each.value for each in node.elts if isinstance(each, ast.Constant)]
        elif isinstance(node, ast.Dict):
            texts = [each.value for each in node.keys if isinstance(each, ast.Constant)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts = node.value.split()
        else:
            continue
        if len(texts) > 1 and all(isinstance(each, str) and each in _names() for each in texts):
            yield node.lineno, texts
