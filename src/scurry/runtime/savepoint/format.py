"""The files of a savepoint; `docs/savepoints.md` describes them for others.

    savepoint-4f0c21-9b1c5d0e7a62/
        metadata.json                       what is in it and where the sources stand; written last
        entries/kind=page/*.parquet         keyed state and timers
        entries/kind=broadcast/*.parquet    broadcast state
        entries/kind=meta/*.parquet         watermarks, the clock and what timers are due, by operator and subtask

A directory without `metadata.json` is no savepoint: it was not finished. Nothing in it names the place it lies at, so
it can be moved and copied.
"""

from __future__ import annotations

import json
import posixpath
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from scurry.connectors.files.filesystem import FileSystem, file_system
from scurry.errors import SavepointFormatError, SavepointNotFoundError

VERSION = 1
METADATA = "metadata.json"
ENTRIES = "entries"
KINDS = ("page", "broadcast", "meta")

#: Rows of a Parquet row group are read and restored together; so many bytes of blobs at most.
ROW_GROUP_BYTES = 8 << 20


class Entry(NamedTuple):
    """One piece of an operator's state: `kind`, `id` and `blob` as `scurry.runtime.state.backend` stores them."""

    uid: str
    kind: str
    subtask: int
    id: int
    blob: bytes


@dataclass(frozen=True)
class OperatorState:
    """An operator whose state is in the savepoint.

    Attributes:
        name: Its name.
        number: Its number in the plan; gates know their senders by it.
        kind: What it is, such as `Window`.
        parallelism: Number of its subtasks.
        states: State name -> schema, for the states its functions have registered.
    """

    name: str
    number: int
    kind: str
    parallelism: int
    states: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SourceState:
    """Where a source stands.

    Attributes:
        name: Its name.
        number: Its number in the plan.
        kind: What it is, such as `FileSource`.
        channels: Number of its readers.
        position: Its enumerator's position.
        ended: The readers that will never get anything again.
        pending: Work that was dealt but is not part of the savepoint's state: (channel, pickled work in base64).
    """

    name: str
    number: int
    kind: str
    channels: int
    position: dict[str, Any]
    ended: list[int] = field(default_factory=list)
    pending: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True)
