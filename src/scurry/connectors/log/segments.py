"""Segments of a partition: files of blocks, each with an index of them."""

from __future__ import annotations

import os
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from scurry.common._process.replaced_files import force_directory
from scurry.connectors.log.blocks import HEADER_BYTES, Columns, Damage, Header, decoded, header_of, placed
from scurry.connectors.log.catalog import Partition, TopicSettings
from scurry.errors import StorageError

#: first offset, largest timestamp up to here, position in the file
_INDEX_ENTRY = struct.Struct("<QqQ")


def _name(directory: Path, segment: int, suffix: str) -> Path:
    return directory / f"{segment:020}.{suffix}"


class PartitionWriter:
    """Append blocks to a partition; whoever uses it holds the lock of the log."""

    def __init__(self, directory: Path, partition: Partition, settings: TopicSettings) -> None:
        """Open the last segment, and cut the bytes that a crash has left behind its end."""
        self._directory, self._partition, self._settings = directory, partition, settings
        directory.mkdir(parents=True, exist_ok=True)
        self._open(partition.segments[-1])

    def _open(self, segment: int) -> None:
        path = _name(self._directory, segment, "log")
        self._blocks = _appended(path)
        self._index = _appended(path.with_suffix(".index"))
        size, position = os.fstat(self._blocks.fileno()).st_size, self._partition.position
        if size < position:
            raise StorageError(
                f"{path} is damaged: it has {size} bytes instead of {position}; restore it from a copy, or delete the "
                "topic and write it anew"
            )
        self._blocks.truncate(position)
        self._blocks.seek(position)
        self._latest = _cut_index(self._index, path, self._partition.blocks)
        if not position:
            force_directory(self._directory)

    def append(self, block: bytes) -> None:
        """Append a block behind the last one."""
        partition = self._partition
        if partition.position >= self._settings.segment_bytes:
            self.roll()
        header = header_of(block)
        self._latest = max(self._latest, header.latest)
        self._index.write(_INDEX_ENTRY.pack(partition.end, self._latest, partition.position))
        self._blocks.write(placed(block, partition.end))
        partition.position += len(block)
        partition.blocks += 1
        partition.end += header.records

    def roll(self) -> None:
        """Begin a further segment."""
        self.close()
        partition = self._partition
        partition.segments.append(partition.end)
        partition.position = partition.blocks = 0
        self._open(partition.end)

    @property
    def latest(self) -> int:
        """Return the largest timestamp of the last segment, in milliseconds."""
        return self._latest

    def close(self) -> None:
        """Let the appended blocks survive a crash of the machine."""
        self._index.close()
        self._blocks.flush()
        os.fsync(self._blocks.fileno())
        self._blocks.close()


