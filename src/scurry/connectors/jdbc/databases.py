"""Which databases there are: a JDBC URL leads to one of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any, ClassVar

from scurry.common.typeinfo import RowTypeInfo, TypeInformation
from scurry.connectors.jdbc.options import JdbcConnectionOptions
from scurry.connectors.jdbc.redaction import without_password
from scurry.errors import (
    ArgumentError,
    DatabaseAccessError,
    DatabaseConnectionError,
    DatabaseError,
    ScurryError,
    StatementError,
    UnsupportedError,
)

__all__ = ["Database", "Fault", "RejectedValuesError", "database_of"]


class RejectedValuesError(DatabaseError):
    """The database does not take values; whoever knows which record they are from says so."""


class Fault(Enum):
    """What kind of thing an error of a driver tells."""

    CONNECTION = "the connection is gone, or never was"
    PASSING = "the same may work a little later: deadlocks, too many connections"
    ACCESS = "the database does not let us in, or do this"
    STATEMENT = "the statement is wrong, or does not fit the tables"
    RECORD = "the values are wrong"
    OTHER = "anything else"


#: Those after which another try may help.
PASSING = frozenset({Fault.CONNECTION, Fault.PASSING})


class Database(ABC):
    """A database and the driver for it; picklable, opens nothing by itself.

    Attributes:
        options: How to reach it.
    """

    #: class names of the JDBC drivers that go with the URL
    jdbc_drivers: ClassVar[tuple[str, ...]]

    def __init__(self, options: JdbcConnectionOptions) -> None:
        """Check that the options fit.

        Raises:
            ArgumentError: The driver named is another one.
        """
        driver = options.get_driver_name()
        if driver is not None and driver not in self.jdbc_drivers:
            raise ArgumentError(
                f"{options.shown_url} goes with the driver {' or '.join(self.jdbc_drivers)}, not {driver}; leave "
                "with_driver_name out: the URL decides"
            )
        self.options = options

    @property
    def password(self) -> str | None:
        """The password, wherever it was given."""
        return self.options.get_password()

    @property
    @abstractmethod
    def errors(self) -> type[Exception]:
        """The base of all errors the driver raises."""

    @abstractmethod
    def open(self, autocommit: bool = False) -> Any:
        """Return a new DB-API connection, or raise one of the driver's errors.

        Args:
            autocommit: Whether every statement is a transaction; otherwise those up to a commit are one.
        """

    @abstractmethod
    def alive(self, connection: Any) -> bool:
        """Return whether a connection is good for more, after an error and a rollback."""

    @abstractmethod
    def fault(self, error: Exception) -> Fault:
        """Return what an error of the driver tells."""

    @abstractmethod
    def translate(self, sql: str) -> tuple[str, int]:
        """Return SQL with the driver's placeholders for JDBC's, and their number."""

    @abstractmethod
    def row_type(self, connection: Any, query: str) -> RowTypeInfo:
        """Return the type of a query's rows; runs the query without reading any."""

    @abstractmethod
    def stream(self, query: str, parameters: Sequence[Any], fetch_size: int) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a query in blocks, all as of one moment, on a connection of its own."""

    @abstractmethod
    def create_table(self, connection: Any, name: str, columns: str) -> None:
        """Make a table unless it is there; several may try at once."""

    def parameter(self, type_info: TypeInformation) -> Callable[[Any], Any] | None:
        """Return what makes a parameter of a value (not None) of a declared type; None where the value is one."""
        return None

    @abstractmethod
    def check_type(self, type_info: RowTypeInfo) -> None:
        """Raise unless values of the fields' types can be parameters.

        Raises:
            UnsupportedError: One cannot.
        """

    def failure(self, error: Exception, doing: str) -> ScurryError:
        """Return an error of the driver as the user should see it, without the password.

        Args:
            error: What the driver raised.
            doing: What was tried, such as `cannot write`.
        """
        kind = self.fault(error)
        text = without_password(self.text(error), self.password, self.options.get_user_name())
        return _FAILURES.get(kind, DatabaseError)(f"{doing} {self.options.shown_url}: {text}")

    def text(self, error: Exception) -> str:
        """Return what an error says, in one line."""
        return " ".join(str(error).split())


_FAILURES: dict[Fault, type[ScurryError]] = {
    Fault.CONNECTION: DatabaseConnectionError,
    Fault.ACCESS: DatabaseAccessError,
    Fault.STATEMENT: StatementError,
    Fault.RECORD: RejectedValuesError,
}


def database_of(options: JdbcConnectionOptions) -> Database:
    """Return the database that options lead to.

    Raises:
        UnsupportedError: There is none for the URL.
        ArgumentError: The URL or the driver's name is wrong.
        ExtraMissingError: The driver is not installed.
    """
    from scurry.connectors.jdbc.postgres import Postgres
    from scurry.connectors.jdbc.sqlite import Sqlite

    url = options.get_db_url()
    for prefix, database in (("jdbc:postgresql:", Postgres), ("jdbc:sqlite:", Sqlite)):
        if url.startswith(prefix):
            return database(options)
    scheme = ":".join(url.split(":")[:2]) if url.startswith("jdbc:") else url.split(":")[0]
    raise UnsupportedError(
        f"no driver for {scheme}: URLs; there are jdbc:postgresql: and jdbc:sqlite:. For other databases write with "
        "Spark's own JDBC, DataStream.to_spark('jdbc', {...}), and read with env.from_spark(spark.read.jdbc(...)), "
        "their JDBC driver in spark.jars.packages"
    )
