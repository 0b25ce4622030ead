"""Connections to MySQL for change data capture, and the errors that say which option to change."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from scurry.connectors.cdc.mysql.settings import MySqlSettings
from scurry.connectors.jdbc.connection import without_password
from scurry.connectors.jdbc.mysql import LOST, REFUSED
from scurry.errors import DatabaseAccessError, DatabaseConnectionError, DatabaseError, ExtraMissingError, LogLostError

#: Numbers of MySQL's errors.
_BINLOG_GONE = {1236, 1220, 1373}


def need_client() -> None:
    """Check that the client libraries are installed.

    Raises:
        ExtraMissingError: They are not.
    """
    if importlib.util.find_spec("pymysqlreplication") is None or importlib.util.find_spec("pymysql") is None:
        raise ExtraMissingError("'connector' = 'mysql-cdc' needs mysql-replication; pip install 'scurry[mysql]'")


def login(settings: MySqlSettings, seconds: int | None = None) -> dict[str, Any]:
    """Return the arguments of connections."""
    return {
        "host": settings.hostname,
        "port": settings.port,
        "user": settings.username,
        "password": settings.password,
        "connect_timeout": settings.connect_seconds if seconds is None else seconds,
        "charset": "utf8mb4",
    }


def connect(settings: MySqlSettings, seconds: int | None = None, texts: bool = False) -> Any:
    """Return a connection in which every statement is a transaction, and times are in UTC.

    Args:
        settings: The server.
        seconds: How long to wait for it instead of the time that the settings have.
        texts: Whether values come as texts, those of binary columns as bytes.

    Raises:
        DatabaseError: The server cannot be reached, or refuses the user.
    """
    import pymysql
    from pymysql.converters import encoders
    from pymysql.cursors import SSCursor

    with explained(settings):
        options: dict[str, Any] = {"conv": dict(encoders), "cursorclass": SSCursor} if texts else {}
        connection = pymysql.connect(**login(settings, seconds), autocommit=True, **options)
        with pymysql.cursors.Cursor(connection) as cursor:
            cursor.execute("SET time_zone = '+00:00', sql_mode = ''")
        return connection


def connected(**options: Any) -> Any:
    """Connect for the library of the binlog, which names the database as PyMySQL no longer does."""
    import pymysql

    return pymysql.connect(**{"database" if name == "db" else name: value for name, value in options.items()})


@contextmanager
def explained(settings: MySqlSettings) -> Iterator[None]:
    """Raise the driver's errors as those of scurry, with the option to change.

    Raises:
        DatabaseError: The server cannot be reached, or refuses a statement.
    """
    import pymysql

    try:
        yield
    except pymysql.MySQLError as error:
        fail(settings, error)


def fail(settings: MySqlSettings, error: Exception) -> NoReturn:
    """Raise a driver's error as one of scurry."""
    number = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    words = " ".join(str(error.args[1] if len(error.args) > 1 else error).split())
    text = f"cannot read from {settings.shown}: {without_password(words, settings.password, settings.username)}"
    if number in _BINLOG_GONE:
        raise LogLostError(text).with_hint(
            "the server has purged its binlog: start the job without its checkpoint, 'scan.startup.mode' = 'initial' "
            "reads the tables again; binlog_expire_logs_seconds says how long it is kept"
        ) from None
    if number == 1227:
        raise DatabaseAccessError(text).with_hint(
            f"GRANT SELECT, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO '{settings.username}'"
        ) from None
    if number in REFUSED:
        raise DatabaseAccessError(text).with_hint(
            f"check 'username' = '{settings.username}', 'password' and 'database-name'; it needs SELECT, REPLICATION "
            "SLAVE and REPLICATION CLIENT"
        ) from None
    if number in LOST or isinstance(error, ConnectionError):
        raise DatabaseConnectionError(text).with_hint(
            f"'hostname' = '{settings.hostname}' and 'port' = '{settings.port}' say where it is"
        ) from None
    raise DatabaseError(text) from None
