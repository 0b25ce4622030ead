"""PlannedStatement: the plans of a statement, optimised and checked once, for EXPLAIN, compiled plans and jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from scurry.common._config.tables import SOURCE_CDC_EVENTS_DUPLICATE
from scurry.common.config_options import RUNTIME_MODE
from scurry.errors import UnsupportedError, ValidationError
from scurry.sql.catalog.entries import CatalogTable, ContextResolvedTable
from scurry.sql.catalog.identifier import escape_identifier
from scurry.sql.connectors.contract import SinkChanges, SinkTarget, TableSource
from scurry.sql.connectors.factories import sink_changes
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan import nodes as relational
from scurry.sql.plan.nodes import Plan, Sink
from scurry.sql.plan.physical.changes import ChangelogNormalize
from scurry.sql.plan.physical.joins import LookupJoin
from scurry.sql.planner.changelog import Changelogs, Update
from scurry.sql.planner.explain import ScanDescriptions
from scurry.sql.planner.rules import optimized
from scurry.sql.planner.rules.reduce_conditions import reduce_conditions
from scurry.sql.planner.rules.time_attributes import stays_time
from scurry.sql.statements.catalog_reader import TableCatalog, is_source_watermark
from scurry.sql.statements.conflicts import check_conflicts
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.table_options import check_table_options
from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser import parse
from scurry.sql.types.families import is_proctime, is_rowtime
from scurry.sql.validator import validate_query


@dataclass(frozen=True)
class PlannedStatement:
    """The plans of a statement as they are executed.

    Attributes:
        session: The session of the statement, which makes each source and sink once.
        plans: The plans of sinks, or that of a query, after all rules.
        changelogs: The changes of their nodes in STREAMING; empty in BATCH.
    """

    session: TableSession
    plans: Sequence[Plan]
    changelogs: Changelogs

    @classmethod
    def of_executed(cls, session: TableSession, plans: Sequence[Plan]) -> PlannedStatement:
        """Return plans that have been optimised before, such as those of a compiled statement.

        Raises:
            ValidationError: A table has no source, or a setting is wrong.
        """
        session = session.planning()
        check_table_options(session.configuration)
        for plan in plans:
            check_sources(session, plan)
        return cls(session, plans, Changelogs(plans if session.is_streaming else ()))

    @property
    def sinks(self) -> list[Sink]:
        """The plans of sinks."""
        return [plan for plan in self.plans if isinstance(plan, Sink)]

    @property
    def functions(self) -> EvaluationContext:
        """Return the session of functions."""
        return self.session.for_functions()

    def source(self, scan: relational.Scan) -> TableSource:
        """Return the source of a scanned table."""
        return self.session.source(scan.table.identifier, scan.table.table, dict(scan.options))

    def sink(self, sink: Sink) -> Any:
        """Return the writer of a sink's rows."""
        found, target = sink.table, SinkTarget(sink.overwrite, dict(sink.partition))
        return self.session.sink(found.identifier, found.table, target)

    @property
    def reading(self) -> ScanDescriptions | None:
        """Return descriptions of the scans in STREAMING, for EXPLAIN; None in BATCH."""
        if not self.session.is_streaming:
            return None
        return ScanDescriptions(
            lambda scan: watermark_of(self.session, scan),
            lambda scan: written_watermark_of(self.session, scan),
            lambda scan: scan.changes == "RETRACT" and not self.changelogs.updates_before(scan),
        )


def planned(
    session: TableSession, plans: Sequence[Plan], updates: Sequence[Update] = (Update.BEFORE_AND_AFTER,)
) -> PlannedStatement:
    """Optimise and check the plans of a statement.

    Args:
        session: The session.
        plans: The plans of sinks, or that of a query.
        updates: What the updates of a query may consist of, the best first.

    Raises:
        ValidationError: A table has no source, STREAMING cannot execute the plans, or a sink cannot take the changes of
            its query.
    """
    session = session.planning()
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
    if not session.is_streaming:
        return PlannedStatement(session, found, Changelogs(()))
    for plan in found:
        for node in relational.walk(plan):
            if isinstance(node, LookupJoin):
                _check_lookup(session, node)
    changelogs = Changelogs(found, updates)
    for plan in found:
        if isinstance(plan, Sink):
            _check_rowtimes(plan)
    found = [_materialized(changelogs, each, functions) if isinstance(each, Sink) else each for each in found]
    return PlannedStatement(session, found, changelogs)


