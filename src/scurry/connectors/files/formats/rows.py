"""ColumnRows: rows that are created lazily from Arrow columns."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, overload

from scurry.common.types import Row
from scurry.errors import EvaluationError, MalformedRecordError

#: Makes the values of an Arrow column.
ColumnReader: TypeAlias = Callable[[Any], list[Any]]


class ColumnRows(Sequence[Row]):
    """A block of rows kept as Arrow columns.

    Rows are created one chunk at a time. For Python's garbage collector a few thousand young objects are cheap, while
    hundreds of thousands cost more than reading them.

    Args:
        columns: The columns.
        names: Their names.
        path: The file, for error messages.
        readers: Makes the values of each column; None for those of `to_pylist`.
    """

    def __init__(
        self,
        columns: Sequence[Any],
        names: tuple[str, ...],
        path: str = "",
        readers: Sequence[ColumnReader] | None = None,
    ) -> None:
        self._columns = columns
        self._names = names
        self._path = path
        self._readers = readers or [_to_pylist] * len(columns)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._columns[0])

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        """Return a row, or the rows of a slice.

        Raises:
            MalformedRecordError: A text is no UTF-8.
        """
        if isinstance(index, int):
            index = range(len(self))[index]
            return self[index : index + 1][0]
        collecting = gc.isenabled()
        gc.disable()
        try:
            try:
                pairs = zip(self._readers, self._columns, strict=True)
                columns = [values_of(column[index]) for values_of, column in pairs]
            except (UnicodeDecodeError, EvaluationError):
                raise self._no_text(index) from None
            return Row._from_many(zip(*columns, strict=True), self._names)
        finally:
            if collecting:
                gc.enable()

    def _no_text(self, rows: slice) -> MalformedRecordError:
        for name, column in zip(self._names, self._columns, strict=True):
            try:
                column[rows].to_pylist()
            except UnicodeDecodeError as error:
                return no_text(self._path, name, error)
        raise AssertionError("a column failed and then did not")


def _to_pylist(column: Any) -> list[Any]:
    values: list[Any] = column.to_pylist()
    return values


def no_text(path: str, column: str, error: UnicodeDecodeError) -> MalformedRecordError:
    """Return the error for a column of texts that holds other bytes."""
    shown = bytes(error.object[:40])
    reason = f"column {column!r} holds {shown!r}, which is no UTF-8; declare it as BYTES, or mend the file"
    return MalformedRecordError(path, None, "", reason)
