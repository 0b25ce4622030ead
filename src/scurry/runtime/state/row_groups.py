"""RowGroups: the touched rows of key groups whose state is in columns."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from scurry.errors import CheckpointCorruptedError
from scurry.runtime.state.backend import Index
from scurry.runtime.state.layout import FIRST_RUN, GROUP_SHIFT, has_rows
from scurry.runtime.state.row_runs import (
    HASH_BITS,
    Hashes,
    Part,
    RowRun,
    Rows,
    RowsInMemory,
    built,
    distinct,
    found,
    merged,
    merged_parts,
)
from scurry.runtime.state.runs import share_of, stored_content, to_merge
from scurry.runtime.state.store import RunInfo, StoreKey

if TYPE_CHECKING:
    from scurry.runtime.state.backend import KeyedStateBackend

#: A group of at most so many bytes is one run in the place of its first page, written whole by each batch.
SMALL = 16 * 1024


class RowRunsIndex(Index):
    """The index of a key group with runs of rows."""


class EarlierPages(Protocol):
    """Read the layout of earlier versions."""

    def numbers(self, first: Any) -> list[int]:
        """Return the numbers of the pages of a group besides the first, given the content of that."""

    def parts(self, contents: Iterable[Any]) -> list[Part]:
        """Return the rows of each table, given the contents of all pages in the order of `numbers`."""


class RowGroups:
    """Find rows by hash; write those that a micro-batch adds as new runs, and merge runs.

    Args:
        backend: Where runs are stored.
        schemas: The columns of each table, as Arrow schemas.
        replaces: Whether a run hides older rows of its hashes.
        description: What tools have to know of the tables, pickled.
        earlier: Reads what earlier versions stored.
    """

    def __init__(
        self,
        backend: KeyedStateBackend,
        schemas: Sequence[Any],
        replaces: bool,
        description: bytes,
        earlier: EarlierPages,
    ) -> None:
        self._backend = backend
        self._schemas = schemas
        self._replaces = replaces
        self._description = description
        self._earlier = earlier
        self._indexes: dict[int, Index] = {}  # by group
        self._firsts: dict[int, int] = {}  # by group: how many bytes are stored in the place of its first page
        self._runs: dict[int, RowRun] = {}  # by digest

    # ---------------------------------------------------------------- reading

    def rows(self, table: int, wanted: Hashes) -> list[tuple[Hashes, Any]]:
        """Return the rows of some hashes, those of a hash in the order in which they came: hashes and record batches.

        Args:
            table: The position of the table.
            wanted: Different hashes, ascending.
        """
        groups, bounds = _by_group([wanted])
        self.open(groups)
        self._open_runs(groups)
        small = [group for group in groups if self._is_small(group)]
        rows: list[tuple[Hashes, Any]] = []
        if len(small) == len(groups):  # one search for all, which are one after the other
            return self._taken([self._together(small)], table, wanted)
        for place, group in enumerate(groups):
            some = wanted[bounds[0][place] : bounds[0][place + 1]]
            rows += self._taken(self._newest_first(group), table, some)
            self._backend.store.release()
        return rows

    def _taken(self, newest_first: Sequence[Rows], table: int, wanted: Hashes) -> list[tuple[Hashes, Any]]:
        import pyarrow as pa

        schema, rows = self._schemas[table], []
        for run, places in found(newest_first, table, wanted):
            batch = run.batch(table, schema)
            some = batch.take(pa.array(places)) if len(schema) else batch.slice(0, len(places))
            rows.append((run.hashes[table][places], some))
        return rows

    def _is_small(self, group: int) -> bool:
        """Return whether a group is one run in the place of its first page, or empty."""
        runs = self._indexes[group].runs
        return not runs or runs[0].number == 1

    def _together(self, groups: Iterable[int]) -> RowsInMemory:
        runs = [run for group in groups for run in self._newest_first(group)]
        return RowsInMemory.of(runs, self._schemas, self._replaces)

    def open(self, groups: Iterable[int]) -> None:
        new = [group for group in groups if group not in self._indexes]
        if not new:
            return
        for group, blob in zip(new, self._read([(group, 1) for group in new]), strict=True):
            index = self._indexes[group] = RowRunsIndex()
            self._firsts[group] = len(blob or b"")
            if blob is None:
                continue
            if has_rows(blob):
                self._note(index, 1, blob)
                continue
            content = stored_content(blob)
            if isinstance(content, RowRunsIndex):
                self._indexes[group] = content
            else:
                self._take_over(group, content)

    def _take_over(self, group: int, first: Any) -> None:
        """Store a group of an earlier version as a run."""
        numbers = self._earlier.numbers(first)
        blobs = self._read([(group, number) for number in numbers])
        runs = {info.number: info for info in first.runs} if isinstance(first, Index) else {}
        for number, blob in zip(numbers, blobs, strict=True):
            if number in runs:
                self._backend.remove_run(self._place(group, number), runs[number])
            elif blob is not None:
                self._backend.write_page(group << GROUP_SHIFT | number, None, len(blob))
        self._write_small([group], self._earlier.parts([first, *(stored_content(blob) for blob in blobs if blob)]))

    def _read(self, pages: Sequence[tuple[int, int]]) -> list[bytes | None]:
        return self._backend.store.get_many([self._place(*page) for page in pages]) if pages else []

    def _open_runs(self, groups: Iterable[int]) -> None:
        """Read the runs of some groups in one request to the store."""
        wanted = [
            (group, info) for group in groups for info in self._indexes[group].runs if info.digest not in self._runs
        ]
        if wanted:
            places = [(self._place(group, info.number), info) for group, info in wanted]
            for (_, info), blob in zip(wanted, self._backend.store.get_runs(places), strict=True):
                if blob is None:
                    raise CheckpointCorruptedError("the state of a key group is damaged: a run of its index is missing")
                self._runs[info.digest] = RowRun(blob, info.digest)

    def _place(self, group: int, number: int) -> StoreKey:
        return self._backend.uid, "page", group << GROUP_SHIFT | number

    def _newest_first(self, group: int) -> list[RowRun]:
        return [self._runs[info.digest] for info in reversed(self._indexes[group].runs)]

    # ---------------------------------------------------------------- writing

    def write(self, parts: Sequence[Part]) -> None:
        """Add rows to their groups, each as the newest run of its group.

        Args:
            parts: The rows of each table, and the hashes whose rows are removed.
        """
        groups, bounds = _by_group([hashes for part in parts for hashes in (part.hashes, part.removed)])
        self.open(groups)
        is_small = np.array([self._is_small(group) for group in groups], bool)
        if is_small.all():
            self._write_small(groups, parts)
            return
        for place, group in enumerate(groups):
            some = _cut(parts, bounds, place)
            if is_small[place]:
                self._write_small([group], some)
            else:
                self._add_run(group, built(some, self._replaces, self._description))

    def _write_small(self, groups: Sequence[int], parts: Sequence[Part]) -> None:
        """Add rows to groups that are small so far, which are read and written as one."""
        before = self._together(groups)
        if any(map(len, before.hashes)) or any(len(part.removed) for part in parts):
            parts = merged_parts([RowsInMemory(parts, self._replaces), before], self._schemas, oldest=True)
        _, bounds = _by_group([hashes for part in parts for hashes in (part.hashes, part.removed)], groups)
        for place, group in enumerate(groups):
            some = _cut(parts, bounds, place)
            blob = built(some, self._replaces, self._description) if any(len(part.hashes) for part in some) else None
            self._indexes[group].runs.clear()
            if blob is not None and len(blob) > SMALL:
                self._add_run(group, blob)
                continue
            self._write_first(group, blob)
            if blob is not None:
                self._note(self._indexes[group], 1, blob)

    def _add_run(self, group: int, blob: bytes) -> None:
        index = self._indexes[group]
        self._put(group, max((info.number for info in index.runs), default=FIRST_RUN) + 1, blob)
        self._merge(group)
        self._write_first(group, pickle.dumps(index, 5) if index.runs else None)

    def _merge(self, group: int) -> None:
        index, share = self._indexes[group], share_of(group) if self._replaces else math.inf
        while (some := to_merge(index.runs, share)) is not None:
            self._open_runs((group,))
            old = index.runs[-some.newest :]
            blob = merged([self._runs[info.digest] for info in reversed(old)], self._schemas, some.all)
            for info in old:
                index.runs.remove(info)
                self._runs.pop(info.digest, None)
                self._backend.remove_run(self._place(group, info.number), info)
            if blob is not None:
                self._backend.bytes_merged += len(blob)
                self._put(group, old[-1].number + 1, blob)

    def _put(self, group: int, number: int, blob: bytes) -> None:
        info = self._note(self._indexes[group], number, blob)
        self._backend.write_run(self._place(group, number), blob, info.digest)
        del self._runs[info.digest]  # the store has it, perhaps as a file

    def _note(self, index: Index, number: int, blob: bytes) -> RunInfo:
        run = RowRun(blob)
        info = RunInfo(number, run.digest, run.keys, len(blob))
        index.runs.append(info)
        self._runs[run.digest] = run
        return info

    def _write_first(self, group: int, blob: bytes | None) -> None:
        before, self._firsts[group] = self._firsts[group], len(blob or b"")
        if blob is not None or before:
            self._backend.write_page(group << GROUP_SHIFT | 1, blob, before)


def _by_group(hashes: Sequence[Hashes], groups: Sequence[int] | None = None) -> tuple[list[int], list[list[int]]]:
    """Return the groups of some ascending hashes, and where those of each group begin and have ended, for each array.

    Args:
        groups: The groups, ascending, if they are known.
    """
    shift = np.uint64(HASH_BITS)
    found = distinct(np.concatenate([each >> shift for each in hashes])).tolist() if groups is None else list(groups)
    starts = np.array(found, np.uint64) << shift
    return found, [[*each.searchsorted(starts).tolist(), len(each)] for each in hashes]


def _cut(parts: Sequence[Part], bounds: Sequence[Sequence[int]], place: int) -> list[Part]:
    """Return the rows of parts that belong to a group."""
    found = []
    for number, (hashes, removed, batch) in enumerate(parts):
        (start, stop), gone = bounds[2 * number][place : place + 2], bounds[2 * number + 1][place : place + 2]
        found.append(
            Part(hashes[start:stop], removed[slice(*gone)], None if batch is None else batch.slice(start, stop - start))
        )
    return found
