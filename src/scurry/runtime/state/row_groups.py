"""RowGroups: what a micro-batch touches of key groups whose state is rows in columns."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from scurry.errors import CheckpointCorruptedError
from scurry.runtime.state.backend import Index
from scurry.runtime.state.layout import GROUP_SHIFT, has_rows
from scurry.runtime.state.row_runs import HASH_BITS, Hashes, Part, RowRun, built, found, merged
from scurry.runtime.state.runs import FIRST_RUN, share_of, to_merge
from scurry.runtime.state.store import RunInfo, StoreKey

if TYPE_CHECKING:
    from scurry.runtime.state.backend import KeyedStateBackend

__all__ = ["EarlierPages", "RowGroups"]

#: A group of at most so many bytes is one run in the place of its first page, written whole by each batch.
SMALL = 16 * 1024


class EarlierPages(Protocol):
    """Read what earlier versions stored."""

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
        import pyarrow as pa

        by_group = wanted >> np.uint64(HASH_BITS)
        starts = np.flatnonzero(np.diff(by_group, prepend=by_group[:1] + np.uint64(1)))
        groups = by_group[starts].tolist()
        self.open(groups)
        self._open_runs(groups)
        schema, rows = self._schemas[table], []
        for group, start, stop in zip(groups, starts.tolist(), [*starts[1:].tolist(), len(wanted)], strict=True):
            for run, places in found(self._newest_first(group), table, wanted[start:stop]):
                batch = run.batch(table, schema)
                some = batch.take(pa.array(places)) if len(schema) else batch.slice(0, len(places))
                rows.append((run.hashes[table][places], some))
        return rows

    def open(self, groups: Iterable[int]) -> None:
        """Read which runs some groups have."""
        new = [group for group in groups if group not in self._indexes]
        if not new:
            return
        for group, blob in zip(new, self._read([(group, 1) for group in new]), strict=True):
            index = self._indexes[group] = Index()
            self._firsts[group] = len(blob or b"")
            if blob is None:
                continue
            if has_rows(blob):
                self._note(index, 1, blob)
                continue
            content = pickle.loads(blob)
            if type(content) is Index:
                self._indexes[group] = content
            else:
                self._take_over(group, content)

    def _take_over(self, group: int, first: Any) -> None:
        """Store a group of an earlier version as a run."""
        numbers = self._earlier.numbers(first)
        blobs = self._read([(group, number) for number in numbers])
        for number, blob in zip(numbers, blobs, strict=True):
            if blob is not None:
                self._backend.write_page(group << GROUP_SHIFT | number, None, len(blob))
        self.append(group, self._earlier.parts([first, *(pickle.loads(blob) for blob in blobs if blob)]))

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

    def append(self, group: int, parts: Sequence[Part]) -> None:
        """Add rows to a group as its newest run.

        Args:
            group: A group that is open.
            parts: The rows of each table, and the hashes whose rows are removed.
        """
        index, blob = self._indexes[group], built(parts, self._replaces, self._description)
        if not index.runs or index.runs[0].number == 1:
            whole = merged([RowRun(blob), *self._newest_first(group)], self._schemas, oldest=True)
            index.runs.clear()
            if whole is None or len(whole) <= SMALL:
                self._write_first(group, whole)
                if whole is not None:
                    self._note(index, 1, whole)
                return
            blob = whole
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
                self._backend.remove_run(self._place(group, info.number), info)
            if blob is not None:
                self._put(group, old[-1].number + 1, blob)

    def _put(self, group: int, number: int, blob: bytes) -> None:
        info = self._note(self._indexes[group], number, blob)
        self._backend.write_run(self._place(group, number), blob, info.digest)

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
