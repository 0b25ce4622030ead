"""Methods that combine a DataFrame with another one."""

from __future__ import annotations

from typing import Self

from scurry.dataframe._frame.base import FrameBase, require_frame


class CombiningMethods(FrameBase, check_arguments=False):
    """Methods that combine a DataFrame with another one."""

    def union(self, other: Self) -> Self:
        """Return the rows of both, one of each set of equal rows. Columns belong together by their places.

        Args:
            other: The other DataFrame.

        Raises:
            TypeError: It is none.
            ValueError: The columns do not fit, or the mode is STREAMING.
        """
        return self._combined(other, "union")

    def union_all(self, other: Self) -> Self:
        """Return the rows of both.

        Args:
            other: The other DataFrame.

        Raises:
            TypeError: It is none.
            ValueError: The columns do not fit.
        """
        return self._combined(other, "union_all")

    def intersect(self, other: Self) -> Self:
        """Return the rows that both have, one of each set of equal rows.

        Args:
            other: The other DataFrame.

        Raises:
            TypeError: It is none.
            ValueError: The columns do not fit, or the mode is STREAMING.
        """
        return self._combined(other, "intersect")

    def intersect_all(self, other: Self) -> Self:
        """Return the rows that both have, as often as both have them.

        Args:
            other: The other DataFrame.

        Raises:
            TypeError: It is none.
            ValueError: The columns do not fit, or the mode is STREAMING.
        """
        return self._combined(other, "intersect_all")

    def minus(self, other: Self) -> Self:
        """Return the rows that the other one does not have, one of each set of equal rows.

        Args:
            other: The other DataFrame.

        Raises:
            TypeError: It is none.
            ValueError: The columns do not fit, or the mode is STREAMING.
        """
        return self._combined(other, "minus")

    def minus_all(self, other: Self) -> Self:
        """Return the rows without as many equal ones as the other one has.

        Args:
            other: The other DataFrame.

        Raises:
            TypeError: It is none.
            ValueError: The columns do not fit, or the mode is STREAMING.
        """
        return self._combined(other, "minus_all")

    def _combined(self, other: FrameBase, operation: str) -> Self:
        require_frame(other, FrameBase, "other must be a DataFrame")
        return self._of(getattr(self._table, operation)(other._table))
