"""Choose the refresher of a materialized table."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

from scurry.common._config.tables import REFRESHING_SESSION
from scurry.common.config_options import JOB_NAME, RUNTIME_MODE
from scurry.sql.catalog.catalog import Catalog
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.materialized import CatalogMaterializedTable, RefreshHandler
from scurry.sql.statements.jobs import StatementJob
from scurry.sql.statements.materialized.process_refresher import ProcessRefresher
from scurry.sql.statements.materialized.refresh_jobs import configured, refresh, refresh_name, replacing_sink
from scurry.sql.statements.materialized.refresher import Refresher, partition_at
from scurry.sql.statements.materialized.session_refresher import SessionRefresher
from scurry.sql.statements.session import TableSession

_PROCESS = ProcessRefresher()
_has_planned = threading.Event()


def refresher_of(session: TableSession, handler: RefreshHandler | None = None) -> Refresher:
    """Return the refresher of a table, or that of a new one."""
    name = session.get(REFRESHING_SESSION) if handler is None else handler.session
    if not name:
        return _PROCESS
    return SessionRefresher(name)


def be_gateway() -> None:
    """Let the tables that this process refreshes be those of a SQL gateway, with which the next one goes on."""
    _PROCESS.is_gateway = True


def end_all(session: TableSession, catalog: Catalog, database: str) -> None:
    """End the refreshing of all materialized tables of a database that is dropped."""
    for name in catalog.list_materialized_tables(database):
        table = catalog.find_table(database, name)
        if isinstance(table, CatalogMaterializedTable):
            refresher_of(session, table.handler).end(ObjectIdentifier(catalog.name, database, name), table)


def refresh_here(
    session: TableSession,
    identifier: ObjectIdentifier,
    table: CatalogMaterializedTable,
    partition: Mapping[str, str],
    due_ms: int | None,
) -> tuple[str, StatementJob | None]:
    """Refresh a table to the end, as a job of a session for which a refresher has submitted the statement.

    Args:
        partition: The values of partition columns that the statement names.
        due_ms: The time of a periodic refresh, in milliseconds since the epoch, which may be to come; None for one that
            was asked for.
    """
    if due_ms is not None:
        _wait_until(due_ms, session, identifier, table)
    wanted = partition if due_ms is None else partition_at(table, due_ms, session.time_zone)
    settings = {JOB_NAME.key: refresh_name(identifier, due_ms is not None), RUNTIME_MODE.key: "BATCH"}
    job = refresh(configured(session, settings), identifier, table, wanted)
    job.wait()
    return str(job.get_job_id()), None


def _wait_until(
    due_ms: int, session: TableSession, identifier: ObjectIdentifier, table: CatalogMaterializedTable
) -> None:
    """Wait for a time; planning once before loads the modules of the refresh, if this process has not yet."""
    if due_ms > time.time() * 1000 and not _has_planned.is_set():
        _has_planned.set()
        replacing_sink(configured(session, {RUNTIME_MODE.key: "BATCH"}).executing(), identifier, table, {})
    while (pause := due_ms / 1000 - time.time()) > 0:
        time.sleep(pause)
