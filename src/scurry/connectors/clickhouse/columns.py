"""Values that tables of ClickHouse hold: the server wraps others silently, and turns NULL into empty values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from scurry.connectors.clickhouse.client import ClickHouseTable, TableFacts
from scurry.connectors.lakes.columns import lake_schema
from scurry.errors import ArgumentError, RecordRejectedError, UnsupportedError
from scurry.errors.suggestions import alternatives
from scurry.sql.types.atomic_types import LocalZonedTimestampType, TimestampType, TimeType
from scurry.sql.types.nested_types import RowType

if TYPE_CHECKING:
    import pyarrow as pa

_INTEGER = re.compile(r"(U?)Int(\d+)")
#: Last second and last day of the types that have 32 and 16 bits for them, from 1970.
_LAST_SECOND, _LAST_DAY = (1 << 32) - 1, (1 << 16) - 1


def check_row(row: RowType) -> RowType:
    """Return a row type whose rows are written and read.

    Raises:
        UnsupportedError: Columns of ClickHouse do not hold one of its types.
    """
    for field in row:
        kind = field.data_type
        if isinstance(kind, TimeType):
            raise UnsupportedError(
                f"column {field.name!r} is TIME, which ClickHouse has not; declare a BIGINT or STRING"
            )
        if isinstance(kind, TimestampType | LocalZonedTimestampType) and kind.precision > 6:
            raise UnsupportedError(f"column {field.name!r} is {kind}: declare at most 6 digits, which are written")
        _ = stored_schema(RowType([field]))
    return row


def stored_schema(row: RowType) -> pa.Schema:
    """Return the columns of a row type as they are sent."""
    return lake_schema(row)


def plain(kind: str) -> str:
    """Return a type of ClickHouse without `Nullable` and `LowCardinality`."""
    while (found := re.fullmatch(r"(?:Nullable|LowCardinality)\((.*)\)", kind)) is not None:
        kind = found[1]
    return kind


def check_columns(table: ClickHouseTable, facts: TableFacts, row: RowType) -> None:
    """Check that a table takes the rows of a type.

    Raises:
        ArgumentError: It lacks a column, or one has fewer numbers than the type.
    """
    import pyarrow as pa

    for name, kind in zip(row.names, stored_schema(row).types, strict=True):
        there = facts.types.get(name)
        if there is None:
            raise ArgumentError(
                f"the table {table.shown} of ClickHouse has no column {name!r}{alternatives(name, list(facts.types))}"
            )
        integer = _INTEGER.fullmatch(plain(there))
        if integer is not None and pa.types.is_integer(kind):
            fits = not integer[1] and int(integer[2]) >= kind.bit_width
            if not fits:
                raise ArgumentError(
                    f"column {name!r} of {table.shown} is {there}, into which not all values of "
                    f"{row[name].data_type.nullable()} fit: ClickHouse would wrap the others. Declare a smaller type "
                    "and CAST, or widen the column"
                )


class Misfits:
    """Finds the rows that a table would change silently, or not take at all."""

    def __init__(self, facts: TableFacts) -> None:
        self._types = facts.types

    def check(self, rows: pa.RecordBatch) -> None:
        """Check rows.

        Raises:
            RecordRejectedError: A row does not fit.
        """
        for name, column in zip(rows.schema.names, rows.columns, strict=True):
            for at, reason in self._found(column, self._types.get(name, "")):
                record = rows.slice(at, 1).to_pylist()[0]
                raise RecordRejectedError(f"column {name!r} is {self._types.get(name)} in ClickHouse: {reason}", record)

    def _found(self, column: pa.Array, there: str) -> Iterator[tuple[int, str]]:
        import pyarrow as pa
        import pyarrow.compute as pc

        if column.null_count and not _is_nullable(there):
            yield pc.index(pc.is_null(column), True).as_py(), "it takes no NULL"
        kind = plain(there)
        if kind == "Date" and pa.types.is_date32(column.type):
            yield from _beyond(column.cast(pa.int32()), _LAST_DAY, "1970-01-01", "2149-06-06")
        if kind.partition("(")[0] == "DateTime" and pa.types.is_timestamp(column.type):
            seconds = pc.divide(column.cast(pa.int64()), 1_000_000)
            yield from _beyond(seconds, _LAST_SECOND, "1970-01-01", "2106-02-07")


def _is_nullable(kind: str) -> bool:
    return kind.startswith(("Nullable(", "LowCardinality(Nullable(", "Variant(", "Dynamic", "JSON"))


def _beyond(numbers: Any, last: int, begin: str, end: str) -> Iterator[tuple[int, str]]:
    import pyarrow.compute as pc

    outside = pc.fill_null(pc.or_(pc.less(numbers, 0), pc.greater(numbers, last)), False)
    at = pc.index(outside, True).as_py()
    if at >= 0:
        yield at, f"it holds times from {begin} to {end}"
