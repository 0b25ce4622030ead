"""Dialect: SQL that reads and writes a table, as Flink's dialects write it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from scurry._dataclasses import dataclass
from scurry.connectors.jdbc import mysql
from scurry.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
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


def _in_quotes(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class Dialect:
    """The SQL of PostgreSQL and SQLite.

    Attributes:
        name: Name of the database, for messages.
        arrays: Whether columns may be arrays.
    """

    name: str
    arrays: ClassVar[bool] = False

    def quoted(self, name: str) -> str:
        """Return the name of a column.

        A plain name with capital letters stays without quotes, so that the database folds it, as with Flink.
        """
        if _FOLDED.fullmatch(name) and name != name.lower():
            return name
        return _in_quotes(name)

    def table(self, name: str) -> str:
        """Return the name of a table, which an option has."""
        return name

    def select(self, table: str, columns: Sequence[str], condition: str | None = None) -> str:
        """Return a query of some columns; of a constant without columns."""
        listed = ", ".join(map(self.quoted, columns)) or "1"
        return f"SELECT {listed} FROM {self.table(table)}" + (f" WHERE {condition}" if condition else "")

    def lookup(self, table: str, columns: Sequence[str], keys: Sequence[str]) -> str:
        """Return a query of the rows with some values of the key."""
        return self.select(table, columns, self._all(keys))

    def insert(self, table: str, columns: Sequence[str]) -> str:
        """Return a statement that adds a row."""
        marks = ", ".join("?" * len(columns))
        return f"INSERT INTO {self.table(table)} ({', '.join(map(self.quoted, columns))}) VALUES ({marks})"

    def upsert(self, table: str, columns: Sequence[str], key: Sequence[str]) -> str:
        """Return a statement that adds a row, or replaces the one with the same key."""
        changed = ", ".join(f"{self.quoted(name)}=EXCLUDED.{self.quoted(name)}" for name in columns if name not in key)
        action = f"DO UPDATE SET {changed}" if changed else "DO NOTHING"
        return f"{self.insert(table, columns)} ON CONFLICT ({', '.join(map(self.quoted, key))}) {action}"

    def delete(self, table: str, key: Sequence[str]) -> str:
        """Return a statement that removes the row of a key."""
        return f"DELETE FROM {self.table(table)} WHERE {self._all(key)}"

    def delete_all(self, table: str) -> str:
        """Return a statement that removes all rows."""
        return f"DELETE FROM {self.table(table)}"

    def update(self, table: str, columns: Sequence[str], key: Sequence[str]) -> str:
        """Return a statement that sets columns of the row of a key."""
        changed = ", ".join(f"{self.quoted(name)} = ?" for name in columns)
        return f"UPDATE {self.table(table)} SET {changed} WHERE {self._all(key)}"

    def _all(self, names: Sequence[str]) -> str:
        return " AND ".join(f"{self.quoted(name)} = ?" for name in names)

    def exact_table(self, path: str) -> str:
        """Return the name of a table whose parts are as they are, as an option has it."""
        return path.rpartition(".")[2]

    def create_space(self, name: str) -> str:
        """Return a statement that makes a schema, or in MySQL a database."""
        return f"CREATE SCHEMA IF NOT EXISTS {_in_quotes(name)}"

    def add_column(self, table: str, name: str, kind: DataType) -> str:
        """Return a statement that adds a column."""
        return f"ALTER TABLE {self.table(table)} ADD COLUMN {self.quoted(name)} {self.type_of(kind)}"

    def rename_column(self, table: str, name: str, other: str) -> str:
        """Return a statement that gives a column another name."""
        return f"ALTER TABLE {self.table(table)} RENAME COLUMN {self.quoted(name)} TO {self.quoted(other)}"

    def drop_column(self, table: str, name: str) -> str:
        """Return a statement that drops a column."""
        return f"ALTER TABLE {self.table(table)} DROP COLUMN {self.quoted(name)}"

    def alter_type(self, table: str, name: str, kind: DataType) -> str | None:
        """Return a statement that changes the type of a column; None where columns hold values of all types."""
        return None

    def create(
        self, table: str, names: Sequence[str], types: Sequence[DataType], key: Sequence[str], exact: bool = False
    ) -> str:
        """Return the statement that makes a table.

        Args:
            types: Their types in SQL.
            key: The columns of its primary key; none if it has none.
            exact: Whether names are quoted as other statements quote them; otherwise people can read it.
        """
        quote = self.quoted if exact else self.shown
        columns = [f"{quote(name)} {self.type_of(kind, name in key)}" for name, kind in zip(names, types, strict=True)]
        columns += [f"PRIMARY KEY ({', '.join(map(quote, key))})"] if key else []
        return f"CREATE TABLE {self.table(table)} ({', '.join(columns)})"

    def shown(self, name: str) -> str:
        """Return the name of a column in statements that people read."""
        return name if _FOLDED.fullmatch(name) else self.quoted(name)

    #: Types of the database by those of SQL; others have the same name in both.
    _types: ClassVar[Mapping[type[DataType], str]] = {
        VarCharType: "TEXT",
        VarBinaryType: "BYTEA",
        BinaryType: "BYTEA",
        TinyIntType: "SMALLINT",
        FloatType: "REAL",
        DoubleType: "DOUBLE PRECISION",
        TimestampType: "TIMESTAMP",
        LocalZonedTimestampType: "TIMESTAMPTZ",
    }

    def type_of(self, kind: DataType, in_key: bool = False) -> str:
        """Return the type of a column.

        Args:
            kind: Its type in SQL.
            in_key: Whether it is part of the primary key.
        """
        if isinstance(kind, ArrayType):
            return f"{self.type_of(kind.element_type)}[]"
        return self._types.get(type(kind)) or kind.nullable().as_summary_string()


class PostgresDialect(Dialect):
    """The SQL of PostgreSQL."""

    arrays: ClassVar[bool] = True

    def exact_table(self, path: str) -> str:
        """Return the name of a table whose parts are as they are, as an option has it."""
        return ".".join(map(_in_quotes, path.split(".")))

    def alter_type(self, table: str, name: str, kind: DataType) -> str | None:
        """Return a statement that changes the type of a column."""
        column, wanted = self.quoted(name), self.type_of(kind)
        return f"ALTER TABLE {self.table(table)} ALTER COLUMN {column} TYPE {wanted} USING {column}::{wanted}"


class DuckDbDialect(PostgresDialect):
    """The SQL of DuckDB, which is that of PostgreSQL. Moments are TIMESTAMP, in UTC."""

    arrays: ClassVar[bool] = False
    _types: ClassVar[Mapping[type[DataType], str]] = {
        **Dialect._types,
        TinyIntType: "TINYINT",
        LocalZonedTimestampType: "TIMESTAMP",
    }


class MySqlDialect(Dialect):
    """The SQL of MySQL and MariaDB."""

    def quoted(self, name: str) -> str:
        """Return a name in backticks."""
        return mysql.quoted(name)

    def shown(self, name: str) -> str:
        """Return a name in backticks."""
        return mysql.quoted(name)

    def table(self, name: str) -> str:
        """Return a name, of which a dot parts the database, in backticks."""
        return name if "`" in name else ".".join(map(mysql.quoted, name.split(".")))

    def exact_table(self, path: str) -> str:
        """Return the name of a table whose parts are as they are, as an option has it."""
        return path

    def create_space(self, name: str) -> str:
        """Return a statement that makes a database."""
        return f"CREATE DATABASE IF NOT EXISTS {mysql.quoted(name)}"

    def alter_type(self, table: str, name: str, kind: DataType) -> str | None:
        """Return a statement that changes the type of a column."""
        return f"ALTER TABLE {self.table(table)} MODIFY COLUMN {self.quoted(name)} {self.type_of(kind)}"

    def upsert(self, table: str, columns: Sequence[str], key: Sequence[str]) -> str:
        """Return a statement that adds a row, or replaces the one with the same key."""
        changed = [name for name in columns if name not in key] or list(key)
        listed = ", ".join(f"{self.quoted(name)}=VALUES({self.quoted(name)})" for name in changed)
        return f"{self.insert(table, columns)} ON DUPLICATE KEY UPDATE {listed}"

    _types: ClassVar[Mapping[type[DataType], str]] = {
        VarCharType: "LONGTEXT",
        VarBinaryType: "LONGBLOB",
        BinaryType: "LONGBLOB",
        BooleanType: "TINYINT(1)",
        FloatType: "FLOAT",
        DoubleType: "DOUBLE",
    }

    def type_of(self, kind: DataType, in_key: bool = False) -> str:
        """Return the type of a column; columns of keys have a length."""
        if isinstance(kind, TimestampType):
            return f"DATETIME({min(kind.precision, 6)})"
        if isinstance(kind, LocalZonedTimestampType):
            # without a default, servers before MySQL 8 would set it with each change of the row
            return f"TIMESTAMP({min(kind.precision, 6)}) NULL" + ("" if in_key else " DEFAULT NULL")
        if isinstance(kind, VarCharType | VarBinaryType) and (in_key or kind.length <= _LONG_TEXT):
            name = "VARCHAR" if isinstance(kind, VarCharType) else "VARBINARY"
            return f"{name}({min(kind.length, _TEXT_IN_KEY) if in_key else kind.length})"
        return super().type_of(kind, in_key)


#: Length of a text in a key: 768 * 4 bytes is the most of an index.
_TEXT_IN_KEY = 255
#: A longer one counts too much of the 64 KB that a row has.
_LONG_TEXT = 1000

POSTGRES = PostgresDialect("PostgreSQL")
_DIALECTS: dict[str, Dialect] = {
    "jdbc:postgresql:": POSTGRES,
    "jdbc:mysql:": MySqlDialect("MySQL"),
    "jdbc:mariadb:": MySqlDialect("MySQL"),
    "jdbc:sqlite:": Dialect("SQLite"),
    "jdbc:duckdb:": DuckDbDialect("DuckDB"),
}


def dialect_of(url: str) -> Dialect:
    """Return the dialect of a URL that has a driver."""
    return next(dialect for prefix, dialect in _DIALECTS.items() if url.startswith(prefix))
