"""DatabaseTarget: tables of a database, which a pipeline creates and alters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from scurry._dataclasses import dataclass
from scurry.connectors.jdbc.database import Database
from scurry.connectors.jdbc.drivers import database_of
from scurry.connectors.jdbc.options import JdbcConnectionOptions
from scurry.connectors.jdbc.session import JdbcSession
from scurry.connectors.jdbc.sink import WRITING
from scurry.errors import DatabaseError, ScurryError, ValidationError
from scurry.sql.connectors.jdbc.statements import Dialect, dialect_of
from scurry.sql.pipelines.changes import UNCHANGED, SinkTable
from scurry.sql.pipelines.targets import Target, missing, without_key

#: Words of databases about a table, a schema or a database that is not there.
_MISSING = ("does not exist", "doesn't exist", "no such table", "Unknown database")


@dataclass(frozen=True)
class DatabaseTarget(Target):
    """Tables of a database that a JDBC URL names: `schema.table`, in MySQL `database.table`."""

    def options_of(self, table: SinkTable) -> dict[str, str]:
        """Return the options of a table of the connector `jdbc`."""
        name = self._dialect.exact_table(table.path)
        return {"connector": "jdbc", **dict(self.options), "table-name": name}

    def check(self) -> None:
        """Check the URL.

        Raises:
            ScurryError: It is none, or the driver is missing.
        """
        if "url" not in dict(self.options):
            raise ValidationError("'url' is missing: jdbc:postgresql://host:5432/database, or jdbc:mysql://host:3306/")
        self._database()

    def _database(self) -> Database:
        given = dict(self.options)
        return database_of(JdbcConnectionOptions(given["url"], None, given.get("username"), given.get("password")))

    @property
    def _dialect(self) -> Dialect:
        return dialect_of(dict(self.options)["url"])

    def prepare(self, table: SinkTable, adds: bool = True) -> None:
        """Create a table, or add the columns that it lacks.

        Raises:
            ScurryError: The server cannot be reached, or refuses it.
        """
        if not table.columns.key:
            raise without_key(table)
        session = JdbcSession(self._database(), 3, autocommit=True)
        try:
            _Table(session, self._dialect, table).prepare(adds)
        finally:
            session.close()


class _Table:
    """A table that is created or altered, perhaps by several tasks at once."""

    def __init__(self, session: JdbcSession, dialect: Dialect, table: SinkTable) -> None:
        self._session = session
        self._dialect = dialect
        self._table = table
        self._name = dialect.exact_table(table.path)

    def prepare(self, adds: bool) -> None:
        names = self._names()
        if names is None:
            if not self._table.creates:
                raise missing(self._table)
            self._create()
            names = self._names() or frozenset()
        dialect, columns, history = self._dialect, self._table.columns, self._table.history
        for earlier, name in history.renamed:
            if earlier.lower() in names and name.lower() not in names:
                self._execute(dialect.rename_column(self._name, earlier, name), partial(self._has, name))
        for name in history.dropped:
            if name.lower() in names:
                self._execute(dialect.drop_column(self._name, name), partial(self._lacks, name))
        names = self._names() or frozenset() if history != UNCHANGED else names
        for name, kind in zip(columns.names, columns.types, strict=True):
            if adds and name.lower() not in names:
                self._execute(dialect.add_column(self._name, name, kind), partial(self._has, name))
            elif name in history.altered and (statement := dialect.alter_type(self._name, name, kind)):
                self._execute(statement, lambda: False)

    def _lacks(self, name: str) -> bool:
        return not self._has(name)

    def _names(self) -> frozenset[str] | None:
        """Return the columns of the table in lower case, None if it does not exist."""
        query = f"SELECT * FROM {self._dialect.table(self._name)} LIMIT 0"
        try:
            found = self._session.transact(lambda connection: connection.execute(query).description, WRITING)
        except DatabaseError as error:
            if any(text in str(error) for text in _MISSING):
                return None
            raise
        return frozenset(column[0].lower() for column in found)

    def _has(self, name: str) -> bool:
        return name.lower() in (self._names() or ())

    def _create(self) -> None:
        columns, dialect = self._table.columns, self._dialect
        creating = dialect.create(self._name, columns.names, columns.types, columns.key, exact=True)
        space = self._table.path.rpartition(".")[0]
        try:
            self._execute(creating, self._is_there)
        except ScurryError as error:
            if not (space and any(text in str(error) for text in _MISSING)):
                raise
            self._execute(dialect.create_space(space), self._is_there)
            self._execute(creating, self._is_there)

    def _is_there(self) -> bool:
        return self._names() is not None

    def _execute(self, statement: str, is_done: Callable[[], bool]) -> None:
        """Execute a statement, unless another task has done so."""
        try:
            self._session.transact(lambda connection: connection.execute(statement), WRITING)
        except ScurryError:
            if not is_done():
                raise
