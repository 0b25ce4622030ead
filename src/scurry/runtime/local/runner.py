"""The runner for this process: for tests, breakpoints and notebooks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING

from scurry.common._garbage import rarely_collected
from scurry.errors import UnsupportedError
from scurry.graph.operators import Sink
from scurry.graph.plan import JobPlan, SourcePlan
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.source_coordinator import steps_to_all_splits
from scurry.runtime.driver.steps import Steps, Wait, in_this_thread
from scurry.runtime.exchange.wire import SINK, WireRow, unpack
from scurry.runtime.local.batch_rows import BatchRows
from scurry.runtime.local.streaming import Memory, plan_loader, streaming_steps
from scurry.runtime.operators.sink import SinkStage
from scurry.runtime.savepoint.batch_savepoint import final_savepoint, runs_of
from scurry.runtime.tasks.batch_task import BatchLevelTask, run_source

if TYPE_CHECKING:
    from scurry.runtime.local.checkpointed import CheckpointedRun


#: Between the steps of BATCH, which can go on at once.
_NOTHING = Wait(0.0, lambda seconds: None)


class LocalRunner:
    """Execute STREAMING as a sequence of micro-batches and BATCH level by level, as Spark would.

    State is in memory. After a failure the run can be repeated and resumes after the last committed batch. With a
    checkpoint directory, a job in STREAMING does so, too, when it is started again in another process.

    Args:
        wall_clock: Returns processing time for STREAMING, in milliseconds; the job's if not given.
        threads: Whether sources may be read in threads, side by side.
    """

    def __init__(self, wall_clock: Callable[[], int] | None = None, threads: bool = True) -> None:
        self._wall_clock = wall_clock
        self._threads = threads
        self._memory = Memory()
        #: the checkpoint directory, once the job holds it
        self._directory: str | None = None
        self._checkpointed: CheckpointedRun | None = None

    def run(self, job: JobExecution) -> None:
        """Run the job in the present thread."""
        in_this_thread(self.steps(job))

    def steps(self, job: JobExecution) -> Steps[None]:
        """Run the job: a step is at most one micro-batch of STREAMING, or a piece of the rows of a level of BATCH."""
        _refuse_spark(job.plan)
        dependencies = job.plan.settings.dependencies
        with nullcontext() if dependencies is None else dependencies.in_this_process():
            yield from self._steps(job)

    def _steps(self, job: JobExecution) -> Steps[None]:
        if job.plan.settings.mode == "STREAMING" and job.plan.settings.checkpoint_dir is not None:
            if self._checkpointed is None:
                from scurry.runtime.local.checkpointed import CheckpointedRun, hold_local_directory  # loads SQLite

                if self._directory is None:
                    self._directory = hold_local_directory(job)
                self._checkpointed = CheckpointedRun(job, self._directory, self._wall_clock, self._threads)
            yield from self._checkpointed.steps()
            return
        job.start_clock()
        if job.plan.settings.mode == "BATCH":
            yield from _Batch(job).steps()
        else:
            memory: Memory | None = self._memory
            while memory is not None:
                self._memory = memory
                memory = yield from streaming_steps(job, memory, self._wall_clock, self._threads)
        job.sinks.finish()


def _refuse_spark(plan: JobPlan) -> None:
    for source in plan.sources.values():
        if not source.source.native:
            raise UnsupportedError(
                f"source {source.name!r} ({source.origin}) reads through Spark: the in-process runner cannot run it"
            )
    for op in plan.operators.values():
        if isinstance(op.operator, Sink) and not op.operator.function.native:
            raise UnsupportedError(
                f"sink {op.name!r} ({op.origin}) writes through Spark: the in-process runner cannot run it"
            )


class _Batch:
    def __init__(self, job: JobExecution) -> None:
        self.job = job
        self.plan = job.plan
        self.load_plan = plan_loader(job.plan)
        #: writes what the last level emits
        self.sinks = SinkStage(self.load_plan(), 0, 0)

    def steps(self) -> Steps[None]:
        with rarely_collected(), final_savepoint(self.job) as savepoint, self.sinks.begun():
            rows = BatchRows(is_sorted=self.plan.levels > 0)
            for source in self.plan.sources.values():
                yield from self._source(source, rows)
            for level in range(1, self.plan.levels + 1):
                rows = yield from self._level(level, rows, savepoint)
            written: list[WireRow] = []
            for row in rows:
                if row.kind == SINK and self.sinks.writes(row.port):  # an earlier level has emitted it
                    self.sinks.write(row.port, *unpack(row.block))
                else:
                    written.append(WireRow(*row[:6]))
            written += self.sinks.end()
            self.job.check_running()
            self.job.commit(0, written)

    def _source(self, source: SourcePlan, rows: BatchRows) -> Steps[None]:
        works = yield from steps_to_all_splits(self.plan, source)
        for instance in sorted(works):
            with closing(run_source(self.load_plan, source.id, instance, works[instance], self._sinks_of(0))) as runs:
                for some in runs:
                    yield _NOTHING
                    self.job.check_running()
                    if some:
                        rows.add(some)

    def _level(self, level: int, rows: BatchRows, savepoint: str | None) -> Steps[BatchRows]:
        following = BatchRows(is_sorted=level < self.plan.levels)
        with (
            runs_of(savepoint, level) as run_of,
            closing(BatchLevelTask(self.load_plan, level, run_of, self._sinks_of(level)).run(rows)) as runs,
        ):
            for some in runs:
                yield _NOTHING
                self.job.check_running()
                if some:
                    following.add(some)
        return following

    def _sinks_of(self, level: int) -> SinkStage | None:
        return self.sinks if level == self.plan.levels else None
