"""FileSource: reads records of a fixed set of files, or of all files that appear in a directory."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast
from urllib.parse import quote

from scurry._dataclasses import dataclass
from scurry.common._java_regex.patterns import compiled
from scurry.common.typeinfo import TypeInformation
from scurry.connectors.files.filesystem import FileStatus, file_system, local_path
from scurry.connectors.files.formats.format import BulkFormat, FileFormat
from scurry.connectors.files.reading.damaged import naming_damage
from scurry.connectors.files.reading.globs import expand
from scurry.connectors.source import (
    Assignment,
    Backlog,
    BatchLimits,
    Block,
    Chunk,
    ChunkSizer,
    Enumerator,
    MalformedRecords,
    Source,
    sliced,
)
from scurry.connectors.split_queues import SplitQueues
from scurry.errors import ArgumentError

#: (address of the file, first byte, byte after the last, size of the file)
_Range = tuple[str, int, int, int]

#: A batch may be this many times as large as others if nothing is left then: a batch of its own costs more.
_WITH_REST = 1.5

#: Size of a batch up to which the driver searches remote files for the place of a cut; in local files it always does.
_SEARCHED_BYTES = 32 * 1024 * 1024


class FileSource(Source):
    """Read files with a format: lines of text, CSV, Parquet, ...

    The paths are files, directories (read recursively) or patterns (`globs.expand`); below them, names that begin with
    `.` or `_` are skipped. Files are read in the order of their modification times, then of their paths. Unless files
    are split, one channel reads a file from beginning to end. A file larger than a micro-batch is read in several
    micro-batches. A file must be complete when it appears in a watched directory (write it elsewhere and move it). It
    is read once; later changes are ignored.
    """

    def __init__(
        self,
        file_format: FileFormat,
        paths: Sequence[str],
        discovery_interval_ms: int | None = None,
        splits: FileSplits | None = None,
        drop_malformed: bool = False,
        pattern: str | None = None,
    ) -> None:
        """Describe a source of files.

        Args:
            file_format: The format of the files.
            paths: Files, directories and patterns; local, or file:, s3://, gs://, hdfs:// addresses.
            discovery_interval_ms: Milliseconds between discoveries of new files; None for a bounded source.
            splits: How to split large files among channels; None for one channel per file.
            drop_malformed: Skip malformed records instead of failing the job.
            pattern: Regular expression that the whole path of a file must match; None for all files.

        Raises:
            ArgumentError: There is no path.
            UnsupportedError: The scheme of a path is not supported.
        """
        if not paths:
            raise ArgumentError("a FileSource needs at least one path")
        for path in paths:
            file_system(path)
        self.file_format = file_format
        self.paths = tuple(paths)
        self.discovery_interval_ms = discovery_interval_ms
        self.splits = splits or FileSplits()
        self.drop_malformed = drop_malformed
        self.pattern = pattern
        self.bounded = discovery_interval_ms is None

    @property
    def produced_type(self) -> TypeInformation | None:
        """The format's record type."""
        return self.file_format.produced_type

    @property
    def meets_malformed_records(self) -> bool:
        """Return whether files of the format may contain malformed records."""
        return self.file_format.meets_malformed_records

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator that has listed the paths.

        Raises:
            SourceNotFoundError: A path does not exist.
        """
        return _FileEnumerator(self, self.channels(parallelism), limits.max_bytes)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the records of a list of byte ranges."""

        def blocks() -> Iterator[Block]:
            for address, start, end, size in work:
                fs, path = file_system(address)
                amount = end - start
                if not self.file_format.splittable(path):
                    end = sys.maxsize  # a compressed file holds more than its size
                for block in naming_damage(self.file_format.read(fs, path, start, end, size), address, start, amount):
                    if self.drop_malformed and isinstance(block, MalformedRecords):
                        block = replace(block, dropped=True)
                    yield block

        return sliced(blocks(), sizer)


@dataclass(frozen=True)
class FileSplits:
    """Division of files among the channels of a source.

    Attributes:
        max_bytes: Size of the splits of a splittable file, which channels read in parallel; None to read every file in
            one channel, which keeps its records in order.
    """

    max_bytes: int | None = None

    def __post_init__(self) -> None:
        """Check the size.

        Raises:
            ArgumentError: It is not positive.
        """
        if self.max_bytes is not None and self.max_bytes <= 0:
            raise ArgumentError(f"splits of {self.max_bytes} bytes: give a positive number")


@dataclass
class _Pending:
    """The rest of a file or split in the queue of a channel."""

    path: str
    next: int
    end: int
    size: int

    @property
    def left(self) -> int:
        return self.end - self.next


