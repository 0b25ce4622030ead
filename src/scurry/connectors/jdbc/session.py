"""Session: transactions on a connection that is made anew when it is lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from scurry.connectors.jdbc.databases import PASSING, Database

__all__ = ["Session"]

T = TypeVar("T")


class Session:
    """Runs transactions, again when they fail for a reason that may pass: a lost connection, a deadlock.

    Connects when it is first needed. Not for several threads at once.
    """

    def __init__(self, database: Database, max_retries: int, autocommit: bool = False) -> None:
        """Describe the session.

        Args:
            database: Where to.
            max_retries: How often a transaction is tried again, after pauses of 0, 1, 2, ... seconds as in Flink.
            autocommit: Whether work is a single statement, which needs no `BEGIN` and `COMMIT` around it.
        """
        self._database = database
        self._max_retries = max_retries
        self._autocommit = autocommit
        self._connection: Any = None

    def transact(self, work: Callable[[Any], T], doing: str) -> T:
        """Return what `work` returns, once its transaction is committed.

        When the connection is lost during the commit nobody knows whether it happened; `work` runs again then.

        Args:
            work: Gets a DB-API connection; does neither commit nor roll back.
            doing: What it does, for errors: `cannot write to`.

        Raises:
            DatabaseError: The database refused, or is not there after all retries.
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
                    # not chained: a driver's own text may hold the password
                    raise database.failure(error, doing) from None
            except BaseException:
                self.close()
                raise
            time.sleep(retry)
        raise AssertionError("the last try returns or raises")

    def _recover(self) -> None:
        """Leave a connection without a transaction, or none."""
        try:
            if self._connection is not None:
                self._connection.rollback()
                if self._database.alive(self._connection):
                    return
        except self._database.errors:
            pass
        self.close()

    def close(self) -> None:
        """Close the connection, if there is one; what is not committed is undone."""
        connection, self._connection = self._connection, None
        try:
            if connection is not None:
                connection.close()
        except self._database.errors:
            pass  # it was broken before
