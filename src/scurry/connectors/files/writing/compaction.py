"""Compaction of a sink's small files: strategies and compactors."""

from __future__ import annotations

import posixpath
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import BinaryIO

from scurry._dataclasses import dataclass
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.files.formats.format import FileFormat
from scurry.connectors.files.writing.parts import PartFormat
from scurry.connectors.source import MalformedRecords
from scurry.errors import ArgumentError, UnsupportedError


@dataclass(frozen=True)
class CompactionStrategy:
    """Decide when to compact the files of a bucket: as soon as one of the conditions holds.

    Attributes:
        batches: Number of micro-batches since the first of the files; None for no such condition.
        size: Total bytes of the files; None for no such condition.
        threads: Number of buckets compacted at once.
    """

    batches: int | None = None
    size: int | None = None
    threads: int = 1

    def due(self, batches: int, size: int) -> bool:
        """Return whether to compact files of this many batches and total bytes."""
        return (self.batches is not None and batches >= self.batches) or (self.size is not None and size >= self.size)


class Compactor(ABC):
    """Merge several files into one. Picklable."""

    @abstractmethod
    def check(self, part_format: PartFormat) -> None:
        """Check that it can merge files of a format.

        Raises:
            ArgumentError: It cannot.
        """

    @abstractmethod
    def compact(self, fs: FileSystem, files: Sequence[str], stream: BinaryIO, part_format: PartFormat) -> None:
        """Write the content of the files, in their order, to a stream, which stays open."""


@dataclass(frozen=True)
class ConcatCompactor(Compactor):
    """Write one file after another.

    Attributes:
        delimiter: Bytes between two files.
    """

    delimiter: bytes = b""

    def check(self, part_format: PartFormat) -> None:
        """Reject formats whose files cannot be concatenated."""
        if not part_format.concatenable:
            raise ArgumentError(
                "files of this format, one after another, are no file of the format; use "
                "FileCompactor.record_wise_file_compactor(format), with the format that reads them"
            )

    def compact(self, fs: FileSystem, files: Sequence[str], stream: BinaryIO, part_format: PartFormat) -> None:
        """Copy the files."""
        for number, path in enumerate(files):
            if number and self.delimiter:
                stream.write(self.delimiter)
            with fs.open_input(path) as file:
                shutil.copyfileobj(file, stream, 1024 * 1024)


class IdenticalCompactor(ConcatCompactor):
    """Copy a single file, of any format."""

    def check(self, part_format: PartFormat) -> None:
        """Accept every format."""

    def compact(self, fs: FileSystem, files: Sequence[str], stream: BinaryIO, part_format: PartFormat) -> None:
        """Copy the file.

        Raises:
            UnsupportedError: There is more than one file.
        """
        if len(files) != 1:
            raise UnsupportedError(
                f"identical_file_compactor() copies single files, but there are {len(files)} to compact in "
                f"{posixpath.dirname(files[0])}: use concat_file_compactor() or record_wise_file_compactor(format), or "
                "let one task write a bucket and compact it at every checkpoint"
            )
        super().compact(fs, files, stream, part_format)


@dataclass(frozen=True)
class RecordWiseCompactor(Compactor):
    """Read the records of the files and write them again.

    Attributes:
        reader: The format that reads the sink's files.
    """

    reader: FileFormat

    def check(self, part_format: PartFormat) -> None:
        """Accept every format."""

    def compact(self, fs: FileSystem, files: Sequence[str], stream: BinaryIO, part_format: PartFormat) -> None:
        """Write the records of the files."""
        writer = part_format.open(stream, None)
        for path in files:
            size = next(fs.files(path)).size
            for block in self.reader.read(fs, path, 0, sys.maxsize, size):
                if isinstance(block, MalformedRecords):
                    raise block.errors[0]
                writer.write(list(block), _never_full)
        writer.finish()


def _never_full(size: int) -> bool:
    return False


@dataclass(frozen=True)
class Compaction:
    """The compaction settings of a sink.

    Attributes:
        strategy: Decides when to compact.
        compactor: Merges the files.
    """

    strategy: CompactionStrategy
    compactor: Compactor
