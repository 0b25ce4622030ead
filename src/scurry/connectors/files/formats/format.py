"""The contract of file formats for reading."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from scurry.common.typeinfo import TypeInformation
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.source import Block


class FileFormat(ABC):
    """Read the records of a file; picklable."""

    @property
    @abstractmethod
    def produced_type(self) -> TypeInformation | None:
        """The type of the records."""

    @property
    def cut_anywhere(self) -> bool:
        """Return whether a micro-batch may end anywhere in a file; if not, `end_of_records` finds a place."""
        return True

    def end_of_records(self, fs: FileSystem, path: str, start: int, end: int) -> int:
        """Return the end of the last record that ends in a byte range, else that of its first record.

        Only asked of formats that cannot be cut anywhere; reads the range.

        Args:
            fs: The file system of the path.
            path: The file.
            start: First byte of the range, where a record begins.
            end: Byte after the range.
        """
        return end

    def splittable(self, path: str) -> bool:
        """Return whether parts of this file can be read separately."""
        return True

    @property
    def meets_malformed_records(self) -> bool:
        """Return whether a file may contain malformed records."""
        return True

    @abstractmethod
    def read(self, fs: FileSystem, path: str, start: int, end: int, size: int) -> Iterator[Block]:
        """Yield blocks of the records that begin in a byte range, in order.

        Malformed input is yielded as `MalformedRecords` if reading can continue behind it; else an error is raised.

        Args:
            fs: The file system of the path.
            path: The file.
            start: First byte of the range.
            end: Byte after the range; the range of a file that is not splittable is the whole file.
            size: Size of the file in bytes when it was discovered.

        Raises:
            MalformedRecordError: The file contains input that cannot be decoded.
        """


class BulkFormat(FileFormat):
    """A format read in blocks of many records, such as Parquet. Flink's `BulkFormat`."""
