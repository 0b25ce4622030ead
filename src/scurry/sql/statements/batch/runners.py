"""BATCH jobs of statements, and their runners in this process and on Spark."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from scurry.common.config_options import MAX_PARALLELISM, RUNNER
from scurry.common.recursion import deep_recursion
from scurry.connectors.collect_sink import CollectedRecords, CollectSink
from scurry.connectors.source import NOTE_ONCE, SKIPPED
from scurry.errors import JavaMissingError
from scurry.graph.configured_settings import check_parallelism
from scurry.graph.dependencies import JobDependencies
from scurry.graph.nodes import built_at
from scurry.graph.plan import JobPlan, OperatorPlan
from scurry.runtime.engines import spark
from scurry.sql.connectors.contract import Changes
from scurry.sql.connectors.spark import SparkTableSink
from scurry.sql.plan import nodes as relational
from scurry.sql.plan.nodes import Plan, Sink
from scurry.sql.plan.rewriting import calls_user_function
from scurry.sql.statements.batch.graph import BatchGraph, batch_graph
from scurry.sql.statements.not_null import NotNullEnforcer
from scurry.sql.statements.planning import PlannedStatement
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.streaming_runner import origin_of, settings_of

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import pyarrow as pa

    from scurry.runtime.driver.job import JobExecution, Runner
    from scurry.runtime.exchange.report import TaskReport

#: Longest time in seconds until a job that waits for who takes its rows notices that it is stopped.
_PATIENCE = 0.2


def batch_job(
    statement: PlannedStatement, collected: CollectedRecords[Changes] | None = None
) -> tuple[JobPlan, Runner]:
    """Return the plan of a BATCH job and its runner.

    Args:
        collected: Keeps the rows of a query; None for sinks.

    Raises:
        TopologyError: The parallelism is above the maximum.
    """
    settings = settings_of(statement, "BATCH")
    sinks = [CollectSink(collected)] if collected is not None else list(map(statement.sink, statement.sinks))
    most = statement.session.configuration.get(MAX_PARALLELISM) or -1
    if most > 0:
        check_parallelism("the job", settings.parallelism, most, MAX_PARALLELISM.key)
    is_local = settings.runner == "local"
    with built_at(origin_of(statement.session)):
        graph = batch_graph(statement.plans, statement.source, sinks, settings, 1 if is_local else None)
    runner = _LocalRunner if is_local else _SparkRunner
    return graph.job, runner(statement, graph, collected)


def run_here_without_java(session: TableSession) -> None:
    """Let this process run the statements of a session that asks for no runner, if there is no Java for Spark."""
    if session.configuration.contains_key(RUNNER.key):
        return
    try:
        spark("java").ensure_java()
    except JavaMissingError:
        session.configuration.set_string(RUNNER.key, "local")
        sys.stderr.write(
            "There is no Java for Spark: statements run in this process (scurry.runner: local). "
            "`scurry setup` installs one.\n"
        )


class _BatchRunner(ABC):
    """Execute the plans of a statement one after the other; all sinks are committed together, at the end."""

    def __init__(
        self, statement: PlannedStatement, graph: BatchGraph, collected: CollectedRecords[Changes] | None
    ) -> None:
        self._statement = statement
        self._graph = graph
        self._collected = collected
        #: what the tasks of the present attempt report
        self._reports: list[tuple[int, TaskReport]] = []

    def run(self, job: JobExecution) -> None:
        """Run the job to its end.

        Raises:
            JobCancelledError: It was stopped; nothing of it is committed.
        """
        from scurry.runtime.driver.job import BatchOutput
        from scurry.runtime.exchange.wire import pack

        output, statement = BatchOutput(), self._statement
        job.start_clock()
        with deep_recursion(), self._running(job):
            for plan, number in zip(statement.plans, self._graph.sinks, strict=True):
                if isinstance(plan, Sink):
                    enforcer = NotNullEnforcer.of(statement.session, plan)
                    written = self._write(job, plan, job.plan.operators[number], enforcer)
                    output.written[number] = [(0, pack(written))]
                else:
                    self._collect(job, plan, number)
        job.check_running()
        output.reports = self._reports
        job.commit_output(0, output)
        job.sinks.finish()

    def _collect(self, job: JobExecution, plan: Plan, number: int) -> None:
        """Pass on the rows of a query, while somebody takes them."""
        collected = self._collected
        assert collected is not None
        taken = False
        try:
            for batch in self._rows(job, plan):
                while not collected.wait_for_room(_PATIENCE):
                    job.check_running()
                collected.put([Changes(batch)], batch.nbytes)
                self._count(job, number, "numRecordsIn", batch.num_rows)
                taken = True
        except Exception as error:
            if taken:  # a restart would pass them on again
                error.permanent = True  # type: ignore[attr-defined]
            raise

    @abstractmethod
    def _running(self, job: JobExecution) -> AbstractContextManager[None]:
        """Prepare to run the plans, as a context in which they run."""

    @abstractmethod
    def _rows(self, job: JobExecution, plan: Plan) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a plan."""

    @abstractmethod
    def _write(self, job: JobExecution, plan: Sink, sink: OperatorPlan, enforcer: NotNullEnforcer) -> list[Any]:
        """Write the rows of a plan; return the committables."""

    @abstractmethod
    def _count(self, job: JobExecution, number: int, metric: str, rows: int) -> None:
        """Add to a metric of this process."""


