"""The changelog modes of the sources and sinks of a STREAMING statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from scurry.errors import UnsupportedError, ValidationError
from scurry.sql.catalog.entries import CatalogTable, ContextResolvedTable
from scurry.sql.connectors.contract import SinkChanges, TableSource
from scurry.sql.connectors.factories import create_source, sink_changes
from scurry.sql.functions.definition import Session
from scurry.sql.plan import builders
from scurry.sql.plan import nodes as relational
from scurry.sql.plan.nodes import Plan, Sink
from scurry.sql.plan.physical.changes import ChangelogNormalize
from scurry.sql.plan.physical.joins import LookupJoin
from scurry.sql.planner.changelog import Changelogs
from scurry.sql.planner.rules import optimized
from scurry.sql.planner.rules.reduce_conditions import reduce_conditions
from scurry.sql.planner.rules.time_attributes import stays_time
from scurry.sql.statements.conflicts import check_conflicts
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.table_options import check_table_options
from scurry.sql.types.families import is_proctime, is_rowtime

__all__ = [
    "check_sources",
    "executable",
    "executable_plans",
    "executable_sinks",
    "is_bounded",
    "sink_with_changes",
]


def executable(session: TableSession, plan: Plan) -> Plan:
    """Return the plan of a query as it is executed.

    Raises:
        ValidationError: STREAMING cannot execute it.
    """
    return executable_plans(session, [plan])[0]


def executable_sinks(session: TableSession, sinks: Sequence[Sink]) -> list[Sink]:
    """Return the plans of sinks as they are executed.

    Raises:
        ValidationError: STREAMING cannot execute them, or a sink cannot take the changes of its query.
    """
    return [each for each in executable_plans(session, sinks) if isinstance(each, Sink)]


def check_sources(session: TableSession, plan: Plan) -> None:
    """Make the source of every table once, so that wrong options are reported before anything runs.

    Raises:
        ValidationError: There is none.
    """
    for node in relational.walk(plan):
        if isinstance(node, relational.Scan):
            found, table = _scanned_table(node)
            source = create_source(session.context_of(found.identifier, table, dict(node.options)))
            if not (session.is_streaming or source.bounded):
                raise ValidationError(
                    f"Querying an unbounded table '{found.identifier.as_summary_string()}' in batch mode is not "
                    "allowed. The table source is unbounded."
                )
            if not (session.is_streaming or source.insert_only):
                raise ValidationError(
                    "Querying a table in batch mode is currently only possible for INSERT-only table sources. But the "
                    f"source for table '{found.identifier.as_summary_string()}' produces other changelog messages than "
                    "just INSERT."
                )


def is_bounded(session: TableSession, plan: Plan) -> bool:
    """Say whether the input of a plan ends."""
    for node in relational.walk(plan):
        if isinstance(node, relational.Scan):
            found, table = _scanned_table(node)
            if not create_source(session.context_of(found.identifier, table, dict(node.options))).bounded:
                return False
    return True


def _scanned_table(node: relational.Scan) -> tuple[ContextResolvedTable, CatalogTable]:
    """Return the table that a scan reads."""
    found = node.table
    assert isinstance(found, ContextResolvedTable) and isinstance(found.table, CatalogTable)
    return found, found.table


def sink_with_changes(session: TableSession, sink: Sink, table: CatalogTable) -> Sink:
    """Return the plan of a sink, which says what the table takes."""
    found: SinkChanges = sink_changes(session.context_of(sink.table.identifier, table))
    key = table.schema.get_primary_key()
    names = sink.input.schema.names
    columns = () if key is None else tuple(names.index(name) for name in key.columns if name in names)
    return replace(sink, key=columns, changes=found.kinds, refusal=found.refusal)


def executable_plans(session: TableSession, plans: Sequence[Plan]) -> list[Plan]:
    """Return the plans of a statement, which are those of sinks or that of a query, as they are executed.

    Raises:
        ValidationError: A table has no source, or STREAMING cannot execute them.
    """
    check_table_options(session.configuration)
    _check_mode(session)
    for plan in plans:
        check_sources(session, plan)
    functions = session.for_functions()
    with_changes = partial(_with_changes, session)
    plans = [reduce_conditions(plan, functions) for plan in plans]
    found = [
        plan.with_inputs((optimized(plan.input, functions, with_changes),))
        if isinstance(plan, Sink)
        else optimized(plan, functions, with_changes)
        for plan in plans
    ]
    if session.is_streaming:
        for plan in found:
            for node in relational.walk(plan):
                if isinstance(node, LookupJoin):
                    _check_lookup(session, node)
        changelogs = Changelogs(found)
        for plan in found:
            if isinstance(plan, Sink):
                _check_rowtimes(plan)
        found = [_materialized(changelogs, each, functions) if isinstance(each, Sink) else each for each in found]
    return found


def _check_mode(session: TableSession) -> None:
    """Raise what Flink raises if the setting of the mode was changed after the session was made."""
    configured = session.setting("execution.runtime-mode", "").upper()
    if session.ends_in_savepoint or configured not in ("BATCH", "STREAMING"):
        return
    if (configured == "STREAMING") != session.is_streaming:
        raise ValidationError(
            "Mismatch between configured runtime mode and actual runtime mode. Currently, the "
            "'execution.runtime-mode' can only be set when instantiating the table environment. Subsequent changes are "
            "not supported. Please instantiate a new TableEnvironment if necessary."
        )


def _check_rowtimes(sink: Sink) -> None:
    """Raise what Flink raises if the time of a sink's rows could be that of several columns."""
    rows = sink.input
    times = [
        column.name for place, column in enumerate(rows.schema) if is_rowtime(column.type) and stays_time(rows, place)
    ]
    if len(times) > 1:
        raise ValidationError(
            f"The query contains more than one rowtime attribute column [{', '.join(times)}] for writing into table "
            f"'{sink.table.identifier.as_summary_string()}'.\nPlease select the column that should be used as the "
            "event-time timestamp for the table sink by casting all other columns to regular TIMESTAMP or "
            "TIMESTAMP_LTZ."
        )


