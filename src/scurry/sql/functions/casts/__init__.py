"""CAST: how the values of one type become those of another.

`numbers`, `texts`, `parsing`, `times` and `nested` have the casts; which ones there are is said by
`scurry.sql.types.cast_rules`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from scurry.errors import EvaluationError
from scurry.sql.functions.casts.nested import nested_cast
from scurry.sql.functions.casts.numbers import number_cast
from scurry.sql.functions.casts.parsing import parse_cast
from scurry.sql.functions.casts.texts import fitted_text, text_cast
from scurry.sql.functions.casts.times import time_cast
from scurry.sql.functions.definition import Column, EvaluationContext
from scurry.sql.functions.kernels import null_column, on_values
from scurry.sql.types import BinaryType, BooleanType, CharType, DataType, NullType, VarBinaryType, VarCharType
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.atomic_types import MAX_LENGTH
from scurry.sql.types.families import BINARY, CHARACTER, DATETIME, NUMERIC, same_type

__all__ = ["cast_kernel"]

Cast = Callable[[Column], Column]


def cast_kernel(source: DataType, target: DataType, session: EvaluationContext, is_try: bool = False) -> Cast:
    """Return the function that converts columns of one type to another.

    Args:
        target: The type they get; `supports_cast` holds.
        session: The session, for time zones.
        is_try: Whether what cannot be converted becomes null.
    """
    if isinstance(source, NullType):
        return lambda column: null_column(target) if isinstance(column, pa.Scalar) else column.cast(arrow_type(target))
    if same_type(source, target):
        return lambda column: column
    if isinstance(target, CharType | VarCharType):
        return _to_text(source, target, session)
    if isinstance(target, BinaryType | VarBinaryType):
        return _to_bytes(source, target)
    if isinstance(source, CHARACTER):
        return parse_cast(target, session, is_try)
    if isinstance(source, (BooleanType, *NUMERIC)) and isinstance(target, (BooleanType, *NUMERIC)):
        return number_cast(source, target)
    if isinstance(source, DATETIME) and isinstance(target, DATETIME):
        return time_cast(source, target, session)
    nested = nested_cast(source, target, lambda one, other: cast_kernel(one, other, session))
    if nested is not None:
        return _or_null(nested, target) if is_try else nested
    # The rest is whole numbers and intervals.
    kind = arrow_type(target)
    return lambda column: pc.cast(column, kind, safe=False)


def _or_null(cast: Cast, target: DataType) -> Cast:
    """Return a cast whose value is NULL where the cast of a part fails."""
    kind = arrow_type(target)

    def convert(column: Column) -> Column:
        try:
            return cast(column)
        except EvaluationError:
            if isinstance(column, pa.Scalar):
                return pa.scalar(None, kind)
        count = len(column)
        if count == 1:
            return pa.nulls(1, kind)
        # Copies, not slices: the parts of a slice are those of the whole column.
        halves = (range(count // 2), range(count // 2, count))
        return pa.concat_arrays([convert(column.take(pa.array(half))) for half in halves])

    return convert


def _to_text(source: DataType, target: CharType | VarCharType, session: EvaluationContext) -> Cast:
    if isinstance(source, CHARACTER) and isinstance(target, VarCharType) and source.length <= target.length:
        return lambda column: column
    if isinstance(source, CHARACTER):
        return fitted_text(target) or (lambda column: column)
    return text_cast(source, target, session)


def _to_bytes(source: Any, target: BinaryType | VarBinaryType) -> Cast:
    length = target.length
    start: Cast = (
        (lambda column: pc.cast(column, pa.binary())) if isinstance(source, CHARACTER) else (lambda column: column)
    )
    if isinstance(source, BINARY) and isinstance(target, VarBinaryType) and source.length <= length:
        return start
    if length == MAX_LENGTH:
        return start
    padded = isinstance(target, BinaryType)
    fit = on_values(lambda value: value[:length].ljust(length, b"\0") if padded else value[:length], target)
    return lambda column: fit(start(column))
