"""Keep plans and task instances of jobs in Spark's Python workers.

They are kept between batches, by job: plans are decoded and functions opened once. When anything fails, the job's
instances are closed and dropped, so that a retried task starts clean.
"""

from __future__ import annotations

import base64
import gc
import hashlib
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common._garbage import RARELY
from scurry.errors import ScurryError
from scurry.graph.dependencies import WorkerSetup
from scurry.graph.plan import JobPlan
from scurry.graph.shipping import load_plan, ship
from scurry.runtime.exchange.wire import WireRow
from scurry.runtime.tasks.level_task import LevelTask
from scurry.runtime.tasks.source_task import SourceTask
from scurry.spark.workers.local_runs import LocalRuns
from scurry.spark.workers.local_state import LocalState
from scurry.spark.workers.memory import give_back
from scurry.spark.workers.run_files import RunFiles

#: Rows are passed to Spark when their blocks reach this many bytes.
ARROW_BYTES = 4 * 1024 * 1024

_FIELDS = WireRow._fields
FAILURE_MARK = "SCURRY-FAILURE:"


@dataclass(frozen=True)
class Job:
    """A job as it is sent to workers: its id and its plan, pickled once on the driver."""

    job_id: str
    plan_bytes: bytes
    #: number of the job's batches before this Spark checkpoint
    first_batch: int = 0
    #: whether the program imports scurry as pyflink, so that workers must, too
    aliased: bool = False
    #: what a worker does before it loads the plan
    setup: WorkerSetup = field(default_factory=WorkerSetup)
    #: where workers keep copies of the job's state; None: in Spark's directory, which ends with the application
    local_state: LocalState | None = None
    #: where large runs are files of the checkpoint; None: they are in Spark's state store
    run_files: RunFiles | None = None

    @classmethod
    def of(
        cls,
        job_id: str,
        plan: JobPlan,
        first_batch: int = 0,
        local_state: LocalState | None = None,
        run_files: RunFiles | None = None,
    ) -> Job:
        """Pack a plan for the workers."""
        from scurry.spark.workers.dependencies import setup_of

        aliased = "scurry.pyflink_alias" in sys.modules
        return cls(job_id, ship(plan), first_batch, aliased, setup_of(plan), local_state, run_files)

    def batch_id(self) -> int:
        """Return the id of the micro-batch that the current task belongs to."""
        from pyspark import TaskContext

        context = TaskContext.get()
        return self.first_batch + int((context and context.getLocalProperty("streaming.sql.batchId")) or 0)


def partition() -> int:
    """Return the partition that the current task computes."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.partitionId() if context is not None else 0


class Instances:
    """The plan and tasks of one job in this worker process."""

    def __init__(self, job: Job) -> None:
        if job.aliased:
            import scurry.pyflink_alias  # noqa: F401
        job.setup.activate(_downloads)
        gc.set_threshold(*RARELY)
        self._plan_bytes = job.plan_bytes
        self.plan = self.load_plan()
        self.sources: dict[tuple[int, int], SourceTask] = {}
        self.levels: dict[int, LevelTask] = {}
        temporary = os.path.join(_local_directory(), f"scurry-runs-{_name_of(job)}")
        self.runs = LocalRuns(temporary) if job.local_state is None else job.local_state.open(temporary)

    def load_plan(self) -> JobPlan:
        return load_plan(self._plan_bytes)

    def source(self, number: int, channel: int) -> SourceTask:
        key = (number, channel)
        if key not in self.sources:
            own = self.load_plan()
            self.sources[key] = SourceTask(own, own.sources[number], channel)
        return self.sources[key]

    def level(self, level: int) -> LevelTask:
        if level not in self.levels:
            self.levels[level] = LevelTask(self.load_plan, level)
        return self.levels[level]

    def close(self) -> None:
        """Close all user functions."""
        for source in self.sources.values():
            source.close()
        for level in self.levels.values():
            level.close()

    def abandon(self) -> None:
        """Close all user functions after a failure."""
        for source in self.sources.values():
            source.abandon()
        for level in self.levels.values():
            level.abandon()


def _local_directory() -> str:
    """Return a directory of this machine that Spark removes with the application."""
    return os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or _downloads()


def _name_of(job: Job) -> str:
    """Return a name that only the job has, as long as its state was not restored again."""
    return hashlib.blake2b(f"{job.job_id} {job.first_batch}".encode(), digest_size=12).hexdigest()


def _downloads() -> str:
    from pyspark import SparkFiles

    return SparkFiles.getRootDirectory()


_instances: dict[str, Instances] = {}

#: Number of jobs whose instances a worker keeps; for another job, those of the oldest are closed.
KEPT_JOBS = 16


def instances(job: Job) -> Instances:
    """Return this worker's instances of a job."""
    held = _instances.get(job.job_id)
    if held is None:
        if len(_instances) >= KEPT_JOBS:
            close_instances(next(iter(_instances)))
        held = _instances[job.job_id] = Instances(job)
    return held


def close_instances(job_id: str) -> None:
    """Close this worker's instances of a job."""
    held = _instances.pop(job_id, None)
    if held is not None:
        held.close()


class WorkerTask:
    """End a task: return unused memory and, after a failure, drop the job's instances and report the error."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is not None and not isinstance(error, GeneratorExit):
            held = _instances.pop(self._job.job_id, None)
            if held is not None:
                held.abandon()
        give_back()
        if isinstance(error, ScurryError):
            raise RuntimeError(mark(error)) from error


def mark(error: ScurryError) -> str:
    """Encode an error as text that survives Spark's error handling."""
    return FAILURE_MARK + base64.b64encode(pickle.dumps(error)).decode() + ";"


def unmark(text: str) -> ScurryError | None:
    """Return the scurry error that is encoded in an error text of Spark, if any."""
    start = text.find(FAILURE_MARK)
    if start < 0:
        return None
    encoded = text[start + len(FAILURE_MARK) :]
    error: ScurryError = pickle.loads(base64.b64decode(encoded[: encoded.index(";")]))
    return error


# ------------------------------------------------------------------ Arrow


def arrow_batches(rows: Iterable[Any], fields: tuple[str, ...], schema: Any) -> Iterator[Any]:
    """Yield rows as Arrow record batches of a few megabytes."""
    import pyarrow as pa

    def batch(some: list[Any]) -> Any:
        columns = [pa.array(column, kind) for column, kind in zip(zip(*some, strict=True), schema.types, strict=True)]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    pending: list[Any] = []
    size = 0
    for row in rows:
        pending.append(row)
        size += len(row.block) + 64
        if size >= ARROW_BYTES:
            yield batch(pending)
            pending, size = [], 0
    if pending:
        yield batch(pending)


def wire_schema() -> Any:
    import pyarrow as pa

    ints = [(name, pa.int32()) for name in _FIELDS[:4]]
    return pa.schema([*ints, ("seq", pa.int64()), ("block", pa.binary())])


def batch_schema() -> Any:
    """Return the Arrow schema of the wire in BATCH."""
    import pyarrow as pa

    return pa.schema([*wire_schema(), ("target", pa.int32()), ("key", pa.binary()), ("time", pa.int64())])


def rows_of(batch: Any, row_type: Callable[..., Any]) -> Iterator[Any]:
    return map(row_type, *(column.to_pylist() for column in batch.columns))
