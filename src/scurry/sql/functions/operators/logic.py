"""AND, OR, NOT, the tests of truth values, and values chosen by masks of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.sql.functions.definition import CallSite, Column, LazyArgument, LazyKernel, ScalarFunction, Signature
from scurry.sql.functions.kernels import Bind, by_column
from scurry.sql.functions.signatures import Infer, refuse
from scurry.sql.types import BooleanType, DataType, NullType
from scurry.sql.types.families import BOOLEAN

Mask = np.ndarray[Any, np.dtype[np.bool_]]


def mask_of(condition: Column, rows: int) -> Mask:
    """Return where a condition is TRUE, as a mask of all rows."""
    if isinstance(condition, pa.Scalar):
        return np.full(rows, bool(condition.as_py()))
    return np.asarray(condition.fill_null(False)).astype(np.bool_, copy=False)


def scattered(parts: Sequence[tuple[Mask, Column]], rows: int, kind: pa.DataType) -> Column:
    """Put columns of parts of the rows together; rows that are in no part are null.

    Args:
        parts: For each part, its rows, and the column of their values in order.
    """
    if len(parts) == 1 and isinstance(parts[0][1], pa.Scalar) and parts[0][0].all():
        return parts[0][1].cast(kind)
    indices = np.zeros(rows, np.int64)
    pieces = [pa.nulls(1, kind)]
    start = 1
    for mask, column in parts:
        if isinstance(column, pa.Scalar):
            indices[mask] = start
            column = pa.repeat(column, 1)
        else:
            indices[mask] = np.arange(start, start + len(column))
        pieces.append(column if column.type == kind else column.cast(kind))
        start += len(column)
    return pa.concat_arrays(pieces).take(pa.array(indices))


def _infer(forms: str, never_null: bool = False) -> Infer:
    def infer(site: CallSite) -> Signature:
        if not all(isinstance(each, BooleanType | NullType) for each in site.types):
            raise refuse(site, forms, infix=True)
        taken = [BOOLEAN.with_nullability(each.is_nullable) for each in site.types]
        return Signature(taken, BOOLEAN.with_nullability(site.any_nullable and not never_null))

    return infer


def _connective(decisive: bool) -> Callable[[CallSite, DataType], LazyKernel]:
    """Bind AND, which FALSE decides, or OR, which TRUE decides: later arguments are computed where none has."""
    combine = pc.or_kleene if decisive else pc.and_kleene

    def bind(site: CallSite, result_type: DataType) -> LazyKernel:
        def kernel(arguments: Sequence[LazyArgument], rows: int) -> Column:
            result = arguments[0]()
            for argument in arguments[1:]:
                open_rows = ~mask_of(pc.equal(result, pa.scalar(decisive)), rows)
                if not open_rows.any():
                    return result
                if open_rows.all():
                    result = combine(result, argument())
                else:
                    # Rows that are decided already keep their result; those that were left out do not count.
                    result = combine(result, scattered([(open_rows, argument(open_rows))], rows, pa.bool_()))
            return result

        return kernel

    return bind


def _test(value: bool | None, negated: bool) -> Bind:
    def function(column: Column) -> Column:
        found = pc.is_null(column) if value is None else pc.fill_null(pc.equal(column, pa.scalar(value)), False)
        return pc.invert(found) if negated else found

    return by_column(function)


def _tests() -> tuple[ScalarFunction, ...]:
    return tuple(
        ScalarFunction(
            f"IS {'NOT ' if negated else ''}{name}",
            _infer(f"'<BOOLEAN> IS {'NOT ' if negated else ''}{name}'", never_null=True),
            _test(value, negated),
        )
        for name, value in (("TRUE", True), ("FALSE", False), ("UNKNOWN", None))
        for negated in (False, True)
    )


FUNCTIONS = (
    ScalarFunction("AND", _infer("'<BOOLEAN> AND <BOOLEAN>'"), bind_lazily=_connective(False)),
    ScalarFunction("OR", _infer("'<BOOLEAN> OR <BOOLEAN>'"), bind_lazily=_connective(True)),
    ScalarFunction("NOT", _infer("'NOT<BOOLEAN>'"), by_column(pc.invert)),
    *_tests(),
)

_: Any = np
