"""PostgresCatalog: the databases and tables of a PostgreSQL server."""

from __future__ import annotations

from scurry.errors import UnsupportedError
from scurry.sql import types
from scurry.sql.catalog.entries import CatalogBaseTable
from scurry.sql.catalog.schema import PhysicalColumn
from scurry.sql.connectors.jdbc.server_catalog import JdbcCatalog

_BUILT_IN_DATABASES = ("template0", "template1")
_BUILT_IN_SCHEMAS = (
    "pg_toast",
    "pg_temp_1",
    "pg_toast_temp_1",
    "pg_catalog",
    "information_schema",
)


class PostgresCatalog(JdbcCatalog):
    """The databases and tables of a PostgreSQL server.

    Tables have names such as `schema.table`; without a schema it is `public`. Views of the database are read by their
    names as tables, and not listed, as in Flink.
    """

    def list_databases(self) -> list[str]:
        """Return the names of the databases, without templates."""
        found = self.ask(self.default_database, "SELECT datname FROM pg_database ORDER BY datname")
        return [name for (name,) in found if name not in _BUILT_IN_DATABASES]

    def list_tables(self, database: str) -> list[str]:
        """Return the tables as `schema.table`, in order."""
        self.get_database(database)
        found = self.ask(
            database,
            "SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE' "
            "ORDER BY table_schema, table_name",
        )
        return [f"{schema}.{table}" for schema, table in found if schema not in _BUILT_IN_SCHEMAS]

    def find_table(self, database: str, name: str) -> CatalogBaseTable | None:
        """Return a table, or None if it does not exist.

        Raises:
            UnsupportedError: A column has a type that tables do not have.
        """
        if not self.database_exists(database):
            return None
        schema, dot, table = name.partition(".")
        if not dot:
            schema, table = "public", name
        found = self.ask(
            database,
            "SELECT a.attname, t.typname, a.atttypmod, a.attnotnull FROM pg_attribute a JOIN pg_class c ON "
            "a.attrelid = c.oid JOIN pg_namespace n ON c.relnamespace = n.oid JOIN pg_type t ON a.atttypid = t.oid "
            "WHERE n.nspname = ? AND c.relname = ? AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0 AND NOT "
            "a.attisdropped ORDER BY a.attnum",
            schema,
            table,
        )
        if not found:
            return None
        columns = []
        for column, kind, modifier, required in found:
            data_type = _type(kind, modifier, f"{name}.{column}")
            columns.append(PhysicalColumn(column, data_type.not_null() if required else data_type))
        key = self.ask(
            database,
            "SELECT k.conname, a.attname FROM pg_constraint k JOIN pg_class c ON k.conrelid = c.oid JOIN pg_namespace "
            "n ON c.relnamespace = n.oid JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (k.conkey) WHERE "
            "k.contype = 'p' AND n.nspname = ? AND c.relname = ? ORDER BY array_position(k.conkey, a.attnum)",
            schema,
            table,
        )
        return self.table(database, f"{schema}.{table}", columns, key)


#: PostgreSQL's types of fixed meaning
_TYPES: dict[str, types.DataType] = {
    "bool": types.BooleanType(),
    "bytea": types.VarBinaryType(types.MAX_LENGTH),
    "int2": types.SmallIntType(),
    "smallserial": types.SmallIntType(),
    "int4": types.IntType(),
    "serial": types.IntType(),
    "int8": types.BigIntType(),
    "bigserial": types.BigIntType(),
    "float4": types.FloatType(),
    "float8": types.DoubleType(),
    "text": types.VarCharType(types.MAX_LENGTH),
    "uuid": types.VarCharType(types.MAX_LENGTH),
    "date": types.DateType(),
}


def _type(kind: str, modifier: int, place: str) -> types.DataType:
    """Return the type of a column, as Flink's PostgresTypeMapper."""
    if kind.startswith("_"):
        return types.ArrayType(_type(kind[1:], modifier, place))
    if kind in _TYPES:
        return _TYPES[kind]
    length = modifier - 4  # of texts and numbers; -1 stands for none
    if kind == "varchar":
        return types.VarCharType(length if modifier >= 0 else types.MAX_LENGTH)
    if kind == "bpchar":
        return types.CharType(length if modifier >= 0 else 1)
    if kind == "numeric":
        if modifier < 0:
            return types.DecimalType(38, 18)
        return types.DecimalType(length >> 16 & 0xFFFF, length & 0x7FF)
    precision = modifier if modifier >= 0 else 6
    if kind == "time":
        return types.TimeType(precision)
    if kind == "timestamp":
        return types.TimestampType(precision)
    if kind == "timestamptz":
        return types.LocalZonedTimestampType(precision)
    raise UnsupportedError(f"Doesn't support Postgres type '{kind}' yet, column {place}")