def watermark_of(session: TableSession, scan: relational.Scan) -> Plan | None:
    """Return a row-wise plan over a table that computes time and watermark; None if it has none."""
    written = written_watermark_of(session, scan)
    if written is None:
        return None
    return session.once("watermark", scan.table.table, lambda: optimized(written, session.for_functions()))


def written_watermark_of(session: TableSession, scan: relational.Scan) -> Plan | None:
    """Return time and watermark of a table over all its columns; None if the source makes its watermarks."""
    specs = scan.table.table.schema.get_watermark_specs()
    if not specs or is_source_watermark(specs[0].watermark_expression.text):
        return None
    time, table = escape_identifier(specs[0].rowtime_attribute), ".".join(map(escape_identifier, scan.path))
    query = parse(f"SELECT {time}, {specs[0].watermark_expression.text} AS `$watermark` FROM {table}")
    assert isinstance(query, nodes.Query)
    catalog = TableCatalog(session, scan.table)
    return session.once(
        "written watermark", scan.table.table, lambda: validate_query(query, catalog, session.for_functions())
    )


def check_sources(session: TableSession, plan: Plan) -> None:
    """Make the source of every table once, so that wrong options are reported before anything runs.

    Raises:
        ValidationError: A table's options are wrong, or BATCH cannot read it.
    """
    for node in relational.walk(plan):
        if isinstance(node, relational.Scan):
            found, table = _scanned_table(node)
            source = session.source(found.identifier, table, dict(node.options))
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
    """Return whether the input of a plan ends."""
    for node in relational.walk(plan):
        if isinstance(node, relational.Scan):
            found, table = _scanned_table(node)
            if not session.source(found.identifier, table, dict(node.options)).bounded:
                return False
    return True


def _scanned_table(node: relational.Scan) -> tuple[ContextResolvedTable, CatalogTable]:
    """Return the table that a scan reads."""
    found = node.table
    assert isinstance(found, ContextResolvedTable) and isinstance(found.table, CatalogTable)
    return found, found.table


def sink_with_changes(session: TableSession, sink: Sink, table: CatalogTable) -> Sink:
    """Return the plan of a sink, with the changes that the table accepts."""
    found: SinkChanges = sink_changes(session.context_of(sink.table.identifier, table))
    key = table.schema.get_primary_key()
    names = sink.input.schema.names
    columns = () if key is None else tuple(names.index(name) for name in key.columns if name in names)
    return replace(sink, key=columns, changes=found.kinds, refusal=found.refusal)


def _check_mode(session: TableSession) -> None:
    """Raise Flink's error if the setting of the mode was changed after the session was made."""
    if session.ends_in_savepoint or not session.configuration.contains_key(RUNTIME_MODE.key):
        return
    configured = session.get(RUNTIME_MODE)
    if configured not in ("BATCH", "STREAMING"):
        return
    if (configured == "STREAMING") != session.is_streaming:
        raise ValidationError(
            "Mismatch between configured runtime mode and actual runtime mode. Currently, the "
            "'execution.runtime-mode' can only be set when instantiating the table environment. Subsequent changes are "
            "not supported. Please instantiate a new TableEnvironment if necessary."
        )


def _check_rowtimes(sink: Sink) -> None:
    """Raise Flink's error if the time of a sink's rows could be that of several columns."""
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


def _materialized(changelogs: Changelogs, sink: Sink, functions: EvaluationContext) -> Sink:
    """Return the plan of a sink, which says whether changes by its key are made of those of the query."""
    sink = replace(sink, upsert_materialize=changelogs.needs_materializer(sink, functions))
    check_conflicts(changelogs, sink, functions)
    return sink


def _with_changes(session: TableSession, plan: Plan) -> Plan:
    """Return a plan whose scans say which changes their tables have."""
    if isinstance(plan, relational.Scan):
        duplicates = session.get(SOURCE_CDC_EVENTS_DUPLICATE)
        return _scan(plan, _source(session, plan), duplicates)
    if isinstance(plan, relational.TemporalJoin):
        # Lookup tables have no changes; rows that replace each other by key are versions of them.
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
    return session.source(found.identifier, found.table, dict(plan.options))


def _check_lookup(session: TableSession, plan: LookupJoin) -> None:
    found = plan.table.table
    source = session.source(found.identifier, found.table, dict(plan.table.options))
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
