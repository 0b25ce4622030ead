"""Refresher refreshes materialized tables, in this process or by jobs of a session."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from scurry._dataclasses import dataclass
from scurry.common.config_options import CHECKPOINTING_INTERVAL
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.materialized import CatalogMaterializedTable, RefreshHandler
from scurry.sql.functions.java_time.calendar import Moment
from scurry.sql.functions.java_time.formatting import format_moment
from scurry.sql.statements.jobs import StatementJob
from scurry.sql.statements.session import TableSession

SAVEPOINT_DIRECTORIES = ("execution.checkpointing.savepoint-dir", "state.savepoints.dir")
RECOVERY, CHECKPOINTS = "execution.state-recovery.path", "execution.checkpointing.dir"


@dataclass(frozen=True)
class RefreshState:
    """The refreshing of a table as it is now.

    Attributes:
        job_status: The status of the job of CONTINUOUS mode or of the last refresh; empty before the first.
        refreshed_ms: When the last refresh of FULL mode was committed, in milliseconds since the epoch; None before.
        error: Why the last one has failed; empty if it has not.
        next_ms: When the next refresh of FULL mode is due, in milliseconds since the epoch; None if none is.
        skipped: How many refreshes of FULL mode were left out because the one before took longer than its interval.
        place: Process or session that refreshes it.
    """

    job_status: str = ""
    job_id: str = ""
    refreshed_ms: int | None = None
    error: str = ""
    place: str = "this process"
    next_ms: int | None = None
    skipped: int = 0


class Refresher(ABC):
    """Starts, suspends and ends the refreshing of tables, and keeps its state in their handlers.

    Attributes:
        session: The name of the session whose jobs refresh; empty for this process.
    """

    session: str = ""

    @abstractmethod
    def start(
        self,
        session: TableSession,
        identifier: ObjectIdentifier,
        table: CatalogMaterializedTable,
        handler: RefreshHandler,
        options: Mapping[str, str],
    ) -> RefreshHandler:
        """Begin, or go on from the state that the handler names; return the new handler.

        Raises:
            ScurryError: It cannot.
        """

    @abstractmethod
    def suspend(
        self, session: TableSession, identifier: ObjectIdentifier, table: CatalogMaterializedTable
    ) -> RefreshHandler:
        """Stop with a savepoint, if there is state; return the handler with which it goes on.

        Raises:
            ScurryError: There is no savepoint; the table is refreshed as before.
        """

    @abstractmethod
    def end(self, identifier: ObjectIdentifier, table: CatalogMaterializedTable) -> None:
        """Stop for good, and forget all state."""

    @abstractmethod
    def state(self, table: CatalogMaterializedTable) -> RefreshState:
        """Return the state of the refreshing of a table."""

    @abstractmethod
    def refresh(
        self,
        session: TableSession,
        identifier: ObjectIdentifier,
        table: CatalogMaterializedTable,
        partition: Mapping[str, str],
    ) -> tuple[str, StatementJob | None]:
        """Start a refresh now; return the id of its job, and the job if it runs in this process.

        Raises:
            ScurryError: It cannot start.
        """

    @abstractmethod
    def runs(self, table: CatalogMaterializedTable) -> bool:
        """Return whether the table is being refreshed now."""


def partition_at(table: CatalogMaterializedTable, due_ms: int, zone: str) -> dict[str, str]:
    """Return the partition that a periodic refresh replaces: that of the time one freshness before.

    Args:
        due_ms: When the refresh is due, in milliseconds since the epoch.
    """
    at = datetime.fromtimestamp((due_ms - table.freshness.milliseconds) / 1000, ZoneInfo(zone))
    wall = Moment(int(at.replace(tzinfo=UTC).timestamp()), at.microsecond * 1000)
    return {name: format_moment(wall, pattern, simple=True) for name, pattern in table.date_formatters.items()}


def checkpoint_settings(session: TableSession, table: CatalogMaterializedTable) -> dict[str, str]:
    """Return the checkpoint interval of a job of CONTINUOUS mode: the freshness, unless the session sets one."""
    if CHECKPOINTING_INTERVAL.key in session.configuration.to_dict():
        return {}
    return {CHECKPOINTING_INTERVAL.key: f"{table.freshness.milliseconds} ms"}


def state_directory() -> Path:
    """Return the directory of this user's materialized tables: `$XDG_STATE_HOME/scurry/materialized-tables`."""
    root = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(root) / "scurry" / "materialized-tables"
