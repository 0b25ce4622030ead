"""RAND and RAND_INTEGER."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from scurry.sql.functions.definition import CallSite, Column, Kernel, ScalarFunction
from scurry.sql.functions.java_random import JavaRandom
from scurry.sql.functions.scalar.numeric import takes_numbers
from scurry.sql.functions.signatures import always, if_any_nullable
from scurry.sql.types import DataType
from scurry.sql.types.families import DOUBLE, INT, INTEGER


def _random_numbers(site: CallSite, result_type: DataType) -> Kernel:
    """RAND(), or RAND(seed)."""
    following = _generators(site, 0)

    def kernel(columns: Sequence[Column], rows: int) -> Column:
        return pa.array([each and each.next_double() for each in following(columns, rows)], pa.float64())

    return kernel


def _random_integers(site: CallSite, result_type: DataType) -> Kernel:
    """RAND_INTEGER(bound), or RAND_INTEGER(seed, bound)."""
    following = _generators(site, 1)

    def kernel(columns: Sequence[Column], rows: int) -> Column:
        pairs = zip(following(columns, rows), _values(columns[-1], rows), strict=True)
        return pa.array([None if None in pair else pair[0].next_int(pair[1]) for pair in pairs], pa.int32())

    return kernel


def _generators(site: CallSite, others: int) -> Callable[[Sequence[Column], int], list[Any]]:
    """Return a function that gives the generator of each row: one for all, or one for each seed in a column."""
    seeded = len(site.arguments) > others
    if seeded and not site.arguments[0].is_literal:
        return lambda columns, rows: [None if seed is None else JavaRandom(seed) for seed in _values(columns[0], rows)]
    if seeded and site.arguments[0].value is None:
        return lambda columns, rows: [None] * rows
    generator = JavaRandom(site.arguments[0].value) if seeded else JavaRandom()
    return lambda columns, rows: [generator] * rows


def _values(column: Column, rows: int) -> list[Any]:
    return [column.as_py()] * rows if isinstance(column, pa.Scalar) else list(column.to_pylist())


FUNCTIONS = (
    ScalarFunction(
        "RAND", takes_numbers(always(DOUBLE.not_null()), 0, 1, types=INTEGER), _random_numbers, is_deterministic=False
    ),
    ScalarFunction(
        "RAND_INTEGER",
        takes_numbers(if_any_nullable(INT), 1, 2, types=INTEGER),
        _random_integers,
        is_deterministic=False,
    ),
)
