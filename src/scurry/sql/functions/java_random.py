"""The generator of `java.util.Random`, whose numbers of a seed Flink's RAND has."""

from __future__ import annotations

import time
from typing import Final

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
