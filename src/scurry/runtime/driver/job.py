"""A job as the driver sees it: its committers, its metrics, its requests."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import field, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Protocol

from scurry._dataclasses import dataclass
from scurry.common.job_client import REQUESTER
from scurry.common.job_execution_result import JobExecutionResult
from scurry.common.job_id import JobID
from scurry.errors import JobCancelledError
from scurry.graph.plan import JobPlan
from scurry.runtime.advice import cannot_replay, changed_globals, unused_settings
from scurry.runtime.clock import Clock
from scurry.runtime.driver.backlog import BACK_PRESSURE, BacklogTracker
from scurry.runtime.driver.checkpoint_history import CheckpointLog
from scurry.runtime.driver.dead_letters import DeadLetters
from scurry.runtime.driver.job_log import JobLog
from scurry.runtime.driver.metrics import JobMetrics, SubtaskMetrics
from scurry.runtime.driver.protocol import ProtocolTrace
from scurry.runtime.driver.requests import RequestQueue
from scurry.runtime.driver.restarting import KEPT_FAILURES, JobFailure
from scurry.runtime.driver.sink_commits import SinkCommits
from scurry.runtime.driver.stalled import StalledWatermarks
from scurry.runtime.exchange.report import TaskReport
from scurry.runtime.exchange.wire import ANSWER, COMMIT, MIN_TIME, REPORT, WireRow, sender_of, unpack
from scurry.runtime.savepoint.metadata import SavedJob
from scurry.runtime.state.registry import merge_schemas
from scurry.runtime.state.schema import Schemas, own_schemas

if TYPE_CHECKING:
    from scurry.runtime.state.evolution.job import JobMigration


#: The job that the present thread runs; None outside.
RUNNING: ContextVar[JobExecution | None] = ContextVar("RUNNING", default=None)


@dataclass
class BatchReport:
    """The results of one micro-batch, for progress displays."""

    batch_id: int
    #: since the previous batch was committed
    seconds: float
    records_in: int
    records_out: int
    #: watermark of the job, MIN_TIME while unknown
    watermark: int = MIN_TIME
    #: records that this batch dropped because they were late
    late: int = 0


#: Position and packed committables of each writer of a sink, in their order.
PackedCommittables = list[tuple[int, bytes]]


@dataclass
class BatchOutput:
    """Output of the tasks of a micro-batch, sent to the driver.

    Attributes:
        written: Sink -> what its writers returned.
        reports: Subtask and report of each task.
    """

    written: dict[int, PackedCommittables] = field(default_factory=dict)
    reports: list[tuple[int, TaskReport]] = field(default_factory=list)
    answers: list[tuple[Any, ...]] = field(default_factory=list)

    def take_committables(self) -> dict[int, list[Any]]:
        """Return the committables of each sink; they are not held twice."""
        taken: dict[int, list[Any]] = {}
        while self.written:
            sink, parts = self.written.popitem()
            taken[sink] = [each for _, block in parts for each in unpack(block)]
        return taken


class JobExecution:
    """The driver side of one run of a job; a runner drives it.

    Args:
        job_id: Its id; a new one if not given.
        clock: Its clocks; those of the machine if not given.
    """

    def __init__(self, plan: JobPlan, job_id: JobID | None = None, clock: Clock | None = None) -> None:
        self.plan = plan
        self.clock = clock = clock or Clock()
        self.job_id = job_id or JobID()
        #: what the committed batches have counted
        self.totals = JobMetrics(plan)
        #: the same by subtask
        self.subtasks = SubtaskMetrics(clock.monotonic)
        #: samples of the records that went to dead letters
        self.dead_letters = DeadLetters(plan, clock.wall)
        #: the address of Spark's own web page; None in-process, or if that is off
        self.spark_ui: str | None = None
        #: the address of the job's web page, and its token if that was made for this job; None without an endpoint
        self.page: tuple[str, str | None] | None = None
        self.sinks = SinkCommits(plan)
        self.log = JobLog(plan.settings, str(self.job_id), clock)
        #: the steps of the protocol, for tests
        self.protocol = ProtocolTrace()
        notes = [unused_settings(plan), *map(changed_globals, plan.operators.values())]
        notes += [cannot_replay(source, plan.settings) for source in plan.sources.values()]
        for note in filter(None, notes):
            self.log.note_once(note)
        #: the states of each operator, to be written with its state: uid -> state name -> schema as JSON
        self.state_schemas: Schemas = {
            op.uid: {name: schema.to_json() for name, schema in own.items()}
            for op in plan.operators.values()
            if (own := own_schemas(plan, op))
        }
        self.listeners: list[Callable[[BatchReport], None]] = []
        #: the latest failures, including those followed by a restart
        self.failures: deque[JobFailure] = deque(maxlen=KEPT_FAILURES)
        #: the committed batches, and the source positions after the last one
        self.checkpoints = CheckpointLog(clock.wall)
        #: the backlog of the sources
        self.backlog = BacklogTracker(clock.monotonic)
        #: cleanup for the end of the job, after all restarts; it receives failures and cancellation
        self.cleanup = ExitStack()
        #: raises if another process has taken over the checkpoint directory; called before what changes it or the sinks
        self.require_directory: Callable[[], None] = lambda: None
        #: the savepoint that the job has ended in
        self.savepoint_path: str | None = None
        #: the tasks of a BATCH job on Spark that have ended, and all that are known; None for other jobs
        self.tasks: tuple[int, int] | None = None
        #: set to stop the job at the next batch boundary, or now in BATCH
        self.stopping = threading.Event()
        #: whether the user cancelled the job
        self.cancelled = False
        #: who stopped or cancelled it
        self.stopped_by: str | None = None
        self.started = self.clock.monotonic()
        self._clock_runs = False
        self.requests = RequestQueue()
        self._interrupts: list[Callable[[], object]] = []
        self._starts = 0
        self._last_batch = self.clock.monotonic()
        #: the operators whose watermarks stand still
        self.stalled = StalledWatermarks(self, clock.monotonic)

    @property
    def restored_checkpoints(self) -> int:
        """Return the number of times that the job started from a checkpoint or savepoint."""
        return self.checkpoints.restored

    def next_start(self) -> int:
        """Count the starts of the job's query; return their number."""
        self._starts += 1
        return self._starts

    def use(self, plan: JobPlan) -> None:
        """Continue with another plan of the same program, such as one of another parallelism."""
        if plan is self.plan:
            return
        self.plan, self.sinks = plan, SinkCommits(plan)
        self.subtasks.forget_state()

    def as_saved(self) -> SavedJob:
        """Return the job's description for a savepoint taken now."""
        return SavedJob(str(self.job_id), self.plan.settings.job_name, self.totals.watermark)

    def took_over(self, migration: JobMigration | None) -> None:
        """Log that state of an earlier program was restored, and add its schemas; None: it needed no conversion."""
        if migration is None:
            return
        for note in migration.notes:
            self.log.note(note, "state migrated")
        for uid, schemas in migration.schemas.items():
            merge_schemas(self.state_schemas.setdefault(uid, {}), schemas)

    @property
    def attempt(self) -> int:
        """Return the number of restarts."""
        return self.plan.settings.attempt

    def begin_attempt(self) -> None:
        """Prepare for a restart of the job."""
        self.plan.settings = replace(self.plan.settings, attempt=self.attempt + 1)
        self.totals.uncommitted = {}
        self.tasks = None
        self.sinks.restarted()

    def start_clock(self) -> None:
        """Begin the job proper; its run time does not include the preparation (starting Spark, planning).

        Committers are created now, before any task writes: some create what the tasks write to.
        """
        self.sinks.open()
        self._last_batch = self.clock.monotonic()
        if not self._clock_runs:  # a restarted or rescaled job continues to measure
            self._clock_runs, self.started = True, self._last_batch

    def commit(self, batch_id: int, rows: Iterable[WireRow], began: float | None = None) -> None:
        """Commit a micro-batch, all of whose tasks have ended.

        Args:
            rows: The rows for the driver, in any order.
            began: When its tasks began, by the monotonic clock; if not given, when the previous batch was committed.

        Raises:
            OperatorError: A sink cannot commit.
        """
        self.commit_output(batch_id, self.sort(rows), began)

    def sort(self, rows: Iterable[WireRow]) -> BatchOutput:
        """Sort the rows that the tasks of a micro-batch sent to the driver, and add the schemas of their states."""
        output = BatchOutput()
        for row in rows:
            if row.kind == COMMIT:
                assert row.port in self.plan.operators, f"committables of {row.port}, which is no operator"
                output.written.setdefault(row.port, []).append((row.seq, row.block))
            elif row.kind == REPORT:
                output.reports.append((sender_of(row.channel)[1], unpack(row.block)))
            else:
                assert row.kind == ANSWER, f"a row of kind {row.kind} for the driver"
                output.answers.append(unpack(row.block))
        for written in output.written.values():
            written.sort(key=itemgetter(0))
        for _, report in output.reports:
            for number, schemas in report.schemas.items():
                merge_schemas(self.state_schemas.setdefault(self.plan.operators[number].uid, {}), schemas)
        return output

    def commit_output(self, batch_id: int, output: BatchOutput, began: float | None = None) -> None:
        """Commit the output of a micro-batch.

        1. Answer the state queries.
        2. Commit the sinks. If that fails, the batch is repeated, so nothing of it may have been counted yet.
        3. Add the reports of the tasks to the metrics and the log.
        4. Record the checkpoint.
        5. Notify the listeners.

        Raises:
            OperatorError: A sink cannot commit.
        """
        for answer in output.answers:
            self.requests.answer(*answer)
        self.require_directory()
        self.sinks.commit(batch_id, output.take_committables())
        batch = self._add(batch_id, output.reports)
        # A batch may have waited for its turn, or for records, since the previous one.
        seconds = batch.seconds if began is None else self._last_batch - began
        states = self.subtasks.take_states({op.id: op.parallelism for op in self.plan.operators.values()})
        self.checkpoints.add(batch_id, seconds, batch.records_in, states)
        for listener in self.listeners:
            listener(batch)

    def _add(self, batch_id: int, reports: Iterable[tuple[int, TaskReport]]) -> BatchReport:
        """Add the reports of a batch's subtasks; return their sum."""
        totals = self.totals
        records_in, records_out, late = totals.records_in, totals.records_out, totals.late_records
        dead_letters = dict(totals.dead_letters)
        for subtask, report in reports:
            totals.add(report)
            self.subtasks.add(subtask, report)
            self.stalled.add(report)
            for sample in report.dead_letters:
                self.dead_letters.add(subtask, sample)
            for text in report.notes:
                self.log.note_once(text)
        totals.uncommitted = {}
        totals.batches += 1
        self.subtasks.committed()
        for operator, count in totals.dead_letters.items():
            if count > dead_letters.get(operator, 0):
                total = f"{count:,} record{'s' * (count > 1)} of {operator!r}"
                self.log.write_seldom("dead letters", f"set aside as dead letters: {total} so far", operator)
        began, self._last_batch = self._last_batch, self.clock.monotonic()
        return BatchReport(
            batch_id,
            self._last_batch - began,
            totals.records_in - records_in,
            totals.records_out - records_out,
            totals.watermark,
            totals.late_records - late,
        )

    def stop(self, how: str) -> None:
        """Stop the job: in STREAMING at the next end of a batch, in BATCH now, without a commit.

        Args:
            how: The event that is logged: `cancelling` or `stopping`.
        """
        if not self.stopping.is_set():
            self.stopped_by = REQUESTER.get()
            when = "now" if self.plan.settings.mode == "BATCH" else "at the next end of a batch"
            self.log.write(how, f"{how} {when}, requested by {self.stopped_by}")
        self.stopping.set()
        for interrupt in list(self._interrupts):
            interrupt()

    def check_running(self) -> None:
        """Raise the end of a BATCH job that was stopped.

        Raises:
            JobCancelledError: It was stopped; nothing more of it is committed.
        """
        if self.stopping.is_set():
            raise JobCancelledError(f"Job {self.plan.settings.job_name!r} was stopped.")

    @contextmanager
    def interrupted_by(self, interrupt: Callable[[], object]) -> Iterator[None]:
        """Call a function when the job is stopped within a `with` block, or at once if it is stopped already.

        Args:
            interrupt: Returns soon; it may be called in any thread, and more than once.
        """
        self._interrupts.append(interrupt)
        try:
            if self.stopping.is_set():
                interrupt()
            yield
        finally:
            self._interrupts.remove(interrupt)

    def log_start(self) -> None:
        settings = self.plan.settings
        where = "in this process" if settings.runner == "local" else "on Spark"
        self.log.write(
            "started", f"started: {settings.mode} {where}, parallelism {settings.parallelism}, id {self.job_id}"
        )

    def log_end(self) -> JobCancelledError | None:
        """Log that the job has ended.

        Returns:
            What those get who wait for it, if it was cancelled before its end.
        """
        totals, cancelled = self.totals, self.stopping.is_set()
        how = "canceled" if cancelled else "finished"
        by = f" by {self.stopped_by}" if cancelled and self.stopped_by else ""
        seconds = self.clock.monotonic() - self.started
        self.log.write(how, f"{how}{by} after {seconds:.1f} s: {totals.batches:,} batches, {totals.rows()}")
        return JobCancelledError(f"Job {self.plan.settings.job_name!r} was cancelled{by}.") if cancelled else None

    def result(self) -> JobExecutionResult:
        """Return the outcome of a finished job."""
        runtime = int((self.clock.monotonic() - self.started) * 1000)
        return JobExecutionResult(self.job_id, runtime, self.accumulators(), self.metrics(), self.savepoint_path)

    def accumulators(self) -> dict[str, int]:
        return self.totals.user_metrics.counters()

    def metrics(self) -> dict[str, Any]:
        """Return all metrics so far, scurry's own and the users', by `operator.metric`, see `JobClient.get_metrics`."""
        return self.totals.values(self.backlog.metrics())

    def operator_metrics(self) -> dict[int, dict[str, Any]]:
        """Return all metrics so far by operator or source and metric."""
        return self.totals.by_operator(self.backlog.metrics())

    def subtask_metrics(self) -> dict[int, dict[str, dict[int, float]]]:
        """Return scurry's own metrics by operator or source, metric and subtask.

        A source is held back as a whole: each of its subtasks has the source's back pressure.
        """
        values = self.subtasks.values()
        for (number, metric), value in self.backlog.metrics().items():
            if metric == BACK_PRESSURE and (source := self.plan.sources.get(number)) is not None:
                values.setdefault(number, {})[metric] = dict.fromkeys(range(source.channels), value)
        return values

    def user_metrics(self) -> dict[int, dict[str, dict[int, float]]]:
        """Return the metrics of user functions by operator, full name and subtask."""
        return self.subtasks.of_users.values()


class Runner(Protocol):
    """Execute a plan: the interface between the driver and an engine."""

    def run(self, job: JobExecution) -> None:
        """Run the job to its end, or until `job.stopping` is set; raise the error that made it fail."""
