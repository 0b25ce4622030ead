"""Connections to PostgreSQL for change data capture, and the errors that say which option to change."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from scurry.connectors.cdc.postgres.settings import PostgresSettings
from scurry.errors import DatabaseAccessError, DatabaseConnectionError, DatabaseError, LogLostError, ScurryError

#: The texts of values are the same whatever the server, the database or the user has set.
_FORMS = (
    "SET DateStyle = 'ISO, YMD'; SET TimeZone = 'UTC'; SET IntervalStyle = 'postgres'; SET extra_float_digits = 3; "
    "SET bytea_output = 'hex'; SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; "
    "SET lock_timeout = 0"
)
#: Seconds that a reader waits for another one to leave the slot.
SLOT_SECONDS = 60.0
_PAUSE_SECONDS = 0.05
#: Maximum times that the server is asked for the end of the log on disk, and times before a commit moves it.
_FLUSH_WAITS, _PATIENT_WAITS = 1000, 3
READING = "cannot read from"


def connect(settings: PostgresSettings, seconds: int | None = None) -> Any:
    """Return a connection in which every statement is a transaction.

    Args:
        settings: The server.
        seconds: How long to wait for it instead of the time that the settings have.

    Raises:
        DatabaseError: The server cannot be reached, or refuses the user.
    """
    import psycopg

    server = settings.server
    if seconds is not None:
        server._parameters["connect_timeout"] = seconds
    with explained(settings):
        connection: psycopg.Connection[Any] = server.open(autocommit=True)
        connection.execute(_FORMS)
        return connection


@contextmanager
def explained(settings: PostgresSettings) -> Iterator[None]:
    """Raise the driver's errors as those of scurry, with the option to change.

    Raises:
        DatabaseError: The server cannot be reached, or refuses a statement.
    """
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        raise _failure(settings, error) from None


def _failure(settings: PostgresSettings, error: Any) -> ScurryError:
    state, text = error.sqlstate or "", str(error)
    found = settings.server.failure(error, READING)
    if "wal_level" in text:
        return found.with_hint("set wal_level = logical in postgresql.conf and restart the server")
    if state == "42501" or "must be superuser or replication role" in text or "permission denied" in text:
        if "replication" in text:
            return DatabaseAccessError(str(found)).with_hint(
                f"'username' = '{settings.username}' needs the right: ALTER ROLE \"{settings.username}\" REPLICATION"
            )
        return found.with_hint(
            f"'username' = '{settings.username}' needs SELECT on the tables, and USAGE on the schema"
        )
    if state == "42704" and "publication" in text:
        return LogLostError(str(found)).with_hint(
            f"'debezium.publication.name' = '{settings.publication}': a publication has to be there as long as the "
            "log that is read; start without the checkpoint"
        )
    if state == "53400":
        return found.with_hint("raise max_replication_slots, or drop slots that nothing reads")
    if isinstance(found, DatabaseConnectionError):
        return found.with_hint(f"'hostname' = '{settings.hostname}' and 'port' = '{settings.port}' say where it is")
    if isinstance(found, DatabaseAccessError):
        return found.with_hint(
            f"check 'username' = '{settings.username}', 'password' and 'database-name' = '{settings.database}'"
        )
    return found


def when_slot_is_free(settings: PostgresSettings, work: Any) -> Any:
    """Return the result of `work`, which uses the slot, after others have left it.

    Raises:
        DatabaseError: Another one uses it all the time.
    """
    import psycopg

    give_up = time.monotonic() + SLOT_SECONDS
    while True:
        try:
            return work()
        except psycopg.errors.ObjectInUse as error:
            if time.monotonic() > give_up:
                raise settings.server.failure(error, READING).with_hint(
                    f"'slot.name' = '{settings.slot}' is read by another job: each job, and each table in SQL, needs "
                    "a slot of its own"
                ) from None
            time.sleep(_PAUSE_SECONDS)


def lsn_of(text: str) -> int:
    """Return the number of a position as PostgreSQL writes it."""
    high, low = text.split("/")
    return (int(high, 16) << 32) | int(low, 16)


def lsn_text(lsn: int) -> str:
    """Return a position as PostgreSQL writes it."""
    return f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"


def newest_end(ask: Callable[[str], Any]) -> int:
    """Return the end of the log as a position between two records, once everything before it is on disk.

    Records that are no commits may stay in memory until the next commit: if they do, this makes one.

    Args:
        ask: Returns the row of a query.
    """
    positions = "SELECT pg_current_wal_insert_lsn()::text, pg_current_wal_flush_lsn()::text"
    inserted, flushed = map(lsn_of, ask(positions))
    for wait in range(_FLUSH_WAITS):
        if flushed >= inserted:
            return inserted
        if wait == _PATIENT_WAITS:
            ask("SELECT pg_logical_emit_message(true, 'scurry', '')")
        time.sleep(0.01)
        _, flushed = map(lsn_of, ask(positions))
    raise DatabaseError("the server does not write its log to disk")
