"""The SQL types of captured columns, as Flink CDC has them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from scurry.connectors.cdc.capture import CapturedTable, ChangeCapture, TableId
from scurry.connectors.cdc.mysql.reading import MySqlCapture
from scurry.connectors.cdc.postgres.reading import PostgresCapture
from scurry.connectors.jdbc.database import READING
from scurry.connectors.jdbc.session import JdbcSession
from scurry.sql import types
from scurry.sql.connectors.jdbc.mysql_catalog import mysql_type
from scurry.sql.types import DataType

_STRING = types.VarCharType(types.MAX_LENGTH)
_MODIFIED = re.compile(r"(?P<name>[a-z ]+?)(?:\((?P<first>\d+)(?:,(?P<second>-?\d+))?\))?(?P<rest>[a-z ]*)")
_POSTGRES: dict[str, DataType] = {
    "boolean": types.BooleanType(),
    "bytea": types.VarBinaryType(types.MAX_LENGTH),
    "smallint": types.SmallIntType(),
    "integer": types.IntType(),
    "bigint": types.BigIntType(),
    "real": types.FloatType(),
    "double precision": types.DoubleType(),
    "date": types.DateType(),
}
_TYPES_OF_POSTGRES = (
    "SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a JOIN pg_class c "
    "ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') AND "
    "a.attnum > 0 AND NOT a.attisdropped AND n.nspname NOT IN ('pg_catalog', 'information_schema')"
)


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table.

    Attributes:
        key: The columns of the primary key; none without one.
    """

    names: tuple[str, ...]
    types: tuple[DataType, ...]
    key: tuple[str, ...] = ()

    def type_of(self, name: str) -> DataType:
        """Return the type of a column."""
        return self.types[self.names.index(name)]


def columns_of(capture: ChangeCapture, tables: Sequence[CapturedTable]) -> dict[TableId, TableColumns]:
    """Return the columns of captured tables with their types in SQL."""
    modified = _of_postgres(capture) if isinstance(capture, PostgresCapture) else {}
    found = {}
    for table in tables:
        kinds = []
        for name, kind in zip(table.columns, table.types, strict=True):
            if isinstance(capture, MySqlCapture):
                kinds.append(_mysql(kind))
            else:
                kinds.append(_postgres(modified.get((table.id.schema, table.id.name, name), kind)))
        found[table.id] = TableColumns(table.columns, tuple(kinds), table.key)
    return found


def _of_postgres(capture: PostgresCapture) -> dict[tuple[str, str, str], str]:
    session = JdbcSession(capture.settings.server, 1)
    try:
        rows = session.transact(lambda connection: list(connection.execute(_TYPES_OF_POSTGRES)), READING)
    finally:
        session.close()
    return {(schema, table, column): kind for schema, table, column, kind in rows}


def _postgres(kind: str) -> DataType:
    if kind.endswith("[]"):
        return types.ArrayType(_postgres(kind.removesuffix("[]")))
    found = _MODIFIED.fullmatch(kind)
    if found is None:
        return _STRING
    name, first = f"{found['name']}{found['rest']}".strip(), int(found["first"] or -1)
    if name in _POSTGRES:
        return _POSTGRES[name]
    if name == "numeric":
        precision, scale = (38, 18) if first < 0 else (first, int(found["second"] or 0))
        return types.DecimalType(precision, scale) if precision <= 38 and 0 <= scale <= precision else _STRING
    if name == "character varying" and first > 0:
        return types.VarCharType(first)
    if name == "character":
        return types.CharType(max(first, 1))
    digits = 6 if first < 0 else first
    if name == "time without time zone":
        return types.TimeType(min(digits, 3))
    if name == "timestamp without time zone":
        return types.TimestampType(digits)
    if name == "timestamp with time zone":
        return types.LocalZonedTimestampType(digits)
    return _STRING


def _mysql(kind: str) -> DataType:
    if kind.startswith("bit(") and kind != "bit(1)":
        return types.VarBinaryType(types.MAX_LENGTH)
    found = mysql_type(kind)
    if isinstance(found, types.TimestampType) and kind.startswith("timestamp"):
        return types.LocalZonedTimestampType(found.precision)
    return _STRING if found is None else found
