"""Aggregate user-defined functions, as the accumulators that built-in aggregates have."""

from __future__ import annotations

import inspect
import itertools
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.sql.evaluation.user_functions.arguments import argument_values, checked, opened, pieces, result_column
from scurry.sql.evaluation.user_functions.failures import ended_error, function_error, misfit_error
from scurry.sql.evaluation.user_functions.vectorized import column_argument
from scurry.sql.functions.aggregate.definition import Accumulator
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.plan.expressions import AggregateCall
from scurry.sql.types import DataType
from scurry.sql.values.results import ResultColumn


def user_accumulator(call: AggregateCall, session: EvaluationContext) -> Accumulator:
    """Return the accumulator of a user-defined aggregate function."""
    types = [each.type for each in call.arguments]
    kind = _ColumnsAccumulator if call.function.is_vectorized else GeneralAccumulator
    return kind(call.function, types, session)


class GeneralAccumulator(Accumulator):
    """Aggregates row by row. The state of a group is its accumulator, pickled."""

    def __init__(self, function: UserFunction, types: Sequence[DataType], session: EvaluationContext) -> None:
        """Open the function for the task."""
        self._function = function
        self._types = types
        self._session = session
        self._to_column = ResultColumn(function.result_type)
        self._pieces = pieces(session)
        self.instance = opened(function, session)
        self.create = self._called(self.instance.create_accumulator)

    def partial(self, columns: Sequence[Any], groups: Any, count: int) -> list[Any]:
        """Return the accumulators of groups of rows, as a column."""
        return _pickled(self.accumulators(columns, groups, count))

    def accumulate(self, states: Sequence[Any], columns: Sequence[Any], groups: Any) -> list[Any]:
        """Return the states after some rows, each added to the state of its group."""
        accumulators = _unpickled(states[0])
        self.change(accumulators, columns, groups)
        return _pickled(accumulators)

    def merge(self, states: Sequence[Any], groups: Any, count: int) -> list[Any]:
        """Return one state for each group of states; groups of one need no `merge` of the function."""
        parts: list[list[Any]] = [[] for _ in range(count)]
        for group, accumulator in zip(groups.tolist(), _unpickled(states[0]), strict=True):
            parts[group].append(accumulator)
        merge = self._called(self.instance.merge)
        merged = []
        for each in parts:
            first = each[0] if each else self.create()
            if len(each) > 1:
                merge(first, each[1:])
            merged.append(first)
        return _pickled(merged)

    def result(self, states: Sequence[Any]) -> Any:
        return self._column(self._values(_unpickled(states[0])))

    def accumulators(self, columns: Sequence[Any], groups: Any, count: int) -> list[Any]:
        found = [self.create() for _ in range(count)]
        self.change(found, columns, groups)
        return found

    def change(self, accumulators: Sequence[Any], columns: Sequence[Any], groups: Any, signs: Any = None) -> None:
        """Add rows to the accumulators of their groups, or take them back.

        Args:
            accumulators: The accumulators, which are changed.
            groups: For each row the place of its accumulator.
            signs: For each row 1 to add it, -1 to take it back; None to add all.

        Raises:
            OperatorError: The function fails.
        """
        values = argument_values(self._function, columns, self._types, len(groups), self._session.time_zone)
        targets = map(accumulators.__getitem__, groups.tolist())
        added = signs is None or (signs > 0).all()
        rows = [targets if added else zip(signs.tolist(), targets, strict=True), *map(iter, values)]
        call = self.instance.accumulate if added else self._add_or_retract
        done: list[None] = []
        for first, count in self._pieces.of(len(groups)):
            try:
                done.extend(map(call, *(itertools.islice(each, count) for each in rows)))
            except Exception as error:
                raise function_error(self._function, error, self._row(values, len(done))) from error
            if len(done) < first + count:
                raise ended_error(self._function, self._row(values, len(done)))

    def _add_or_retract(self, target: tuple[int, Any], *arguments: Any) -> None:
        sign, accumulator = target
        (self.instance.accumulate if sign > 0 else self.instance.retract)(accumulator, *arguments)

    def advanced(
        self, states: Sequence[bytes | None], columns: Sequence[Any], groups: Any, signs: Any
    ) -> tuple[pa.Array, list[bytes]]:
        """Change groups by rows.

        Args:
            states: For each group its state; None for a new one.
            groups: For each row the place of its group.
            signs: As for `change`.

        Returns:
            The values of the groups before, NULL for new ones, followed by those after the rows; and their states.
        """
        accumulators = [self.create() if each is None else pickle.loads(each) for each in states]
        known = iter(
            self._values([each for each, state in zip(accumulators, states, strict=True) if state is not None])
        )
        before = [None if state is None else next(known) for state in states]
        self.change(accumulators, columns, groups, signs)
        values = self._column([*before, *self._values(accumulators)])
        return values, [pickle.dumps(each, 5) for each in accumulators]

    def _row(self, values: Sequence[Any], place: int) -> dict[str, Any] | tuple[Any, ...]:
        """Return the arguments of a row, by the names that `accumulate` has for them."""
        row = tuple(next(itertools.islice(each, place, None)) for each in values)
        names = list(inspect.signature(self.instance.accumulate).parameters.values())[1:]
        if len(names) != len(row) or any(each.kind is not each.POSITIONAL_OR_KEYWORD for each in names):
            return row
        return {each.name: value for each, value in zip(names, row, strict=True)}

    def _values(self, accumulators: Sequence[Any]) -> list[Any]:
        try:
            found = list(self._to_column.as_returned(map(self.instance.get_value, accumulators)))
        except Exception as error:
            raise function_error(self._function, error) from error
        if len(found) < len(accumulators):
            raise ended_error(self._function)
        return found

    def _column(self, results: list[Any]) -> pa.Array:
        return result_column(self._function, self._to_column, results, lambda place: None)

    def _called(self, method: Any) -> Any:
        def call(*arguments: Any) -> Any:
            try:
                return method(*arguments)
            except Exception as error:
                raise function_error(self._function, error) from error

        return call


