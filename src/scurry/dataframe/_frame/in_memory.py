"""Data in memory as columns of Arrow, also with an event time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.types import DataType, LocalZonedTimestampType, TimestampType
from scurry.table.table import Table
from scurry.table.table_environment import TableEnvironment


def table_with_watermark(
    environment: TableEnvironment, data: Any, types: list[DataType], watermark: tuple[str, str]
) -> Table:
    """Return the table of columns of Arrow, of which one is the event time, with milliseconds.

    Args:
        environment: Where the table is made.
        data: The columns.
        types: Their SQL types.
        watermark: The column of the event time, and the SQL of its watermark.

    Raises:
        TypeError: It is no such pair.
        ValueError: There is no such column, it is no timestamp, or the SQL is wrong.
    """
    from scurry.sql.catalog.entries import InlineTable
    from scurry.sql.statements.dataframes import source_of_arrow
    from scurry.sql.statements.definitions.schemas import Definition, PendingColumn, resolve_schema
    from scurry.sql.syntax.parser import parse_expression

    name, text = _checked(watermark)
    names = list(data.column_names)
    if name not in names:
        raise ArgumentError(f"watermark column '{name}' is not present in data")
    place = names.index(name)
    kind = types[place]
    if not isinstance(kind, TimestampType | LocalZonedTimestampType):
        raise ArgumentError(f"watermark column '{name}' must have a timestamp type")
    types = [*types[:place], type(kind)(3, kind.is_nullable), *types[place + 1 :]]
    data = data.set_column(place, name, _floored(data.column(place)))
    columns = [PendingColumn(column, each) for column, each in zip(names, types, strict=True)]
    session = environment._session
    schema = resolve_schema(session, Definition(columns, (name, parse_expression(text)), watermark_text=text))
    table = InlineTable(schema, source=source_of_arrow(data, types))
    identifier = session.catalogs.create_anonymous_table(table, environment._frame_name("arrow"))
    made = environment._table_at(identifier)
    assert made is not None, "it has just been added"
    return made


def arrow_of_rows(rows: Sequence[tuple[Any, ...]], names: list[str]) -> tuple[Any, list[DataType]]:
    """Return rows as columns of Arrow, and their types: those that the Table API infers.

    Raises:
        TypeError: A value has no type, or values of a column have none in common.
        ValueError: A column has only None.
    """
    import pyarrow as pa

    from scurry.sql.types.arrow import arrow_type
    from scurry.sql.types.values import from_values
    from scurry.sql.values.elements import internal_value
    from scurry.table._elements import inferred_row_type

    row_type = inferred_row_type(rows, names)
    types = list(row_type.field_types())
    columns = zip(*map(internal_value(row_type.not_null()), rows), strict=True)
    arrays = [from_values(list(column), arrow_type(kind)) for column, kind in zip(columns, types, strict=True)]
    return pa.Table.from_arrays(arrays, names=list(row_type.field_names())), types


def _floored(column: Any) -> Any:
    """Return timestamps rounded down to milliseconds."""
    import pyarrow as pa
    import pyarrow.compute as pc

    per_second = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}[column.type.unit]
    if per_second <= 1_000:
        return column.cast(pa.timestamp("ms"))
    units, step = column.cast(pa.int64()), per_second // 1_000
    quotient = pc.divide(units, step)  # towards zero
    below = pc.less(pc.subtract(units, pc.multiply(quotient, step)), 0)
    return pc.subtract(quotient, below.cast(pa.int64())).cast(pa.timestamp("ms"))


def _checked(watermark: Any) -> tuple[str, str]:
    if not isinstance(watermark, tuple) or len(watermark) != 2:
        raise ArgumentTypeError("watermark must be a tuple of (column, expression)")
    if not all(isinstance(each, str) and each.strip() for each in watermark):
        raise ArgumentTypeError("watermark column and expression must be non-empty strings")
    return watermark
