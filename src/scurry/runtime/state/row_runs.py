"""Runs of rows: the counterpart of `runs.py` for operators that keep rows in columns.

A run has some rows of each table of an operator, sorted by hash, as Arrow stores them: rows are found with a binary
search over the hashes, and taken out of a mapped file without decoding others. Rows of one hash are in the order in
which they came.

Runs of tables whose rows change **replace**: a run that has rows of a hash, or names it as removed, has all rows of it,
and hides those of older runs. Runs of tables whose rows only come **add** to older ones.
"""

from __future__ import annotations

import hashlib
import pickle
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from scurry.errors import CheckpointCorruptedError
from scurry.runtime.keys import CanonicalKey
from scurry.runtime.state.layout import GROUP_SHIFT, ROWS_MAGIC, Entry, header_of

#: A hash of 64 bits per row, an array of uint64: the upper `64 - HASH_BITS` bits are the key group.
Hashes: TypeAlias = "np.ndarray[Any, np.dtype[np.uint64]]"
HASH_BITS = 48

#: Magic, digest, whether it replaces, checksum of that and all that follows the header, number of tables.
_HEADER = struct.Struct("<8sQB3sI")
#: Of each table: number of rows, number of removed hashes, bytes of its batch.
_TABLE = struct.Struct("<QQQ")


class Part(NamedTuple):
    """The part of a table in a run.

    Attributes:
        hashes: The hashes of its rows, ascending.
        removed: The hashes whose rows were removed, ascending.
    """

    hashes: Hashes
    removed: Hashes
    batch: Any


class RowsInMemory:
    """Rows of several groups, or of a micro-batch, with the attributes of a run."""

    def __init__(self, parts: Sequence[Part], replaces: bool) -> None:
        self.replaces = replaces
        self.hashes = [part.hashes for part in parts]
        self.removed = [part.removed for part in parts]
        self._batches = [part.batch for part in parts]

    @classmethod
    def of(cls, runs: Sequence[RowRun], schemas: Sequence[Any], replaces: bool) -> RowsInMemory:
        """Return the rows of runs of different groups, in the order of the groups."""
        import pyarrow as pa

        parts = []
        for table, schema in enumerate(schemas):
            hashes = np.concatenate([run.hashes[table] for run in runs]) if runs else np.zeros(0, np.uint64)
            batches = [run.batch(table, schema) for run in runs if len(run.hashes[table])]
            parts.append(Part(hashes, np.zeros(0, np.uint64), pa.concat_batches(batches) if batches else None))
        return cls(parts, replaces)

    def batch(self, table: int, schema: Any) -> Any:
        return self._batches[table]


class RowRun:
    """A run over the bytes that are stored of it, which may be a mapped file; nothing is copied or decoded.

    Attributes:
        digest: That of its content.
        replaces: Whether it hides older rows of its hashes.
        hashes: The hashes of the rows of each table, ascending.
        removed: The hashes of each table whose rows were removed, ascending.
        description: What tools have to know of the tables, pickled.
    """

    __slots__ = ("_batches", "_read", "description", "digest", "hashes", "removed", "replaces")

    def __init__(self, blob: Any, digest: int | None = None) -> None:
        """Find the parts.

        Args:
            blob: The bytes.
            digest: The digest that the run must have, if it is known.

        Raises:
            CheckpointCorruptedError: The bytes are no run, not all of one, or another run.
        """
        view, at = memoryview(blob), _HEADER.size
        _, self.digest, replaces, _, tables = header_of(view, _HEADER, ROWS_MAGIC, digest)
        self.replaces = bool(replaces)
        counts = (
            []
            if len(view) < at + tables * _TABLE.size
            else list(_TABLE.iter_unpack(view[at : at + tables * _TABLE.size]))
        )
        at += tables * _TABLE.size
        if len(counts) != tables or len(view) < at + sum(8 * (rows + gone) + size for rows, gone, size in counts):
            raise CheckpointCorruptedError("the state of a key group is damaged: a run has not the length it names")
        self.hashes, self.removed, self._batches = [], [], []
        for rows, gone, size in counts:
            self.hashes.append(np.frombuffer(view, np.uint64, rows, at))
            self.removed.append(np.frombuffer(view, np.uint64, gone, at + 8 * rows))
            at += 8 * (rows + gone)
            self._batches.append(view[at : at + size])
            at += size
        self.description = view[at:]
        self._read: dict[int, Any] = {}

    @property
    def keys(self) -> int:
        """The number of its rows and removed hashes."""
        return sum(map(len, self.hashes)) + sum(map(len, self.removed))

    def batch(self, table: int, schema: Any) -> Any:
        """Return the rows of a table as a record batch that shares the run's bytes.

        Args:
            table: The position of the table.
        """
        import pyarrow as pa

        if table not in self._read:
            self._read[table] = (
                pa.ipc.read_record_batch(pa.py_buffer(self._batches[table]), schema)
                if len(self.hashes[table])
                else pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
            )
        return self._read[table]


#: Rows of some tables, sorted by hash.
Rows: TypeAlias = "RowRun | RowsInMemory"


