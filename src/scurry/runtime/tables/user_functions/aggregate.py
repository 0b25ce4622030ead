"""Aggregate functions of users, as the accumulators that built-in aggregates have."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.functions.aggregate.definition import Accumulator
from scurry.functions.definition import Session
from scurry.functions.user.definition import UserFunction
from scurry.logical_types import DataType
from scurry.python_values.results import ResultColumn
from scurry.relational.expressions import AggregateCall
from scurry.runtime.tables.user_functions.arguments import argument_values, opened
from scurry.runtime.tables.user_functions.failures import function_error, misfit_error
from scurry.runtime.tables.user_functions.vectorized import column_argument

__all__ = ["GeneralAccumulator", "user_accumulator"]


def user_accumulator(call: AggregateCall, session: Session) -> Accumulator:
    """Return what computes an aggregate of a user.

    Args:
        call: The call; its function is a UserFunction.
        session: The session.
    """
    types = [each.type for each in call.arguments]
    kind = _ColumnsAccumulator if call.function.is_vectorized else GeneralAccumulator
    return kind(call.function, types, session)


class GeneralAccumulator:
    """Aggregates row by row. The state of a group is its accumulator, pickled."""

    def __init__(self, function: UserFunction, types: Sequence[DataType], session: Session) -> None:
        """Open the function for the task."""
        self._function = function
        self._types = types
        self._zone = session.time_zone
        self._instance = opened(function, session)
        self._to_column = ResultColumn(function.result_type)

    def partial(self, columns: Sequence[Any], groups: Any, count: int) -> list[Any]:
        """Return the accumulators of groups of rows."""
        create = self._called(self._instance.create_accumulator)
        return self._changed([create() for _ in range(count)], columns, groups, self._instance.accumulate)

    def accumulate(self, states: Sequence[Any], columns: Sequence[Any], groups: Any) -> list[Any]:
        """Return the states after some rows, each added to the state of its group."""
        return self._changed(_unpickled(states[0]), columns, groups, self._instance.accumulate)

    def retract(self, states: Sequence[Any], columns: Sequence[Any], groups: Any) -> list[Any]:
        """Return the states after some rows, each taken back from the state of its group."""
        return self._changed(_unpickled(states[0]), columns, groups, self._instance.retract)

    def merge(self, states: Sequence[Any], groups: Any, count: int) -> list[Any]:
        """Return one state for each group of states; groups of one need no `merge` of the function."""
        parts: list[list[Any]] = [[] for _ in range(count)]
        for group, accumulator in zip(groups.tolist(), _unpickled(states[0]), strict=True):
            parts[group].append(accumulator)
        merge, create = self._called(self._instance.merge), self._called(self._instance.create_accumulator)
        merged = []
        for each in parts:
            first = each[0] if each else create()
            if len(each) > 1:
                merge(first, each[1:])
            merged.append(first)
        return _pickled(merged)

    def result(self, states: Sequence[Any]) -> Any:
        """Return the value of each state."""
        value = self._called(self._instance.get_value)
        results = [value(each) for each in _unpickled(states[0])]
        try:
            return self._to_column(results)
        except Exception as error:
            place, reason = self._to_column.misfit(results) or (0, error)
            raise misfit_error(self._function, results[place], reason, None) from error

    def _changed(self, accumulators: list[Any], columns: Sequence[Any], groups: Any, change: Any) -> list[Any]:
        values = argument_values(self._function, columns, self._types, len(groups), self._zone)
        for group, *arguments in zip(groups.tolist(), *values, strict=True):
            try:
                change(accumulators[group], *arguments)
            except Exception as error:
                raise function_error(self._function, error, tuple(arguments)) from error
        return _pickled(accumulators)

    def _called(self, method: Any) -> Any:
        def call(*arguments: Any) -> Any:
            try:
                return method(*arguments)
            except Exception as error:
                raise function_error(self._function, error) from error

        return call


class _ColumnsAccumulator:
    """Aggregates all rows of a group at once. The state of a group is its rows: a list for each argument."""

    def __init__(self, function: UserFunction, types: Sequence[DataType], session: Session) -> None:
        self._function = function
        self._types = types
        self._zone = session.time_zone
        self._instance = opened(function, session)
        self._to_column = ResultColumn(function.result_type)

    def partial(self, columns: Sequence[Any], groups: Any, count: int) -> list[Any]:
        order = np.argsort(groups, kind="stable")
        counts = np.bincount(groups, minlength=count)
        offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32))
        return [pa.ListArray.from_arrays(offsets, column.take(pa.array(order))) for column in columns]

    def merge(self, states: Sequence[Any], groups: Any, count: int) -> list[Any]:
        rows = np.repeat(groups, np.diff(np.asarray(states[0].offsets)))
        return self.partial([state.flatten() for state in states], rows, count)

    def result(self, states: Sequence[Any]) -> Any:
        results = [
            self._value([state[group].values for state in states]) for group in range(len(states[0]) if states else 0)
        ]
        try:
            return self._to_column(results)
        except Exception as error:
            place, reason = self._to_column.misfit(results) or (0, error)
            raise misfit_error(self._function, results[place], reason, None) from error

    def _value(self, columns: Sequence[pa.Array]) -> Any:
        if not columns or not len(columns[0]):
            return None  # Flink calls no function for no rows
        try:
            arguments = [
                column_argument(self._function, each, kind, self._zone)
                for each, kind in zip(columns, self._types, strict=True)
            ]
            accumulator = self._instance.create_accumulator()
            self._instance.accumulate(accumulator, *arguments)
            found = self._instance.get_value(accumulator)
        except Exception as error:
            raise function_error(self._function, error) from error
        return _plain(found)


def _plain(found: Any) -> Any:
    """Return the Python value of what a function on columns returns; None for what stands for no value."""
    if isinstance(found, tuple):
        return tuple(map(_plain, found))
    value = found.as_py() if isinstance(found, pa.Scalar) else found.item() if isinstance(found, np.generic) else found
    # NaN, NaT and NA: nothing else differs from itself, and NA is not even that.
    return None if type(value).__name__ in ("NaTType", "NAType") or value != value else value


def _pickled(accumulators: Sequence[Any]) -> list[Any]:
    return [pa.array([pickle.dumps(each, 5) for each in accumulators], pa.binary())]


def _unpickled(column: Any) -> list[Any]:
    return [pickle.loads(each) for each in column.to_pylist()]
