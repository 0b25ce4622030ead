"""CREATE [OR ALTER], ALTER and DROP MATERIALIZED TABLE."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from scurry.common._config.tables import DML_SYNC
from scurry.errors import ScurryError, UnsupportedError, ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.catalog.entries import CatalogTable, ContextResolvedTable
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.materialized import (
    CatalogMaterializedTable,
    RefreshHandler,
    RefreshMode,
    RefreshStatus,
    refreshed,
)
from scurry.sql.catalog.table_options import explained
from scurry.sql.connectors import factories
from scurry.sql.connectors.contract import RowChanges, SinkTarget
from scurry.sql.statements.definitions.alter_tables import changed_table
from scurry.sql.statements.materialized.definition import (
    altered,
    as_materialized,
    check_kept_columns,
    materialized_table_of,
    resumes,
    with_query,
)
from scurry.sql.statements.materialized.refresh_jobs import (
    REFRESH_KEY,
    SCHEDULE_TIME_KEY,
    check_partition,
    configured,
    replacing_sink,
)
from scurry.sql.statements.materialized.refreshers import refresh_here, refresher_of
from scurry.sql.statements.names import options_of, qualified
from scurry.sql.statements.results import STRING, StatementResult, ok, table_result
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes
from scurry.sql.types import MapType

# ------------------------------------------------------------------ CREATE


def create_materialized_table(session: TableSession, statement: nodes.CreateMaterializedTable) -> StatementResult:
    """Add a table and begin to refresh it; with OR ALTER, change the one that there is.

    Raises:
        ValidationError: The definition is wrong, or there is a table of that name.
        ScurryError: It cannot be refreshed; then there is no table, or the one from before.
    """
    identifier = qualified(session, statement.name)
    found = session.catalogs.find_table(identifier)
    if found is not None and statement.or_alter:
        return _create_or_alter(session, statement, found)
    table = materialized_table_of(session.planning(), statement)
    if table.refresh_mode is RefreshMode.FULL:
        _check_replaceable(session, identifier, table)
    session.catalogs.create_table(table, identifier, if_not_exists=False)
    handler = RefreshHandler(uuid.uuid4().hex, session=refresher_of(session).session)
    try:
        _start(session, identifier, table, handler)
    except BaseException as error:
        with suppress(ScurryError):
            session.catalogs.drop_materialized_table(identifier)
        if isinstance(error, ScurryError):
            raise _with_context(
                error, f"Submit {_what(table)} for materialized table {identifier} occur exception."
            ) from None
        raise
    return ok()


def _create_or_alter(
    session: TableSession, statement: nodes.CreateMaterializedTable, found: ContextResolvedTable
) -> StatementResult:
    before, path = found.table, found.identifier.as_summary_string()
    if not isinstance(before, CatalogMaterializedTable):
        raise ValidationError(
            f"Table {path} is not a materialized table. Only materialized table support create or alter operation."
        )
    after = altered(before, materialized_table_of(session.planning(), statement), path)
    _replace(session, found.identifier, before, after, keep_state=resumes(after))
    return ok()


def _check_replaceable(session: TableSession, identifier: ObjectIdentifier, table: CatalogMaterializedTable) -> None:
    """Refuse a table whose connector cannot replace its rows, before it is created.

    Raises:
        ValidationError: It cannot.
    """
    batch = configured(session, {"execution.runtime-mode": "BATCH"})
    context = batch.context_of(identifier, table)
    if factories.row_changes(context) is RowChanges.REPLACING:
        return
    try:
        batch.sink(identifier, table, SinkTarget(overwrite=True))
    except ValidationError as error:
        failure = _with_context(error, f"Materialized table {identifier} cannot be refreshed in FULL mode.")
        raise failure.with_hint(
            "the connectors 'filesystem', 'delta' and 'iceberg' replace rows; REFRESH_MODE = CONTINUOUS adds them"
        ) from None


def _start(
    session: TableSession,
    identifier: ObjectIdentifier,
    table: CatalogMaterializedTable,
    handler: RefreshHandler,
    options: dict[str, str] | None = None,
) -> None:
    """Begin to refresh a table that the catalog has, and keep the handler."""
    refresher = refresher_of(session, handler)
    running = refresher.start(session, identifier, table, handler, options or {})
    active = refreshed(table, RefreshStatus.ACTIVATED, running)
    try:
        session.catalogs.alter_table(active, identifier)
    except BaseException:
        refresher.end(identifier, active)
        raise


def _named_job(table: CatalogMaterializedTable) -> str:
    job_id = "" if table.refresh_mode is RefreshMode.FULL or table.handler is None else table.handler.job_id
    return job_id and f", jobId is {job_id}"


def _what(table: CatalogMaterializedTable) -> str:
    return "continuous refresh job" if table.refresh_mode is RefreshMode.CONTINUOUS else "refresh workflow"


def _with_context(error: ScurryError, context: str) -> ValidationError:
    return explained(error, f"{context}\n{error}")


# ------------------------------------------------------------------ ALTER


def alter_materialized_table(session: TableSession, statement: nodes.AlterMaterializedTable) -> StatementResult:
    """Suspend, resume, refresh or change a table.

    Raises:
        ValidationError: There is no such materialized table, or the change does not fit it.
        ScurryError: It is not refreshed afterwards as it should; then it is refreshed as before, if it was.
    """
    action = statement.action
    found = _existing(session, qualified(session, statement.name), is_changed=not isinstance(action, _REFRESHING))
    table = found.table
    assert isinstance(table, CatalogMaterializedTable)
    handler = _ACTIONS.get(type(action))
    if handler is not None:
        return handler(session, found.identifier, table, action)
    if isinstance(action, nodes.SetFreshness | nodes.SetRefreshMode | nodes.SetProperties | nodes.ResetProperties):
        raise UnsupportedError(
            f"Unsupported query: {statement.span.source or 'ALTER MATERIALIZED TABLE SET'}: Flink 2.3 has no SET and "
            "RESET of materialized tables"
        ).with_hint("CREATE OR ALTER MATERIALIZED TABLE ... WITH (...) sets options; drop the table to change the rest")
    if isinstance(action, nodes.ModifyDistribution) and table.distribution is None:
        raise ValidationError(f"Materialized table {found.identifier} does not have a distribution to modify.")
    try:
        changed = changed_table(session, found.identifier, table, action)
    except ValidationError as error:
        raise explained(error, as_materialized(str(error))) from None
    assert isinstance(changed, CatalogMaterializedTable)
    check_kept_columns(table, changed)
    _replace(session, found.identifier, table, changed, keep_state=False)
    return ok()


#: Actions that change no definition, with errors of their own.
_REFRESHING = (nodes.Refresh, nodes.Resume, nodes.Suspend)


def _existing(session: TableSession, identifier: ObjectIdentifier, is_changed: bool = False) -> ContextResolvedTable:
    found = session.catalogs.find_table(identifier)
    if found is None:
        catalogs = ", ".join(session.catalogs.list_catalogs())
        missing = f"Cannot find table '{identifier}' in any of the catalogs [{catalogs}], nor as a temporary table."
        error = ValidationError(f"Materialized table {identifier} doesn't exist." if is_changed else missing)
        raise error.with_hint(session.catalogs.similar(identifier.path))
    if not isinstance(found.table, CatalogMaterializedTable):
        kind = "table" if isinstance(found.table, CatalogTable) else "view"
        refusal = f"Table {identifier} is not a materialized table, does not support materialized table related"
        raise ValidationError(
            f"ALTER MATERIALIZED TABLE for a {kind} is not allowed" if is_changed else f"{refusal} operation."
        ).with_hint(did_you_mean(identifier.name, session.catalogs.list_materialized_tables(*identifier.path[:2])))
    return found


def _suspend(
    session: TableSession, identifier: ObjectIdentifier, table: CatalogMaterializedTable, action: nodes.Suspend
) -> StatementResult:
    path = identifier.as_summary_string()
    _refuse_initializing(table, path, "suspend")
    if table.refresh_status is RefreshStatus.SUSPENDED:
        job = _named_job(table)
        raise ValidationError(f"Materialized table {identifier} {_what(table)} has been suspended{job}.")
    _suspended(session, identifier, table)
    return ok()


def _suspended(
    session: TableSession, identifier: ObjectIdentifier, table: CatalogMaterializedTable
) -> CatalogMaterializedTable:
    try:
        handler = refresher_of(session, table.handler).suspend(session, identifier, table)
    except ScurryError as error:
        raise _with_context(
            error, f"Failed to suspend the {_what(table)} for materialized table {identifier}."
        ) from None
    suspended = refreshed(table, RefreshStatus.SUSPENDED, handler)
    session.catalogs.alter_table(suspended, identifier)
    return suspended


def _resume(
    session: TableSession, identifier: ObjectIdentifier, table: CatalogMaterializedTable, action: nodes.Resume
) -> StatementResult:
    path = identifier.as_summary_string()
    _refuse_initializing(table, path, "resume")
    assert table.handler is not None
    if table.refresh_status is RefreshStatus.ACTIVATED and refresher_of(session, table.handler).runs(table):
        job = _named_job(table)
        raise ValidationError(f"Materialized table {identifier} {_what(table)} has been resumed{job}.")
    options = options_of(action.properties)
    if options and table.refresh_mode is RefreshMode.FULL:
        raise UnsupportedError(
            f"RESUME WITH is not supported in FULL mode, in which {path} is refreshed: the options would be those of "
            "some refreshes"
        ).with_hint("CREATE OR ALTER MATERIALIZED TABLE ... WITH (...) sets options for good")
    try:
        _start(session, identifier, table, table.handler, options)
    except ScurryError as error:
        raise _with_context(
            error, f"Failed to resume the {_what(table)} for materialized table {identifier}."
        ) from None
    return ok()


def _refresh(
    session: TableSession, identifier: ObjectIdentifier, table: CatalogMaterializedTable, action: nodes.Refresh
) -> StatementResult:
    partition: dict[str, str] = {}
    for each in action.partition:
        value = each.value
        partition[each.column.last] = str(getattr(value, "value", getattr(value, "text", value)))
    return refresh_materialized_table(session, identifier, partition)


def refresh_materialized_table(
    session: TableSession, identifier: ObjectIdentifier, partition: dict[str, str]
) -> StatementResult:
    """Start a job that replaces the rows of a table, or of a partition; the answer has its id.

    Raises:
        ValidationError: There is no such table or partition column, or its connector cannot replace rows.
    """
    table = _existing(session, identifier).table
    assert isinstance(table, CatalogMaterializedTable)
    check_partition(table, partition)
    settings = session.configuration.to_dict()
    try:
        if REFRESH_KEY in settings:
            due = settings.get(SCHEDULE_TIME_KEY)
            job_id, job = refresh_here(session, identifier, table, partition, None if due is None else int(due))
        else:
            job_id, job = refresher_of(session, table.handler).refresh(session, identifier, table, partition)
    except ScurryError as error:
        raise _with_context(error, f"Refreshing the materialized table {identifier} occur exception.") from None
    columns = [("job id", STRING), ("cluster info", MapType(STRING, STRING))]
    session_name = "" if table.handler is None else table.handler.session
    where = [("execution.target", "session" if session_name else "local")]
    result = table_result(columns, [(job_id, where + ([("session", session_name)] if session_name else []))])
    result.job, result.names_job = job, True
    if job is not None and session.get(DML_SYNC):
        job.wait()
    return result


def _as_query(
    session: TableSession, identifier: ObjectIdentifier, table: CatalogMaterializedTable, action: nodes.SetQuery
) -> StatementResult:
    changed = with_query(session.planning(), identifier, table, action.query)
    _replace(session, identifier, table, changed, keep_state=False)
    return ok()


def _replace(
    session: TableSession,
    identifier: ObjectIdentifier,
    before: CatalogMaterializedTable,
    after: CatalogMaterializedTable,
    keep_state: bool,
) -> None:
    """Change a table. In CONTINUOUS mode another job begins, and the one from before goes on if it cannot.

    Args:
        after: The table as it shall be.
        keep_state: Whether the other job begins with the state of the one before.
    """
    path = identifier.as_summary_string()
    _refuse_initializing(before, path, "alter")
    if before.refresh_mode is RefreshMode.FULL:
        _replace_definition(session, identifier, before, after)
        return
    assert before.handler is not None
    if before.refresh_status is RefreshStatus.SUSPENDED:
        handler = before.handler if keep_state else _anew(before.handler)
        session.catalogs.alter_table(replace(after, handler=handler), identifier)
        return
    suspended = _suspended(session, identifier, before)
    assert suspended.handler is not None
    handler = suspended.handler if keep_state else _anew(suspended.handler)
    changed = refreshed(after, RefreshStatus.SUSPENDED, handler)
    try:
        session.catalogs.alter_table(changed, identifier)
        _start(session, identifier, changed, handler)
    except ScurryError as error:
        with suppress(ScurryError):  # the catalog may be unable to drop the columns again
            session.catalogs.alter_table(suspended, identifier)
        has_savepoint = bool(suspended.handler.restore_path)
        back = replace(suspended.handler, generation=handler.generation + 1) if has_savepoint else suspended.handler
        _start(session, identifier, suspended, back)
        query = after.expanded_query
        raise _with_context(
            error,
            f"Failed to start the continuous refresh job using new query {query} when altering materialized table "
            f"{path} select query.",
        ) from None


def _anew(handler: RefreshHandler) -> RefreshHandler:
    """Return a handler without state, whose checkpoints have a directory of their own."""
    return replace(handler, restore_path="", generation=handler.generation + 1)


def _replace_definition(
    session: TableSession,
    identifier: ObjectIdentifier,
    before: CatalogMaterializedTable,
    after: CatalogMaterializedTable,
) -> None:
    """Change a table of FULL mode, unless its refreshes could not be planned."""
    batch = configured(session, {"execution.runtime-mode": "BATCH"}).executing()
    if factories.row_changes(batch.context_of(identifier, after)) is RowChanges.REPLACING:
        replacing_sink(batch, identifier, after, {})  # lakes do not drop columns again
        session.catalogs.alter_table(after, identifier)
        return
    session.catalogs.alter_table(after, identifier)
    try:
        replacing_sink(batch, identifier, after, {})
    except ScurryError:
        session.catalogs.alter_table(before, identifier)
        raise


def _refuse_initializing(table: CatalogMaterializedTable, path: str, operation: str) -> None:
    if table.refresh_status is RefreshStatus.INITIALIZING:
        raise ValidationError(
            f"Materialized table {path} is being initialized and does not support {operation} operation."
        )


_Action = Callable[[TableSession, ObjectIdentifier, CatalogMaterializedTable, Any], StatementResult]
_ACTIONS: dict[type[nodes.AlterAction], _Action] = {
    nodes.Refresh: _refresh,
    nodes.Resume: _resume,
    nodes.SetQuery: _as_query,
    nodes.Suspend: _suspend,
}


def drop_materialized_table(session: TableSession, statement: nodes.DropMaterializedTable) -> StatementResult:
    """End the refreshing of a table, and remove it.

    Raises:
        ValidationError: There is no such materialized table.
    """
    identifier = qualified(session, statement.name)
    found = session.catalogs.find_table(identifier)
    if found is None or not isinstance(found.table, CatalogMaterializedTable):
        if found is None and statement.if_exists:
            return ok()
        raise ValidationError(
            f"Materialized Table with identifier '{identifier.as_summary_string()}' does not exist."
        ).with_hint(session.catalogs.similar(identifier.path))
    refresher_of(session, found.table.handler).end(identifier, found.table)
    session.catalogs.drop_materialized_table(identifier)
    return ok()
