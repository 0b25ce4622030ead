"""STREAMING: a plan as one structured streaming query."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any

from scurry.connectors.source import BatchLimits
from scurry.graph.plan import JobPlan, SourcePlan
from scurry.runtime.clock import wall_clock_ms
from scurry.runtime.feeding import limits_of
from scurry.runtime.gate import CONTROL
from scurry.runtime.job import JobExecution
from scurry.runtime.operators.sink import SinkStage
from scurry.runtime.wire import MIN_TIME, PROGRESS, SCHEMA, WireRow, pack
from scurry.spark.assignments import CONTROL_SOURCE, AssignmentStream, Numbered
from scurry.spark.identity import check_identity
from scurry.spark.session import session_for
from scurry.spark.storage import storage_for
from scurry.spark.worker import (
    Job,
    arrow_batches,
    failing_clean,
    instances,
    rows_of,
    wire_schema,
)


class StreamingRunner:
    """Runs a plan until its sources end or it is told to stop."""

    def run(self, job: JobExecution) -> None:
        """Runs the job."""
        _Query(job).run()


class _Query:
    def __init__(self, job: JobExecution) -> None:
        self.job = job
        plan = self.plan = job.plan
        self.spark = session_for(plan.settings, plan.bounded)
        configured = plan.settings.checkpoint_dir
        self.temporary = None if configured else tempfile.mkdtemp(prefix="scurry-")
        self.directory = configured or self.temporary
        assert self.directory is not None
        self.storage = storage_for(self.spark, self.directory) if configured else None
        if self.storage is not None:
            check_identity(plan, self.storage)
        self.worker_job = Job.of(str(job.job_id), plan)
        self.assignments = AssignmentStream(self.spark, self.storage)
        self.native = [s for s in plan.sources.values() if hasattr(s.source, "read")]
        limits: BatchLimits = limits_of(plan)
        self.enumerators = {s.id: s.source.create_enumerator(s.parallelism, limits) for s in self.native}
        self.open_channels = {(s.id, i) for s in self.native for i in range(s.channels)}
        self.committed = threading.Event()
        self.tick = int(plan.settings.configuration.get("scurry.tick-interval", 200)) / 1000
        self.error: BaseException | None = None

    # ---------------------------------------------------------------- life cycle

    def run(self) -> None:
        try:
            self._recover()
            self._feed()
            self.job.start_clock()
            query = self._start()
            try:
                self._drive(query)
            finally:
                query.stop()
            self.job.finish()
        finally:
            close_everywhere(self.spark, self.plan, self.worker_job)
            for enumerator in self.enumerators.values():
                enumerator.close()
            if self.temporary is not None:
                shutil.rmtree(self.temporary, ignore_errors=True)

    def _recover(self) -> None:
        recovered = self.assignments.recover()
        for numbered in recovered:
            if numbered.final:
                self.open_channels.discard((numbered.source, numbered.channel))
        for source, position in self.assignments.positions.items():
            uid_to_id = {s.uid: s.id for s in self.native}
            if source in uid_to_id:
                self.enumerators[uid_to_id[source]].restore(position)
        if recovered:
            self.job.note(f"going on from checkpoint {self.directory}")

    def _start(self) -> Any:
        wire = self.assignments.frame().mapInArrow(_source_stage(self.worker_job), SCHEMA)
        for source in self.plan.sources.values():
            if not hasattr(source.source, "read"):
                frame = source.source.frame_on(self.spark)
                wire = wire.union(frame.mapInArrow(_frame_stage(self.worker_job, source), SCHEMA))
        for level in range(1, self.plan.levels + 1):
            from scurry.spark.processor import LevelProcessor

            processor = LevelProcessor(self.worker_job, level)
            wire = wire.groupBy("group").transformWithState(processor, SCHEMA, "append", "none")
        if any(sink_is_staged(op) for op in self.plan.operators.values()):
            wire = wire.mapInArrow(_sink_stage(self.worker_job), SCHEMA)
        settings = self.plan.settings
        writer = wire.writeStream.outputMode("append").foreachBatch(self._commit)
        writer = writer.option("checkpointLocation", os.path.join(str(self.directory), "spark"))
        interval = settings.checkpoint_interval_ms
        writer = writer.trigger(processingTime=f"{interval or 0} milliseconds")
        return writer.queryName(settings.job_name).start()

    def _commit(self, frame: Any, batch_id: int) -> None:
        try:
            rows = collected(frame)
            self.job.commit(batch_id, rows)
            self.assignments.purge()
            self.committed.set()
        except BaseException as error:
            if self.error is None:
                self.error = error
            raise

    # ---------------------------------------------------------------- feeding

    def _drive(self, query: Any) -> None:
        """Feeds the query until every source has ended; then waits for the last batch."""
        ticked = time.monotonic()
        while not self.job.stopping.is_set():
            self._check(query)
            if self._all_ended():
                self._drain(query)
                return
            if self.committed.wait(0.01):
                self.committed.clear()
                if self._feed():
                    ticked = time.monotonic()
            elif self._idle(query):
                if self._feed():
                    ticked = time.monotonic()
                elif self.plan.ticks and time.monotonic() - ticked >= self.tick:
                    ticked = time.monotonic()
                    self._tick()
        self._drain(query)

    def _tick(self) -> None:
        """Lets processing time pass although no source has data."""
        tick = (CONTROL_SOURCE, 0, (MIN_TIME, wall_clock_ms()), False)
        self.assignments.add([tick], self._positions())

    def _idle(self, query: Any) -> bool:
        return not query.status["isTriggerActive"]

    def _drain(self, query: Any) -> None:
        """Waits until everything fed is processed and committed."""
        try:
            query.processAllAvailable()
        except Exception as error:
            raise self._failure(error) from error
        self._check(query)

    def _feed(self) -> bool:
        """Asks the sources for more and passes it on."""
        found = []
        for number, enumerator in self.enumerators.items():
            for assignment in enumerator.next_batch():
                found.append((number, assignment.channel, assignment.work, assignment.final))
                if assignment.final:
                    self.open_channels.discard((number, assignment.channel))
        if found:
            self.assignments.add(found, self._positions())
        return bool(found)

    def _all_ended(self) -> bool:
        return not self.open_channels and len(self.native) == len(self.plan.sources)

    def _positions(self) -> dict[str, Any]:
        return {s.uid: self.enumerators[s.id].position() for s in self.native}

    def _check(self, query: Any) -> None:
        if not query.isActive:
            error = query.exception()
            raise self._failure(error or RuntimeError("the query stopped by itself"))

    def _failure(self, error: BaseException) -> BaseException:
        from scurry.spark.failures import failure_of

        return failure_of(error, self.error)


def collected(frame: Any) -> list[WireRow]:
    """The rows a batch sends to the driver."""
    return [
        WireRow(group, port, kind, channel, seq, bytes(block))
        for group, port, kind, channel, seq, block in frame.collect()
    ]


def sink_is_staged(op: Any) -> bool:
    """Whether an operator is a sink whose writers run at the end of the stage."""
    from scurry.graph.operators import Sink

    return isinstance(op.operator, Sink) and bool(op.operator.function.staged)


# ------------------------------------------------------------------ stages, as they run in workers


def _source_stage(job: Job) -> Any:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        with failing_clean(job):
            yield from arrow_batches(_read(job, batches), WireRow._fields, wire_schema())

    return run


def _read(job: Job, batches: Iterator[Any]) -> Iterator[WireRow]:
    held = instances(job)
    for batch in batches:
        for payload in batch.column(0).to_pylist():
            numbered: Numbered = pickle.loads(payload)
            if numbered.source == CONTROL_SOURCE:
                yield from control_rows(held.plan, *numbered.work)
            else:
                task = held.source(numbered.source, numbered.channel)
                for rows in task.run(numbered.number << 24, [numbered.work], numbered.final, _batch_id()):
                    yield from rows


def control_rows(plan: JobPlan, watermark: int, stamp: int) -> Iterator[WireRow]:
    """Time for everyone, from the runner itself."""
    block = pack([(0, watermark, stamp, False)])
    for edge in plan.edges.values():
        if edge.progress:
            for group in range(edge.groups):
                yield WireRow(group, edge.id, PROGRESS, CONTROL, 0, block)


def _frame_stage(job: Job, source: SourcePlan) -> Any:
    number = source.id

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        with failing_clean(job):
            context = TaskContext.get()
            channel = context.partitionId() if context is not None else 0
            held = instances(job)
            channel %= held.plan.sources[number].channels
            task = held.source(number, channel)
            rows = (row for rows in task.run(_batch_id() << 24, [batches], False, _batch_id()) for row in rows)
            yield from arrow_batches(rows, WireRow._fields, wire_schema())

    return run


def _sink_stage(job: Job) -> Any:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        with failing_clean(job):
            context = TaskContext.get()
            partition = context.partitionId() if context is not None else 0
            stage = SinkStage(instances(job).plan, partition, _batch_id())
            rows = stage.run(row for batch in batches for row in rows_of(batch, WireRow))
            yield from arrow_batches(rows, WireRow._fields, wire_schema())

    return run


def _batch_id() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return int((context and context.getLocalProperty("streaming.sql.batchId")) or 0)


def close_everywhere(spark: Any, plan: JobPlan, job: Job) -> None:
    """Closes the user's functions in every worker that holds some: a barrier stage keeps all slots busy at once."""
    if not any(has_close(op.operator) for op in plan.operators.values()):
        return
    job_id, slots = job.job_id, spark.sparkContext.defaultParallelism

    def close(batches: Iterator[Any]) -> Iterator[Any]:
        from scurry.spark.worker import close_instances

        close_instances(job_id)
        time.sleep(0.05)  # stay until the other tasks of the stage have got workers of their own
        yield from batches

    spark.range(0, slots, 1, slots).mapInArrow(close, "id long", barrier=True).collect()


def has_close(operator: Any) -> bool:
    """Whether the user's function overrides close()."""
    from scurry.graph.operators import Sink, Window

    functions = [operator.function, operator.pre_aggregate] if isinstance(operator, Window) else [operator.function]
    return isinstance(operator, Sink) or any(
        "close" in vars(cls)
        for function in functions
        for cls in type(function).__mro__
        if not cls.__module__.startswith("scurry.")
    )