class _LocalRunner(_BatchRunner):
    """Execute plans in this process; rows flow as far as operations do not need all of them."""

    @contextmanager
    def _running(self, job: JobExecution) -> Iterator[None]:
        from scurry.runtime.exchange.report import TaskReport

        report = TaskReport()
        self._metrics: dict[tuple[int, str], Any] = {}
        self._reports, job.totals.uncommitted = [(0, report)], report.counters
        token = NOTE_ONCE.set(job.log.note_once)
        try:
            yield
        finally:
            NOTE_ONCE.reset(token)
        report.user_metrics = {key: found for key, each in self._metrics.items() if (found := each.report())}

    def _count(self, job: JobExecution, number: int | None, metric: str, rows: int) -> None:
        if number is None or not rows:
            return
        counters = job.totals.uncommitted
        counters[number, metric] = counters.get((number, metric), 0) + rows

    def _write(self, job: JobExecution, plan: Sink, sink: OperatorPlan, enforcer: NotNullEnforcer) -> list[Any]:
        from scurry.runtime.operators.sink import write_blocks

        def blocks() -> Iterator[list[Changes]]:
            for batch in self._rows(job, plan.input):
                kept = enforcer.apply(batch)
                self._count(job, sink.id, "numRecordsIn", kept.num_rows)
                yield [Changes(kept)]

        return write_blocks(sink, 0, job.plan.settings.job_key, blocks())

    def _rows(self, job: JobExecution, plan: Plan) -> Iterator[pa.RecordBatch]:
        from scurry.runtime.functions.metrics import OperatorMetricGroup
        from scurry.sql.evaluation.batch.executor import execute_batch
        from scurry.sql.evaluation.user_functions.opened import job_parameters
        from scurry.sql.functions.user.context import FunctionContext

        statement, numbers = self._statement, self._graph.numbers

        def read(scan: relational.Scan) -> Iterator[pa.RecordBatch]:
            source, names = statement.source(scan), list(scan.schema.names)
            number = numbers.get(id(scan))
            batches = (rows.batch for split in source.splits() for rows in source.read(split, names))
            while True:
                SKIPPED.set(lambda count: self._count(job, number, "numMalformedRecordsDropped", count))
                batch = next(batches, None)
                if batch is None:
                    return
                yield batch

        def passed(node: Plan, rows: int) -> None:
            self._count(job, numbers.get(id(node)), "numRecordsOut", rows)

        group = OperatorMetricGroup(_number_of_functions([plan], self._graph), 0, self._metrics)
        context = FunctionContext(group, job_parameters(statement.functions), _attempt=job.attempt)
        batches = execute_batch(plan, statement.functions, read, context, passed, job.check_running, statement.search)
        dependencies = job.plan.settings.dependencies or JobDependencies({})
        while True:
            with dependencies.in_this_process():
                batch = next(batches, None)
            if batch is None:
                return
            yield batch


