"""Typed expressions compiled to functions over the columns of a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.common.recursion import deep_recursion
from scurry.errors import EvaluationError, UnsupportedError
from scurry.sql.evaluation.user_functions.scalar import Describe, user_kernel
from scurry.sql.functions.casts.texts import fitted_constant
from scurry.sql.functions.catalogue import scalar_function
from scurry.sql.functions.definition import Argument, CallSite, Column, EvaluationContext, LazyArgument, ScalarFunction
from scurry.sql.plan.calls import is_constant
from scurry.sql.plan.expressions import Call, Expression, InputReference, Literal, UserFunctionCall
from scurry.sql.types import CharType, DoubleType, FloatType, VarCharType
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import from_value, naming_texts, repeated

Mask = np.ndarray[Any, np.dtype[np.bool_]]
#: Comparisons with those that are true where they are false.
_OPPOSITES: Final = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_COMPARING: Final = {*_OPPOSITES, "NULLIF"}

Evaluate = Callable[["_Rows"], Column]

#: From so many calls within calls on, evaluation needs a deeper stack.
_DEEP = 50


class _Rows:
    """Some rows of a batch, and the columns computed for them already."""

    def __init__(self, columns: Callable[[int], pa.Array], count: int, describe: Describe) -> None:
        self._column = columns
        self.describe = describe
        self._columns: dict[int, pa.Array] = {}
        self.count = count
        self.computed: dict[int, Column] = {}

    def column(self, index: int) -> pa.Array:
        found = self._columns.get(index)
        if found is None:
            found = self._columns[index] = self._column(index)
        return found

    def selected(self, mask: Mask) -> _Rows:
        selection = pa.array(mask)
        places = np.flatnonzero(mask)
        return _Rows(
            lambda index: self.column(index).filter(selection),
            len(places),
            lambda position: self.describe(int(places[position])),
        )


class CompiledExpressions:
    """Computes expressions for batches.

    Attributes:
        types: The Arrow types of the columns it returns.
    """

    def __init__(self, evaluators: Sequence[Evaluate], types: Sequence[pa.DataType], is_deep: bool = False) -> None:
        self._evaluators = evaluators
        self._is_deep = is_deep
        self.types = list(types)

    def __call__(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Return a column of every expression.

        Args:
            batch: The input, with a column for every position that the expressions refer to.

        Raises:
            EvaluationError: A function has no result for a value.
        """
        rows = _Rows(batch.column, batch.num_rows, lambda position: row_of(batch, position))
        with naming_texts(batch), deep_recursion() if self._is_deep else nullcontext():
            return [_array(evaluate(rows), rows.count) for evaluate in self._evaluators]

    def mask(self, batch: pa.RecordBatch) -> Mask:
        """Return where the first expression, a condition, is TRUE."""
        return np.asarray(self(batch)[0].fill_null(False))


@deep_recursion()
def compile_expressions(
    expressions: Sequence[Expression], session: EvaluationContext | None = None
) -> CompiledExpressions:
    """Compile expressions, once per task: constants are computed, functions bound, equal parts shared.

    Args:
        expressions: The expressions; their input references are positions in the batches.

    Returns:
        The function from batches to columns.

    Raises:
        UnsupportedError: An expression is of a kind that rules have to remove before, as a subquery.
    """
    compiler = _Compiler(session or EvaluationContext(), Counter(_parts(expressions)))
    evaluators = [compiler.compile_whole(each) for each in expressions]
    is_deep = any(map(_is_deep, expressions))
    return CompiledExpressions(evaluators, [arrow_type(each.type) for each in expressions], is_deep)


def row_of(batch: pa.RecordBatch, position: int) -> dict[str, Any]:
    """Return a row for a message: its values by the names of their columns."""
    values = {name: column[position].as_py() for name, column in zip(batch.schema.names, batch.columns, strict=True)}
    return values


def _parts(expressions: Sequence[Expression]) -> Iterator[Call | UserFunctionCall]:
    waiting = list(expressions)
    while waiting:
        part = waiting.pop()
        if isinstance(part, Call | UserFunctionCall):
            yield part
            waiting.extend(part.arguments)


def _is_deep(expression: Expression) -> bool:
    """Return whether calls are nested so deeply that their functions may not find room in Python's default stack."""
    level = [expression]
    for _ in range(_DEEP):
        level = [part for each in level if isinstance(each, Call | UserFunctionCall) for part in each.arguments]
        if not level:
            return False
    return True


def _array(column: Column, rows: int) -> pa.Array:
    return repeated(column, rows) if isinstance(column, pa.Scalar) else column


