"""SQL that reads and writes a table, as Flink's dialects write it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scurry.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DoubleType,
    FloatType,
    LocalZonedTimestampType,
    TimestampType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)

_FOLDED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def quoted(name: str) -> str:
    """Return the name of a column.

    A plain name with capital letters stays without quotes, so that the database folds it, as with Flink.
    """
    if _FOLDED.fullmatch(name) and name != name.lower():
        return name
    return '"' + name.replace('"', '""') + '"'


def select(table: str, columns: Sequence[str], condition: str | None = None) -> str:
    """Return a query of some columns; of a constant without columns."""
    listed = ", ".join(map(quoted, columns)) or "1"
    return f"SELECT {listed} FROM {table}" + (f" WHERE {condition}" if condition else "")


def lookup(table: str, columns: Sequence[str], keys: Sequence[str]) -> str:
    """Return a query of the rows with some values of the key."""
    return select(table, columns, " AND ".join(f"{quoted(name)} = ?" for name in keys))


def insert(table: str, columns: Sequence[str]) -> str:
    """Return a statement that adds a row."""
    marks = ", ".join("?" * len(columns))
    return f"INSERT INTO {table} ({', '.join(map(quoted, columns))}) VALUES ({marks})"


def upsert(table: str, columns: Sequence[str], key: Sequence[str]) -> str:
    """Return a statement that adds a row, or replaces the one with the same key."""
    changed = ", ".join(f"{quoted(name)}=EXCLUDED.{quoted(name)}" for name in columns if name not in key)
    action = f"DO UPDATE SET {changed}" if changed else "DO NOTHING"
    return f"{insert(table, columns)} ON CONFLICT ({', '.join(map(quoted, key))}) {action}"


def delete(table: str, key: Sequence[str]) -> str:
    """Return a statement that removes the row of a key."""
    return f"DELETE FROM {table} WHERE {' AND '.join(f'{quoted(name)} = ?' for name in key)}"


def delete_all(table: str) -> str:
    """Return a statement that removes all rows."""
    return f"DELETE FROM {table}"


def update(table: str, columns: Sequence[str], key: Sequence[str]) -> str:
    """Return a statement that sets columns of the row of a key."""
    changed = ", ".join(f"{quoted(name)} = ?" for name in columns)
    return f"UPDATE {table} SET {changed} WHERE {' AND '.join(f'{quoted(name)} = ?' for name in key)}"


def create(table: str, names: Sequence[str], types: Sequence[DataType], key: Sequence[str]) -> str:
    """Return the statement that makes a table, for hints.

    Args:
        names: Its columns.
        types: Their types in SQL.
        key: The columns of its primary key; none if it has none.
    """
    columns = [f"{_shown(name)} {_type_of(kind)}" for name, kind in zip(names, types, strict=True)]
    columns += [f"PRIMARY KEY ({', '.join(map(_shown, key))})"] if key else []
    return f"CREATE TABLE {table} ({', '.join(columns)})"


def _shown(name: str) -> str:
    return name if _FOLDED.fullmatch(name) else quoted(name)


#: Types of a database by those of SQL; others have the same name in both.
_TYPES: dict[type[DataType], str] = {
    VarCharType: "TEXT",
    VarBinaryType: "BYTEA",
    BinaryType: "BYTEA",
    TinyIntType: "SMALLINT",
    FloatType: "REAL",
    DoubleType: "DOUBLE PRECISION",
    TimestampType: "TIMESTAMP",
    LocalZonedTimestampType: "TIMESTAMPTZ",
}


def _type_of(kind: DataType) -> str:
    if isinstance(kind, ArrayType):
        return f"{_type_of(kind.element_type)}[]"
    return _TYPES.get(type(kind)) or kind.nullable().as_summary_string()
