"""CAST: how the values of one type become those of another."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from scurry.errors import EvaluationError
from scurry.functions.definition import Column, Session
from scurry.functions.kernels import null_column
from scurry.logical_types import DataType, IntegralType, NullType
from scurry.logical_types.arrow import arrow_type
from scurry.logical_types.families import CHARACTER, same_type

__all__ = ["cast_kernel"]

Cast = Callable[[Column], Column]


def cast_kernel(source: DataType, target: DataType, session: Session, is_try: bool = False) -> Cast:
    """Return the function that converts columns of one type to another.

    Args:
        source: The type of the values.
        target: The type they get.
        session: The session, for time zones.
        is_try: Whether what cannot be converted becomes null.
    """
    if isinstance(source, NullType):
        return lambda column: null_column(target)
    if same_type(source, target):
        return lambda column: column
    kind = arrow_type(target)
    if isinstance(source, CHARACTER) and isinstance(target, IntegralType):
        return lambda column: _parsed(column, kind)
    return lambda column: pc.cast(column, kind, safe=False)


def _parsed(column: Column, kind: pa.DataType) -> Column:
    try:
        return pc.cast(pc.utf8_trim_whitespace(column), kind)
    except pa.ArrowInvalid as error:
        raise EvaluationError(str(error)) from error
