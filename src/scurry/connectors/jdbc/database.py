"""The contract of databases."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any, ClassVar

from scurry.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    InstantTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TypeInformation,
    Types,
)
from scurry.connectors.jdbc.connection import Connection, without_password
from scurry.errors import (
    ArgumentError,
    DatabaseAccessError,
    DatabaseConnectionError,
    DatabaseError,
    RejectedValuesError,
    ScurryError,
    StatementError,
    UnsupportedError,
)


class Fault(Enum):
    """The category of a driver's error."""

    CONNECTION = "the connection was lost or refused"
    PASSING = "the same may work a little later: deadlocks, too many connections"
    ACCESS = "the user may not connect, or not do this"
    STATEMENT = "the statement is wrong, or does not fit the tables"
    RECORD = "the values are wrong"
    OTHER = "anything else"


READING = "cannot read from"

#: Categories of errors after which a retry may succeed.
PASSING = frozenset({Fault.CONNECTION, Fault.PASSING})


class Database(ABC):
    """A database and its driver; picklable, and without open connections.

    Attributes:
        options: The connection options.
    """

    #: class names of the JDBC drivers for the URL
    jdbc_drivers: ClassVar[tuple[str, ...]]
    #: Types that `is_parameter` accepts, in an error's words.
    parameter_types: ClassVar[str] = "a basic type, a date, a time, a timestamp or PRIMITIVE_ARRAY(BYTE)"
    #: True if Python's int of any size can be a parameter.
    has_big_integers: ClassVar[bool] = True

    def __init__(self, options: Connection) -> None:
        """Check that the options fit the database.

        Raises:
            ArgumentError: The named driver is one for another database.
        """
        driver = options.get_driver_name()
        if driver is not None and driver not in self.jdbc_drivers:
            raise ArgumentError(
                f"{options.shown_url} needs the driver {' or '.join(self.jdbc_drivers)}, not {driver}; leave "
                "with_driver_name out: the URL decides"
            )
        self.options = options

    @property
    def password(self) -> str | None:
        """The password, from the options or the URL."""
        return self.options.get_password()

    @property
    @abstractmethod
    def errors(self) -> type[Exception]:
        """The base class of the driver's errors."""

    @abstractmethod
    def open(self, autocommit: bool = False) -> Any:
        """Return a new DB-API connection, or raise one of the driver's errors.

        Args:
            autocommit: Whether every statement is a transaction of its own.
        """

    @abstractmethod
    def alive(self, connection: Any) -> bool:
        """Return whether a connection is still usable after an error and a rollback."""

    @abstractmethod
    def fault(self, error: Exception) -> Fault:
        """Return the category of a driver's error."""

    @abstractmethod
    def translate(self, sql: str) -> tuple[str, int]:
        """Return SQL with JDBC's placeholders replaced by the driver's, and their number."""

    @abstractmethod
    def row_type(self, connection: Any, query: str) -> RowTypeInfo:
        """Return the type of a query's rows, without reading any."""

    @abstractmethod
    def stream(self, query: str, parameters: Sequence[Any], fetch_size: int) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a query in blocks, from one snapshot, on a separate connection."""

    def read(self, query: str, parameters: Sequence[Any], fetch_size: int) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a query like `stream`.

        Raises:
            DatabaseError: The database is not available, or rejects the query.
        """
        try:
            yield from self.stream(query, parameters, fetch_size)
        except self.errors as error:
            raise self.failure(error, READING) from None

    @abstractmethod
    def create_table(self, connection: Any, name: str, columns: str) -> None:
        """Create a table unless it exists; safe for concurrent calls."""

    def keeping(self, column: str) -> str:
        """Return the clause by which INSERT keeps a row of the same key; `column` is one of the table."""
        return "ON CONFLICT DO NOTHING"

    def locking(self, table: str) -> tuple[str, ...]:
        """Return the statements that lock a sink's row of the table of commits, which they insert if it is missing.

        Each takes the sink's id, and the last one returns the batch of the row.
        """
        return (
            f"INSERT INTO {table} AS known (sink_id, batch_id) VALUES (?, -1) "
            "ON CONFLICT (sink_id) DO UPDATE SET batch_id = known.batch_id RETURNING batch_id",
        )

    def check_transactions(self, connection: Any, sql: str) -> None:
        """Check that the writes of a statement can be rolled back.

        Raises:
            UnsupportedError: The table has no transactions.
        """
        return

    def parameter(self, type_info: TypeInformation) -> Callable[[Any], Any] | None:
        """Return the function that converts a value (not None) to a parameter; None if no conversion is needed."""
        return None

    def is_parameter(self, type_info: TypeInformation) -> bool:
        """Return whether values of a type can be parameters: single values and bytes."""
        if isinstance(type_info, BasicTypeInfo):
            is_big = type_info.basic_type is BasicType.BIG_INT
            return not isinstance(type_info, InstantTypeInfo) and (self.has_big_integers or not is_big)
        singles = DateTypeInfo | TimeTypeInfo | TimestampTypeInfo
        return isinstance(type_info, singles) or type_info == PrimitiveArrayTypeInfo(Types.BYTE())

    def check_type(self, type_info: RowTypeInfo) -> None:
        """Check that values of the fields' types can be parameters.

        Raises:
            UnsupportedError: A field's type is not supported.
        """
        for name, field in zip(type_info.get_field_names(), type_info.get_field_types(), strict=True):
            if not self.is_parameter(field):
                raise UnsupportedError(
                    f"field {name} of type {field} is no parameter of a statement; declare {self.parameter_types}, "
                    "and turn anything else into STRING (JSON, for example) before the sink"
                )

    def failure(self, error: Exception, doing: str) -> ScurryError:
        """Convert a driver's error to the error to raise, without the password.

        Args:
            error: The driver's exception.
            doing: The failed operation, such as `cannot write`.
        """
        kind = self.fault(error)
        text = without_password(self.text(error), self.password, self.options.get_user_name())
        if kind is Fault.STATEMENT and self.options.creation and self.lacks_table(error):
            text += f"; create it there first: {self.options.creation}"
        failure = _FAILURES.get(kind, DatabaseError)(f"{doing} {self.options.shown_url}: {text}")
        return failure.with_hint(_HINTS.get(kind, ""))

    @abstractmethod
    def lacks_table(self, error: Exception) -> bool:
        """Return whether a driver's error says that there is no such table."""

    def text(self, error: Exception) -> str:
        """Return an error's message in one line."""
        return " ".join(str(error).split())


_FAILURES: dict[Fault, type[ScurryError]] = {
    Fault.CONNECTION: DatabaseConnectionError,
    Fault.ACCESS: DatabaseAccessError,
    Fault.STATEMENT: StatementError,
    Fault.RECORD: RejectedValuesError,
}
#: By the names of a table's options, which those of builders resemble.
_HINTS: dict[Fault, str] = {
    Fault.CONNECTION: "'url' says where the server is",
    Fault.ACCESS: "'username' and 'password' say who connects, and 'url' to which database",
}
