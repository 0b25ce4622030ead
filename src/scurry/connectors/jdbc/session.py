"""JdbcSession: runs transactions on a connection that is reopened when it is lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from scurry.connectors.jdbc.database import PASSING, Database
from scurry.connectors.sink import COUNTED, RETRIES

T = TypeVar("T")


class JdbcSession:
    """Run transactions, and retry them after transient errors, such as a lost connection or a deadlock.

    It connects on first use and is not thread-safe.
    """

    def __init__(self, database: Database, max_retries: int, autocommit: bool = False) -> None:
        """Describe the session.

        Args:
            database: The database.
            max_retries: How often a transaction is retried, after pauses of 0, 1, 2, ... seconds as in Flink.
            autocommit: Whether every transaction is a single statement, which needs no `BEGIN` and `COMMIT`.
        """
        self._database = database
        self._max_retries = max_retries
        self._autocommit = autocommit
        self._connection: Any = None

    def transact(self, work: Callable[[Any], T], doing: str) -> T:
        """Run `work` in a transaction; return its result after the commit.

        If the connection is lost during the commit, `work` runs again, although it may have been committed.

        Args:
            work: Called with a DB-API connection; must neither commit nor roll back.
            doing: The operation, for error messages: `cannot write to`.

        Raises:
            DatabaseError: The database rejects the work, or is not available after all retries.
        """
        database = self._database
        for retry in range(self._max_retries + 1):
            try:
                if self._connection is None:
                    self._connection = database.open(self._autocommit)
                result = work(self._connection)
                self._connection.commit()
                return result
            except database.errors as error:
                self._recover()
                if database.fault(error) not in PASSING or retry == self._max_retries:
                    # not chained: the driver's text may contain the password
                    raise database.failure(error, doing) from None
            except BaseException:
                self.close()
                raise
            COUNTED.get()(RETRIES, 1)
            time.sleep(retry)
        raise AssertionError("the last try returns or raises")

    def _recover(self) -> None:
        """Roll back, or close the connection if that fails."""
        try:
            if self._connection is not None:
                self._connection.rollback()
                if self._database.alive(self._connection):
                    return
        except self._database.errors:
            pass
        self.close()

    def close(self) -> None:
        """Close the connection, if there is one; uncommitted work is rolled back."""
        connection, self._connection = self._connection, None
        try:
            if connection is not None:
                connection.close()
        except self._database.errors:
            pass  # the connection was already broken
