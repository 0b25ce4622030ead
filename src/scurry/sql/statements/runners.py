"""Runners of plans: in BATCH on Spark or in-process, in STREAMING as a job."""

from __future__ import annotations

import importlib
import logging
import sys
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scurry.common.config_options import MAX_PARALLELISM, RUNNER
from scurry.connectors.sink import WriterContext
from scurry.connectors.source import NOTE_ONCE
from scurry.errors import JavaMissingError, JobCancelledError
from scurry.graph.configured_settings import check_parallelism
from scurry.graph.dependencies import JobDependencies
from scurry.graph.plan import JobPlan
from scurry.graph.settings import JobSettings
from scurry.sql.connectors.contract import Changes, SinkTarget, TableSource
from scurry.sql.connectors.factories import create_sink, create_source
from scurry.sql.connectors.spark import SparkTableSink
from scurry.sql.plan import nodes as relational
from scurry.sql.plan.nodes import Plan, Sink
from scurry.sql.statements.not_null import NotNullEnforcer
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.streaming_runner import StreamingTableRunner, job_name, parallelism_of

if TYPE_CHECKING:
    import pyarrow as pa

    from scurry.runtime.driver.job import JobExecution

__all__ = [
    "BatchTableRunner",
    "LocalTableRunner",
    "SparkTableRunner",
    "StreamingTableRunner",
    "batch_job",
    "frame_of_plan",
    "runner_for",
    "running",
]


def batch_job(session: TableSession, plans: Sequence[Plan]) -> JobExecution:
    """Return the driver side of a job in BATCH: its log, and what it counts.

    Args:
        session: The session.
        plans: The plans of sinks, or that of a query.
    """
    from scurry.runtime.driver.job import JobExecution

    return JobExecution(JobPlan(_settings(session, plans)))


@contextmanager
def running(session: TableSession, job: JobExecution) -> Iterator[None]:
    """Log the start and the end of a job in BATCH that a `with` block executes, and show its progress.

    Raises:
        JobCancelledError: It was cancelled.
    """
    with session.watching(job):
        job.log_start()
        try:
            yield
            job.totals.batches += 1
        except JobCancelledError:
            pass  # raised below, in the words of the job
        except BaseException as error:
            if isinstance(error, GeneratorExit):  # nobody takes the rows of a query
                job.stop("cancelling")
                job.log_end()
            else:
                job.log.write("failed", f"{type(error).__name__}: {error}", logging.ERROR)
            job.log.close()
            raise
        cancelled = job.log_end()
        job.log.close()
        if cancelled is not None:
            raise cancelled


class BatchTableRunner(ABC):
    """Execute plans in BATCH: on Spark or in this process."""

    def query(self, session: TableSession, plan: Plan) -> Iterator[Changes]:
        """Yield the rows of a plan."""
        job = batch_job(session, [plan])
        with running(session, job):
            for batch in self.rows(session, plan, job):
                job.totals.records_out += batch.num_rows
                yield Changes(batch)

    def write(self, session: TableSession, sinks: Sequence[Sink]) -> None:
        """Run the plans of sinks one after the other, as part of another job."""
        self.write_as(batch_job(session, sinks), session, sinks)

    @abstractmethod
    def rows(self, session: TableSession, plan: Plan, job: JobExecution) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a plan, and count in a job what is read."""

    @abstractmethod
    def write_as(self, job: JobExecution, session: TableSession, sinks: Sequence[Sink]) -> None:
        """Run the plans of sinks one after the other, and count in a job what is read and written."""


def runner_for(session: TableSession) -> StreamingTableRunner | BatchTableRunner:
    """Return what executes the plans of a session: a job in STREAMING; in BATCH Spark, or this process.

    Raises:
        TopologyError: The parallelism of a BATCH job is above the maximum.
    """
    _run_here_without_java(session)
    if session.is_streaming:
        return StreamingTableRunner()
    most = session.configuration.get(MAX_PARALLELISM) or -1
    if most > 0:  # the planner checks the operators of STREAMING jobs
        check_parallelism("the job", parallelism_of(session), most, MAX_PARALLELISM.key)
    if session.configuration.get(RUNNER) == "local":
        return LocalTableRunner()
    return SparkTableRunner()


def _run_here_without_java(session: TableSession) -> None:
    """Let this process run the statements of a session that asks for no runner, if there is no Java for Spark."""
    if session.configuration.contains_key(RUNNER.key):
        return
    try:
        importlib.import_module("scurry.spark.session.java").ensure_java()
    except JavaMissingError:
        session.configuration.set_string(RUNNER.key, "local")
        sys.stderr.write(
            "There is no Java for Spark: statements run in this process (scurry.runner: local). "
            "`scurry setup` installs one.\n"
        )


class LocalTableRunner(BatchTableRunner):
    """Execute plans in this process, in BATCH; rows are computed as they are taken."""

    def write_as(self, job: JobExecution, session: TableSession, sinks: Sequence[Sink]) -> None:
        """Run the plans of sinks one after the other, until the job is cancelled."""
        for plan in sinks:
            target, enforcer = _Target(session, plan), NotNullEnforcer.of(session, plan)
            writer = target.sink.create_writer(WriterContext(0, 1, 0, target.identity))
            try:
                for batch in self.rows(session, plan.input, job):
                    kept = enforcer.apply(batch)
                    writer.write([Changes(kept)])
                    job.totals.records_out += kept.num_rows
                committables = writer.prepare_commit()
            except BaseException:
                writer.abort()
                raise
            target.commit(committables)

    def rows(self, session: TableSession, plan: Plan, job: JobExecution) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a plan.

        Raises:
            JobCancelledError: The job was cancelled.
        """
        from scurry.runtime.functions.metrics import unreported_metrics
        from scurry.sql.evaluation.batch.executor import execute_batch
        from scurry.sql.evaluation.user_functions.opened import job_parameters
        from scurry.sql.functions.user.context import FunctionContext

        def read(scan: relational.Scan) -> Iterator[pa.RecordBatch]:
            source = _source(session, scan)
            names = list(scan.schema.names)
            for split in source.splits():
                for batch in source.read(split, names):
                    if job.stopping.is_set():
                        raise JobCancelledError("cancelled")
                    job.totals.records_in += batch.num_rows
                    yield batch

        dependencies = JobDependencies(session.configuration.to_dict())
        known = session.for_functions()
        context = FunctionContext(unreported_metrics(), job_parameters(known))
        batches = execute_batch(plan, known, read, context)
        while True:
            token = NOTE_ONCE.set(job.log.note_once)
            try:
                with dependencies.in_this_process():
                    batch = next(batches, None)
            finally:
                NOTE_ONCE.reset(token)
            if batch is None:
                return
            yield batch


