"""JdbcTableSource: reads the rows of a table, in ranges of a column or at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scurry.connectors.jdbc.drivers import database_of
from scurry.connectors.jdbc.options import JdbcConnectionOptions
from scurry.connectors.tables.contract import TableSource
from scurry.connectors.tables.jdbc.statements import quoted, select
from scurry.connectors.tables.jdbc.values import column_values
from scurry.errors import MalformedRecordError
from scurry.logical_types import DataType
from scurry.logical_types.values import from_values

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["JdbcTableSource", "NumericRanges"]

_READING = "cannot read from"
_FETCH_SIZE = 5000


@dataclass(frozen=True)
class NumericRanges:
    """Ranges of a column, which leave out smaller and larger numbers and NULL, as in Flink.

    Attributes:
        column: The column.
        lower: The smallest number.
        upper: The largest number.
        number: Number of ranges; fewer if there are fewer numbers.
    """

    column: str
    lower: int
    upper: int
    number: int

    def all(self) -> list[tuple[int, int]]:
        """Return the first and the last number of each range."""
        count = self.upper - self.lower + 1
        number = min(self.number, count)
        size = -(-count // number)
        full = count - (size - 1) * number
        found, start = [], self.lower
        for index in range(number):
            end = start + size - 1 - (1 if index >= full else 0)
            found.append((start, end))
            start = end + 1
        return found


@dataclass(frozen=True)
class JdbcTableSource(TableSource):
    """Read a table; each range is one query, from one snapshot.

    Attributes:
        connection: Where the database is.
        table: The table.
        types: Its columns.
        dialect: Name of the database.
        ranges: The ranges that are read separately; None for one query.
        fetch_size: Rows fetched at once.
    """

    connection: JdbcConnectionOptions
    table: str
    types: Mapping[str, DataType]
    dialect: str
    ranges: NumericRanges | None = None
    fetch_size: int = _FETCH_SIZE

    def splits(self) -> list[Any]:
        """Return the ranges, one None without."""
        return [None] if self.ranges is None else list(self.ranges.all())

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a range, of the columns that are read only.

        Raises:
            DatabaseError: The database is not available, or refuses the query.
            MalformedRecordError: A value does not fit the type of its column.
        """
        import pyarrow as pa

        database = database_of(self.connection)
        condition = None if self.ranges is None else f"{quoted(self.ranges.column)} BETWEEN ? AND ?"
        query, _ = database.translate(select(self.table, columns, condition))
        readers = [column_values(self.types[name], self.dialect).read for name in columns]
        try:
            for rows in database.stream(query, [] if split is None else list(split), self.fetch_size or _FETCH_SIZE):
                if not columns:
                    yield pa.RecordBatch.from_struct_array(pa.array([{}] * len(rows), pa.struct([])))
                    continue
                arrays = [
                    self._column(name, read, values)
                    for name, read, values in zip(columns, readers, zip(*rows, strict=True), strict=True)
                ]
                yield pa.RecordBatch.from_arrays(arrays, names=list(columns))
        except database.errors as error:
            raise database.failure(error, _READING) from None

    def _column(self, name: str, read: Any, values: Sequence[Any]) -> pa.Array:
        import pyarrow as pa

        data_type = self.types[name]
        value = None
        try:
            converted = []
            for value in values:
                converted.append(None if value is None else read(value))
            return from_values(converted, data_type)
        except (ValueError, TypeError, AttributeError, ArithmeticError, pa.ArrowInvalid):
            reason = f"column {name!r} is {data_type.as_summary_string()}"
            raise MalformedRecordError(f"table {self.table}", None, repr(value), reason) from None
