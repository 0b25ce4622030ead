"""PostgreSQL, through psycopg 3."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Iterator, Sequence
from typing import Any

from scurry.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TypeInformation,
    Types,
)
from scurry.connectors.jdbc.connection import Connection
from scurry.connectors.jdbc.database import Database, Fault
from scurry.connectors.jdbc.placeholders import translate
from scurry.connectors.jdbc.postgres_url import libpq_parameters
from scurry.errors import ExtraMissingError

#: by SQLSTATE class, or by SQLSTATE if the class is not uniform
_FAULTS = {
    "08": Fault.CONNECTION,
    "57P01": Fault.CONNECTION,  # admin_shutdown
    "57P02": Fault.CONNECTION,  # crash_shutdown
    "57P03": Fault.CONNECTION,  # cannot_connect_now
    "57P05": Fault.CONNECTION,  # idle_session_timeout
    "25P03": Fault.CONNECTION,  # idle_in_transaction_session_timeout
    "40": Fault.PASSING,  # serialization failures, deadlocks
    "53": Fault.PASSING,  # too many connections, out of memory, disk full
    "55P03": Fault.PASSING,  # lock_not_available
    "58": Fault.PASSING,  # i/o errors
    "28": Fault.ACCESS,
    "3D": Fault.ACCESS,  # no such database
    "42501": Fault.ACCESS,  # insufficient_privilege
    "42": Fault.STATEMENT,  # syntax, unknown names, types that do not fit
    "26": Fault.STATEMENT,
    "3F": Fault.STATEMENT,  # no such schema
    "22": Fault.RECORD,  # values no column takes
    "23": Fault.RECORD,  # constraints
}

#: Messages of a server that refuses a connection; libpq passes on the text, but no SQLSTATE.
_REFUSALS = ("authentication failed", "no pg_hba.conf entry", "does not exist", "no password supplied", "not permitted")

#: serializes the creation of tables: concurrent `create table if not exists` may fail
_TABLE_LOCK = 0x5C0221

_ARRAYS = (BasicArrayTypeInfo, ObjectArrayTypeInfo, PrimitiveArrayTypeInfo)
_BYTES = PrimitiveArrayTypeInfo(Types.BYTE())

#: names of PostgreSQL's types -> types of their values; values of all other types are text
_TYPES: dict[str, TypeInformation] = {
    "bool": Types.BOOLEAN(),
    "int2": Types.SHORT(),
    "int4": Types.INT(),
    "int8": Types.LONG(),
    "float4": Types.FLOAT(),
    "float8": Types.DOUBLE(),
    "numeric": Types.BIG_DEC(),
    "bytea": _BYTES,
    "date": Types.SQL_DATE(),
    "time": Types.SQL_TIME(),
    "timestamp": Types.SQL_TIMESTAMP(),
    "timestamptz": Types.SQL_TIMESTAMP(),
}


class Postgres(Database):
    """A PostgreSQL server. Sessions use UTC, so values of `timestamp with time zone` are in UTC."""

    jdbc_drivers = ("org.postgresql.Driver",)
    parameter_types = "a basic type, a date, a time, a timestamp, PRIMITIVE_ARRAY(BYTE) or an array of a basic type"

    def __init__(self, options: Connection) -> None:
        """Check the URL and the driver."""
        super().__init__(options)
        self._parameters = libpq_parameters(options)
        if importlib.util.find_spec("psycopg") is None:
            raise ExtraMissingError("jdbc:postgresql: URLs need psycopg; pip install 'scurry[postgres]'")

    @property
    def password(self) -> str | None:
        """The password, from the builder or the URL."""
        return self._parameters.get("password")

    @property
    def errors(self) -> type[Exception]:
        """The base class of psycopg's errors."""
        import psycopg

        return psycopg.Error

    def open(self, autocommit: bool = False) -> Any:
        """Connect, with cursors that leave `$1` unchanged (`RawCursor`)."""
        import psycopg
        from psycopg.types.string import TextLoader

        connection: Any = psycopg.connect(**self._parameters, cursor_factory=psycopg.RawCursor, autocommit=True)
        connection.execute("SET TIME ZONE 'UTC'")
        connection.autocommit = autocommit
        for oid in _shown_as_text():
            connection.adapters.register_loader(oid, TextLoader)
        return connection

    def alive(self, connection: Any) -> bool:
        """Return whether the connection is open."""
        return not connection.closed

    def fault(self, error: Exception) -> Fault:
        """Return the category by SQLSTATE, or without one by class and message."""
        import psycopg

        state = getattr(error, "sqlstate", None)
        if state is not None:
            return _FAULTS.get(state) or _FAULTS.get(state[:2], Fault.OTHER)
        if isinstance(error, psycopg.OperationalError):
            refused = any(words in str(error) for words in _REFUSALS)
            return Fault.ACCESS if refused else Fault.CONNECTION
        if isinstance(error, psycopg.InterfaceError):
            return Fault.CONNECTION
        return Fault.RECORD if isinstance(error, psycopg.DataError | psycopg.ProgrammingError) else Fault.OTHER

    def lacks_table(self, error: Exception) -> bool:
        """Return whether it is undefined_table."""
        return getattr(error, "sqlstate", None) == "42P01"

    def text(self, error: Exception) -> str:
        """Return the error's message; if it is from the server, with details and hints."""
        diagnosis: Any = getattr(error, "diag", None)
        if diagnosis is None or diagnosis.message_primary is None:
            return super().text(error)
        parts = [diagnosis.message_primary, diagnosis.message_detail, diagnosis.message_hint]
        return f"{'; '.join(part for part in parts if part)} (SQLSTATE {diagnosis.sqlstate})"

    def translate(self, sql: str) -> tuple[str, int]:
        """Replace placeholders by `$1`, `$2`, ..."""
        return translate(sql, lambda number: f"${number}")

    def row_type(self, connection: Any, query: str) -> RowTypeInfo:
        """Return the types that the server reports."""
        cursor = connection.execute(f"SELECT * FROM ({query}\n) AS scurry_query WHERE false")
        connection.rollback()
        types = [_type_of(column.type_code) for column in cursor.description]
        return RowTypeInfo(types, [column.name for column in cursor.description])

    def stream(self, query: str, parameters: Sequence[Any], fetch_size: int) -> Iterator[list[tuple[Any, ...]]]:
        """Read through a server-side cursor: one snapshot, and `fetch_size` rows in memory."""
        import psycopg

        connection = self.open()
        try:
            with psycopg.RawServerCursor(connection, "scurry") as cursor:
                cursor.execute(query, parameters)
                while rows := cursor.fetchmany(fetch_size):
                    yield rows
        finally:
            connection.close()

    def create_table(self, connection: Any, name: str, columns: str) -> None:
        """Create the table only if it is missing, so that users without the privilege can use an existing one."""
        look = "SELECT to_regclass($1) IS NULL"
        if connection.execute(look, [name]).fetchone()[0]:
            connection.execute("SELECT pg_advisory_xact_lock($1)", [_TABLE_LOCK])
            connection.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns})")

    def is_parameter(self, type_info: TypeInformation) -> bool:
        """Accept arrays of single values, too."""
        element = type_info.elem_type if isinstance(type_info, _ARRAYS) else type_info
        return type_info == _BYTES or (element != _BYTES and super().is_parameter(element))


@functools.cache
def _shown_as_text() -> list[int]:
    """Return the types to read as text, without psycopg's conversion: json, uuid, intervals, ranges, ..."""
    import psycopg

    return [info.oid for info in psycopg.adapters.types if info.name not in _TYPES]


def _type_of(oid: int) -> TypeInformation:
    import psycopg

    info = psycopg.adapters.types.get(oid)
    if info is None:
        return Types.STRING()
    element = _TYPES.get(info.name, Types.STRING())
    if oid != info.array_oid:
        return element
    return Types.BASIC_ARRAY(element) if isinstance(element, BasicTypeInfo) else Types.OBJECT_ARRAY(element)