class _Compiler:
    def __init__(self, session: EvaluationContext, occurrences: Counter[Call | UserFunctionCall]) -> None:
        self._session = session
        self._occurrences = occurrences
        self._shared: dict[Call | UserFunctionCall, Evaluate] = {}

    def compile(self, expression: Expression) -> Evaluate:
        if isinstance(expression, InputReference):
            index = expression.index
            return lambda rows: rows.column(index)
        if isinstance(expression, Literal):
            scalar = from_value(expression.value, expression.type)
            return lambda rows: scalar
        if not isinstance(expression, Call | UserFunctionCall):
            raise UnsupportedError(f"{type(expression).__name__} cannot be computed for a row")
        found = self._shared.get(expression)
        if found is None:
            found = self._call(expression) if isinstance(expression, Call) else self._user_call(expression)
            if self._occurrences[expression] > 1 and _is_repeatable(expression):
                found = _once(found, len(self._shared))
            if _is_repeatable(expression):
                self._shared[expression] = found
        return found

    def compile_whole(self, expression: Expression) -> Evaluate:
        """Compile an expression that is not part of a constant: a constant text gets the length of its type."""
        evaluate = self.compile(expression)
        if not (isinstance(expression, Call) and isinstance(expression.type, CharType | VarCharType)):
            return evaluate
        fit = fitted_constant(expression.type)
        if fit is None or not is_constant(expression):
            return evaluate
        return lambda rows: fit(evaluate(rows))

    def _call(self, call: Call) -> Evaluate:
        call = _without_not(call)
        function = scalar_function(call.function)
        compile_argument = self.compile if is_constant(call) else self.compile_whole
        arguments = [compile_argument(each) for each in call.arguments]
        if call.function in _COMPARING and _is_floating(call) and call.arguments[0] == call.arguments[1]:
            # Flink's planner knows that a value is equal to itself, also where it is NaN.
            arguments = [_without_nan(each) for each in arguments]
        known = tuple(_known(each) for each in call.arguments)
        site = CallSite(call.function, known, self._session, call.type)
        evaluate = _bound(function, site, call, arguments)
        if function.is_deterministic and is_constant(call):
            return _folded(evaluate)
        return evaluate

    def _user_call(self, call: UserFunctionCall) -> Evaluate:
        arguments = [self.compile(each) for each in call.arguments]
        kernel = user_kernel(call, self._session)
        return lambda rows: kernel([each(rows) for each in arguments], rows.count, rows.describe)


def _is_floating(call: Call) -> bool:
    return isinstance(call.arguments[0].type, DoubleType | FloatType)


def _without_not(call: Call) -> Call:
    """Return a comparison instead of NOT and its opposite, as Flink's planner does: for NaN both are false."""
    if call.function != "NOT" or not isinstance(call.arguments[0], Call):
        return call
    compared = call.arguments[0]
    opposite = _OPPOSITES.get(compared.function)
    return call if opposite is None or not _is_floating(compared) else replace(compared, function=opposite)


def _without_nan(evaluate: Evaluate) -> Evaluate:
    def numbers(rows: _Rows) -> Column:
        column = evaluate(rows)
        return pc.if_else(pc.is_nan(column), pa.scalar(0.0, column.type), column)

    return numbers


def _is_repeatable(call: Call | UserFunctionCall) -> bool:
    """Return whether a call has the same value wherever it stands."""
    return isinstance(call, Call) or call.function.is_deterministic


def _known(expression: Expression) -> Argument:
    if isinstance(expression, Literal):
        return Argument(expression.type, True, expression.value)
    return Argument(expression.type, function=expression.function if isinstance(expression, Call) else None)


def _bound(function: ScalarFunction, site: CallSite, call: Call, arguments: list[Evaluate]) -> Evaluate:
    if function.bind_lazily is not None:
        lazy_kernel = function.bind_lazily(site, call.type)
        return lambda rows: lazy_kernel([_argument(each, rows) for each in arguments], rows.count)
    assert function.bind is not None, f"{function.name} has neither bind nor bind_lazily"
    kernel = function.bind(site, call.type)
    return lambda rows: kernel([evaluate(rows) for evaluate in arguments], rows.count)


def _argument(evaluate: Evaluate, rows: _Rows) -> LazyArgument:
    def argument(selection: Mask | None = None) -> Column:
        return evaluate(rows if selection is None else rows.selected(selection))

    return argument


def _folded(evaluate: Evaluate) -> Evaluate:
    try:
        column = evaluate(_Rows(_no_column, 1, _no_column))
    except EvaluationError:
        # It fails only if a row needs it: it may stand in a branch that none takes.
        return evaluate
    scalar = column if isinstance(column, pa.Scalar) else column[0]
    if pa.types.is_floating(scalar.type) and scalar.as_py() == 0.0:
        # The planner of Flink computes constants as decimal numbers, which have no negative zero.
        scalar = pa.scalar(0.0, scalar.type)
    return lambda rows: scalar


def _no_column(index: int) -> pa.Array:
    raise AssertionError(f"a constant refers to column {index}")


def _once(evaluate: Evaluate, number: int) -> Evaluate:
    def computed(rows: _Rows) -> Column:
        found = rows.computed.get(number)
        if found is None:
            found = rows.computed[number] = evaluate(rows)
        return found

    return computed
