"""JdbcLookup: looks up rows by key, with a cache, to enrich a stream."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from scurry.common.time import TimeAmount, to_millis
from scurry.common.types import Row
from scurry.connectors.jdbc.drivers import database_of
from scurry.connectors.jdbc.options import JdbcConnectionOptions
from scurry.connectors.jdbc.session import JdbcSession
from scurry.connectors.lookup_cache import CacheSettings, LookupCache
from scurry.errors import ArgumentError

LOOKING_UP = "cannot look up in"


class JdbcLookup:
    """Look up rows by key; query the database only for keys that are not in the cache.

    It is picklable, so a user's function may hold one. Every task gets its own copy, whose cache and connections are
    created on first use. Threads may share a lookup: concurrent calls use separate connections. A lookup returns what
    the database contains now, or contained up to `expire_after_write_ms` ago, so a repeated micro-batch may get other
    rows.

    This is the counterpart of Flink's lookup joins (`lookup.cache = PARTIAL`), with the same options.
    """

    def __init__(
        self,
        sql: str,
        jdbc_connection_options: JdbcConnectionOptions,
        *,
        max_rows: int = 10_000,
        expire_after_write_ms: TimeAmount | None = None,
        cache_missing_key: bool = True,
        max_retries: int = 3,
    ) -> None:
        """Describe the query and the cache.

        Args:
            sql: A query with a `?` for each part of the key.
            jdbc_connection_options: Address of the database.
            max_rows: Number of rows in the cache; a key without rows counts as one. The least recently used are
                evicted. 0 for no cache.
            expire_after_write_ms: How long an entry is valid, in milliseconds or as an amount of time; None for no
                limit.
            cache_missing_key: Whether to cache that a key has no rows.
            max_retries: How often to retry a query after a transient error.

        Raises:
            ArgumentError: There is no `?`, or a number is negative.
        """
        expires = None if expire_after_write_ms is None else to_millis(expire_after_write_ms)
        for name, value in (("max_rows", max_rows), ("expire_after_write_ms", expires), ("max_retries", max_retries)):
            if value is not None and value < 0:
                raise ArgumentError(f"{name} of a JdbcLookup must be 0 or more, got {value}")
        self._database = database_of(jdbc_connection_options)
        self._sql, self._arity = self._database.translate(sql)
        if not self._arity:
            raise ArgumentError(f"the query of a JdbcLookup needs a ? for its key: {sql}")
        self._settings = CacheSettings(max_rows, expires, None, cache_missing_key, count_rows=True)
        self._max_retries = max_retries
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._cache = LookupCache[Row](self._settings, self._now)
        self._idle: list[JdbcSession] = []

    def rows(self, *key: Any) -> tuple[Row, ...]:
        """Return the rows of a key, with the names of the query's columns; empty for an unknown key.

        Args:
            *key: The values of the query's parameters; hashable.

        Raises:
            ArgumentError: The number of values differs from the number of parameters.
            DatabaseError: The database is not available after all retries, or rejects the query.
        """
        if len(key) != self._arity:
            raise ArgumentError(f"the query has {self._arity} parameters (?), the key {len(key)} parts: {key!r}")
        with self._lock:
            found = self._cache.get(key)
        if found is not None:
            return tuple(found)
        rows = self._ask(key)
        with self._lock:
            self._cache.put(key, rows)
        return rows

    def one(self, *key: Any) -> Row | None:
        """Return the first row of a key, or None; otherwise like `rows`."""
        rows = self.rows(*key)
        return rows[0] if rows else None

    def close(self) -> None:
        """Close the connections and empty the cache; the lookup may be used again."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._cache.clear()
        for session in idle:
            session.close()

    _now: Callable[[], float] = staticmethod(time.monotonic)

    def _ask(self, key: tuple[Any, ...]) -> tuple[Row, ...]:
        with self._lock:
            session = self._idle.pop() if self._idle else self._session()
        try:
            return session.transact(lambda connection: self._query(connection, key), LOOKING_UP)
        finally:
            with self._lock:
                self._idle.append(session)

    def _session(self) -> JdbcSession:
        return JdbcSession(self._database, self._max_retries, autocommit=True)

    def _query(self, connection: Any, key: tuple[Any, ...]) -> tuple[Row, ...]:
        cursor = connection.execute(self._sql, key)
        names = tuple(column[0] for column in cursor.description)
        return tuple(Row._from_values(row, names) for row in cursor.fetchall())

    def __getstate__(self) -> dict[str, Any]:
        """Leave out cache and connections."""
        mine = ("_lock", "_cache", "_idle")
        return {name: value for name, value in vars(self).items() if name not in mine}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Start with an empty cache."""
        vars(self).update(state)
        self._begin()
