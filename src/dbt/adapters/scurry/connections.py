"""ScurryConnectionManager: sessions of `scurry.dbapi`, one for each thread of dbt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dbt.adapters.contracts.connection import AdapterResponse, Connection, ConnectionState
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.exceptions import FailedToConnectError
from dbt.adapters.sql import SQLConnectionManager
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt.adapters.scurry.credentials import ScurryCredentials, texts
from scurry import dbapi
from scurry.sql.client.splitting import split
from scurry.sql.syntax.lexer import tokenize

logger = AdapterLogger("Scurry")


class ScurryConnectionManager(SQLConnectionManager):
    """Opens sessions in this process or in a gateway. There are no transactions."""

    TYPE = "scurry"

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Open a session, in which the profile's catalog exists.

        Raises:
            FailedToConnectError: The gateway does not answer, or the catalog cannot be created.
        """
        if connection.state == ConnectionState.OPEN:
            return connection
        credentials = connection.credentials
        assert isinstance(credentials, ScurryCredentials)
        try:
            connection.handle = Handle(_connected(credentials))
        except (dbapi.Error, OSError) as error:
            connection.handle, connection.state = None, ConnectionState.FAIL
            raise FailedToConnectError(str(error)) from error
        connection.state = ConnectionState.OPEN
        return connection

    def cancel(self, connection: Connection) -> None:
        """Cancel the statements of a connection."""
        connection.handle.close()

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        """Raise errors of statements as dbt's, with line and place in the statement."""
        try:
            yield
        except dbapi.Error as error:
            raise DbtDatabaseError("\n".join([str(error), *getattr(error, "__notes__", [])])) from error
        except DbtRuntimeError:
            raise
        except Exception as error:
            raise DbtRuntimeError(f"{type(error).__name__}: {error}") from error

    @classmethod
    def get_response(cls, cursor: Any) -> AdapterResponse:
        """Return that the statement has been executed, and its job."""
        return AdapterResponse(_message="OK", query_id=cursor.job_id)

    @classmethod
    def data_type_code_to_name(cls, type_code: Any) -> str:
        """Return the type of a column, which is a text already."""
        return str(type_code)

    def add_begin_query(self) -> Any:
        """Do nothing: there are no transactions."""

    def add_commit_query(self) -> Any:
        """Do nothing: there are no transactions."""


class Handle:
    """A connection whose cursors execute texts of several statements."""

    def __init__(self, connection: dbapi.Connection) -> None:
        self.connection = connection

    def cursor(self) -> Statements:
        """Return a new cursor."""
        return Statements(self.connection.cursor())

    def rollback(self) -> None:
        """Do nothing: dbt rolls back whenever it closes a connection."""

    def close(self) -> None:
        """End the session; jobs of insertions in a gateway keep running."""
        self.connection.close()


class Statements:
    """A cursor for texts of several statements; rows are those of the last one."""

    def __init__(self, cursor: dbapi.Cursor) -> None:
        self._cursor = cursor

    def execute(self, text: str, bindings: Sequence[Any] | None = None) -> None:
        """Execute the statements of a text, one after the other."""
        for piece in split(with_other_inequality(text)):
            self._cursor.execute(piece.text, bindings)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)


def with_other_inequality(text: str) -> str:
    """Write `!=`, which dbt's macros and packages use and Flink's SQL refuses, as `<>`; places stay as they are."""
    if "!=" not in text:
        return text
    tokens, result = tokenize(text), list(text)
    for start, end in zip(tokens.starts, tokens.ends, strict=True):
        if text[start:end] == "!=":
            result[start:end] = "<>"
    return "".join(result)


def _connected(credentials: ScurryCredentials) -> dbapi.Connection:
    endpoint = credentials.endpoint
    if credentials.path and endpoint is None:
        Path(credentials.path).mkdir(parents=True, exist_ok=True)
    settings = {"table.local-time-zone": "UTC", **texts(credentials.settings)}
    try:
        connection = dbapi.connect(
            endpoint or "scurry://",
            token=credentials.token,
            runtime_mode="batch",
            timeout=credentials.timeout,
            init_file=credentials.init_file,
            settings=settings,
        )
    except dbapi.Error as error:
        if "no SQL gateway answers" in str(error):
            option = "url" if credentials.url else "host"
            raise dbapi.OperationalError(f"{_line(error)} (option `{option}` of the profile)") from None
        if re.search(r"\b40[13]\b|[Tt]oken", str(error)):
            raise dbapi.OperationalError(f"{_line(error)} (option `token` of the profile)") from None
        raise
    try:
        _open_catalog(connection, credentials)
    except BaseException:
        with suppress(dbapi.Error):
            connection.close()
        raise
    return connection


def _open_catalog(connection: dbapi.Connection, credentials: ScurryCredentials) -> None:
    name = _quoted(credentials.database)
    options = texts(credentials.catalog_options or {})
    if credentials.path:
        path = credentials.path if credentials.endpoint else str(Path(credentials.path).resolve())
        options = {"type": "filesystem", "path": path}
    option = "path" if credentials.path else "catalog_options" if options else "catalog"
    try:
        if options:
            listed = ", ".join(f"{_literal(key)} = {_literal(value)}" for key, value in options.items())
            connection.execute(f"CREATE CATALOG IF NOT EXISTS {name} WITH ({listed})").close()
        connection.execute(f"USE CATALOG {name}").close()
    except dbapi.Error as error:
        # The statement has the options, which may be secrets.
        raise dbapi.OperationalError(f"{_line(error)} (option `{option}` of the profile)") from None


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _literal(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
