"""RAND and RAND_INTEGER, with the numbers of Java's generator."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import pyarrow as pa

from scurry.sql.functions.definition import CallSite, Column, Kernel, ScalarFunction
from scurry.sql.functions.scalar.numeric import takes_numbers
from scurry.sql.functions.signatures import always, if_any_nullable
from scurry.sql.types import DataType
from scurry.sql.types.families import DOUBLE, INT, INTEGER

_MULTIPLIER: Final = 0x5DEECE66D
_INCREMENT: Final = 0xB
_MASK: Final = (1 << 48) - 1


class JavaRandom:
    """The numbers that `java.util.Random` makes of a seed."""

    def __init__(self, seed: int | None = None) -> None:
        self._state = ((time.time_ns() if seed is None else seed) ^ _MULTIPLIER) & _MASK

    def next_double(self) -> float:
        """Return a number from 0 to 1, without 1."""
        return ((self._bits(26) << 27) + self._bits(27)) * 2.0**-53

    def next_int(self, bound: int) -> int:
        """Return a number from 0 to a bound, without it.

        Raises:
            ValueError: The bound is not positive.
        """
        if bound <= 0:
            raise ValueError("bound must be positive")
        bits = self._bits(31)
        if bound & (bound - 1) == 0:
            return bound * bits >> 31
        # The last, incomplete run of `bound` numbers is left out, so that all are equally likely.
        while bits - bits % bound + bound > 1 << 31:
            bits = self._bits(31)
        return bits % bound

    def _bits(self, count: int) -> int:
        self._state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        return self._state >> (48 - count)


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
