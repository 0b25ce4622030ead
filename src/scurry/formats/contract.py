"""The contract of formats: messages and files as record batches, and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scurry.catalog.table_options import Options, TableOption
from scurry.common.bulk_writer import BulkWriterFactory
from scurry.connectors.files.filesystem import FileSystem
from scurry.logical_types import DataType

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FileReader", "FormatColumn", "FormatFactory"]


@dataclass(frozen=True)
class FormatColumn:
    """A column that a format reads or writes.

    Attributes:
        name: Its name.
        type: Its type.
    """

    name: str
    type: DataType


class FileReader(ABC):
    """Read the files of a table; picklable."""

    #: Whether parts of a file can be read separately.
    splittable: bool = False

    @abstractmethod
    def read(self, fs: FileSystem, path: str, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows that begin in a byte range, in order.

        Args:
            fs: The file system of the path.
            path: The file.
            start: First byte of the range.
            end: Byte after the range; that of the whole file if it is not splittable.

        Raises:
            MalformedRecordError: The file contains input that cannot be decoded.
        """


class FormatFactory(ABC):
    """Make readers and writers of one format.

    Attributes:
        identifier: The value of the option `format`.
        options: Its options, without the prefix.
    """

    identifier: str
    options: Sequence[TableOption[Any]] = ()

    def check(self, options: Options) -> None:
        """Check the options beyond their declared values.

        Raises:
            ValidationError: A value does not fit, or two options do not fit together.
        """
        return

    @abstractmethod
    def file_reader(
        self, declared: Sequence[FormatColumn], columns: Sequence[str], options: Options, time_zone: str
    ) -> FileReader:
        """Return a reader of files.

        Args:
            declared: All columns that the files have.
            columns: Names of the columns to read, in this order.
            options: The options, below the format's prefix.
            time_zone: The session's time zone.
        """

    @abstractmethod
    def file_writer(self, declared: Sequence[FormatColumn], options: Options, time_zone: str) -> BulkWriterFactory:
        """Return a factory of writers whose records are record batches with the declared columns."""