class _SparkRunner(_BatchRunner):
    """Execute each plan as a Spark job, whose tasks write the rows of sinks."""

    @contextmanager
    def _running(self, job: JobExecution) -> Iterator[None]:
        graph, plans = self._graph, self._statement.plans
        self._written: dict[int, TaskReport] = {}
        self._spark = spark("tables")
        with self._spark.running_on_spark(job, graph.numbers, _number_of_functions(plans, graph)) as self._counting:
            yield
            self._reports = [*self._counting.reports(), *self._written.items()]
            job.totals.counts_input = not self._counting.misses_input

    def _count(self, job: JobExecution, number: int, metric: str, rows: int, subtask: int = 0) -> None:
        from scurry.runtime.exchange.report import TaskReport

        counters = self._written.setdefault(subtask, TaskReport()).counters
        counters[number, metric] = counters.get((number, metric), 0) + rows

    def _rows(self, job: JobExecution, plan: Plan) -> Iterator[pa.RecordBatch]:
        statement = self._statement
        rows: Iterator[pa.RecordBatch] = self._spark.execute_on_spark(
            plan, statement.functions, job.plan.settings, statement.source, self._counting
        )
        return rows

    def _write(self, job: JobExecution, plan: Sink, sink: OperatorPlan, enforcer: NotNullEnforcer) -> list[Any]:
        statement, settings = self._statement, job.plan.settings
        arguments = plan.input, statement.functions, settings, statement.source
        if isinstance(sink.operator.function, SparkTableSink):
            checked = enforcer.apply if enforcer.columns else None
            rows = self._spark.save_on_spark(*arguments, sink.operator.function, checked, self._counting)
            self._count(job, sink.id, "numRecordsIn", rows)
            return []
        write = partial(_write_in_task, sink, settings.job_key, enforcer)
        written = self._spark.write_on_spark(*arguments, write, self._counting)
        for subtask, (rows, _) in enumerate(written):
            self._count(job, sink.id, "numRecordsIn", rows, subtask)
        return [committable for _, found in written for committable in found]


def _write_in_task(
    sink: OperatorPlan, job_key: str, enforcer: NotNullEnforcer, subtask: int, batches: Iterator[pa.RecordBatch]
) -> tuple[int, list[Any]]:
    """Write the rows of one task; return how many there are, and the committables."""
    from scurry.runtime.operators.sink import write_blocks

    rows = 0

    def blocks() -> Iterator[list[Changes]]:
        nonlocal rows
        for batch in batches:
            kept = enforcer.apply(batch)
            rows += kept.num_rows
            yield [Changes(kept)]

    committables = write_blocks(sink, subtask, job_key, blocks())
    return rows, committables


def _number_of_functions(plans: Sequence[Plan], graph: BatchGraph) -> int:
    """Return the operator whose metrics those of user-defined functions are: the first that calls one."""
    for node in (node for plan in plans for node in relational.walk(plan)):
        if (number := graph.numbers.get(id(node))) is not None and calls_user_function(node):
            return number
    return graph.sinks[0]


def frame_of_plan(statement: PlannedStatement, collected: Callable[[], pa.Table]) -> Any:
    """Return a DataFrame of Spark with the rows of a query.

    Args:
        collected: Returns the rows where Spark does not execute the plan.
    """
    run_here_without_java(statement.session)
    engine, settings = spark("tables"), settings_of(statement, "BATCH")
    settings = replace(settings, dependencies=JobDependencies(settings.configuration))
    if statement.session.is_streaming or settings.runner == "local":
        return engine.frame_of_arrow(collected(), settings)
    (plan,) = statement.plans
    return engine.frame_on_spark(plan, statement.functions, settings, statement.source)
