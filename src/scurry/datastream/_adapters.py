"""Adapters of simple functions to keyed process functions, so that they can use keyed state through their context."""

from __future__ import annotations

from typing import Any

from scurry.common.types import Row
from scurry.datastream.functions.base import Function, RuntimeContext
from scurry.datastream.functions.process import KeyedCoProcessFunction, KeyedProcessFunction
from scurry.datastream.functions.transformations import MapFunction


class FunctionWrapper(Function):
    """Base of adapters: open and close the wrapped function."""

    def __init__(self, function: Any) -> None:
        """Wrap a function object, or a callable without a life cycle."""
        self.function = function

    def open(self, runtime_context: RuntimeContext) -> None:
        if isinstance(self.function, Function):
            self.function.open(runtime_context)

    def close(self) -> None:
        if isinstance(self.function, Function):
            self.function.close()


class _OneInput(FunctionWrapper, KeyedProcessFunction):
    method = ""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self.call = getattr(function, self.method) if isinstance(function, Function) else function


class KeyedMap(_OneInput):
    """Adapter of a map function."""

    method = "map"

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        """Emit one result."""
        return (self.call(value),)


class KeyedFlatMap(_OneInput):
    """Adapter of a flat-map function."""

    method = "flat_map"

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        """Emit the results."""
        return self.call(value)


class KeyedFilter(_OneInput):
    """Adapter of a filter function."""

    method = "filter"

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        """Emit the record if the filter accepts it."""
        return (value,) if self.call(value) else ()


class KeyedCoMap(FunctionWrapper, KeyedCoProcessFunction):
    """Adapter of a co-map function; results of None are dropped."""

    def process_element1(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> Any:
        """Emit the result for the first stream."""
        result = self.function.map1(value)
        return () if result is None else (result,)

    def process_element2(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> Any:
        """Emit the result for the second stream."""
        result = self.function.map2(value)
        return () if result is None else (result,)


class KeyedCoFlatMap(FunctionWrapper, KeyedCoProcessFunction):
    def process_element1(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> Any:
        """Emit the results for the first stream."""
        return self.function.flat_map1(value)

    def process_element2(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> Any:
        """Emit the results for the second stream."""
        return self.function.flat_map2(value)


class Projection(MapFunction):
    """Keep some fields of a tuple."""

    def __init__(self, indexes: tuple[int, ...]) -> None:
        """Keep the fields at `indexes`, in that order."""
        self.indexes = indexes

    def map(self, value: Any) -> tuple[Any, ...]:
        return tuple([value[index] for index in self.indexes])


class RenamedFields(MapFunction):
    """Rename fields: drop the names of rows, so that they get the names of the declared result type."""

    def map(self, value: Row) -> Row:
        """Return the row without names, and the rows in it."""
        row = Row(*[self.map(each) if isinstance(each, Row) else each for each in value])
        row.set_row_kind(value.get_row_kind())
        return row