def built(parts: Sequence[Part], replaces: bool, description: bytes, made_of: Sequence[RowRun] = ()) -> bytes:
    """Return a run.

    Args:
        parts: What it has of each table.
        replaces: Whether it hides older rows of its hashes.
        description: What tools have to know of the tables, pickled.
        made_of: The runs whose rows it has, if it is merged: its digest is that of theirs, which costs less.
    """
    content: list[Any] = []
    counts: list[bytes] = []
    for hashes, removed, batch in parts:
        rows = batch.serialize() if len(hashes) else b""
        counts.append(_TABLE.pack(len(hashes), len(removed), len(rows)))
        content += [np.ascontiguousarray(hashes), np.ascontiguousarray(removed), rows]
    content = [*counts, *content, description]
    hashed = hashlib.blake2b(digest_size=8)
    for each in content if not made_of else [*counts, *(run.digest.to_bytes(8) for run in made_of)]:
        hashed.update(each)
    checksum = _checksum(replaces, content)
    header = _HEADER.pack(ROWS_MAGIC, int.from_bytes(hashed.digest()), replaces, checksum, len(parts))
    return b"".join([header, *content])


def _checksum(replaces: bool, content: Iterable[Any]) -> bytes:
    found = int(replaces)
    for each in content:
        found = zlib.crc32(each, found)
    return (found & 0xFFFFFF).to_bytes(3, "little")


def is_intact(run: RowRun, blob: Any) -> bool:
    """Return whether all bytes of a run are intact; False of runs of earlier versions, too."""
    checksum: bytes = _HEADER.unpack_from(blob)[3]
    return _checksum(run.replaces, [memoryview(blob)[_HEADER.size :]]) == checksum


def found(runs: Sequence[Rows], table: int, wanted: Hashes) -> list[tuple[Rows, Any]]:
    """Return the places of the rows that there are of some hashes, by run, the oldest first.

    Args:
        runs: All runs of a group, the newest first.
        table: The position of the table.
        wanted: Different hashes, ascending.
    """
    places = []
    for run in runs:
        hashes, removed = run.hashes[table], run.removed[table]
        hits = is_in(wanted, hashes)
        has_hits = bool(hits.any())
        if has_hits:
            there = wanted[hits]
            starts = hashes.searchsorted(there)
            counts = hashes.searchsorted(there, side="right") - starts
            within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
            places.append((run, np.repeat(starts, counts) + within))
        if run.replaces and (has_hits or len(removed)):
            wanted = wanted[~(hits | is_in(wanted, removed))]
            if not len(wanted):
                break
    return places[::-1]


def merged(runs: Sequence[RowRun], schemas: Sequence[Any], oldest: bool) -> bytes | None:
    """Return the run that takes the place of some, None if no row is left.

    Args:
        runs: Runs that follow each other, the newest first.
        oldest: Whether the oldest run of the group is among them.
    """
    parts = merged_parts(runs, schemas, oldest)
    if not any(len(part.hashes) or len(part.removed) for part in parts):
        return None
    return built(parts, runs[0].replaces, bytes(runs[0].description), runs)


def merged_parts(runs: Sequence[Rows], schemas: Sequence[Any], oldest: bool) -> list[Part]:
    """Return the parts of the run that `merged` builds."""
    return [_merged_part(runs, table, schema, oldest) for table, schema in enumerate(schemas)]


def _merged_part(runs: Sequence[Rows], table: int, schema: Any, oldest: bool) -> Part:
    import pyarrow as pa

    newer = np.zeros(0, np.uint64)
    stay, removed = [], []
    for place, run in enumerate(runs):
        hashes, gone = run.hashes[table], run.removed[table]
        if run.replaces:
            stay.append(~is_in(hashes, newer))
            removed.append(gone[~is_in(gone, newer)])
            if place < len(runs) - 1:
                newer = np.sort(np.concatenate([newer, hashes, gone]), kind="stable")
        else:
            stay.append(np.ones(len(hashes), bool))
    some = [(run.hashes[table], kept, run) for run, kept in zip(runs[::-1], stay[::-1], strict=True) if kept.any()]
    gone = np.zeros(0, np.uint64) if oldest or not removed else np.sort(np.concatenate(removed))
    if not some:
        return Part(np.zeros(0, np.uint64), gone, None)
    hashes = np.concatenate([each for each, _, _ in some])
    places = np.flatnonzero(np.concatenate([kept for _, kept, _ in some]))
    order = places[np.argsort(hashes[places], kind="stable")]
    batch = (
        pa.concat_batches([run.batch(table, schema) for _, _, run in some])
        if len(some) > 1
        else (some[0][2].batch(table, schema))
    )
    return Part(hashes[order], gone, batch.take(pa.array(order)) if len(schema) else batch.slice(0, len(order)))


def distinct(hashes: Hashes) -> Hashes:
    """Return the different ones of some hashes, ascending."""
    found = np.sort(hashes)
    return found[np.append(True, found[1:] != found[:-1])] if len(found) else found


def is_in(hashes: Hashes, known: Hashes) -> Any:
    """Return which hashes are among others, which are ascending."""
    if not len(known):
        return np.zeros(len(hashes), bool)
    return known[np.minimum(known.searchsorted(hashes), len(known) - 1)] == hashes


def entries(
    runs: Iterable[tuple[int, RowRun]], load: Callable[[Any], Any] = pickle.loads
) -> Iterator[tuple[CanonicalKey, Entry]]:
    """Yield the keys of rows, each with its values, for tools that inspect state.

    Args:
        runs: All runs of some groups of one operator, with their ids.
        load: Unpickles the description of the tables.
    """
    groups: dict[int, list[tuple[int, RowRun]]] = {}
    for place, run in runs:
        groups.setdefault(place >> GROUP_SHIFT, []).append((place, run))
    for some in groups.values():
        newest_first = [run for _, run in sorted(some, key=lambda each: -each[0])]
        description = load(newest_first[0].description)
        whole = merged(newest_first, description.schemas, oldest=True)
        if whole is not None:
            yield from description.entries(RowRun(whole)).items()