class SavepointMetadata:
    """What `metadata.json` says.

    Attributes:
        created_ms: When it was taken, in milliseconds since the epoch.
        scurry_version: The release that wrote it.
        job_id: The job it was taken of.
        job_name: That job's name.
        max_parallelism: The number of key groups.
        batch_id: The micro-batch after which it was taken.
        watermark: The lowest watermark of the job's operators, None if there was none.
        drained: Event time was brought to its end before, so watermarks begin anew.
        operators: All operators that may have state, by uid.
        sources: The sources that go on where they stood, by uid.
        version: Of the format.
    """

    created_ms: int
    scurry_version: str
    job_id: str
    job_name: str
    max_parallelism: int
    batch_id: int
    watermark: int | None = None
    drained: bool = False
    operators: dict[str, OperatorState] = field(default_factory=dict)
    sources: dict[str, SourceState] = field(default_factory=dict)
    version: int = VERSION

    def to_json(self) -> str:
        """The text of `metadata.json`."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str, place: str) -> SavepointMetadata:
        """Reads the text of `metadata.json`.

        Raises:
            SavepointFormatError: It is damaged, or of a version this release does not know.
        """
        try:
            content = json.loads(text)
            version = content["version"]
        except (ValueError, KeyError, TypeError):
            raise SavepointFormatError(f"{place}: {METADATA} is damaged: it is no JSON of a savepoint") from None
        if version != VERSION:
            raise SavepointFormatError(
                f"{place} is a savepoint of format version {version}; this release reads version {VERSION}: "
                "use the release that wrote it, or a newer one"
            )
        try:
            content["operators"] = {uid: OperatorState(**op) for uid, op in content["operators"].items()}
            content["sources"] = {
                uid: SourceState(**{**source, "pending": [tuple(work) for work in source["pending"]]})
                for uid, source in content["sources"].items()
            }
            return cls(**content)
        except (KeyError, TypeError, AttributeError) as error:
            raise SavepointFormatError(f"{place}: {METADATA} is damaged: {error}") from None


def new_savepoint_path(directory: str, job_id: str) -> str:
    """A path for a new savepoint in a directory, named as Flink names them."""
    return f"{directory.rstrip('/')}/savepoint-{job_id[:6]}-{uuid.uuid4().hex[:12]}"


def write_metadata(path: str, metadata: SavepointMetadata) -> None:
    """Writes `metadata.json`, which makes the directory a savepoint."""
    fs, root = file_system(path)
    staged = posixpath.join(root, f".{METADATA}.tmp")
    with fs.open_output(staged) as file:
        file.write(metadata.to_json().encode())
    fs.rename(staged, posixpath.join(root, METADATA))


def read_metadata(path: str) -> SavepointMetadata:
    """Reads `metadata.json`.

    Raises:
        SavepointNotFoundError: There is no savepoint at the path.
        SavepointFormatError: It cannot be read.
    """
    fs, root = file_system(path)
    if not fs.exists(posixpath.join(root, METADATA)):
        unfinished = fs.exists(posixpath.join(root, ENTRIES))
        reason = f"it has no {METADATA}: writing it was not finished" if unfinished else f"there is no {METADATA} in it"
        raise SavepointNotFoundError(f"{path} is no savepoint: {reason}")
    with fs.open_input(posixpath.join(root, METADATA)) as file:
        return SavepointMetadata.from_json(file.read().decode("utf-8", "replace"), path)


# ------------------------------------------------------------------ entries


def entry_schema() -> Any:
    """The Arrow schema of the files below `kind=...`."""
    import pyarrow as pa

    return pa.schema([("uid", pa.string()), ("subtask", pa.int32()), ("id", pa.int64()), ("bytes", pa.int64()),
                      ("blob", pa.binary())])  # fmt: skip


class EntryWriter:
    """Writes entries into one file per kind, which appear complete when the writer is closed.

    A task that is repeated, or runs twice at once, replaces its files and so adds nothing twice.

    Args:
        path: The savepoint.
        name: The beginning of the files' names, another one for each task.
    """

    def __init__(self, path: str, name: str) -> None:
        self._fs, self._root = file_system(path)
        self._name = name
        self._attempt = uuid.uuid4().hex
        self._writers: dict[str, tuple[Any, Any]] = {}
        self._pending: dict[str, list[tuple[str, int, int, int, bytes]]] = {}
        self._sizes: dict[str, int] = {}

    def add(self, entry: Entry) -> None:
        """Takes an entry."""
        uid, kind, subtask, number, blob = entry
        self._pending.setdefault(kind, []).append((uid, subtask, number, len(blob), blob))
        size = self._sizes[kind] = self._sizes.get(kind, 0) + len(blob)
        if size >= ROW_GROUP_BYTES:
            self._flush(kind)

    def close(self) -> None:
        """Lets the files appear."""
        for kind in list(self._pending):
            self._flush(kind)
        for kind, (writer, stream) in self._writers.items():
            writer.close()
            stream.close()
            self._fs.rename(self._staged(kind), self._path(kind, f"{self._name}.parquet"))

    def abort(self) -> None:
        """Leaves nothing behind."""
        for kind, (writer, stream) in self._writers.items():
            with suppress(Exception):  # the footer may not fit on a disk that is full
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
            self._writers[kind] = (pq.ParquetWriter(stream, schema), stream)
        columns = zip(*self._pending.pop(kind), strict=True)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
        self._writers[kind][0].write_table(pa.Table.from_arrays(arrays, schema=schema))
        self._sizes[kind] = 0


def remove_unfinished(path: str) -> None:
    """Removes what tasks left behind that did not get to their end."""
    fs, root = file_system(path)
    for kind in KINDS:
        directory = posixpath.join(root, ENTRIES, f"kind={kind}")
        for name, _ in fs.entries(directory):
            if name.startswith("."):
                fs.delete(posixpath.join(directory, name))


def write_entries(path: str, entries: Iterable[Entry], name: str = "part-0") -> None:
    """Writes entries into one file per kind; `name` is the beginning of the files' names."""
    writer = EntryWriter(path, name)
    try:
        for entry in entries:
            writer.add(entry)
        writer.close()
    except BaseException:
        writer.abort()
        raise


