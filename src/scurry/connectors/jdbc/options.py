"""Options for connecting to a database and for writing to it, with PyFlink's builders."""

from __future__ import annotations

import re

from scurry._dataclasses import dataclass
from scurry.common.time import TimeAmount, to_millis
from scurry.connectors.jdbc.connection import Connection
from scurry.connectors.jdbc.drivers import database_of
from scurry.errors import ArgumentError


@dataclass(frozen=True, repr=False)
class JdbcConnectionOptions(Connection):
    """The address and credentials of a database. Programs create it with `JdbcConnectionOptionsBuilder`."""

    class JdbcConnectionOptionsBuilder:
        """Build JdbcConnectionOptions."""

        def __init__(self) -> None:
            """Start without options."""
            self._url: str | None = None
            self._driver_name: str | None = None
            self._user_name: str | None = None
            self._password: str | None = None

        def with_url(self, url: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the JDBC URL: `jdbc:postgresql://host:port/database`, `jdbc:mysql://...` or `jdbc:sqlite:/path`."""
            self._url = url
            return self

        def with_driver_name(self, driver_name: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the class of the JDBC driver; the Python driver is chosen only by the URL."""
            self._driver_name = driver_name
            return self

        def with_user_name(self, user_name: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the user."""
            self._user_name = user_name
            return self

        def with_password(self, password: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the password."""
            self._password = password
            return self

        def build(self) -> JdbcConnectionOptions:
            """Return the options.

            Raises:
                ArgumentError: There is no URL, or the driver does not fit the URL.
                UnsupportedError: The URL's database or one of its parameters is not supported.
                ExtraMissingError: The Python driver is not installed.
            """
            if not self._url:
                raise ArgumentError("JdbcConnectionOptions need a URL: with_url('jdbc:postgresql://host/database')")
            options = JdbcConnectionOptions(self._url, self._driver_name, self._user_name, self._password)
            database_of(options)  # wrong options should fail here, in the user's program
            return options


@dataclass(frozen=True)
class JdbcExecutionOptions:
    """The batch size and the number of retries of writes to a database."""

    _batch_interval_ms: int = 0
    _batch_size: int = 5000
    _max_retries: int = 3

    def get_batch_interval_ms(self) -> int:
        """Return how long records may wait for a full batch, in milliseconds; 0 for no limit."""
        return self._batch_interval_ms

    def get_batch_size(self) -> int:
        """Return how many records are written at once; 0 for all of a micro-batch."""
        return self._batch_size

    def get_max_retries(self) -> int:
        """Return how often a batch is retried after a transient error."""
        return self._max_retries

    @staticmethod
    def defaults() -> JdbcExecutionOptions:
        """Return batches of 5000 records without a time limit, 3 retries."""
        return JdbcExecutionOptions()

    @staticmethod
    def builder() -> JdbcExecutionOptions.Builder:
        """Return a builder that starts with the defaults."""
        return JdbcExecutionOptions.Builder()

    class Builder:
        """Build JdbcExecutionOptions."""

        def __init__(self) -> None:
            """Start with the defaults."""
            self._interval_ms = 0
            self._size = 5000
            self._max_retries = 3

        def with_batch_size(self, size: int) -> JdbcExecutionOptions.Builder:
            """Set how many records are written at once (default 5000); 0 for all of a micro-batch."""
            self._size = size
            return self

        def with_batch_interval_ms(self, interval_ms: TimeAmount) -> JdbcExecutionOptions.Builder:
            """Set how long records may wait for a full batch (default 0, no limit).

            The time is checked when records arrive; at the end of a micro-batch all records are written anyway.

            Args:
                interval_ms: Milliseconds or an amount of time.
            """
            self._interval_ms = to_millis(interval_ms)
            return self

        def with_max_retries(self, max_retries: int) -> JdbcExecutionOptions.Builder:
            """Set how often a batch is retried (default 3), after pauses of 0, 1, 2, ... seconds."""
            self._max_retries = max_retries
            return self

        def build(self) -> JdbcExecutionOptions:
            """Return the options.

            Raises:
                ArgumentError: A number is negative.
            """
            values = {"batch size": self._size, "batch interval": self._interval_ms, "max retries": self._max_retries}
            for name, value in values.items():
                if value < 0:
                    raise ArgumentError(f"the {name} of JdbcExecutionOptions must be 0 or more, got {value}")
            return JdbcExecutionOptions(self._interval_ms, self._size, self._max_retries)


_TABLE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?", re.ASCII)


@dataclass(frozen=True)
class JdbcExactlyOnceOptions:
    """The tables that an exactly-once sink needs in the target database.

    Flink's options of this name are about XA transactions, which are not used here (see `JdbcExactlyOnceSink`).

    Attributes:
        commit_table: Table of the last batch that each sink has committed.
        staging_table: Table of records that wait for the commit.
    """

    commit_table: str = "scurry_commits"
    staging_table: str = "scurry_staging"

    @staticmethod
    def defaults() -> JdbcExactlyOnceOptions:
        """Return tables `scurry_commits` and `scurry_staging` in the connection's default schema."""
        return JdbcExactlyOnceOptions()

    @staticmethod
    def builder() -> JdbcExactlyOnceOptions.Builder:
        """Return a builder that starts with the defaults."""
        return JdbcExactlyOnceOptions.Builder()

    class Builder:
        """Build JdbcExactlyOnceOptions."""

        def __init__(self) -> None:
            """Start with the defaults."""
            self._commit_table = "scurry_commits"
            self._staging_table = "scurry_staging"

        def with_commit_table(self, table: str) -> JdbcExactlyOnceOptions.Builder:
            """Set the table of committed batches; it is created if it does not exist."""
            self._commit_table = table
            return self

        def with_staging_table(self, table: str) -> JdbcExactlyOnceOptions.Builder:
            """Set the table of staged records; it is created if it does not exist."""
            self._staging_table = table
            return self

        def build(self) -> JdbcExactlyOnceOptions:
            """Return the options.

            Raises:
                ArgumentError: A table name is invalid.
            """
            for table in (self._commit_table, self._staging_table):
                if not _TABLE.fullmatch(table):
                    raise ArgumentError(f"{table!r} is no name of a table; use letters, digits, _ and one dot at most")
            if self._commit_table == self._staging_table:
                raise ArgumentError(f"commit table and staging table are both {self._commit_table}")
            return JdbcExactlyOnceOptions(self._commit_table, self._staging_table)