class _ColumnsAccumulator(Accumulator):
    """Aggregates all rows of a group at once. The state of a group is its rows: a list for each argument."""

    def __init__(self, function: UserFunction, types: Sequence[DataType], session: EvaluationContext) -> None:
        self._function = function
        self._types = types
        self._session = session
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
        groups = checked(range(len(states[0]) if states else 0), self._session)
        results = [self._value([state[group].values for state in states]) for group in groups]
        return result_column(self._function, self._to_column, results, lambda place: None)

    def _value(self, columns: Sequence[pa.Array]) -> Any:
        if not columns or not len(columns[0]):
            return None  # Flink calls no function for no rows
        try:
            arguments = [
                column_argument(self._function, each, kind, self._session.time_zone)
                for each, kind in zip(columns, self._types, strict=True)
            ]
            accumulator = self._instance.create_accumulator()
            self._instance.accumulate(accumulator, *arguments)
            (found,) = self._to_column.as_returned((self._instance.get_value(accumulator),))
        except Exception as error:
            raise function_error(self._function, error) from error
        if isinstance(found, pa.Array | pa.ChunkedArray) or type(found).__name__ in ("Series", "DataFrame"):
            reason = ValueError("an aggregate function returns a value, not a column")
            raise misfit_error(self._function, found, reason, None)
        return _plain(found)


def _plain(found: Any) -> Any:
    """Return the Python value of a result of a function on columns; None for a missing value."""
    if isinstance(found, tuple):
        return tuple(map(_plain, found))
    value = found.as_py() if isinstance(found, pa.Scalar) else found.item() if isinstance(found, np.generic) else found
    # NaN, NaT and NA: nothing else differs from itself, and NA is not even that.
    return None if type(value).__name__ in ("NaTType", "NAType") or value != value else value


def _pickled(accumulators: Sequence[Any]) -> list[Any]:
    return [pa.array([pickle.dumps(each, 5) for each in accumulators], pa.binary())]


def _unpickled(column: Any) -> list[Any]:
    return [pickle.loads(each) for each in column.to_pylist()]