def _materialized(changelogs: Changelogs, sink: Sink, functions: Session) -> Sink:
    """Return the plan of a sink, which says whether changes by its key are made of those of the query."""
    sink = replace(sink, upsert_materialize=changelogs.needs_materializer(sink, functions))
    check_conflicts(changelogs, sink, functions)
    return sink


def _with_changes(session: TableSession, plan: Plan) -> Plan:
    """Return a plan whose scans say which changes their tables have."""
    if isinstance(plan, relational.Scan):
        duplicates = session.setting("table.exec.source.cdc-events-duplicate", "false").lower() == "true"
        return _scan(plan, _source(session, plan), duplicates)
    if isinstance(plan, relational.TemporalJoin):
        # What is looked up has no changes; rows that replace each other by key are versions of it.
        right = plan.right if is_proctime(plan.period.type) else _versions(session, plan.right)
        return plan.with_inputs((_with_changes(session, plan.left), right))
    return plan.with_inputs(tuple(_with_changes(session, each) for each in plan.inputs))


def _versions(session: TableSession, plan: Plan) -> Plan:
    """Return the right side of a temporal join by event time, with its changes as the source has them."""
    if isinstance(plan, relational.Project) and isinstance(plan.input, relational.Scan):
        return plan.with_inputs((_versions(session, plan.input),))
    if isinstance(plan, relational.Scan) and plan.primary_key and set(plan.primary_key) <= set(plan.columns):
        source = _source(session, plan)
        changes = "INSERT" if source.insert_only else "UPSERT" if source.upserts else "RETRACT"
        return replace(plan, changes=changes)
    return _with_changes(session, plan)


def _source(session: TableSession, plan: relational.Scan) -> TableSource:
    found = plan.table
    return create_source(session.context_of(found.identifier, found.table, dict(plan.options)))


def _check_lookup(session: TableSession, plan: LookupJoin) -> None:
    found = plan.table.table
    source = create_source(session.context_of(found.identifier, found.table, dict(plan.table.options)))
    names = plan.table.schema.names
    if source.create_lookup([names[column] for _, column in plan.keys], names) is not None:
        return
    if not plan.table.primary_key:
        raise ValidationError(
            "Temporal Table Join requires primary key in versioned table, but no primary key can be found."
        )
    raise UnsupportedError(
        f"Processing-time temporal join is not supported yet: table '{'.'.join(plan.table.path)}' cannot be looked up"
    )


def _scan(plan: relational.Scan, source: TableSource, duplicates: bool) -> Plan:
    if source.insert_only:
        return plan
    if not source.upserts and not duplicates:
        return replace(plan, changes="RETRACT")
    if not plan.primary_key and not source.upserts:
        raise ValidationError(
            "Configuration 'table.exec.source.cdc-events-duplicate' is enabled which requires the changelog sources to "
            f"define a PRIMARY KEY. However, table '{'.'.join(plan.path)}' doesn't have a primary key."
        )
    if not plan.primary_key:
        raise ValidationError(
            f"Table '{'.'.join(plan.path)}' produces a changelog stream that contains UPDATE_AFTER but no "
            "UPDATE_BEFORE. This requires defining a primary key constraint on the table."
        )
    columns = (*plan.columns, *(each for each in plan.primary_key if each not in plan.columns))
    read = replace(plan, columns=columns, changes="UPSERT" if source.upserts else "RETRACT")
    rows = ChangelogNormalize(read, tuple(columns.index(each) for each in plan.primary_key))
    return builders.project(
        rows, [builders.column(rows, place) for place in range(len(plan.columns))], plan.schema.names
    )
