"""The job plans of STREAMING statements."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from scurry.common import config_options as options
from scurry.common._config.tables import DEFAULT_PARALLELISM, SOURCE_IDLE_TIMEOUT
from scurry.common._process import threads
from scurry.common.redaction import without_secrets
from scurry.common.watermark_strategy import WatermarkAlignment
from scurry.connectors.collect_sink import CollectedRecords, CollectSink
from scurry.errors import (
    ConfigError,
    EvaluationError,
    JobError,
    OperatorError,
    ScurryError,
    UnsupportedError,
    ValidationError,
)
from scurry.errors.user_frames import user_stack_level
from scurry.graph.configured_settings import configured_settings
from scurry.graph.nodes import OperatorNode, Origin, built_at
from scurry.graph.plan import JobPlan
from scurry.graph.planner import plan_job
from scurry.graph.settings import JobSettings, TableProgram
from scurry.runtime.driver.job import RUNNING
from scurry.sql.connectors.contract import Changes
from scurry.sql.connectors.watermark_options import (
    ALIGNMENT_DRIFT,
    ALIGNMENT_GROUP,
    ALIGNMENT_INTERVAL,
    EMIT_STRATEGY,
    IDLE_TIMEOUT,
)
from scurry.sql.plan import nodes as relational
from scurry.sql.plan.nodes import Plan, Sink
from scurry.sql.plan.rewriting import scans_of
from scurry.sql.planner.explain import explain_executed
from scurry.sql.statements.not_null import NotNullEnforcer
from scurry.sql.statements.planning import PlannedStatement, watermark_of
from scurry.sql.statements.session import TableSession

if TYPE_CHECKING:
    from scurry.runtime.driver.client import RunningJob
    from scurry.sql.operators.lowering import Lowering, ReadTable


def streaming_job(
    statement: PlannedStatement,
    collected: CollectedRecords[Changes] | None = None,
    numbers: Mapping[Plan, int] | None = None,
) -> JobPlan:
    """Return the plan of a STREAMING job.

    Args:
        collected: Keeps the rows of a query; None for sinks.
        numbers: As for `sink_nodes`.

    Raises:
        ValidationError: It should end in a savepoint, and one of its tables has no end.
    """
    plan = _job_plan(statement, collected, numbers)
    _check_end(plan)
    if statement.session.ends_in_savepoint and not plan.bounded:
        raise ValidationError(
            f"{options.FINAL_SAVEPOINT_DIR.key}: a job that ends in a savepoint reads history, and one of its tables "
            "has no end"
        )
    return plan


def sink_nodes(
    statement: PlannedStatement, prefix: str = "", numbers: Mapping[Plan, int] | None = None
) -> list[OperatorNode]:
    """Return the nodes that write the sinks of a statement.

    Args:
        prefix: What the identities of all operators begin with.
        numbers: What follows in those of the operators of each node of a plan; None to count all operators.
    """
    with built_at(origin_of(statement.session)):
        return _sink_nodes(statement, lowering_of(statement, prefix, numbers))


def _sink_nodes(statement: PlannedStatement, lowering: Lowering) -> list[OperatorNode]:
    from scurry.sql.operators.changes.lowering import materialized

    written = []
    for sink in statement.sinks:
        enforcer, target = NotNullEnforcer.of(statement.session, sink), statement.sink(sink)
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
    """Wait until a job has ended. It is cancelled with a job that waits for it.

    Raises:
        TimeoutError: It has not, after so many milliseconds.
        ScurryError: What made it fail: the error of a function or of a row, if there was one.
    """
    outcome, over = job.get_job_execution_result(), threading.Event()
    outcome.add_done_callback(lambda _: over.set())
    outer = RUNNING.get()
    with nullcontext() if outer is None else outer.interrupted_by(job.cancel):
        if not threads.wait_for(over, None if timeout_ms is None else timeout_ms / 1000):
            raise TimeoutError(f"the job has not ended after {timeout_ms} ms")
    try:
        outcome.result()
    except JobError as error:
        cause, settings = error.__cause__ or error.cause, job.execution.plan.settings
        if isinstance(cause, OperatorError):
            for known in (EvaluationError, ValidationError):
                if cause.failure.error == known.__name__:
                    raise known(cause.failure.message).with_hint(cause.failure.hint) from error
        elif isinstance(cause, ScurryError) and (settings.mode, settings.tables is None) == ("BATCH", False):
            raise cause from None  # of an operation of tables, which names what failed
        raise


def read_tables(statement: PlannedStatement) -> dict[Any, ReadTable]:
    """Return the tables that a statement reads, by the keys of their scans."""
    from scurry.sql.operators.lowering import ReadTable

    tables: dict[Any, ReadTable] = {}
    for scan in (scan for plan in statement.plans for scan in scans_of(plan) if scan.key not in tables):
        source, watermark = statement.source(scan), watermark_of(statement.session, scan)
        if watermark is None:
            tables[scan.key] = ReadTable(source)
        else:
            tables[scan.key] = ReadTable(source, watermark, *_watermark_settings(statement.session, scan))
    return tables


def _watermark_settings(
    session: TableSession, scan: relational.Scan
) -> tuple[int, int | None, WatermarkAlignment | None]:
    """Return interval and idle timeout in milliseconds, and the alignment of a table with watermarks."""
    found = scan.table
    given = session.context_of(found.identifier, found.table, dict(scan.options)).read_options()
    idle = given.find(IDLE_TIMEOUT)
    if idle is None:
        idle = session.get(SOURCE_IDLE_TIMEOUT)
    periodic = given.get(EMIT_STRATEGY) == "on-periodic"
    interval = session.configuration.get(options.AUTO_WATERMARK_INTERVAL) if periodic else 0
    group, drift = given.find(ALIGNMENT_GROUP), given.find(ALIGNMENT_DRIFT)
    alignment = (
        None if group is None or drift is None else WatermarkAlignment(group, drift, given.get(ALIGNMENT_INTERVAL))
    )
    return interval or 0, idle or None, alignment


def lowering_of(statement: PlannedStatement, prefix: str = "", numbers: Mapping[Plan, int] | None = None) -> Lowering:
    """Return the lowering of the plans of a statement.

    Args:
        prefix: What the identities of all operators begin with.
        numbers: As for `sink_nodes`.
    """
    from scurry.sql.operators.lowering import Lowering

    tables = read_tables(statement)
    return Lowering(statement.plans, statement.changelogs, statement.functions, tables, prefix, numbers)


def execution_plan(statement: PlannedStatement) -> str:
    """Return the operators of the job of a statement as JSON."""
    return _job_plan(statement, None if statement.sinks else CollectedRecords()).to_json()


def _collected(statement: PlannedStatement, collected: CollectedRecords[Changes]) -> OperatorNode:
    with built_at(origin_of(statement.session)):
        lowering, (plan,) = lowering_of(statement), statement.plans
        return lowering.sink(lowering.node(plan), CollectSink(collected), "Collect")


def origin_of(session: TableSession) -> Origin | None:
    """Return the place of the statement in its script; None for a statement of a program, whose line is the origin."""
    return Origin(session.script, session.line) if session.script else None


def job_name(session: TableSession, plans: Sequence[Plan]) -> str:
    """Return the name of the job of some plans: `pipeline.name`, else Flink's, which names the sinks."""
    targets = [".".join(plan.path) for plan in plans if isinstance(plan, Sink)]
    return session.configuration.get(options.JOB_NAME) or (f"insert-into_{','.join(targets)}" if targets else "collect")


