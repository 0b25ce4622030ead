"""Base classes of columnar formats: Parquet and ORC."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from scurry.common.bulk_writer import BulkWriter
from scurry.common.typeinfo import TypeInformation
from scurry.common.types import Row
from scurry.connectors.files.formats.column_types import ColumnType
from scurry.connectors.files.formats.format import BulkFormat
from scurry.connectors.files.formats.rows import ColumnRows, no_text
from scurry.connectors.files.formats.values import values_of
from scurry.connectors.source import NOTE_ONCE
from scurry.errors import MalformedRecordError
from scurry.errors.suggestions import alternatives


def missing_column(name: str, names: list[str]) -> str:
    """Return the note on a declared column that a file with these columns lacks."""
    return f"column {name!r} is null, as files lack it{alternatives(name, names)}"


@dataclass(frozen=True)
class ColumnarFormat(BulkFormat):
    """Read rows of chosen columns, matched by name; a column that the file lacks is null.

    Attributes:
        row: The type of the rows, a ROW.
        batch_size: Rows decoded at once.
        utc_timestamp: Whether TIMESTAMPs are in UTC; otherwise they are in the machine's time zone.
        case_sensitive: Whether column names must match exactly.
        required: Columns that a file may not lack.
    """

    row: ColumnType
    batch_size: int = 2048
    utc_timestamp: bool = False
    case_sensitive: bool = True
    required: tuple[str, ...] = ()

    @property
    def produced_type(self) -> TypeInformation | None:
        """A row with the columns' names and types."""
        return self.row.type_info

    def columns_in(self, names: list[str], path: str = "") -> list[str | None]:
        """Return the file's name of each declared column, None for a column it lacks.

        Raises:
            MalformedRecordError: It lacks a required column, or has several of a name.
        """
        self._check_unique(names, path)
        by_name = {name if self.case_sensitive else name.lower(): name for name in names}
        found = [by_name.get(name if self.case_sensitive else name.lower()) for name in self.row.names]
        for name, there in zip(self.row.names, found, strict=True):
            if there is None and name in self.required:
                reason = f"the file has no column {name!r}{alternatives(name, names)}"
                raise MalformedRecordError(path, None, "", reason)
            if there is None:
                NOTE_ONCE.get()(missing_column(name, names))
        return found

    def _check_unique(self, names: list[str], path: str) -> None:
        folded = Counter(name if self.case_sensitive else name.lower() for name in names)
        for name in self.row.names:
            count = folded[name if self.case_sensitive else name.lower()]
            if count > 1:
                raise MalformedRecordError(path, None, "", f"the file has {count} columns {name!r}; rename all but one")

    def rows(self, batch: Any, found: list[str | None], path: str) -> Sequence[Any]:
        """Return the rows of an Arrow record batch.

        Args:
            batch: The columns in the file's types.
            found: The result of `columns_in`.
            path: The file's path, for error messages.

        Raises:
            MalformedRecordError: A column cannot be converted to its declared type.
        """
        import pyarrow as pa

        columns = []
        for name, file_name, part in zip(self.row.names, found, self.row.parts, strict=True):
            if file_name is None:
                columns.append(pa.nulls(batch.num_rows))
                continue
            try:
                columns.append(_cast(batch.column(file_name), part.arrow))
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                reason = f"column {name!r} is {batch.schema.field(file_name).type}, declared is {part.kind}: {error}"
                raise MalformedRecordError(path, None, name, reason) from None
        converters = [part.from_arrow(self.utc_timestamp) for part in self.row.parts]
        if not any(converters):
            return ColumnRows(columns, self.row.names, path)
        values = []
        for name, column, convert in zip(self.row.names, columns, converters, strict=True):
            try:
                found_values = column.to_pylist()
            except UnicodeDecodeError as error:
                raise no_text(path, name, error) from None
            values.append(found_values if convert is None else list(map(convert, found_values)))
        return Row._from_many(zip(*values, strict=True), self.row.names)


def _cast(column: Any, target: Any) -> Any:
    """Cast a column; timestamps are truncated to Python's microseconds."""
    import pyarrow as pa

    return column if column.type == target else column.cast(target, safe=not pa.types.is_timestamp(target))


class Tables(ABC):
    """Convert records to Arrow tables.

    Attributes:
        schema: The columns, a `pyarrow.Schema`.
    """

    schema: Any

    @abstractmethod
    def prepare(self, values: list[Any]) -> list[Any]:
        """Convert records for `table`.

        Raises:
            TypeMismatchError: A record does not fit the schema.
        """

    @abstractmethod
    def table(self, prepared: list[Any]) -> Any:
        """Return the table of converted records."""


class RowTables(Tables):
    """Convert rows to Arrow tables.

    Args:
        row: The type of the rows, a ROW.
        utc_timestamp: Whether TIMESTAMPs are in UTC; otherwise they are in the machine's time zone.
    """

    def __init__(self, row: ColumnType, utc_timestamp: bool) -> None:
        """Derive the columns."""
        import pyarrow as pa

        self._names = row.names
        self.schema = pa.schema(list(row.arrow))
        self._converters = [part.to_arrow(utc_timestamp) for part in row.parts]

    def prepare(self, values: list[Any]) -> list[Any]:
        """Return the values of rows in the order of the columns."""
        return [values_of(value, self._names) for value in values]

    def table(self, prepared: list[Any]) -> Any:
        """Return the table of rows of values."""
        import pyarrow as pa

        arrays = [
            pa.array(column if convert is None else list(map(convert, column)), field.type)
            for column, convert, field in zip(zip(*prepared, strict=True), self._converters, self.schema, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=self.schema)


class ColumnarWriter(BulkWriter):
    """Collect records and write them as groups of columns.

    Args:
        tables: Converts the records to tables.
    """

    def __init__(self, tables: Tables) -> None:
        """Start without records."""
        self._tables = tables
        self._buffer: list[Any] = []

    #: records per group
    _GROUP = 100_000

    @abstractmethod
    def write_group(self, table: Any) -> None:
        """Write an Arrow table as one group."""

    @abstractmethod
    def close(self) -> None:
        """Write the end of the file."""

    def write(self, values: list[Any]) -> None:
        """Add records."""
        self._buffer += self._tables.prepare(values)
        while len(self._buffer) >= self._GROUP:
            self._flush(self._GROUP)

    def _flush(self, count: int) -> None:
        prepared = list(islice(self._buffer, count))
        del self._buffer[:count]
        self.write_group(self._tables.table(prepared))

    def finish(self) -> None:
        """Write the remaining records and the end of the file."""
        if self._buffer:
            self._flush(len(self._buffer))
        self.close()
