"""LocalRuns: copies of the runs of state on a machine's disk, shared by its workers."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from scurry.errors import CheckpointCorruptedError
from scurry.runtime.state.layout import has_rows
from scurry.runtime.state.row_runs import RowRun, is_intact
from scurry.runtime.state.runs import Run, content_digest
from scurry.spark.workers.memory import resident_files

#: Smaller runs are kept in the memory of the worker that has read or written them, up to so many bytes.
_SMALL, _SMALL_BYTES = 64 * 1024, 32 * 1024 * 1024

#: The number of files that a worker keeps mapped.
_MAPPED = 4096

#: Mapped files that are looked for after a micro-batch.
_LOOKED_FOR = 512

#: Bytes of mapped files in the memory of a worker, some 50 MB of libraries among them, at which those of runs are given
#: back. The system caches the files.
_RESIDENT_BYTES = 256 * 1024 * 1024


class LocalRuns:
    """Keep runs by their digests, so that Spark's state store is asked only for those that are new to the machine.

    Runs are immutable: a file is complete once it has its name. A file that is missing or damaged costs a request.

    Args:
        directory: Where the files are; it is made when the first is written.
        earlier: Where earlier starts of the job have left files. One that is found is checked, and moved.
        held: What keeps the directories from being removed.
    """

    def __init__(self, directory: str, earlier: Sequence[str] = (), held: object = None) -> None:
        self._directory, self._earlier = directory, earlier
        self._held = held
        self._small: OrderedDict[int, bytes] = OrderedDict()
        self._small_bytes = 0
        self._mapped: OrderedDict[int, mmap.mmap] = OrderedDict()
        self._mapped_bytes = 0

    def get(self, digest: int, size: int) -> Any:
        """Return the bytes of a run, None if they are not here."""
        for kept in (self._small, self._mapped):
            found: Any = kept.get(digest)
            if found is not None:
                kept.move_to_end(digest)
                return found
        if size < _SMALL:
            return None
        found = _map(self._path(digest), size) or self._adopted(digest, size)
        if found is None:
            return None
        self._mapped[digest] = found
        self._mapped_bytes += size
        while len(self._mapped) > _MAPPED:
            self._mapped_bytes -= len(self._mapped.popitem(last=False)[1])
        return found

    def _adopted(self, digest: int, size: int) -> mmap.mmap | None:
        """Return a run that an earlier start has left, and make it one of this start."""
        for directory in self._earlier:
            path = self._path(digest, directory)
            found = _map(path, size)
            if found is None:
                continue
            if _is_whole(found, digest):
                with suppress(OSError):  # another worker was faster
                    os.makedirs(self._directory, mode=0o700, exist_ok=True)
                    os.replace(path, self._path(digest))
                return found
            with suppress(OSError):
                os.unlink(path)
        return None

    def put(self, digest: int, blob: bytes) -> None:
        if len(blob) < _SMALL:
            if digest not in self._small:
                self._small[digest] = blob
                self._small_bytes += len(blob)
            while self._small_bytes > _SMALL_BYTES:
                self._small_bytes -= len(self._small.popitem(last=False)[1])
            return
        with suppress(OSError):  # a disk that is full costs time, nothing else
            os.makedirs(self._directory, mode=0o700, exist_ok=True)
            handle, path = tempfile.mkstemp(dir=self._directory)
            try:
                with open(handle, "wb") as file:
                    file.write(blob)
                os.replace(path, self._path(digest))
            except OSError:
                os.unlink(path)
                raise

    def add(self, digest: int, blob: bytes, path: str) -> None:
        """Keep a large run that a file has: with a link to it, on the same disk."""
        link = os.path.join(self._directory, f".{digest:016x}.{os.getpid()}")
        try:
            os.makedirs(self._directory, mode=0o700, exist_ok=True)
            os.link(path, link)
            os.replace(link, self._path(digest))
        except OSError:
            self.put(digest, blob)

    def link(self, digest: int, size: int, path: str) -> bool:
        """Make a link to a file; return False if the file is missing or cannot be linked."""
        if size < _SMALL or self.get(digest, size) is None:
            return False
        try:
            os.link(self._path(digest), path)
        except OSError:
            return False
        return True

    def remove(self, digest: int) -> None:
        """Forget a run that no index lists any more."""
        small, mapped = self._small.pop(digest, None), self._mapped.pop(digest, None)
        self._small_bytes -= len(small or b"")
        if mapped is not None:
            self._mapped_bytes -= len(mapped)
        if small is None:
            with suppress(OSError):
                os.unlink(self._path(digest))

    def unmap_removed(self) -> None:
        """Unmap files that another worker has removed, which take up disk and descriptors until then."""
        for digest in list(islice(self._mapped, _LOOKED_FOR)):
            if os.path.exists(self._path(digest)):
                self._mapped.move_to_end(digest)
            else:
                self._mapped_bytes -= len(self._mapped.pop(digest))

    def release(self) -> None:
        """Return the memory of mapped files, if it is much; cheap if it is not."""
        if self._mapped_bytes <= _RESIDENT_BYTES // 2:
            return
        resident = resident_files()
        if resident is None or resident > _RESIDENT_BYTES:
            for mapped in self._mapped.values():
                mapped.madvise(mmap.MADV_DONTNEED)

    def _path(self, digest: int, directory: str | None = None) -> str:
        return os.path.join(directory or self._directory, f"{digest:016x}")


def _is_whole(blob: Any, digest: int) -> bool:
    """Return whether a file is the run with a digest, and intact."""
    try:
        if has_rows(blob):
            return is_intact(RowRun(blob, digest), blob)
        Run(blob, digest)
        return content_digest(blob) == digest
    except CheckpointCorruptedError:
        return False


def _map(path: str, size: int) -> mmap.mmap | None:
    """Return the content of a file of this user, or None if no file has this size."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            status = os.fstat(file.fileno())
            if status.st_size == size and status.st_uid == os.geteuid():
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        pass
    return None
