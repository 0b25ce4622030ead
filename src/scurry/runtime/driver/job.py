"""A job as the driver sees it: its committers, its metrics, its requests."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from scurry.common.job_execution_result import JobExecutionResult
from scurry.common.job_id import JobID
from scurry.connectors.sink import Committer, Sink
from scurry.errors import JobError, StateNotFoundError
from scurry.graph import operators as ops
from scurry.graph.plan import JobPlan
from scurry.runtime.driver.backlog import BacklogTracker
from scurry.runtime.driver.checkpoint_history import CheckpointLog
from scurry.runtime.driver.job_log import INFO, WARNING, JobLog
from scurry.runtime.driver.metrics import JobMetrics
from scurry.runtime.driver.requests import RequestQueue, StateRequest
from scurry.runtime.driver.restarting import KEPT_FAILURES, JobFailure
from scurry.runtime.driver.stalled import StalledWatermarks
from scurry.runtime.exchange.wire import ANSWER, COMMIT, METRICS, MIN_TIME, WireRow, unpack
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import CHANNEL_BYTES, CHANNEL_WATERMARKS, HELD_BACK, NOTES, STATES, WATERMARK
from scurry.runtime.operators.sink import sink_id
from scurry.runtime.state.registry import merge_schemas
from scurry.runtime.state.schema import Schemas, own_schemas

if TYPE_CHECKING:
    from scurry.runtime.savepoint.migration import JobMigration


@dataclass
class BatchReport:
    """The results of one micro-batch, for progress displays."""

    batch_id: int
    seconds: float
    records_in: int
    records_out: int
    #: watermark of the job, MIN_TIME while unknown
    watermark: int = MIN_TIME
    #: records that this batch dropped because they were late
    late: int = 0


@dataclass
class Totals:
    """The results of the job so far."""

    batches: int = 0
    records_in: int = 0
    records_out: int = 0
    late: dict[str, int] = field(default_factory=dict)
    #: operator or source -> number of records sent to its dead letters
    dead_letters: dict[str, int] = field(default_factory=dict)
    #: source -> number of malformed records it dropped
    malformed: dict[str, int] = field(default_factory=dict)
    metrics: dict[tuple[int, str], int] = field(default_factory=dict)
    user_metrics: JobMetrics = field(default_factory=JobMetrics)
    #: head operator -> its watermark; heads without one yet are missing
    watermarks: dict[int, int] = field(default_factory=dict)
    #: (source, channel) -> its watermark, for sources with watermark alignment
    source_watermarks: dict[tuple[int, int], int] = field(default_factory=dict)
    #: source -> channel -> mean size of the records it read last, for sources whose readers report it
    record_bytes: dict[int, dict[int, float]] = field(default_factory=dict)

    @property
    def late_records(self) -> int:
        """Number of records dropped because they were late, over all operators."""
        return sum(self.late.values())


class JobExecution:
    """The driver side of one run of a job; a runner drives it."""

    def __init__(self, plan: JobPlan) -> None:
        self.plan = plan
        self.job_id = JobID()
        self.totals = Totals()
        self.log = JobLog(plan.settings, str(self.job_id))
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
        self.checkpoints = CheckpointLog()
        #: the backlog of the sources
        self.backlog = BacklogTracker()
        #: cleanup for the end of the job, after all restarts; it receives failures and cancellation
        self.cleanup = ExitStack()
        #: the savepoint that the job has ended in
        self.savepoint_path: str | None = None
        #: set to stop the job at the next batch boundary
        self.stopping = threading.Event()
        #: whether the user cancelled the job
        self.cancelled = False
        #: who stopped or cancelled it
        self.stopped_by: str | None = None
        self.started = time.monotonic()
        self._clock_runs = False
        self.requests = RequestQueue()
        self._starts = 0
        self._at_end: list[tuple[Future[Any], Any]] = []
        self.pending_queries: dict[int, StateRequest] = {}
        self._last_batch = time.monotonic()
        #: the operators whose watermarks stand still
        self.stalled = StalledWatermarks(self)
        self._noted: set[str] = set()

    def next_start(self) -> int:
        """Count the starts of the job's query; return their number."""
        self._starts += 1
        return self._starts

    def use(self, plan: JobPlan) -> None:
        """Continue with another plan of the same program, such as one of another parallelism."""
        if plan is self.plan:
            return
        self.plan = plan
        vars(self).pop("_sinks", None)
        vars(self).pop("_committers", None)

    @cached_property
    def _sinks(self) -> dict[int, Sink]:
        operators = self.plan.operators
        return {number: op.operator.function for number, op in operators.items() if isinstance(op.operator, ops.Sink)}

    @cached_property
    def _committers(self) -> dict[int, Committer]:
        # created when the job proper begins: before that, a runner may take the plan's job key from a checkpoint
        job_key = self.plan.settings.job_key
        committers = {}
        for number, sink in self._sinks.items():
            plan = self.plan.operators[number]
            if sink.native:
                try:
                    committers[number] = sink.create_committer(sink_id(plan, job_key))
                except Exception as error:
                    raise operator_error(plan, error) from error
        return committers

    @property
    def watermark(self) -> int:
        """The lowest watermark of the operators that depend on time: how far every part of the job has progressed."""
        return min(self.totals.watermarks.values(), default=MIN_TIME)

    def took_over(self, migration: JobMigration) -> None:
        """Log that state of an earlier program was restored, and add its schemas."""
        for note in migration.notes:
            self.note(note, "state migrated")
        for uid, schemas in migration.schemas.items():
            merge_schemas(self.state_schemas.setdefault(uid, {}), schemas)

    def note(self, text: str, event: str = "note", level: int = INFO, logger: str = "job") -> None:
        """Log something that a user who watches the job should see, such as where it resumes."""
        self.log.write(event, text, level, logger, shown=True)

    @property
    def notes(self) -> list[str]:
        """The latest texts that were shown to a user who watches the job."""
        return [vars(record)["text"] for record in list(self.log.records) if vars(record)["shown"]]

    def note_once(self, text: str) -> None:
        """Log something that several tasks may report, or one task after each restart."""
        if text not in self._noted:
            self._noted.add(text)
            self.note(text, level=WARNING)

    @property
    def attempt(self) -> int:
        """How often the job was restarted."""
        return self.plan.settings.attempt

    def begin_attempt(self) -> None:
        """Prepare for a restart of the job."""
        self.plan.settings = replace(self.plan.settings, attempt=self.attempt + 1)
        if "_committers" in vars(self):
            for committer in self._committers.values():
                committer.restarted()

    def start_clock(self) -> None:
        """Begin the job proper; its run time does not include what came before (starting Spark, planning).

        Committers are created now, before any task writes: some create what the tasks write to.
        """
        _ = self._committers
        self._last_batch = time.monotonic()
        if not self._clock_runs:  # a restarted or rescaled job continues to measure
            self._clock_runs, self.started = True, self._last_batch

    def commit(self, batch_id: int, rows: Iterable[WireRow]) -> None:
        """Take the rows that a batch sent to the driver: commit its sinks, add up its metrics."""
        by_sink: dict[int, list[tuple[int, Any]]] = {}
        before = replace(self.totals, late=dict(self.totals.late), dead_letters=dict(self.totals.dead_letters))
        counts = []
        for row in rows:
            if row.kind == COMMIT:
                by_sink.setdefault(row.port, []).append((row.seq, unpack(row.block)))
            elif row.kind == METRICS:
                counts.append(unpack(row.block))
            elif row.kind == ANSWER:
                self._answer(*unpack(row.block))
        for number, committer in self._committers.items():
            some = sorted(by_sink.get(number, ()), key=lambda pair: pair[0])
            try:
                committer.commit(batch_id, [item for _, committables in some for item in committables])
            except Exception as error:
                raise operator_error(self.plan.operators[number], error) from error
        for items in counts:  # after the commit: a batch whose commit fails is repeated and counts then
            self._count(items)
        self._report(batch_id, before)

    def _answer(self, number: int, found: bool, value: Any) -> None:
        request = self.pending_queries.pop(number, None)
        if request is not None and not request.future.done():
            if found:
                request.future.set_result(value)
            else:
                request.future.set_exception(StateNotFoundError(value))

    def _count(self, items: list[tuple[tuple[int, str], Any]]) -> None:
        totals, plan = self.totals, self.plan
        for (number, metric), value in items:
            if isinstance(value, tuple):
                totals.user_metrics.add(plan.operators[number].name, metric, value)
                continue
            if metric == STATES:
                merge_schemas(self.state_schemas.setdefault(plan.operators[number].uid, {}), value)
                continue
            if metric == WATERMARK:
                totals.watermarks[number] = max(value, totals.watermarks.get(number, MIN_TIME))
                self.stalled.moved(number)
                continue
            if metric == HELD_BACK:
                self.stalled.held_back(number, tuple(value))
                continue
            if metric == NOTES:
                for text in value:
                    self.note_once(text)
                continue
            if metric == CHANNEL_WATERMARKS:
                for channel, watermark in value.items():
                    before = totals.source_watermarks.get((number, channel), MIN_TIME)
                    totals.source_watermarks[number, channel] = max(watermark, before)
                continue
            if metric == CHANNEL_BYTES:
                totals.record_bytes.setdefault(number, {}).update(value)
                continue
            totals.metrics[number, metric] = totals.metrics.get((number, metric), 0) + value
            if metric == "numLateRecordsDropped":
                name = plan.operators[number].name
                totals.late[name] = totals.late.get(name, 0) + value
            elif metric == "numDeadLetters":
                name = (plan.operators.get(number) or plan.sources[number]).name
                totals.dead_letters[name] = totals.dead_letters.get(name, 0) + value
            elif metric == "numMalformedRecordsDropped":
                name = plan.sources[number].name
                totals.malformed[name] = totals.malformed.get(name, 0) + value
            elif metric == "numRecordsOut" and number in plan.sources:
                totals.records_in += value
            elif metric == "numRecordsIn" and number in self._sinks:
                totals.records_out += value

    def _report(self, batch_id: int, before: Totals) -> None:
        now, totals = time.monotonic(), self.totals
        report = BatchReport(batch_id, now - self._last_batch, totals.records_in - before.records_in,
                             totals.records_out - before.records_out, self.watermark,
                             totals.late_records - before.late_records)  # fmt: skip
        self._last_batch = now
        totals.batches += 1
        self.checkpoints.add(batch_id, report.seconds, report.records_in)
        self._log_dead_letters(before)
        for listener in self.listeners:
            listener(report)

    def _log_dead_letters(self, before: Totals) -> None:
        for operator, count in self.totals.dead_letters.items():
            if count > before.dead_letters.get(operator, 0):
                total = f"{count:,} record{'s' * (count > 1)} of {operator!r}"
                self.log.write_seldom("dead letters", f"set aside as dead letters: {total} so far", operator)

    def finish(self) -> None:
        """Finish the committers: the input has ended and every batch is committed."""
        for committer in self._committers.values():
            committer.finish()

    def answer_at_end(self, future: Future[Any], value: Any) -> None:
        """Give a future its result when the job has ended."""
        self._at_end.append((future, value))

    def end(self, how: str) -> None:
        """End all requests: the job no longer answers them."""
        self.requests.end(how)
        for future, value in self._at_end:
            future.set_result(value)
        for request in list(self.pending_queries.values()):
            if not request.future.done():
                request.future.set_exception(JobError(f"the job {how}"))

    def result(self) -> JobExecutionResult:
        """Return the outcome of a finished job."""
        runtime = int((time.monotonic() - self.started) * 1000)
        return JobExecutionResult(self.job_id, runtime, self.accumulators(), self.metrics(), self.savepoint_path)

    def accumulators(self) -> dict[str, int]:
        """Return what user functions have counted so far."""
        return self.totals.user_metrics.counters()

    def metrics(self) -> dict[str, Any]:
        """Return all metrics so far, scurry's own and the users', by `operator.metric`."""
        totals, plan = self.totals, self.plan
        names = {number: part.name for parts in (plan.operators, plan.sources) for number, part in parts.items()}
        values: dict[str, Any] = {}
        for (number, metric), value in list(totals.metrics.items()):
            name = f"{names[number]}.{metric}"
            values[name] = values.get(name, 0) + value  # operators may have the same name
        for number, watermark in list(totals.watermarks.items()):
            name = f"{names[number]}.{WATERMARK}"
            values[name] = min(watermark, values.get(name, watermark))
        for (number, metric), value in self.backlog.metrics().items():
            name = f"{names[number]}.{metric}"
            values[name] = values.get(name, 0) + value
        return {**values, **totals.user_metrics.values()}


class Runner(Protocol):
    """Execute a plan: the interface between the driver and an engine."""

    def run(self, job: JobExecution) -> None:
        """Run the job to its end, or until `job.stopping` is set; raise what made it fail."""
