"""The parts of a streaming query that run in workers: the stages before and after its levels, and the levels."""

from __future__ import annotations

import io
import pickle
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from scurry.common.pickling import by_value
from scurry.common.recursion import deep_recursion
from scurry.graph.operators import AsyncWait, Operator
from scurry.graph.plan import JobPlan, SourcePlan
from scurry.runtime.exchange.wire import SEQ_BITS, SplitAssignment, WireRow
from scurry.runtime.operators.sink import SinkStage
from scurry.runtime.savepoint.schemas import collect_schemas
from scurry.runtime.state.evolution.job import Collected
from scurry.spark.checkpoint.assignment_log import LoggedAssignment
from scurry.spark.workers.failures import failure_of, texts_of
from scurry.spark.workers.instances import (
    Job,
    WorkerTask,
    arrow_batches,
    close_instances,
    instances,
    partition,
    rows_of,
    wire_schema,
)
from scurry.spark.workers.map_store import MapStore
from scurry.spark.workers.partitioning import task_slots
from scurry.sql.connectors.contract import LookupSource
from scurry.sql.functions.user.definition import UserFunction

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Number of attempts at closing while workers and executors die.
_CLOSING_ATTEMPTS = 3


def source_stage(job: Job) -> Any:
    """Return level 0 of the native sources: one block of the assignment stream per task."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        with WorkerTask(job):
            yield from arrow_batches(_read(job, batches), WireRow._fields, wire_schema())

    return run


def _read(job: Job, batches: Iterator[Any]) -> Iterator[WireRow]:
    held = instances(job)
    for batch in batches:
        for payload in batch.column(0).to_pylist():
            logged: LoggedAssignment = pickle.loads(payload)
            assigned = logged.assigned
            if isinstance(assigned, SplitAssignment):
                task = held.source(assigned.source, assigned.channel)
                for rows in task.run(logged.offset << SEQ_BITS, [assigned.split], assigned.final, job.batch_id()):
                    yield from rows
            else:
                yield from assigned.rows(held.plan)


def frame_stage(job: Job, source: SourcePlan) -> Any:
    """Return level 0 of a streaming DataFrame; all its tasks send as one channel."""
    number = source.id

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        with WorkerTask(job):
            task = instances(job).source(number, 0)
            rows = (row for rows in task.run_unordered(batches, job.batch_id()) for row in rows)
            yield from arrow_batches(rows, WireRow._fields, wire_schema())

    return run


def sink_stage(job: Job) -> Any:
    """Return the stage after the last level, in which staged sinks write."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        with WorkerTask(job):
            stage = SinkStage(instances(job).plan, partition(), job.batch_id())
            rows = stage.run(row for batch in batches for row in rows_of(batch, WireRow))
            yield from arrow_batches(rows, WireRow._fields, wire_schema())

    return run


def close_everywhere(spark: SparkSession, plan: JobPlan, job: Job) -> None:
    """Close the user's functions in every worker, with a barrier stage that keeps all slots busy at once.

    If a worker or executor dies meanwhile, the functions of the others are still closed. What the job has committed is
    not affected.
    """
    if not any(has_close(op.operator) for op in plan.operators.values()):
        return
    job_id = job.job_id

    def close(batches: Iterator[Any]) -> Iterator[Any]:
        from scurry.spark.workers.instances import close_instances

        close_instances(job_id)
        time.sleep(0.05)  # keep this worker until the other tasks of the stage have workers, too
        yield from batches

    for _ in range(_CLOSING_ATTEMPTS):
        try:
            slots = task_slots(spark)
            # Spark refuses barrier stages under dynamic allocation
            barrier = spark.sparkContext.getConf().get("spark.dynamicAllocation.enabled", "false") != "true"
            if slots:
                spark.range(0, slots, 1, slots).mapInArrow(close, "id long", barrier=barrier).collect()
            return
        except Exception as error:  # also if the JVM is gone: this must not hide the job's own failure
            if any("Traceback (most recent call last)" in text for text in texts_of(error)):
                raise  # the user's close() has failed


#: Objects of scurry that hold connections or event loops while they are open.
_HOLD_RESOURCES = (AsyncWait, LookupSource, UserFunction)
_OWN = __name__.partition(".")[0]


@deep_recursion()
def has_close(operator: Operator) -> bool:
    """Return whether anything in an operator must be closed: a connection, an event loop, a user's `close()`.

    The operator is searched as it is pickled, so that no wrapper hides a function.
    """
    import cloudpickle

    found = False

    class Search(cloudpickle.CloudPickler):  # type: ignore[misc]
        def persistent_id(self, value: Any) -> Any:
            nonlocal found
            found = found or isinstance(value, _HOLD_RESOURCES) or _overrides_close(type(value))
            return True if found else None

    Search(io.BytesIO(), 5).dump(operator)
    return found


def _overrides_close(cls: type) -> bool:
    return any("close" in vars(base) and base.__module__.partition(".")[0] != _OWN for base in cls.__mro__)


class LevelProcessor(StatefulProcessor):
    """Run one level; Spark's grouping key is the subtask, its state one map of opaque entries."""

    def __init__(self, job: Job, level: int) -> None:
        self._job = job
        self._level = level

    def init(self, handle: Any) -> None:
        """Declare the level's state."""
        self._store = MapStore(handle)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
        """Process one subtask's rows of the batch."""
        with WorkerTask(self._job):
            held = instances(self._job)  # not in init: Spark's driver calls that, too, without what the job depends on
            task = held.level(self._level)
            batch = self._job.batch_id()
            self._store.begin(held.runs, self._job.run_files, batch - self._job.first_batch)
            wire = (WireRow(*row) for row in rows)
            for row in task.process(key[0], wire, self._store, batch):
                yield OutputRow(row)
            self._store.flush()

    def close(self) -> None:
        """End the task; the job's instances stay."""


class OutputRow(tuple[Any, ...]):
    """A row with the only method of `Row` that Spark's serializer calls; cheaper to build than a `Row`."""

    __slots__ = ()

    def asDict(self, recursive: bool = False) -> dict[str, Any]:
        """Return the row by column name."""
        return dict(zip(WireRow._fields, self, strict=True))


def collect_on_worker(spark: SparkSession, plan: JobPlan) -> Collected:
    """Open and close the functions of a plan's stateful operators in a task, and return the states they register.

    Raises:
        OperatorError: A function's `open` failed.
    """
    job = Job.of(f"{plan.settings.job_key}-states", plan)

    def collect(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        with WorkerTask(job):
            collected = collect_schemas(instances(job).load_plan)
            close_instances(job.job_id)
            for _ in batches:
                yield pa.RecordBatch.from_pydict({"collected": [by_value(collected)]})

    try:
        rows = spark.range(0, 1, 1, 1).mapInArrow(collect, "collected binary").collect()
    except Exception as error:
        raise failure_of(error) from error
    found: Collected = pickle.loads(bytes(rows[0][0]))
    return found