def _appended(path: Path) -> BinaryIO:
    return open(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b")


def _cut_index(index: BinaryIO, path: Path, blocks: int) -> int:
    """Cut an index to some blocks, make it anew if it has fewer, and return the largest timestamp."""
    size = blocks * _INDEX_ENTRY.size
    if os.fstat(index.fileno()).st_size < size:
        index.truncate(0)
        latest = -1
        for (position, header), _ in zip(_headers(path, 0), range(blocks), strict=False):
            latest = max(latest, header.latest)
            index.write(_INDEX_ENTRY.pack(header.offset, latest, position))
        index.flush()
    index.truncate(size)
    index.seek(size)
    return int(_entry(index, blocks - 1)[1]) if blocks else -1


def _entry(index: BinaryIO, number: int) -> tuple[int, int, int]:
    """Return an entry of an index: first offset, largest timestamp up to its block, position.

    Raises:
        Damage: It was cut meanwhile.
    """
    entry = os.pread(index.fileno(), _INDEX_ENTRY.size, number * _INDEX_ENTRY.size)
    if len(entry) < _INDEX_ENTRY.size:
        raise Damage("the index is shorter")
    offset, latest, position = _INDEX_ENTRY.unpack(entry)
    return offset, latest, position


def _count(index: BinaryIO) -> int:
    return os.fstat(index.fileno()).st_size // _INDEX_ENTRY.size


def _headers(path: Path, position: int) -> Iterator[tuple[int, Header]]:
    """Yield the positions and the headers of the blocks of a segment."""
    with open(path, "rb") as file:
        while True:
            file.seek(position)
            try:
                header = header_of(file.read(HEADER_BYTES))
            except Damage:
                return
            yield position, header
            position += HEADER_BYTES + header.size


def latest_of(directory: Path, segment: int) -> int:
    """Return the largest timestamp of a segment that is complete, in milliseconds; -1 without one."""
    try:
        with open(_name(directory, segment, "index"), "rb") as index:
            count = _count(index)
            if count:
                return _entry(index, count - 1)[1]
    except FileNotFoundError:
        pass  # an index only saves time
    return max((header.latest for _, header in _headers(_name(directory, segment, "log"), 0)), default=-1)


def size_of(directory: Path, segment: int) -> int:
    """Return the bytes of the blocks of a segment."""
    return _name(directory, segment, "log").stat().st_size


def delete_segment(directory: Path, segment: int) -> None:
    """Delete a segment; who reads it reads on."""
    for suffix in ("log", "index"):
        _name(directory, segment, suffix).unlink(missing_ok=True)


def blocks_from(directory: Path, partition: Partition, offset: int) -> Iterator[tuple[Header, Columns]]:
    """Yield the blocks of a partition from the one that has an offset.

    Raises:
        StorageError: A segment is damaged.
        FileNotFoundError: The segment has been deleted.
    """
    first = max(0, bisect_right(partition.segments, offset) - 1)
    for segment, until in zip(
        partition.segments[first:], [*partition.segments[first + 1 :], partition.end], strict=True
    ):
        yield from _blocks_of(_name(directory, segment, "log"), max(offset, segment), until)


def _blocks_of(path: Path, offset: int, until: int) -> Iterator[tuple[Header, Columns]]:
    """Yield the blocks of a segment up to an offset."""
    with open(path, "rb") as file:
        position, follows = _position_of(path, file, offset), -1
        while offset < until:
            file.seek(position)
            head = file.read(HEADER_BYTES)
            try:
                header = header_of(head)
                if header.offset != follows >= 0:
                    raise Damage(f"the offset of a block is {header.offset} instead of {follows}")
                if header.end > offset:
                    yield header, decoded(head, header, file.read(header.size))
            except Damage as damage:
                raise StorageError(
                    f"{path} is damaged at byte {position}, at offset {offset}: {damage}; restore it from a copy, or "
                    "read from a later offset"
                ) from None
            offset, follows = max(offset, header.end), header.end
            position += HEADER_BYTES + header.size


def _position_of(path: Path, file: BinaryIO, offset: int) -> int:
    """Return the position of the block with an offset, or one before it."""
    try:
        with open(path.with_suffix(".index"), "rb") as index:
            after = bisect_right(range(_count(index)), offset, key=lambda number: _entry(index, number)[0])
            position = _entry(index, after - 1)[2] if after else 0
        file.seek(position)
        return position if header_of(file.read(HEADER_BYTES)).offset <= offset else 0
    except (FileNotFoundError, Damage):
        return 0  # an index only saves time


def _block_at(path: Path, timestamp: int, segment: int, until: int) -> int:
    """Return the offset of a segment's first block with a timestamp or a later one, or one before it; else `until`."""
    try:
        with open(path, "rb") as index:
            count = _count(index)
            first = bisect_left(range(count), timestamp, key=lambda number: _entry(index, number)[1])
            return _entry(index, first)[0] if first < count else until
    except (FileNotFoundError, Damage):
        return segment  # an index only saves time


def offset_at(directory: Path, partition: Partition, timestamp: int) -> int:
    """Return the offset of the first record with a timestamp or a later one, -1 without such a record.

    Raises:
        StorageError: A segment is damaged.
        FileNotFoundError: A segment has been deleted.
    """
    for segment, until in zip(partition.segments, [*partition.segments[1:], partition.end], strict=True):
        offset = _block_at(_name(directory, segment, "index"), timestamp, segment, until)
        if offset >= until:
            continue
        for header, columns in blocks_from(directory, partition, offset):
            for number, time in enumerate(columns.timestamps):
                if time >= timestamp:
                    return header.offset + number
    return -1
