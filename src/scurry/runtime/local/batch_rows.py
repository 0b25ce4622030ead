"""BatchRows: the rows that a level of a BATCH job in this process emits, on disk where they are many."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from heapq import merge
from itertools import chain, islice
from typing import IO, Any

from scurry.runtime.exchange.wire import BatchRow
from scurry.runtime.tasks.batch_task import sort_key

#: About how many bytes of rows are held in memory.
_HELD_BYTES = 256 * 1024 * 1024

#: About how many bytes a row takes up in memory besides its block and key.
_ROW_BYTES = 400

#: Rows that are read from a file at once.
_READ_ROWS = 1000


class BatchRows:
    """Collect the rows of a level; iterate over them once, in the order in which the next level receives them.

    What does not fit into memory is written to a temporary file, which no other process can open.

    Args:
        is_sorted: Whether there is a next level; otherwise rows are in the order in which they were added.
    """

    def __init__(self, is_sorted: bool) -> None:
        self._is_sorted = is_sorted
        self._rows: list[BatchRow] = []
        self._bytes = 0
        self._files: list[IO[bytes]] = []

    def add(self, rows: Iterable[BatchRow]) -> None:
        before = len(self._rows)
        self._rows += rows
        self._bytes += sum(_ROW_BYTES + len(row.block) + len(row.key) for row in islice(self._rows, before, None))
        if self._bytes > _HELD_BYTES:
            self._spill()

    def _spill(self) -> None:
        file = tempfile.TemporaryFile(prefix="scurry-batch-")  # noqa: SIM115 - closed when it has been read
        self._files.append(file)
        rows = iter(self._held())
        while some := list(islice(rows, _READ_ROWS)):
            pickle.dump([tuple(row) for row in some], file, 5)

    def _held(self) -> list[BatchRow]:
        rows, self._rows, self._bytes = self._rows, [], 0
        if self._is_sorted:
            rows.sort(key=sort_key)
        return rows

    def __iter__(self) -> Iterator[BatchRow]:
        """Yield all rows; equal ones in the order in which they were added."""
        with ExitStack() as files:
            parts: list[Iterable[BatchRow]] = [_read(files.enter_context(file)) for file in self._files]
            self._files = []
            parts.append(self._held())
            yield from merge(*parts, key=sort_key) if self._is_sorted else chain.from_iterable(parts)


def _read(file: Any) -> Iterator[BatchRow]:
    end = file.tell()
    file.seek(0)
    while file.tell() < end:
        yield from map(BatchRow._make, pickle.load(file))
