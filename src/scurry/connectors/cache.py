"""DataStream.cache(): a sink that writes records to files, and a source that reads them in later jobs."""

from __future__ import annotations

import os
import pickle
import tempfile
import uuid
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from scurry.common.typeinfo import TypeInformation
from scurry.connectors.files.filesystem import file_system
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.connectors.source import (
    Assignment,
    BatchLimits,
    Chunk,
    ChunkSizer,
    Enumerator,
    Source,
    sliced_with_timestamps,
)
from scurry.errors import SourceNotFoundError


class CachedRecords:
    """The files with the records of a cached stream, once a job has written them; held by the driver.

    The files are deleted by `clear`, when the object is garbage-collected, or when the program ends.
    """

    def __init__(self, parent: str | None = None) -> None:
        """Choose a directory; no file is written yet.

        Args:
            parent: Parent directory or URI of the files; None for the system's temporary directory.
        """
        name = f"scurry-cache-{uuid.uuid4().hex}"
        self.directory = f"{(parent or tempfile.gettempdir()).rstrip('/')}/{name}"
        self._temporary = parent is None
        #: the files of each subtask, in order; None until a job has written them
        self.parts: list[list[str]] | None = None
        weakref.finalize(self, _delete, self.directory)

    def make_private(self) -> None:
        """Create the directory readable by this user only, if it is in the system's temporary directory."""
        if self._temporary:
            os.makedirs(self.directory, mode=0o700, exist_ok=True)

    def clear(self) -> None:
        """Forget the records and delete the files."""
        self.parts = None
        _delete(self.directory)


def _delete(directory: str) -> None:
    fs, path = file_system(directory)
    fs.delete(path)


class CacheSink(Sink):
    """Write the records and timestamps of a stream to files for later jobs."""

    staged = False

    def __init__(self, records: CachedRecords) -> None:
        self._records: CachedRecords | None = records
        self._directory = records.directory

    def __getstate__(self) -> dict[str, Any]:
        """Leave out attributes that only the driver needs."""
        return {"_records": None, "_directory": self._directory}

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer of one file."""
        return _FileWriter(self._directory, context.subtask_index)

    def create_committer(self, sink_id: str) -> Committer:
        """Return a committer that registers the files when the job has ended."""
        if self._records is None:
            raise RuntimeError("a CacheSink commits in the program that made it, not where it was sent to")
        self._records.make_private()
        return _Filling(self._records)


class _FileWriter(SinkWriter):
    """Write a file as a sequence of pickled blocks, so that writer and reader hold only one block in memory."""

    def __init__(self, directory: str, subtask: int) -> None:
        self._subtask = subtask
        # a repeated task writes another file; only committed files are read
        self._path = f"{directory}/{subtask}-{uuid.uuid4().hex}"
        self._file: BinaryIO | None = None

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        if self._file is None:
            fs, path = file_system(self._path)
            self._file = fs.open_output(path)
        pickle.dump((values, timestamps), self._file, 5)

    def prepare_commit(self) -> list[Any]:
        if self._file is None:
            return []
        self._file.close()
        return [(self._subtask, self._path)]


class _Filling(Committer):
    def __init__(self, records: CachedRecords) -> None:
        self._records = records
        self._files: dict[int, list[str]] = {}

    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        self._files = {}  # a BATCH job commits once; a repeated commit replaces the first
        for subtask, path in committables:
            self._files.setdefault(subtask, []).append(path)

    def finish(self) -> None:
        self._records.parts = [files for _, files in sorted(self._files.items())]


class CacheSource(Source):
    """Read cached records, in one channel per subtask that wrote them."""

    def __init__(self, records: CachedRecords, type_info: TypeInformation | None) -> None:
        self._records: CachedRecords | None = records
        self._type_info = type_info

    def __getstate__(self) -> dict[str, Any]:
        """Leave out attributes that only the driver needs: a task gets the names of its files in the assignment."""
        return {"_records": None, "_type_info": self._type_info}

    @property
    def produced_type(self) -> TypeInformation | None:
        """The declared type of the stream."""
        return self._type_info

    def channels(self, parallelism: int) -> int:
        """Return the number of subtasks that wrote records, at least 1."""
        return max(1, len(self._parts()))

    def _parts(self) -> list[list[str]]:
        return (self._records and self._records.parts) or []

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator that assigns everything in one batch."""
        return _OneBatch(self._parts())

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the records of some files with their timestamps."""
        for name in work:
            for block in read_blocks(name):
                yield from sliced_with_timestamps([block], sizer)


def read_blocks(name: str) -> Iterator[tuple[list[Any], list[int] | None]]:
    """Yield the blocks of records that a file has, with their timestamps.

    Raises:
        SourceNotFoundError: The file is not there.
    """
    fs, path = file_system(name)
    try:
        file = fs.open_input(path)
    except FileNotFoundError:
        raise SourceNotFoundError(
            f"the cached records in {name} are not there: they were invalidated while this job read them, or "
            "this worker cannot reach the place; set scurry.cache-dir to a directory or URI all workers share"
        ) from None
    with file:
        while True:
            try:
                yield pickle.load(file)
            except EOFError:
                return


class _OneBatch(Enumerator):
    def __init__(self, parts: list[list[str]]) -> None:
        self._parts = parts
        self._assigned = False

    def next_batch(self) -> list[Assignment]:
        if self._assigned:
            return []
        self._assigned = True
        works: list[Any] = list(self._parts) or [None]
        return [Assignment(channel, work, True) for channel, work in enumerate(works)]

    def position(self) -> dict[str, Any]:
        return {"assigned": self._assigned}

    def restore(self, position: dict[str, Any]) -> None:
        self._assigned = position["assigned"]
