"""The SQL types of captured columns, as Flink CDC has them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.cdc.capture import CapturedTable, ChangeCapture, TableId
from scurry.connectors.cdc.mysql.reading import MySqlCapture
from scurry.connectors.cdc.postgres.reading import PostgresCapture
from scurry.connectors.jdbc.database import READING
from scurry.connectors.jdbc.session import JdbcSession
from scurry.sql import types
from scurry.sql.connectors.jdbc.mysql_catalog import mysql_type
from scurry.sql.statements.text import parse_type
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
    "SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnum FROM pg_attribute a "
    "JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') "
    "AND a.attnum > 0 AND NOT a.attisdropped AND n.nspname NOT IN ('pg_catalog', 'information_schema')"
)


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table.

    Attributes:
        key: The columns of the primary key; none without one.
        ids: What the columns keep when they are renamed; empty where the database has none.
    """

    names: tuple[str, ...]
    types: tuple[DataType, ...]
    key: tuple[str, ...] = ()
    ids: tuple[int, ...] = field(default=(), compare=False)

    def type_of(self, name: str) -> DataType:
        """Return the type of a column."""
        return self.types[self.names.index(name)]

    def renamed(self, earlier: str, name: str) -> TableColumns:
        """Return the columns with another name of one of them."""
        names, key = ([name if each == earlier else each for each in part] for part in (self.names, self.key))
        return TableColumns(tuple(names), self.types, tuple(key))

    def without(self, name: str) -> TableColumns:
        """Return the columns without one of them."""
        left = [(each, kind) for each, kind in zip(self.names, self.types, strict=True) if each != name]
        return TableColumns(tuple(each for each, _ in left), tuple(kind for _, kind in left), self.key)

    def added(self, name: str, kind: DataType) -> TableColumns:
        """Return the columns with one more."""
        return TableColumns((*self.names, name), (*self.types, kind), self.key)

    def altered(self, name: str, kind: DataType) -> TableColumns:
        """Return the columns with another type of one of them."""
        pairs = zip(self.names, self.types, strict=True)
        return TableColumns(self.names, tuple(kind if each == name else other for each, other in pairs), self.key)

    def to_json(self) -> list[Any]:
        """Return JSON-able data."""
        return [list(self.names), [kind.as_summary_string() for kind in self.types], list(self.key), list(self.ids)]

    @staticmethod
    def of_json(data: Sequence[Any]) -> TableColumns:
        """Return the columns that some data describe."""
        names, kinds, key, ids = data
        return TableColumns(tuple(names), tuple(map(parse_type, kinds)), tuple(key), tuple(ids))


def columns_of(capture: ChangeCapture, tables: Sequence[CapturedTable]) -> dict[TableId, TableColumns]:
    """Return the columns of captured tables with their types in SQL."""
    modified = _of_postgres(capture) if isinstance(capture, PostgresCapture) else {}
    found = {}
    for table in tables:
        kinds, ids = list[DataType](), list[int]()
        for name, kind in zip(table.columns, table.types, strict=True):
            if isinstance(capture, MySqlCapture):
                kinds.append(_mysql(kind))
            else:
                known = modified.get((table.id.schema, table.id.name, name))
                kinds.append(_postgres(kind if known is None else known[0]))
                ids += [] if known is None else [known[1]]
        whole = tuple(ids) if len(ids) == len(kinds) else ()
        found[table.id] = TableColumns(table.columns, tuple(kinds), table.key, whole)
    return found


def _of_postgres(capture: PostgresCapture) -> dict[tuple[str, str, str], tuple[str, int]]:
    session = JdbcSession(capture.settings.server, 1)
    try:
        rows = session.transact(lambda connection: list(connection.execute(_TYPES_OF_POSTGRES)), READING)
    finally:
        session.close()
    return {(schema, table, column): (kind, number) for schema, table, column, kind, number in rows}


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
