"""ColumnRows: rows that are made from columns only when they are read."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from itertools import repeat
from typing import Any, overload

from scurry.common.types import Row

__all__ = ["ColumnRows"]


class ColumnRows(Sequence[Row]):
    """A block of rows kept as Arrow columns.

    Slices are made into rows one chunk at a time: a few thousand young objects are no work for Python's garbage
    collector, hundreds of thousands are more work than reading them was.
    """

    def __init__(self, columns: Sequence[Any], names: tuple[str, ...]) -> None:
        """Take the Arrow arrays, all of one length, and the field names."""
        self._columns = columns
        self._names = names

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._columns[0])

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        """Make a row, or the rows of a slice."""
        if isinstance(index, int):
            return Row._from_values([column[index].as_py() for column in self._columns], self._names)
        collecting = gc.isenabled()
        gc.disable()
        try:
            values = map(list, zip(*[column[index].to_pylist() for column in self._columns], strict=True))
            return list(map(Row._from_values, values, repeat(self._names)))
        finally:
            if collecting:
                gc.enable()