def copy_entries(file: EntryFile, path: str, name: str, uids: Mapping[str, str]) -> None:
    """Copies the entries of some operators into another savepoint, without looking into them.

    Args:
        file: The file to copy.
        path: The savepoint they go to.
        name: Their file's name there.
        uids: Uid -> uid there, of the operators that are wanted.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    wanted, renamed = pa.array(uids.keys(), pa.string()), pa.array(uids.values(), pa.string())
    written = False
    source, inner = file_system(file.path)
    target, root = file_system(path)
    directory = posixpath.join(root, ENTRIES, f"kind={file.kind}")
    place = posixpath.join(directory, f".{name}.{uuid.uuid4().hex}")
    with source.open_input(inner) as stream:
        # pre-buffering would begin a pool of threads, see read_parquet
        reader = pq.ParquetFile(stream, pre_buffer=False)
        with ExitStack() as files:
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
        kind: The entries' kind.
        row_groups: Bytes of blobs in each row group.
    """

    path: str
    kind: str
    row_groups: tuple[int, ...]

    def read(self, row_groups: Collection[int] | None = None) -> Iterator[Entry]:
        """The entries of some row groups, of all if not given."""
        import pyarrow.parquet as pq

        fs, path = file_system(self.path)
        with fs.open_input(path) as stream:
            file = pq.ParquetFile(stream, pre_buffer=False)
            for number in range(file.num_row_groups) if row_groups is None else row_groups:
                table = file.read_row_group(number, columns=["uid", "subtask", "id", "blob"], use_threads=False)
                columns = [column.to_pylist() for column in table.columns]
                for uid, subtask, entry, blob in zip(*columns, strict=True):
                    yield Entry(uid, self.kind, subtask, entry, blob)

    def sizes(self) -> Iterator[tuple[str, int, int]]:
        """Uid, subtask and bytes of each entry, without reading the entries themselves."""
        import pyarrow.parquet as pq

        fs, path = file_system(self.path)
        with fs.open_input(path) as stream:
            table = pq.ParquetFile(stream, pre_buffer=False).read(["uid", "subtask", "bytes"], use_threads=False)
            yield from zip(*(column.to_pylist() for column in table.columns), strict=True)


def entry_files(path: str, kinds: Collection[str] = KINDS) -> list[EntryFile]:
    """The files of a savepoint's entries, in the order of their names.

    Raises:
        SavepointFormatError: A file is damaged.
    """
    fs, root = file_system(path)
    found = []
    for kind in kinds:
        directory = f"{ENTRIES}/kind={kind}"
        for name, is_directory in sorted(fs.entries(posixpath.join(root, directory))):
            if name.endswith(".parquet") and not is_directory and name[0] not in "._":
                row_groups = _row_groups(fs, posixpath.join(root, directory, name))
                found.append(EntryFile(f"{path.rstrip('/')}/{directory}/{name}", kind, row_groups))
    return found


def _row_groups(fs: FileSystem, path: str) -> tuple[int, ...]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with fs.open_input(path) as stream:
            metadata = pq.ParquetFile(stream).metadata
    except pa.ArrowException as error:
        raise SavepointFormatError(f"{path} is damaged: {error}") from error
    return tuple(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))


def read_entries(path: str, uids: Collection[str] | None = None, kinds: Collection[str] = KINDS) -> Iterator[Entry]:
    """The entries of a savepoint, of some operators and kinds only if these are given."""
    for file in entry_files(path, kinds):
        for entry in file.read():
            if uids is None or entry.uid in uids:
                yield entry
