"""TableColumns: the columns of a table in a database; RowReader: its rows as columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.common.typeinfo import RowTypeInfo
from scurry.common.types import Row
from scurry.errors import MalformedRecordError
from scurry.sql.connectors.jdbc.statements import Dialect
from scurry.sql.connectors.jdbc.values import ColumnValues, column_values
from scurry.sql.types import DataType
from scurry.sql.types.values import batch_of_columns, from_values, to_values

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table in a database."""

    names: tuple[str, ...]
    types: tuple[DataType, ...]
    dialect: Dialect

    def select(self, names: Sequence[str]) -> TableColumns:
        """Return some of the columns, in another order."""
        return TableColumns(tuple(names), tuple(map(self.type_of, names)), self.dialect)

    def type_of(self, name: str) -> DataType:
        return self.types[self.names.index(name)]

    def values(self, name: str) -> ColumnValues:
        """Return how the values of a column pass to the database and back."""
        return column_values(self.type_of(name), self.dialect)

    def reader(self, table: str, columns: Sequence[str]) -> RowReader:
        """Return the reader that makes columns of the rows of a query of some columns."""
        return RowReader(table, tuple(columns), tuple(map(self.type_of, columns)), self.dialect)

    def row_type(self, names: Sequence[str] | None = None) -> RowTypeInfo:
        """Return the type of parameters, of all columns or of some."""
        wanted = list(self.names if names is None else names)
        return RowTypeInfo([self.values(name).type_info for name in wanted], wanted)

    def rows(self, batch: pa.RecordBatch) -> list[Row]:
        """Return rows as parameters of statements."""
        columns = [
            values.written(to_values(column))
            for values, column in zip(map(self.values, self.names), batch.columns, strict=True)
        ]
        return [Row(*values) for values in zip(*columns, strict=True)]


@dataclass(frozen=True)
class RowReader:
    """Make columns of the rows that a database returns."""

    table: str
    names: tuple[str, ...]
    types: tuple[DataType, ...]
    dialect: Dialect

    def values(self, rows: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """Return the rows with the values of columns.

        Raises:
            MalformedRecordError: A value does not fit the type of its column.
        """
        if not self.names:
            return [()] * len(rows)
        return list(zip(*map(self._converted, self.names, self.types, zip(*rows, strict=True)), strict=True))

    def batch(self, rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
        """Return columns of the results of `values`.

        Raises:
            MalformedRecordError: A value does not fit the type of its column.
        """
        values: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else [()] * len(self.names)
        arrays = list(map(self._column, self.names, self.types, values))
        return batch_of_columns(arrays, self.names, len(rows))

    def _converted(self, name: str, data_type: DataType, values: Sequence[Any]) -> list[Any]:
        read = column_values(data_type, self.dialect).read
        value = None
        converted = []
        try:
            for value in values:
                converted.append(None if value is None else read(value))
        except (ValueError, TypeError, AttributeError, ArithmeticError):
            raise self._malformed(name, data_type, value) from None
        return converted

    def _column(self, name: str, data_type: DataType, values: Sequence[Any]) -> pa.Array:
        import pyarrow as pa

        try:
            return from_values(list(values), data_type)
        except (ValueError, TypeError, ArithmeticError, pa.ArrowInvalid):
            raise self._malformed(name, data_type, _first_misfit(values, data_type)) from None

    def _malformed(self, name: str, data_type: DataType, value: Any) -> MalformedRecordError:
        reason = f"column {name!r} is {data_type.as_summary_string()}"
        return MalformedRecordError(f"table {self.table}", None, repr(value), reason)


def _first_misfit(values: Sequence[Any], data_type: DataType) -> Any:
    import pyarrow as pa

    for value in values:
        try:
            from_values([value], data_type)
        except (ValueError, TypeError, ArithmeticError, pa.ArrowInvalid):
            return value
    return None
