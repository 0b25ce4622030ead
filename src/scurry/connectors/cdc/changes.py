"""Changes of rows on their way to blocks: without those that a snapshot has; and the rows of a chunk as they were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from scurry.common.types import RowKind
from scurry.connectors.cdc.capture import CapturedTable, LogPosition, RowBlock, TableId
from scurry.errors import MalformedRecordError

#: Rows of a block of changes.
BLOCK_ROWS = 4096
_INSERT, _BEFORE = RowKind.INSERT.value, RowKind.UPDATE_BEFORE.value
_AFTER, _DELETE = RowKind.UPDATE_AFTER.value, RowKind.DELETE.value


class BlockBuilder:
    """Gather rows of one table after another in blocks."""

    def __init__(self) -> None:
        self._table: TableId | None = None
        self._names: tuple[str, ...] = ()
        self._types: tuple[str, ...] = ()
        self._rows: list[Sequence[Any]] = []
        self._kinds: list[int] = []
        self._times: list[int] = []
        self._positions: list[LogPosition] = []

    def add(
        self,
        table: CapturedTable,
        names: tuple[str, ...],
        rows: Sequence[tuple[int, Sequence[Any]]],
        millis: int,
        position: LogPosition,
    ) -> Iterator[RowBlock]:
        """Add the rows of a change, and yield a block that is full, or whose table is another one.

        Args:
            table: The table.
            names: Names of the values.
            rows: Kinds of change, with values.
            millis: When it was committed.
            position: Their place in the log.
        """
        if table.id != self._table or names != self._names or len(self._rows) >= BLOCK_ROWS:
            yield from self.finish()
            types = dict(zip(table.columns, table.types, strict=True))
            self._table, self._names, self._types = table.id, names, tuple(types.get(name, "text") for name in names)
        for kind, values in rows:
            self._rows.append(values)
            self._kinds.append(kind)
            self._times.append(millis)
            self._positions.append(position)

    def finish(self) -> Iterator[RowBlock]:
        """Yield the rows that are left."""
        if self._rows and self._table is not None:
            columns = [list(column) for column in zip(*self._rows, strict=True)]
            yield RowBlock(
                self._table,
                self._names,
                self._types,
                columns,
                len(self._rows),
                self._kinds,
                self._times,
                self._positions,
            )
        self._rows, self._kinds, self._times, self._positions = [], [], [], []


def check_place(
    table: CapturedTable, old: Sequence[Any] | None, new: Sequence[Any] | None, applies_old: bool, applies_new: bool
) -> None:
    """Check that an update has not moved a row to a chunk which was read later, so that the row was read twice.

    A row whose primary key changes is another one.

    Raises:
        MalformedRecordError: The chunk key is not of the primary key, and has changed while the table was read.
    """
    moved = old is not None and new is not None and applies_old and not applies_new
    if not moved or not table.key or table.chunk_key in table.key:
        return
    reason = f"column '{table.chunk_key}' of a row has changed while the table was read in chunks by it"
    raise MalformedRecordError(f"table {table.id.path}", None, repr(old), reason).with_hint(
        "start without the checkpoint, and without 'scan.incremental.snapshot.chunk.key-column', or name a column of "
        "the primary key"
    )


def change_rows(
    old: Sequence[Any] | None,
    new: Sequence[Any] | None,
    applies_old: bool,
    applies_new: bool,
    key: Sequence[int],
) -> list[tuple[int, Sequence[Any]]]:
    """Return the rows of a change, without those that a snapshot has already.

    A row whose primary key changes is deleted and inserted, as with Debezium.

    Args:
        old: The row before, None if there was none or if it is not needed.
        new: The row after, None if it is deleted.
        applies_old: Whether what was read of the row before is older than the change.
        applies_new: Whether what was read where the row is now is older than the change.
        key: The places of the primary key in the values.
    """
    old = old if applies_old else None
    new = new if applies_new else None
    if new is None:
        return [] if old is None else [(_DELETE, old)]
    if old is None:
        return [(_INSERT, new)]
    if any(old[at] != new[at] for at in key):
        return [(_DELETE, old), (_INSERT, new)]
    return [(_BEFORE, old), (_AFTER, new)]


def upserted_rows(
    old: Sequence[Any] | None, new: Sequence[Any] | None, applies_old: bool, applies_new: bool, key: Sequence[int]
) -> list[tuple[int, Sequence[Any]]]:
    """Return the rows of a change by primary key: those of `change_rows`, without rows before updates.

    Args:
        old: The row before, of which the key is known, or nothing if that did not change.
        new: The row after, None if it is deleted.
        applies_old: Whether what was read of the row before is older than the change.
        applies_new: Whether what was read where the row is now is older than the change.
        key: The places of the primary key in the values.
    """
    moved = old is not None and (new is None or any(old[at] != new[at] for at in key))
    rows: list[tuple[int, Sequence[Any]]] = [(_DELETE, old)] if old is not None and moved and applies_old else []
    return rows if new is None or not applies_new else [*rows, (_INSERT if moved else _AFTER, new)]


class Undo:
    """The rows of a mark that changed later, by their key.

    A key that is not in here has the same row as at the mark, whether or not the reader sees the changes.
    """

    def __init__(self, key: Callable[[Sequence[Any]], tuple[Any, ...]]) -> None:
        """Begin without changes.

        Args:
            key: Returns the key of a row.
        """
        self._key = key
        self._before: dict[tuple[Any, ...], Sequence[Any] | None] = {}

    def __len__(self) -> int:
        """Return the number of keys that have changed."""
        return len(self._before)

    def add(self, old: Sequence[Any] | None, new: Sequence[Any] | None) -> None:
        """Add a change; those of a key in their order."""
        if old is not None:
            self._before.setdefault(self._key(old), old)
        if new is not None:
            self._before.setdefault(self._key(new), None)

    def touches(self, row: Sequence[Any]) -> bool:
        """Return whether a row has changed since the mark."""
        return self._key(row) in self._before

    def rows(self) -> list[Sequence[Any]]:
        """Return the rows that have changed, as they were at the mark."""
        return [row for row in self._before.values() if row is not None]


class UndoRows:
    """The rows of a mark, of a table without a primary key, without the later changes that a reader sees."""

    def __init__(self) -> None:
        """Begin without changes."""
        self._missing: Counter[tuple[Any, ...]] = Counter()

    def __len__(self) -> int:
        """Return the number of different rows that have changed."""
        return len(self._missing)

    def add(self, old: Sequence[Any] | None, new: Sequence[Any] | None) -> None:
        """Add a change."""
        if old is not None:
            self._missing[tuple(old)] += 1
        if new is not None:
            self._missing[tuple(new)] -= 1

    def touches(self, row: Sequence[Any]) -> bool:
        """Return whether a row was not there at the mark; of equal rows as many as were added since."""
        added = self._missing.get(tuple(row), 0) < 0
        if added:
            self._missing[tuple(row)] += 1
        return added

    def rows(self) -> list[Sequence[Any]]:
        """Return the rows that were there at the mark and are not now."""
        return [row for row, count in self._missing.items() for _ in range(count)]
