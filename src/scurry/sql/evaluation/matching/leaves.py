"""The parts of measures and conditions that are looked up in a match: columns of its rows, aggregates, its time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from scurry.sql import types
from scurry.sql.evaluation.batch.aggregating import accumulator
from scurry.sql.evaluation.matching.rows import KeptRow, RowExpressions
from scurry.sql.functions.aggregate.catalogue import numbers_rows
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.expressions import AggregateCall, Expression, InputReference, Literal
from scurry.sql.plan.matching import ALL_VARIABLES, MatchTime, PatternAggregate, PatternReference
from scurry.sql.plan.rewriting import rewritten
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import from_values, to_values

Rows: TypeAlias = Sequence[KeptRow]


class Place(Protocol):
    """A match, or a row with the rows before it: the place at which pattern references are looked up.

    Attributes:
        time: The time of the match, in milliseconds.
        processing_time: When it is computed.
    """

    time: int
    processing_time: int

    def rows(self, variable: str) -> Rows: ...

    def all_rows(self) -> Rows:
        """Return the rows that all variables have taken, in the order of the pattern."""
        ...


#: Initial values of Java's variables by type, as in Flink's generated code.
_UNSET: Final[dict[type[types.DataType], Any]] = {
    types.BooleanType: False,
    types.CharType: "",
    types.DoubleType: -1.0,
    types.FloatType: -1.0,
    types.VarCharType: "",
    **dict.fromkeys((types.TinyIntType, types.SmallIntType, types.IntType, types.BigIntType), -1),
}

Leaf: TypeAlias = Callable[[Sequence[Place]], list[Any]]


class PatternReferences:
    """Collects the leaves of expressions, and returns them as columns of a row that has one for each."""

    def __init__(self, rows: RowExpressions, session: EvaluationContext) -> None:
        self._rows = rows
        self._session = session
        self._found: dict[Expression, int] = {}
        self._leaves: list[Leaf] = []
        self._types: list[Any] = []

    def bound(self, expression: Expression) -> Expression:
        """Return an expression over the columns of leaves."""

        def replaced(node: Expression) -> Expression:
            if isinstance(node, PatternReference | PatternAggregate | MatchTime):
                return InputReference(self._place(node), node.type)
            return node

        return rewritten(expression, replaced)

    def columns(self, places: Sequence[Place]) -> list[Any]:
        """Return a column of Arrow for each leaf, with a row for each place."""
        return [from_values(leaf(places), kind) for leaf, kind in zip(self._leaves, self._types, strict=True)]

    def values(self, place: Place) -> list[Any]:
        return [leaf((place,))[0] for leaf in self._leaves]

    def _place(self, node: PatternReference | PatternAggregate | MatchTime) -> int:
        known = self._found.get(node)
        if known is None:
            known = self._found[node] = len(self._leaves)
            self._types.append(arrow_type(node.type))
            if isinstance(node, PatternReference):
                self._leaves.append(_reference(node, self._rows))
            elif isinstance(node, PatternAggregate):
                self._leaves.append(_Aggregate(node, self._rows, self._session))
            else:
                self._leaves.append(_time(node))
        return known


def _rows_of(variable: str) -> Callable[[Place], Rows]:
    if variable == ALL_VARIABLES:
        return lambda place: place.all_rows()
    return lambda place: place.rows(variable)


def _reference(node: PatternReference, rows: RowExpressions) -> Leaf:
    value = rows.place(InputReference(node.index, node.type))
    taken, offset = _rows_of(node.variable), node.offset
    at = offset if node.first else -1 - offset
    # Flink reads the memory of a column that is NOT NULL without asking whether there is a row.
    missing = None if node.type.is_nullable else _UNSET.get(type(node.type))

    def look_up(places: Sequence[Place]) -> list[Any]:
        return [found[at][value] if len(found := taken(place)) > offset else missing for place in places]

    return look_up


def _time(node: MatchTime) -> Leaf:
    if node.is_processing_time:
        return lambda places: [place.processing_time for place in places]
    return lambda places: [place.time for place in places]


class _Aggregate:
    def __init__(self, node: PatternAggregate, rows: RowExpressions, session: EvaluationContext) -> None:
        assert node.variable is not None, "the planner refuses an aggregate of no variable"
        self._taken = _rows_of(node.variable)
        arguments = node.call.arguments
        self._places = [None if isinstance(each, Literal) else rows.place(each) for each in arguments]
        self._literals = arguments
        self._types = [arrow_type(each.type) for each in arguments]
        self._accumulator = accumulator(_with_columns(node.call), session)

    def __call__(self, places: Sequence[Place]) -> list[Any]:
        taken = [self._taken(place) for place in places]
        groups = np.repeat(np.arange(len(taken)), [len(rows) for rows in taken])
        columns = [self._column(taken, place, number) for number, place in enumerate(self._places)]
        states = self._accumulator.partial(columns, groups, len(taken))
        return to_values(self._accumulator.result(states))

    def _column(self, taken: Sequence[Rows], place: int | None, number: int) -> Any:
        if place is None:
            literal = self._literals[number]
            assert isinstance(literal, Literal)
            values = [literal.value for rows in taken for _ in rows]
        else:
            values = [row[place] for rows in taken for row in rows]
        return from_values(values, self._types[number])


def _with_columns(call: AggregateCall) -> AggregateCall:
    arguments = tuple(
        each if isinstance(each, Literal) else InputReference(number, each.type)
        for number, each in enumerate(call.arguments)
    )
    # Functions that number rows elsewhere are computed over all rows here.
    function = "COUNT" if numbers_rows(call.function) else call.function
    return replace(call, function=function, arguments=arguments)
