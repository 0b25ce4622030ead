"""PlannedStatement: the plans of a statement, optimised and checked once, for EXPLAIN, compiled plans and jobs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.config_options import RUNTIME_MODE
from scurry.connectors.vectors.contract import VectorSearchSource
from scurry.errors import UnsupportedError, ValidationError
from scurry.graph.dependencies import JobDependencies
from scurry.sql.catalog.entries import CatalogTable, ContextResolvedTable
from scurry.sql.catalog.identifier import escape_identifier
from scurry.sql.catalog.table_options import explained
from scurry.sql.connectors.contract import RowChange, SinkChanges, SinkTarget, TableSource
from scurry.sql.connectors.factories import sink_changes
from scurry.sql.connectors.vectors import checked_mode, vector_search_of
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.models.factories import check_model
from scurry.sql.models.settings import PredictSettings
from scurry.sql.plan import nodes as relational
from scurry.sql.plan.models import MLPredict, VectorSearch
from scurry.sql.plan.nodes import Plan, Sink
from scurry.sql.plan.physical.joins import LookupJoin
from scurry.sql.plan.rewriting import scans_of
from scurry.sql.planner.changelog import Changelogs, Update
from scurry.sql.planner.explain import ScanDescriptions
from scurry.sql.planner.monotonicity import never_retracted
from scurry.sql.planner.rules import optimized
from scurry.sql.planner.rules.reduce_conditions import reduce_conditions
from scurry.sql.planner.rules.time_attributes import stays_time
from scurry.sql.statements.conflicts import check_conflicts
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.table_options import check_table_options
from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser import parse
from scurry.sql.types.families import is_rowtime
from scurry.sql.validator import validate_query
from scurry.sql.validator.session_catalog import TableCatalog, is_source_watermark


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
        return [plan for plan in self.plans if isinstance(plan, Sink)]

    @property
    def functions(self) -> EvaluationContext:
        return self.session.for_functions()

    def source(self, scan: relational.Scan) -> TableSource:
        return _source(self.session, scan)

    def search(self, plan: VectorSearch) -> VectorSearchSource:
        """Return the search of the table of a VECTOR_SEARCH."""
        return vector_search_of(self.source(plan.table), *plan.request)

    def sink(self, sink: Sink) -> Any:
        """Return the writer of a sink's rows."""
        change = None if sink.row_change is None else RowChange(sink.row_change)
        found, target = sink.table, SinkTarget(sink.overwrite, dict(sink.partition), change, sink.replaces_all)
        return self.session.sink(found.identifier, found.table, target)

    def reading(self, written: Sequence[Plan] = ()) -> ScanDescriptions | None:
        """Return descriptions of the scans in STREAMING, for EXPLAIN; None in BATCH.

        Args:
            written: The plans as the statement is written, if they are shown, too.
        """
        if not self.session.is_streaming:
            return None
        watermarks: dict[Any, tuple[Plan, Plan]] = {}
        for scan in (scan for plan in (*self.plans, *written) for scan in scans_of(plan)):
            computed, as_written = watermark_of(self.session, scan), written_watermark_of(self.session, scan)
            if computed is not None and as_written is not None:
                watermarks[scan.key] = computed, as_written
        changed = {scan for plan in self.plans for scan in scans_of(plan) if scan.changes == "RETRACT"}
        dropping = frozenset(scan for scan in changed if not self.changelogs.updates_before(scan))
        retracted: dict[Plan, Sequence[bool]] = {
            each: [not kept for kept in never_retracted(each)]
            for plan in self.plans
            for each in _aggregations(plan)
            if not self.changelogs.is_insert_only(each.input)
        }
        return ScanDescriptions(watermarks, dropping, retracted)


def _aggregations(plan: Plan) -> Iterator[relational.Aggregate]:
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        if isinstance(node, relational.Aggregate):
            yield node
        waiting += node.inputs


def planned(
    session: TableSession,
    plans: Sequence[Plan],
    updates: Sequence[Update] = (Update.BEFORE_AND_AFTER,),
    explained: bool = False,
) -> PlannedStatement:
    """Optimise and check the plans of a statement.

    Args:
        plans: The plans of sinks, or that of a query.
        updates: What the updates of a query may consist of, the best first.
        explained: Whether the plans are for EXPLAIN, in the shapes that Flink shows.

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
    changes = {scan.key: _changes_of(_source(session, scan)) for plan in plans for scan in scans_of(plan)}
    plans = [reduce_conditions(plan, functions) for plan in plans]
    found = [
        plan.with_inputs((optimized(plan.input, functions, changes, explained),))
        if isinstance(plan, Sink)
        else optimized(plan, functions, changes, explained)
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
    catalog = TableCatalog(session.catalog(), scan.table)
    return session.once(
        "written watermark", scan.table.table, lambda: validate_query(query, catalog, session.for_functions())
    )


def check_sources(session: TableSession, plan: Plan) -> None:
    """Make the source of every table and the function of every model once, so that wrong options are reported first.

    Raises:
        ValidationError: The options of a table or a model are wrong, or BATCH cannot read a table.
    """
    for node in relational.walk(plan):
        if isinstance(node, MLPredict):
            JobDependencies(session.configuration.to_dict()).import_files()  # the class of a model may be in one
            from scurry.sql.evaluation.predicting import context_of  # loads asyncio

            check_model(context_of(node.model), PredictSettings.of(node.config, session.for_functions()))
        if isinstance(node, VectorSearch):
            _check_search(session, node)
        if isinstance(node, relational.Scan):
            found, source = node.table, _source(session, node)
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
            if not _source(session, node).bounded:
                return False
    return True


def _scanned_table(node: relational.Scan) -> tuple[ContextResolvedTable, CatalogTable]:
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


def _source(session: TableSession, scan: relational.Scan) -> TableSource:
    found, table = _scanned_table(scan)
    return session.source(found.identifier, table, dict(scan.options))


def _changes_of(source: TableSource) -> str:
    """Return the changes of a source's rows, as `Scan.changes` has them."""
    return "INSERT" if source.insert_only else "UPSERT" if source.upserts else "RETRACT"


def _check_lookup(session: TableSession, plan: LookupJoin) -> None:
    source = _source(session, plan.table)
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


def _check_search(session: TableSession, plan: VectorSearch) -> None:
    try:
        settings = PredictSettings.of_search(plan.config, session.for_functions())
    except ValidationError as error:
        first, _, reason = str(error).partition("\n")
        said = f"Failed to parse the config.\n{reason}" if first.startswith("Invalid value for option") else str(error)
        raise explained(error, f"SQL validation failed. {said}") from None
    search = vector_search_of(_source(session, plan.table), *plan.request)
    checked_mode(search, settings.is_async, plan.request.table)
