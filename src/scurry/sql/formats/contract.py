"""The contract of formats: messages and files as record batches, and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from scurry._dataclasses import dataclass
from scurry.common.serialization import BulkWriterFactory
from scurry.connectors.files.filesystem import FileSystem
from scurry.errors import UnsupportedError
from scurry.sql.catalog.table_options import Options, TableOption
from scurry.sql.formats.messages import DecodedMessages, MessageDecoder, MessageEncoder
from scurry.sql.types import DataType, RowField, RowType

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class FormatColumn:
    """A column that a format reads or writes.

    Attributes:
        name: Its name.
        type: Its type.
    """

    name: str
    type: DataType


def chosen_columns(declared: Iterable[FormatColumn], columns: Sequence[str]) -> tuple[FormatColumn, ...]:
    """Return the columns with some names, in the order of the names."""
    by_name = {column.name: column for column in declared}
    return tuple(by_name[name] for name in columns)


def names_and_types(columns: Iterable[FormatColumn]) -> tuple[list[str], list[DataType]]:
    found = list(columns)
    return [column.name for column in found], [column.type for column in found]


def row_of(columns: Iterable[FormatColumn]) -> RowType:
    return RowType([RowField(column.name, column.type) for column in columns])


class FileReader(ABC):
    """Read the files of a table; picklable."""

    #: True if parts of a file can be read separately.
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

    def read_changes(self, fs: FileSystem, path: str, start: int, end: int) -> Iterator[DecodedMessages]:
        """Yield the same rows with their kinds of change; by default all are inserted."""
        yield from map(DecodedMessages, self.read(fs, path, start, end))


class FormatFactory(ABC):
    """Make readers and writers of one format.

    Attributes:
        identifier: The value of the option `format`.
        options: Its options, without the prefix; those for messages.
        insert_only: Whether messages are rows that are added; otherwise they are changes.
        metadata: The metadata that messages have, with their types.
    """

    identifier: str
    options: Sequence[TableOption[Any]] = ()
    insert_only: bool = True
    metadata: ClassVar[Mapping[str, DataType]] = {}

    @property
    def file_options(self) -> Sequence[TableOption[Any]]:
        """Its options for files, by default those for messages."""
        return self.options

    def check(self, options: Options) -> None:
        """Check the options beyond their declared values.

        Raises:
            ValidationError: A value does not fit, or two options do not fit together.
        """
        return

    def check_sink(self, options: Options) -> None:
        """Check the options of a sink beyond those of any table.

        Raises:
            ValidationError: A value is for sources only.
        """
        return

    def file_reader(self, declared: Sequence[FormatColumn], columns: Sequence[str], options: Options) -> FileReader:
        """Return a reader of files.

        Args:
            declared: All columns that the files have.
            columns: Names of the columns to read, in this order.
            options: The options, below the format's prefix.

        Raises:
            UnsupportedError: Files do not have the format.
        """
        raise UnsupportedError(f"format '{self.identifier}' is one of messages, not of files")

    def file_writer(self, declared: Sequence[FormatColumn], options: Options) -> BulkWriterFactory:
        """Return a factory of writers whose records are record batches with the declared columns.

        Those of a format of changes are pairs of a batch and the kinds of its rows, values of `RowKind` or None.

        Raises:
            UnsupportedError: Files do not have the format.
        """
        raise UnsupportedError(f"format '{self.identifier}' is one of messages, not of files")

    def message_decoder(
        self, declared: Sequence[FormatColumn], columns: Sequence[str], metadata: Sequence[str], options: Options
    ) -> MessageDecoder:
        """Return a decoder of messages.

        Args:
            declared: All columns that the messages have.
            columns: Names of the columns to read, in this order.
            metadata: The metadata to read, as columns after these.
            options: The options, below the format's prefix.

        Raises:
            UnsupportedError: Messages do not have the format.
        """
        raise UnsupportedError(f"format '{self.identifier}' is one of files, not of messages")

    def message_encoder(self, declared: Sequence[FormatColumn], options: Options) -> MessageEncoder:
        """Return an encoder of record batches with the declared columns.

        Raises:
            UnsupportedError: Messages do not have the format.
        """
        raise UnsupportedError(f"format '{self.identifier}' is one of files, not of messages")