def parallelism_of(session: TableSession) -> int:
    of_tables = session.get(DEFAULT_PARALLELISM)
    return of_tables if of_tables > 0 else session.configuration.get(options.PARALLELISM) or os.cpu_count() or 1


def _job_plan(
    statement: PlannedStatement,
    collected: CollectedRecords[Changes] | None,
    numbers: Mapping[Plan, int] | None = None,
) -> JobPlan:
    session = statement.session
    sinks = sink_nodes(statement, numbers=numbers) if collected is None else [_collected(statement, collected)]
    settings = replace(settings_of(statement, "STREAMING"), final_savepoint_dir=_final_savepoint_dir(session))
    return plan_job(sinks, settings)


def settings_of(statement: PlannedStatement, mode: Literal["STREAMING", "BATCH"]) -> JobSettings:
    """Return the settings of the job of a statement, with its text and its plan."""
    session, plans = statement.session, statement.plans
    settings = configured_settings(session.configuration, mode, parallelism_of(session), job_name(session, plans), {})
    return replace(settings, tables=TableProgram(without_secrets(session.executed), _shown(statement)))


def _shown(statement: PlannedStatement) -> str:
    """Return the plan as text, for the page of the job; empty, with a warning, if it cannot be shown."""
    try:
        return explain_executed(statement.plans, statement.reading())
    except Exception as error:  # the job computes the same without the text
        reason = f"{type(error).__name__}: {error}"
        warnings.warn(f"the plan cannot be shown, please report this: {reason:.300}", stacklevel=user_stack_level())
        return ""


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