class _FileEnumerator(Enumerator):
    def __init__(
        self, source: FileSource, channels: int, max_bytes: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._format = source.file_format
        self._paths = source.paths
        self._pattern = None if source.pattern is None else compiled(source.pattern)
        self._split_bytes = source.splits.max_bytes
        self._interval = None if source.discovery_interval_ms is None else source.discovery_interval_ms / 1000
        self._max_bytes = self._most_bytes = max_bytes
        self._local = all(local_path(path) is not None for path in source.paths)
        self._clock = clock
        #: whether the limit is that of each channel, and the channels that wait for others
        self._aligned, self._held = False, cast(Collection[int], ())
        self._seen: set[str] = set()
        self._queues: SplitQueues[_Pending] = SplitQueues(channels, lambda file: file.left)
        #: modification time and path of the newest file, for the next source of a HybridSource
        self._newest: list[Any] | None = None
        self._discover()

    def _discover(self) -> None:
        """Queue new files."""
        self._looked = self._clock()
        found: dict[str, FileStatus] = {}  # patterns may overlap
        for address in self._paths:
            fs, path = file_system(address)
            prefix = None if local_path(address) is not None else _prefix(address, path)
            for start in expand(fs, path, must_exist=self._interval is None):
                for status in fs.files(start):
                    name = status.path if prefix is None else _remote(prefix, status.path)
                    if name not in self._seen:
                        found[name] = status
        new = [item for item in found.items() if self._pattern is None or self._pattern.fullmatch(item[1].path)]
        new.sort(key=lambda item: (item[1].modified, item[0]))
        self._seen.update(address for address, _ in new)
        if new:
            self._newest = [new[-1][1].modified, new[-1][0]]
        self._queues.add(split for address, status in new for split in self._splits(address, status.size))

    def _splits(self, path: str, size: int) -> Iterator[_Pending]:
        """Yield the splits of a file; none for an empty file."""
        step = self._split_bytes if self._split_bytes and self._format.splittable(path) else size
        for start in range(0, size, step or 1):
            yield _Pending(path, start, min(start + step, size), size)

    def limit(self, limits: BatchLimits, record_bytes: Mapping[int, float]) -> None:
        if self._format.cut_anywhere or self._local or limits.max_bytes <= _SEARCHED_BYTES:
            self._max_bytes = limits.max_bytes
        else:
            self._max_bytes = self._most_bytes

    @property
    def obeys_limits(self) -> bool:
        return not isinstance(self._format, BulkFormat) and all(map(self._format.splittable, self._paths))

    def align(self, held: Collection[int]) -> None:
        self._aligned, self._held = True, held

    def expects(self, channel: int) -> bool:
        """Return whether files are left in the channel's queue; any channel may get those found later."""
        return self._queues.has(channel)

    def backlog(self) -> Backlog:
        channels = {channel: self._queues.left(channel) for channel in self._queues.open} if self._aligned else None
        return Backlog(bytes=self._queues.total, channels=channels)

    def next_batch(self) -> list[Assignment]:
        if self._interval is not None and self._clock() >= self._looked + self._interval:
            self._discover()
        budget = self._budget()
        assignments = []
        for channel in self._queues.open:
            if channel in self._held:
                continue
            work = self._take(channel, budget)
            final = self._queues.final[channel] = self._interval is None and not self._queues.has(channel)
            if work or final:
                amount = sum(end - start for _, start, end, _ in work)
                assignments.append(Assignment(channel, work or None, final, amount))
        return assignments

    def _budget(self) -> int:
        """Return how many bytes a channel may read in the next batch."""
        if self._aligned:
            return self._max_bytes
        total = self._queues.total
        in_one = min(self._max_bytes * _WITH_REST, self._most_bytes)
        return total if total <= in_one else max(1, self._max_bytes // self._queues.busy)

    def _take(self, channel: int, budget: int) -> list[_Range]:
        """Remove up to `budget` bytes from a queue, or one larger file that is not splittable."""
        work: list[_Range] = []
        while budget > 0 and self._queues.has(channel):
            file = self._queues.first(channel)
            amount = file.left
            if amount > budget:
                if self._format.splittable(file.path):
                    amount = self._whole_records(file, budget)
                elif work:
                    break
            work.append((file.path, file.next, file.next + amount, file.size))
            budget -= amount
            file.next += amount
            self._queues.shrunk(channel, amount)
            if file.left:
                break
            self._queues.pop(channel)
        return work

    def _whole_records(self, file: _Pending, budget: int) -> int:
        """Return how many bytes of a file to read: about `budget`, up to where the format may be cut."""
        if self._format.cut_anywhere:
            return budget
        fs, path = file_system(file.path)
        return min(file.left, self._format.end_of_records(fs, path, file.next, file.next + budget) - file.next)

    def idle_hint(self) -> float:
        """Return the seconds until the next discovery of files."""
        if self._interval is None:
            return 0.0
        return max(0.0, self._looked + self._interval - self._clock())

    def position(self) -> dict[str, Any]:
        return {
            **self._queues.position(lambda file: [file.path, file.next, file.end, file.size]),
            "seen": sorted(self._seen) if self._interval is not None else [],
            "newest": self._newest,
        }

    def restore(self, position: dict[str, Any]) -> None:
        """Continue with the remaining files."""
        self._newest = position.get("newest")
        self._queues.restore(position, lambda file: _pending(*file))
        if self._interval is not None:
            # the next discovery finds files that appeared since, including those that the constructor listed
            self._seen = set(map(_address, position["seen"]))
            self._looked = self._clock() - self._interval


def _pending(path: str, start: int, *end_and_size: int) -> _Pending:
    # positions saved before splits existed have only the size
    return _Pending(_address(path), start, end_and_size[0], end_and_size[-1])


def _remote(prefix: str, path: str) -> str:
    """Return the address by which workers open a file of another file system: scheme and host stay with the path.

    A local file has its path, which is never parsed as a URI.
    """
    return prefix + quote(path, safe="/!$&'()*+,;=:@")


def _address(saved: str) -> str:
    """Return the address of a file in a position: earlier versions stored the `file:` prefix."""
    return saved.removeprefix("file:").removeprefix("//") if saved.startswith("file:/") else saved


def _prefix(address: str, path: str) -> str:
    """Return the beginning of the addresses of files below an address, whose path within its file system is known."""
    if address.endswith(path):
        return address[: len(address) - len(path)]
    scheme, colon, rest = address.partition(":")
    if not colon:
        return ""
    if scheme == "hdfs" and rest.startswith("//"):
        return f"{scheme}://{rest[2:].partition('/')[0]}"
    return f"{scheme}://"
