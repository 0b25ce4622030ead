"""The entries of a savepoint: files that tasks write, and that tasks read and check against their digests."""

from __future__ import annotations

import posixpath
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from operator import itemgetter
from typing import Any, NamedTuple

from scurry._dataclasses import dataclass
from scurry.connectors.files.filesystem import file_system
from scurry.runtime.savepoint.format import ENTRIES, KINDS, ROW_GROUP_BYTES, Entry
from scurry.runtime.savepoint.manifest import CheckedInput, FileDigest
from scurry.runtime.state.store import DictStore


def entry_schema() -> Any:
    """Return the Arrow schema of the files below `kind=...`."""
    import pyarrow as pa

    return pa.schema(
        [
            ("uid", pa.string()),
            ("subtask", pa.int32()),
            ("id", pa.int64()),
            ("bytes", pa.int64()),
            ("blob", pa.binary()),
        ]
    )


class EntryName(NamedTuple):
    """The name of a file of entries of one kind."""

    kind: str
    file: str


class EntryWriter:
    """Write entries into one file per kind; the files appear, complete, when the writer is closed.

    A task that is repeated, or runs twice at once, replaces its files, so nothing is added twice.

    Args:
        path: The savepoint.
        name: The prefix of the files' names, different for each task.
    """

    def __init__(self, path: str, name: str) -> None:
        self._fs, self._root = file_system(path)
        self._name = name
        self._attempt = uuid.uuid4().hex
        self._writers: dict[str, tuple[Any, Any]] = {}
        self._pending: dict[str, list[tuple[str, int, int, int, bytes]]] = {}
        self._sizes: dict[str, int] = {}

    def add(self, entry: Entry) -> None:
        uid, kind, subtask, number, blob = entry
        if not isinstance(blob, bytes):
            blob = memoryview(blob)  # a mapped file
        self._pending.setdefault(kind, []).append((uid, subtask, number, len(blob), blob))
        size = self._sizes[kind] = self._sizes.get(kind, 0) + len(blob)
        if size >= ROW_GROUP_BYTES:
            self._flush(kind)

    def close(self) -> list[EntryName]:
        """Make the files appear; return their names."""
        for kind in list(self._pending):
            self._flush(kind)
        file = f"{self._name}.parquet"
        for kind, (writer, stream) in self._writers.items():
            writer.close()
            stream.close()
            self._fs.rename(self._staged(kind), self._path(kind, file))
        return [EntryName(kind, file) for kind in self._writers]

    def abort(self) -> None:
        """Remove everything written."""
        for kind, (writer, stream) in self._writers.items():
            with suppress(Exception):  # the footer may not fit on a full disk
                writer.close()
                stream.close()
            self._fs.delete(self._staged(kind))

    def _path(self, kind: str, name: str) -> str:
        return posixpath.join(self._root, ENTRIES, f"kind={kind}", name)

    def _staged(self, kind: str) -> str:
        return self._path(kind, f".{self._name}.{self._attempt}")

    def _flush(self, kind: str) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = entry_schema()
        if kind not in self._writers:
            stream = self._fs.open_output(self._staged(kind))
            # dictionaries and statistics of blobs would be as large as they are
            self._writers[kind] = (
                pq.ParquetWriter(stream, schema, use_dictionary=["uid"], write_statistics=False),
                stream,
            )
        columns = zip(*self._pending.pop(kind), strict=True)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
        self._writers[kind][0].write_table(pa.Table.from_arrays(arrays, schema=schema))
        self._sizes[kind] = 0


def remove_unfinished(path: str) -> None:
    """Remove files left by tasks that did not finish."""
    fs, root = file_system(path)
    for kind in KINDS:
        directory = posixpath.join(root, ENTRIES, f"kind={kind}")
        for name, _ in fs.entries(directory):
            if name.startswith("."):
                fs.delete(posixpath.join(directory, name))


def write_entries(path: str, entries: Iterable[Entry], name: str = "part-0") -> list[EntryName]:
    """Write entries into one file per kind, whose names are returned; `name` is their prefix."""
    writer = EntryWriter(path, name)
    try:
        for entry in entries:
            writer.add(entry)
        return writer.close()
    except BaseException:
        writer.abort()
        raise


def copy_entries(file: EntryFile, path: str, name: str, uids: Mapping[str, str]) -> None:
    """Copy the entries of some operators into another savepoint, without decoding them.

    Args:
        path: The target savepoint.
        name: The name of the target file.
        uids: Uid -> uid in the target, of the operators to copy.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    wanted, renamed = pa.array(uids.keys(), pa.string()), pa.array(uids.values(), pa.string())
    written = False
    target, root = file_system(path)
    directory = posixpath.join(root, ENTRIES, f"kind={file.kind}")
    place = posixpath.join(directory, f".{name}.{uuid.uuid4().hex}")
    with file.open() as reader, ExitStack() as files:
        for number in range(reader.num_row_groups):
            table = reader.read_row_group(number, use_threads=False)
            table = table.filter(pc.is_in(table["uid"], wanted))
            if not table.num_rows:
                continue
            if not written:
                output = files.enter_context(target.open_output(place))
                writer = files.enter_context(pq.ParquetWriter(output, entry_schema()))
                written = True
            uid = pc.take(renamed, pc.index_in(table["uid"], wanted))
            writer.write_table(table.set_column(0, "uid", uid).cast(entry_schema()))
    if written:
        target.rename(place, posixpath.join(directory, f"{name}.parquet"))


@dataclass(frozen=True)
class EntryFile:
    """A Parquet file of entries of one kind.

    Attributes:
        path: Its address, which any worker can open.
        digest: The expected content; reading anything else fails.
    """

    path: str
    kind: str
    digest: FileDigest

    @property
    def row_groups(self) -> tuple[int, ...]:
        return self.digest.row_groups

    @contextmanager
    def open(self) -> Iterator[Any]:
        """Open it as a `pyarrow.parquet.ParquetFile`."""
        fs, path = file_system(self.path)
        with fs.open_input(path) as stream:
            yield parquet_file(CheckedInput(stream, self.path, self.digest))

    def read(self, row_groups: Collection[int] | None = None) -> Iterator[Entry]:
        """Yield the entries of some row groups, by default of all.

        Raises:
            SavepointFormatError: They have changed since the savepoint was opened.
        """
        with self.open() as file:
            for number in range(file.num_row_groups) if row_groups is None else row_groups:
                table = file.read_row_group(number, columns=["uid", "subtask", "id", "blob"], use_threads=False)
                columns = [column.to_pylist() for column in table.columns]
                for uid, subtask, entry, blob in zip(*columns, strict=True):
                    yield Entry(uid, self.kind, subtask, entry, blob)


def parquet_file(stream: Any) -> Any:
    """Return a file that is read by the calling thread.

    Pre-buffering would start a thread pool, which aborts processes that exit right after its start.
    """
    import pyarrow.parquet as pq

    return pq.ParquetFile(stream, pre_buffer=False)


def entries_of(store: DictStore, subtask: int) -> Iterator[Entry]:
    """Yield the entries of a subtask's store as entries of a savepoint.

    Those of a key group follow each other, so that a reader finds them in few row groups.
    """
    for (uid, kind, number), blob in sorted(store.items(), key=itemgetter(0)):
        yield Entry(uid, kind, subtask, number, blob)
