"""DESCRIBE EXTENDED of a materialized table: how it is defined, and how it is refreshed now."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.materialized import CatalogMaterializedTable, RefreshMode, RefreshStatus
from scurry.sql.statements.materialized.refreshers import refresher_of
from scurry.sql.statements.results import STRING, StatementResult, table_result
from scurry.sql.statements.session import TableSession


def describe_refreshing(
    session: TableSession, identifier: ObjectIdentifier, table: CatalogMaterializedTable
) -> StatementResult:
    """List the definition of a materialized table, and the state of its refreshing.

    A table is INTERRUPTED if the process that refreshed it has ended: ALTER MATERIALIZED TABLE ... RESUME goes on.
    """
    refresher = refresher_of(session, table.handler)
    state = refresher.state(table)
    status = table.refresh_status.value
    if table.refresh_status is RefreshStatus.ACTIVATED and not state.place:
        status = "INTERRUPTED"
    rows: list[tuple[str, str | None]] = [
        ("name", identifier.as_summary_string()),
        ("freshness", str(table.freshness)),
        ("refresh mode", table.refresh_mode.value),
        ("logical refresh mode", table.logical_refresh_mode),
        ("refresh status", status),
        ("refreshed by", state.place or None),
        ("job id", state.job_id or (table.handler.job_id if table.handler is not None else "") or None),
        ("job status", state.job_status or None),
        ("error", state.error or None),
        ("definition query", table.expanded_query),
    ]
    if table.refresh_mode is RefreshMode.FULL:
        rows.insert(4, ("cron expression", table.freshness.cron()))
        rows[-2:-2] = [
            ("last refresh", _time(state.refreshed_ms, session.time_zone)),
            ("next refresh", _time(state.next_ms, session.time_zone)),
            ("skipped refreshes", str(state.skipped)),
        ]
    return table_result([("info name", STRING), ("info value", STRING)], rows)


def _time(at_ms: int | None, zone: str) -> str | None:
    if at_ms is None:
        return None
    return datetime.fromtimestamp(at_ms / 1000, ZoneInfo(zone)).isoformat(" ", "seconds")
