"""The runner of STREAMING plans, as a job in this process or on Spark."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from scurry.common import config_options as options
from scurry.common._config.option import parse_duration
from scurry.common.recursion import deep_recursion
from scurry.common.redaction import without_secrets
from scurry.common.watermark_strategy import WatermarkAlignment
from scurry.connectors.collect_sink import CollectedRecords, CollectSink
from scurry.errors import ConfigError, EvaluationError, JobError, OperatorError, UnsupportedError, ValidationError
from scurry.graph.configured_settings import configured_settings
from scurry.graph.nodes import OperatorNode, Origin, built_at
from scurry.graph.plan import JobPlan
from scurry.graph.planner import plan_job
from scurry.graph.settings import TableProgram
from scurry.runtime.submit import submit
from scurry.sql.catalog.identifier import escape_identifier
from scurry.sql.connectors.contract import Changes, SinkTarget, TableContext, TableSource
from scurry.sql.connectors.factories import create_sink, create_source
from scurry.sql.connectors.watermark_options import (
    ALIGNMENT_DRIFT,
    ALIGNMENT_GROUP,
    ALIGNMENT_INTERVAL,
    EMIT_STRATEGY,
    IDLE_TIMEOUT,
)
from scurry.sql.plan import nodes as relational
from scurry.sql.plan.nodes import Plan, Sink
from scurry.sql.planner.changelog import Changelogs
from scurry.sql.planner.explain import Reading, explain_executed
from scurry.sql.planner.rules import optimized
from scurry.sql.statements.catalog_reader import TableCatalog, is_source_watermark
from scurry.sql.statements.not_null import NotNullEnforcer
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser import parse
from scurry.sql.validator import validate_query

if TYPE_CHECKING:
    from scurry.runtime.driver.client import RunningJob
    from scurry.sql.operators.lowering import Lowering

__all__ = [
    "StreamingTableRunner",
    "execution_plan",
    "job_name",
    "lowering_of",
    "parallelism_of",
    "reading_of",
    "sink_nodes",
    "wait_for",
]


class StreamingTableRunner:
    """Execute plans as one STREAMING job."""

    def query(self, session: TableSession, plan: Plan) -> Iterator[Changes]:
        """Return the rows of a plan as the job commits them; cancel the job if not all of them are taken."""
        return _QueriedRows(session, plan)

    def write(self, session: TableSession, sinks: Sequence[Sink]) -> None:
        """Run the plans of sinks to their ends, as one job."""
        wait_for(self.start(session, sinks))

    def start(
        self, session: TableSession, sinks: Sequence[Sink], numbers: Mapping[Plan, int] | None = None
    ) -> RunningJob:
        """Start the job that writes some sinks; numbers are as for `sink_nodes`."""
        return _submit(session, sinks, sink_nodes(session, sinks, numbers=numbers))


class _QueriedRows(Iterator[Changes]):
    """The rows of a query, whose job starts when the first one is wanted."""

    def __init__(self, session: TableSession, plan: Plan) -> None:
        self._collected: CollectedRecords[Changes] = CollectedRecords()
        self._rows = self._taken(session, plan)
        self._cancelled = False

    def __next__(self) -> Changes:
        return next(self._rows)

    def close(self) -> None:
        """Cancel the job, unless it is over."""
        self._rows.close()

    def cancel(self) -> None:
        """Cancel the job, while another thread waits for its rows, and end the rows there."""
        self._cancelled = True
        self._collected.end(forget=True)

    def _taken(self, session: TableSession, plan: Plan) -> Generator[Changes, None, None]:
        collected = self._collected
        with deep_recursion():
            job = _submit(session, [plan], [_collected(session, plan, collected)])
        threading.Thread(target=_announce_end, args=(job, collected), name="scurry-collect", daemon=True).start()
        try:
            with session.watching(job.execution):
                while (block := collected.take()) is not None and not self._cancelled:
                    yield from block
        finally:
            collected.end(forget=True)
            if not job.get_job_execution_result().done() and not sys.is_finalizing():
                # Garbage collection may end this generator in a thread of the job itself: leave it to another one,
                # but for the end of the process, where a new thread would never begin.
                threading.Thread(target=job.cancel, name="scurry-cancel", daemon=True).start()
        if not self._cancelled:
            wait_for(job)


def sink_nodes(
    session: TableSession, sinks: Sequence[Sink], prefix: str = "", numbers: Mapping[Plan, int] | None = None
) -> list[OperatorNode]:
    """Return the nodes that write some sinks.

    Args:
        session: The session.
        sinks: Their plans.
        prefix: What the identities of all operators begin with.
        numbers: What follows in those of the operators of each node of a plan; None to count all operators.
    """
    with built_at(_origin(session)):
        return _sink_nodes(session, sinks, lowering_of(session, sinks, prefix, numbers))


def _sink_nodes(session: TableSession, sinks: Sequence[Sink], lowering: Lowering) -> list[OperatorNode]:
    from scurry.sql.operators.changes.lowering import materialized

    written = []
    for sink in sinks:
        found, enforcer = sink.table, NotNullEnforcer.of(session, sink)
        context = session.context_of(found.identifier, found.table)
        target = create_sink(context, SinkTarget(sink.overwrite, dict(sink.partition)))
        with lowering.identified_by(sink):
            rows = materialized(lowering, sink)
            guard = enforcer.changes if enforcer.columns else None
            written.append(lowering.sink(rows, target, f"Sink[{'.'.join(sink.path)}]", guard))
    return written


def _check_end(plan: JobPlan) -> None:
    """Refuse sinks that wait for the end of an input that has none."""
    for operator in plan.operators.values() if not plan.bounded else ():
        reason = getattr(getattr(operator.operator, "function", None), "needs_end", None)
        if reason is not None:
            raise UnsupportedError(f"{operator.name}: {reason} waits for the end of the input, which this job has not")


def wait_for(job: RunningJob, timeout_ms: int | None = None) -> None:
    """Wait until a job has ended.

    Raises:
        TimeoutError: It has not, after so many milliseconds.
        ScurryError: What made it fail: the error of a function or of a row, if there was one.
    """
    outcome, over = job.get_job_execution_result(), threading.Event()
    outcome.add_done_callback(lambda _: over.set())
    if not over.wait(None if timeout_ms is None else timeout_ms / 1000):
        raise TimeoutError(f"the job has not ended after {timeout_ms} ms")
    try:
        outcome.result()
    except JobError as error:
        cause = error.__cause__ or error.cause
        if isinstance(cause, OperatorError):
            for known in (EvaluationError, ValidationError):
                if cause.failure.error == known.__name__:
                    raise known(cause.failure.message).with_hint(cause.failure.hint) from error
        raise


def _announce_end(job: RunningJob, collected: CollectedRecords[Changes]) -> None:
    try:
        job.get_job_execution_result().result()
    except BaseException:  # raised by who takes the rows
        pass
    finally:
        collected.end()


class _Tables:
    """The tables of a session."""

    def __init__(self, session: TableSession) -> None:
        self._session = session

    def source(self, scan: relational.Scan) -> TableSource:
        return create_source(self._context(scan))

    def watermark_settings(self, scan: relational.Scan) -> tuple[int, int | None]:
        given = self._context(scan).read_options()
        idle = given.find(IDLE_TIMEOUT)
        if idle is None:
            idle = parse_duration(self._session.setting("table.exec.source.idle-timeout", "0 ms"))
        periodic = given.get(EMIT_STRATEGY) == "on-periodic"
        interval = self._session.configuration.get(options.AUTO_WATERMARK_INTERVAL) if periodic else 0
        return interval or 0, idle or None

    def alignment(self, scan: relational.Scan) -> WatermarkAlignment | None:
        given = self._context(scan).read_options()
        group, drift = given.find(ALIGNMENT_GROUP), given.find(ALIGNMENT_DRIFT)
        return (
            None if group is None or drift is None else WatermarkAlignment(group, drift, given.get(ALIGNMENT_INTERVAL))
        )

    def _context(self, scan: relational.Scan) -> TableContext:
        found = scan.table
        return self._session.context_of(found.identifier, found.table, dict(scan.options))

    def watermark(self, scan: relational.Scan) -> Plan | None:
        written = self.written_watermark(scan)
        return None if written is None else optimized(written, self._session.for_functions())

    def written_watermark(self, scan: relational.Scan) -> Plan | None:
        """Return time and watermark of a table over all its columns; None if the source makes its watermarks."""
        specs = scan.table.table.schema.get_watermark_specs()
        if not specs:
            return None
        expression = specs[0].watermark_expression.text
        if is_source_watermark(expression):
            return None
        time, table = escape_identifier(specs[0].rowtime_attribute), ".".join(map(escape_identifier, scan.path))
        query = parse(f"SELECT {time}, {expression} AS `$watermark` FROM {table}")
        functions, catalog = self._session.for_functions(), TableCatalog(self._session, scan.table)
        assert isinstance(query, nodes.Query)
        return validate_query(query, catalog, functions)


def lowering_of(
    session: TableSession, plans: Sequence[Plan], prefix: str = "", numbers: Mapping[Plan, int] | None = None
) -> Lowering:
    """Return what makes nodes of plans.

    Args:
        session: The session.
        plans: The plans of all sinks.
        prefix: What the identities of all operators begin with.
        numbers: As for `sink_nodes`.
    """
    from scurry.sql.operators.lowering import Lowering

    return Lowering(plans, session.for_functions(), _Tables(session), prefix, numbers)


def reading_of(session: TableSession, changelogs: Changelogs) -> Reading:
    """Return how the tables of plans are read, of which it is known which changes they make."""
    tables = _Tables(session)
    return Reading(
        tables.watermark,
        tables.written_watermark,
        lambda scan: scan.changes == "RETRACT" and not changelogs.updates_before(scan),
    )


def execution_plan(session: TableSession, plans: Sequence[Plan]) -> str:
    """Return the operators of the job of some plans, which are those of sinks or that of a query, as JSON."""
    sinks = [plan for plan in plans if isinstance(plan, Sink)]
    written = sink_nodes(session, sinks) if sinks else [_collected(session, plans[0], CollectedRecords())]
    return _job_plan(session, plans, written).to_json()


def _collected(session: TableSession, plan: Plan, collected: CollectedRecords[Changes]) -> OperatorNode:
    with built_at(_origin(session)):
        lowering = lowering_of(session, [plan])
        return lowering.sink(lowering.node(plan), CollectSink(collected), "Collect")


def _origin(session: TableSession) -> Origin | None:
    """Return the place of the statement in its script; None for a statement of a program, whose line is the origin."""
    return Origin(session.script, session.line) if session.script else None


def _submit(session: TableSession, plans: Sequence[Plan], sinks: list[OperatorNode]) -> RunningJob:
    from scurry.rest.endpoint import with_endpoint

    plan = _job_plan(session, plans, sinks)
    _check_end(plan)
    if session.ends_in_savepoint and not plan.bounded:
        raise ValidationError(
            f"{options.FINAL_SAVEPOINT_DIR.key}: a job that ends in a savepoint reads history, and one of its tables "
            "has no end"
        )
    return with_endpoint(session.configuration, plan.settings.runner, lambda: submit(plan))


def job_name(session: TableSession, plans: Sequence[Plan]) -> str:
    """Return the name of the job of some plans: `pipeline.name`, else Flink's, which names the sinks.

    Args:
        session: The session.
        plans: The plans of sinks, or that of a query.
    """
    targets = [".".join(plan.path) for plan in plans if isinstance(plan, Sink)]
    return session.configuration.get(options.JOB_NAME) or (f"insert-into_{','.join(targets)}" if targets else "collect")


def parallelism_of(session: TableSession) -> int:
    """Return the parallelism of jobs of tables."""
    of_tables = int(session.setting("table.exec.resource.default-parallelism", "-1"))
    return of_tables if of_tables > 0 else session.configuration.get(options.PARALLELISM) or os.cpu_count() or 1


def _job_plan(session: TableSession, plans: Sequence[Plan], sinks: list[OperatorNode]) -> JobPlan:
    configuration, parallelism = session.configuration, parallelism_of(session)
    settings = configured_settings(configuration, "STREAMING", parallelism, job_name(session, plans), {})
    tables = TableProgram(
        without_secrets(session.executed), explain_executed(plans, reading_of(session, Changelogs(plans)))
    )
    return plan_job(sinks, replace(settings, final_savepoint_dir=_final_savepoint_dir(session), tables=tables))


def _final_savepoint_dir(session: TableSession) -> str | None:
    """Return where a job over history saves its state.

    Raises:
        ConfigError: The job is not one over history, or begins with state.
    """
    directory = session.configuration.get(options.FINAL_SAVEPOINT_DIR)
    start = session.configuration.get(options.RECOVERY_PATH)
    if directory is not None and not session.ends_in_savepoint:
        raise ConfigError(
            f"{options.FINAL_SAVEPOINT_DIR.key} = {directory!r}: only a BATCH job ends in a savepoint, and this one is "
            "STREAMING; set execution.runtime-mode to BATCH, or save the running job with "
            "JobClient.stop_with_savepoint(...)"
        )
    if directory is not None and start is not None:
        raise ConfigError(
            f"{options.RECOVERY_PATH.key} = {start!r}: a BATCH job begins without state; only STREAMING jobs start "
            "from a savepoint"
        )
    return directory
