"""Connection: a session of statements, in this process or in a SQL gateway."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from scurry.common._config.tables import DML_SYNC
from scurry.dbapi import exceptions
from scurry.dbapi.cursors import Cursor
from scurry.dbapi.exceptions import InterfaceError, NotSupportedError, raised_for
from scurry.dbapi.transports import Transport
from scurry.dbapi.urls import Target, mode_of, target_of
from scurry.errors import ScurryError
from scurry.sql.client.splitting import split
from scurry.sql.syntax.unparse.dispatch import quoted

if TYPE_CHECKING:
    from scurry.table.table_environment import TableEnvironment

__all__ = ["Connection", "connect"]


def connect(
    url: str = "scurry://",
    *,
    token: str | None = None,
    catalog: str | None = None,
    database: str | None = None,
    runtime_mode: str | None = None,
    timeout: float | None = None,
    changelog: bool | None = None,
    init_file: str | None = None,
    settings: Mapping[str, str] | None = None,
    environment: TableEnvironment | None = None,
) -> Connection:
    """Open a session; arguments come before the query of the URL.

    Args:
        url: `scurry://` for a session in this process; `scurry://:TOKEN@HOST:PORT/CATALOG/DATABASE` for one in a SQL
            gateway, where all but the host may be left out. Its query may have the arguments below, `tls=true`, and
            settings of the session: `?timeout=30&parallelism.default=1`.
        token: The token of the gateway, by default that of the variable SCURRY_REST_TOKEN.
        catalog: The catalog that is current.
        database: The database that is current.
        runtime_mode: `batch`, the default, in which queries end and each statement that writes is waited for; or
            `streaming`, in which queries over unbounded tables yield rows as they come.
        timeout: Seconds that an execution or a fetch waits at most, see `Cursor.timeout`; None for no limit.
        changelog: Whether each row of a query begins with its kind of change: `+I`, `-U`, `+U` or `-D`. Without it, a
            query that changes rows that it has yielded fails with `NotSupportedError`.
        init_file: A file with statements that are executed first, such as CREATE TABLE.
        settings: Settings of the session.
        environment: A TableEnvironment of this process, whose tables, functions, settings and mode are used.

    Raises:
        InterfaceError: The URL cannot be read, or arguments do not fit each other.
        DatabaseError: The gateway does not answer, or a first statement fails.
    """
    target = target_of(url)
    named: dict[str, Any] = {
        "token": token,
        "catalog": catalog,
        "database": database,
        "runtime_mode": None if runtime_mode is None else mode_of("runtime_mode", runtime_mode),
        "timeout": timeout,
        "changelog": changelog,
        "init_file": init_file,
    }
    target = replace(target, **{key: value for key, value in named.items() if value is not None})
    return Connection(replace(target, settings={**target.settings, **(settings or {})}), environment)


class Connection:
    """A session of statements; `connect` opens it.

    There are no transactions: rows that a statement has written stay. A `with` block closes the connection.
    """

    Warning: ClassVar = exceptions.Warning
    Error: ClassVar = exceptions.Error
    InterfaceError: ClassVar = exceptions.InterfaceError
    DatabaseError: ClassVar = exceptions.DatabaseError
    DataError: ClassVar = exceptions.DataError
    OperationalError: ClassVar = exceptions.OperationalError
    IntegrityError: ClassVar = exceptions.IntegrityError
    InternalError: ClassVar = exceptions.InternalError
    ProgrammingError: ClassVar = exceptions.ProgrammingError
    NotSupportedError: ClassVar = exceptions.NotSupportedError

    def __init__(self, target: Target, environment: TableEnvironment | None = None) -> None:
        """Open the session.

        Args:
            target: Where and with what.
            environment: A TableEnvironment whose session is used.
        """
        if environment is not None and (target.endpoint is not None or target.settings):
            raise InterfaceError(
                "environment= is of this process and has its own settings: connect to scurry:// without settings"
            )
        self.timeout = target.timeout
        self.changelog = target.changelog
        self._target = target
        self._wrote = False
        self._cursors: weakref.WeakSet[Cursor] = weakref.WeakSet()
        self._transport: Transport | None = None
        try:
            self._transport = _opened(target, environment)
        except ScurryError as error:
            raise raised_for(error) from error
        try:
            self._begin(target)
        except BaseException:
            self.close()
            raise

    def _begin(self, target: Target) -> None:
        if target.init_file is not None:
            try:
                text = Path(target.init_file).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise InterfaceError(f"init_file {target.init_file} cannot be read: {error}") from None
            for piece in split(text):
                self.execute(piece.text).close()
        if target.catalog is not None:
            self.execute(f"USE CATALOG {quoted(target.catalog)}").close()
        if target.database is not None:
            self.execute(f"USE {quoted(target.database)}").close()

    def cursor(self) -> Cursor:
        """Return a new cursor, whose statements are executed in this session."""
        cursor = Cursor(self)
        self._cursors.add(cursor)
        return cursor

    def execute(self, statement: str, parameters: Any = None) -> Cursor:
        """Execute a statement with a new cursor, and return that."""
        return self.cursor().execute(statement, parameters)

    def commit(self) -> None:
        """Do nothing: rows that a statement has written are there already."""
        self._open()
        self._wrote = False

    def rollback(self) -> None:
        """Do nothing if nothing was written since the last commit.

        Raises:
            NotSupportedError: A statement has written rows, which cannot be taken back.
        """
        self._open()
        if self._wrote:
            self._wrote = False
            raise NotSupportedError("scurry has no transactions: the rows that a statement has written stay")

    def close(self) -> None:
        """Cancel the queries of its cursors and end the session, as often as it is called."""
        transport, self._transport = self._transport, None
        if transport is None:
            return
        for cursor in list(self._cursors):
            cursor.close()
        with suppress(ScurryError):
            transport.close()

    @property
    def is_open(self) -> bool:
        """Return whether it has not been closed."""
        return self._transport is not None

    def _open(self) -> Transport:
        if self._transport is None:
            raise InterfaceError("the connection is closed")
        return self._transport

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def __del__(self) -> None:
        """Let the session go."""
        transport = getattr(self, "_transport", None)
        if transport is not None:
            transport.abandon()

    def __repr__(self) -> str:
        """Return where the session is; never a token or a setting."""
        return f"<scurry.dbapi.Connection to {self._target.endpoint or 'this process'}>"


def _opened(target: Target, environment: TableEnvironment | None) -> Transport:
    settings = {"execution.runtime-mode": target.runtime_mode.upper()}
    if target.runtime_mode == "batch":
        settings[DML_SYNC.key] = "true"
    if target.endpoint is not None:
        from scurry.dbapi.gateway import GatewayTransport

        return GatewayTransport(target.endpoint, target.token, {**settings, **target.settings})
    from scurry.dbapi.embedded import EmbeddedTransport

    context = None if environment is None else environment._session
    return EmbeddedTransport({"scurry.runner": "local", **settings, **target.settings}, context)
