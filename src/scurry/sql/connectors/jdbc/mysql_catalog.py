"""MySqlCatalog: the databases and tables of a MySQL or MariaDB server."""

from __future__ import annotations

import re

from scurry.errors import UnsupportedError
from scurry.sql import types
from scurry.sql.catalog.entries import CatalogBaseTable
from scurry.sql.catalog.schema import PhysicalColumn
from scurry.sql.connectors.jdbc.server_catalog import JdbcCatalog

_BUILT_IN_DATABASES = ("information_schema", "mysql", "performance_schema", "sys")
_DIGITS = 38
_TYPE = re.compile(r"(?P<name>[a-z]+)(?:\((?P<first>\d+)(?:,(?P<second>\d+))?\))?(?P<rest>.*)")


class MySqlCatalog(JdbcCatalog):
    """The databases and tables of a MySQL or MariaDB server; views are listed with the tables, as in Flink."""

    def list_databases(self) -> list[str]:
        """Return the names of the databases, without those of the server itself."""
        found = self.ask(
            self.default_database, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA ORDER BY SCHEMA_NAME"
        )
        return [name for (name,) in found if name not in _BUILT_IN_DATABASES]

    def list_tables(self, database: str) -> list[str]:
        """Return the tables, in order."""
        self.get_database(database)
        query = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? ORDER BY TABLE_NAME"
        return [name for (name,) in self.ask(self.default_database, query, database)]

    def find_table(self, database: str, name: str) -> CatalogBaseTable | None:
        """Return a table, or None if it does not exist.

        Raises:
            UnsupportedError: A column has a type that tables do not have.
        """
        if not self.database_exists(database):
            return None
        found = self.ask(
            database,
            "SELECT COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND "
            "TABLE_NAME = ? ORDER BY ORDINAL_POSITION",
            database,
            name,
        )
        if not found:
            return None
        columns = []
        for column, kind, nullable in found:
            data_type = mysql_type(kind)
            if data_type is None:
                raise UnsupportedError(f"Doesn't support MySQL type '{kind}' yet, column {name}.{column}")
            columns.append(PhysicalColumn(column, data_type if nullable == "YES" else data_type.not_null()))
        key = self.ask(
            database,
            "SELECT CONSTRAINT_NAME, COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE CONSTRAINT_NAME = "
            "'PRIMARY' AND TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION",
            database,
            name,
        )
        return self.table(database, name, columns, [(constraint, column) for constraint, column in key])


def mysql_type(column_type: str) -> types.DataType | None:
    """Return the type of a column, as Flink's MySqlTypeMapper; None if tables have none such.

    Args:
        column_type: Its type in `information_schema`, such as `int(11) unsigned`.
    """
    found = _TYPE.match(column_type.lower())
    if found is None:
        return None
    name, unsigned = found["name"], "unsigned" in found["rest"]
    first, second = int(found["first"] or -1), int(found["second"] or 0)
    if name == "tinyint" and first == 1 and not unsigned:
        return types.BooleanType()
    if name in _WHOLE:
        return _WHOLE[name][unsigned]
    if name == "decimal":
        precision = (10 if first < 0 else first) + unsigned
        return types.DecimalType(precision, second) if precision <= _DIGITS else None
    if name == "char":
        return types.CharType(max(first, 1))
    if name == "varchar":
        return types.VarCharType(max(first, 1))
    if name in ("time", "datetime", "timestamp"):
        precision = max(first, 0)
        return types.TimeType(precision) if name == "time" else types.TimestampType(precision)
    return _OTHERS.get(name)


_WHOLE: dict[str, tuple[types.DataType, types.DataType]] = {
    "tinyint": (types.TinyIntType(), types.SmallIntType()),
    "smallint": (types.SmallIntType(), types.IntType()),
    "mediumint": (types.IntType(), types.IntType()),
    "int": (types.IntType(), types.BigIntType()),
    "bigint": (types.BigIntType(), types.DecimalType(20, 0)),
}
_STRING = types.VarCharType(types.MAX_LENGTH)
_BYTES = types.VarBinaryType(types.MAX_LENGTH)
_OTHERS: dict[str, types.DataType] = {
    "bit": types.BooleanType(),
    "float": types.FloatType(),
    "double": types.DoubleType(),
    "date": types.DateType(),
    "year": types.IntType(),
    **dict.fromkeys(("tinytext", "text", "mediumtext", "longtext", "json", "enum", "set"), _STRING),
    **dict.fromkeys(("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"), _BYTES),
}
