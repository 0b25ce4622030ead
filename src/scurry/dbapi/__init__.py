"""DB-API 2 (PEP 249): SQL in this process or in a SQL gateway, for pandas, SQLAlchemy and programs on top of them.

    >>> from scurry import dbapi
    >>> with dbapi.connect("scurry://") as connection:
    ...     cursor = connection.cursor()
    ...     _ = cursor.execute("SELECT ? + 1 AS n, UPPER(?) AS t", (41, "ok"))
    ...     cursor.fetchall()
    [(42, 'OK')]

The dialect of SQLAlchemy is in `scurry.dbapi.sqlalchemy`, which `create_engine("scurry://...")` finds by itself.
"""

from __future__ import annotations

from scurry.dbapi.connections import Connection, connect
from scurry.dbapi.cursors import Cursor
from scurry.dbapi.exceptions import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    WaitTimeoutError,
    Warning,
)
from scurry.dbapi.type_objects import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "WaitTimeoutError",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]

apilevel = "2.0"
#: Threads may share the module and connections, not cursors.
threadsafety = 2
paramstyle = "qmark"