class SparkTableRunner(BatchTableRunner):
    """Execute plans on Spark, in BATCH."""

    def rows(self, session: TableSession, plan: Plan, job: JobExecution) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a plan, once Spark has computed all of them."""
        job.totals.counts_input = False
        spark, settings = _spark_execution(), job.plan.settings
        rows: Iterator[pa.RecordBatch] = spark.execute_on_spark(
            plan, session.for_functions(), settings, _sources(session)
        )
        return rows

    def write_as(self, job: JobExecution, session: TableSession, sinks: Sequence[Sink]) -> None:
        """Run the plans of sinks one after the other, each as a Spark job whose tasks write."""
        job.totals.counts_input = False
        spark, settings = _spark_execution(), job.plan.settings
        for plan in sinks:
            target, enforcer = _Target(session, plan), NotNullEnforcer.of(session, plan)
            functions, sources = session.for_functions(), _sources(session)
            if isinstance(target.sink, SparkTableSink):
                checked = enforcer.apply if enforcer.columns else None
                job.totals.records_out += spark.save_on_spark(
                    plan.input, functions, settings, sources, target.sink, checked
                )
                continue
            write = _TaskWriter(target.sink, target.identity, enforcer, settings.parallelism)
            written = spark.write_on_spark(plan.input, functions, settings, sources, write)
            job.totals.records_out += sum(rows for rows, _ in written)
            target.commit([committable for _, found in written for committable in found])


@dataclass(frozen=True)
class _TaskWriter:
    """Write the rows of one task; picklable."""

    sink: Any
    identity: str
    enforcer: NotNullEnforcer
    parallelism: int

    def __call__(self, subtask: int, batches: Iterator[pa.RecordBatch]) -> tuple[int, list[Any]]:
        writer, rows = self.sink.create_writer(WriterContext(subtask, self.parallelism, 0, self.identity)), 0
        try:
            for batch in batches:
                kept = self.enforcer.apply(batch)
                writer.write([Changes(kept)])
                rows += kept.num_rows
            committables: list[Any] = writer.prepare_commit()
        except BaseException:
            writer.abort()
            raise
        return rows, committables


class _Target:
    """The sink that an INSERT writes to, and its committer."""

    def __init__(self, session: TableSession, plan: Sink) -> None:
        found = plan.table
        target = SinkTarget(plan.overwrite, dict(plan.partition))
        self.sink = create_sink(session.context_of(found.identifier, found.table), target)
        self.identity = f"{found.identifier}-{uuid.uuid4().hex}"
        self._committer = self.sink.create_committer(self.identity)

    def commit(self, committables: list[Any]) -> None:
        """Make visible what was written."""
        self._committer.commit(0, committables)
        self._committer.finish()


def _source(session: TableSession, scan: relational.Scan) -> TableSource:
    found = scan.table
    return create_source(session.context_of(found.identifier, found.table, dict(scan.options)))


def _sources(session: TableSession) -> Callable[[relational.Scan], TableSource]:
    return lambda scan: _source(session, scan)


def _settings(session: TableSession, plans: Sequence[Plan] = ()) -> JobSettings:
    configuration = session.configuration
    settings = configuration.to_dict()
    return JobSettings(
        job_name=job_name(session, plans),
        parallelism=parallelism_of(session),
        mode="BATCH",
        runner="local" if configuration.get(RUNNER) == "local" else "spark",
        configuration=settings,
        dependencies=JobDependencies(settings),
    )


def frame_of_plan(session: TableSession, plan: Plan, collected: Callable[[], pa.Table]) -> Any:
    """Return a DataFrame of Spark with the rows of a plan.

    Args:
        session: The session.
        plan: The plan, as it is executed.
        collected: Returns the rows where Spark does not execute the plan.
    """
    spark, settings = _spark_execution(), _settings(session)
    if isinstance(runner_for(session), SparkTableRunner):
        return spark.frame_on_spark(plan, session.for_functions(), settings, _sources(session))
    return spark.frame_of_arrow(collected(), settings)


def _spark_execution() -> Any:
    return importlib.import_module("scurry.spark.tables.execution")
