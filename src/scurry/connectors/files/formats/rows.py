"""ColumnRows: rows that are created lazily from Arrow columns."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any, overload

from scurry.common.types import Row

__all__ = ["ColumnRows"]


class ColumnRows(Sequence[Row]):
    """A block of rows kept as Arrow columns.

    Rows are created one chunk at a time. For Python's garbage collector a few thousand young objects are cheap, while
    hundreds of thousands cost more than reading them.
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
        """Return a row, or the rows of a slice."""
        if isinstance(index, int):
            return Row._from_values([column[index].as_py() for column in self._columns], self._names)
        collecting = gc.isenabled()
        gc.disable()
        try:
            columns = [column[index].to_pylist() for column in self._columns]
            return Row._from_many(zip(*columns, strict=True), self._names)
        finally:
            if collecting:
                gc.enable()
