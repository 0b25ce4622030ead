"""Functions of bitmaps: sets of whole numbers of 32 bits."""

from __future__ import annotations

from typing import Any, Self

from scurry.table._expression.base import ExpressionBase


class Bitmaps(ExpressionBase):
    """Functions of bitmaps: sets of whole numbers of 32 bits."""

    def bitmap_build(self) -> Self:
        """Return the bitmap of the numbers of an array."""
        return self._call("BITMAP_BUILD")

    def bitmap_from_bytes(self) -> Self:
        """Return the bitmap that is serialised in bytes."""
        return self._call("BITMAP_FROM_BYTES")

    def bitmap_to_bytes(self) -> Self:
        """Return the bitmap, serialised."""
        return self._call("BITMAP_TO_BYTES")

    def bitmap_to_array(self) -> Self:
        """Return the numbers of the bitmap, in the order without signs."""
        return self._call("BITMAP_TO_ARRAY")

    def bitmap_to_string(self) -> Self:
        """Return the numbers of the bitmap as text, such as `{1,2}`."""
        return self._call("BITMAP_TO_STRING")

    def bitmap_cardinality(self) -> Self:
        """Return how many numbers the bitmap has."""
        return self._call("BITMAP_CARDINALITY")

    def bitmap_and(self, bitmap2: Any) -> Self:
        """Return the numbers that both bitmaps have.

        Args:
            bitmap2: The other bitmap.
        """
        return self._call_of("BITMAP_AND", self, bitmap2)

    def bitmap_or(self, bitmap2: Any) -> Self:
        """Return the numbers that one of the bitmaps has.

        Args:
            bitmap2: The other bitmap.
        """
        return self._call_of("BITMAP_OR", self, bitmap2)

    def bitmap_xor(self, bitmap2: Any) -> Self:
        """Return the numbers that only one of the bitmaps has.

        Args:
            bitmap2: The other bitmap.
        """
        return self._call_of("BITMAP_XOR", self, bitmap2)

    def bitmap_andnot(self, bitmap2: Any) -> Self:
        """Return the numbers that the other bitmap does not have.

        Args:
            bitmap2: The other bitmap.
        """
        return self._call_of("BITMAP_ANDNOT", self, bitmap2)

    # ------------------------------------------------------------------ aggregates

    def bitmap_build_agg(self) -> Self:
        """Return the bitmap of the numbers of a group."""
        return self._call("BITMAP_BUILD_AGG")

    def bitmap_build_cardinality_agg(self) -> Self:
        """Return how many different numbers a group has."""
        return self._call("BITMAP_BUILD_CARDINALITY_AGG")

    def bitmap_and_agg(self) -> Self:
        """Return the numbers that all bitmaps of a group have."""
        return self._call("BITMAP_AND_AGG")

    def bitmap_and_cardinality_agg(self) -> Self:
        """Return how many numbers all bitmaps of a group have."""
        return self._call("BITMAP_AND_CARDINALITY_AGG")

    def bitmap_or_agg(self) -> Self:
        """Return the numbers that any bitmap of a group has."""
        return self._call("BITMAP_OR_AGG")

    def bitmap_or_cardinality_agg(self) -> Self:
        """Return how many numbers any bitmap of a group has."""
        return self._call("BITMAP_OR_CARDINALITY_AGG")

    def bitmap_xor_agg(self) -> Self:
        """Return the numbers that an odd number of bitmaps of a group have."""
        return self._call("BITMAP_XOR_AGG")

    def bitmap_xor_cardinality_agg(self) -> Self:
        """Return how many numbers an odd number of bitmaps of a group have."""
        return self._call("BITMAP_XOR_CARDINALITY_AGG")
