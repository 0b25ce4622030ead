"""STREAMING in this process: micro-batches over state in memory, which a checkpoint directory may outlive."""

from __future__ import annotations

import pickle
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from scurry._dataclasses import dataclass
from scurry.common._garbage import rarely_collected
from scurry.graph.plan import JobPlan
from scurry.runtime.clock import wall_clock_ms
from scurry.runtime.driver.checkpoint_history import KEPT_CHECKPOINTS, BatchDetails
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.requests import RescaleRequest, SavepointRequest
from scurry.runtime.driver.steps import Steps
from scurry.runtime.driver.streaming import CommittedBatch, Rescaled, StreamingDriver
from scurry.runtime.exchange.wire import SEQ_BITS, Assigned, SplitAssignment, WireRow
from scurry.runtime.local.readers import Readers
from scurry.runtime.operators.sink import SinkStage
from scurry.runtime.replay.preparing import capturing
from scurry.runtime.savepoint.entries import write_entries
from scurry.runtime.savepoint.format import Entry
from scurry.runtime.savepoint.metadata import Description, SavedJob, SourcePositions, metadata_of
from scurry.runtime.savepoint.reading import complete_savepoint
from scurry.runtime.savepoint.restore import Restore, open_for, savepoint_to_start_from
from scurry.runtime.savepoint.schemas import collect_schemas
from scurry.runtime.state.store import UndoStore
from scurry.runtime.tasks.level_task import LevelTask
from scurry.runtime.tasks.source_task import SourceTask

if TYPE_CHECKING:
    from scurry.runtime.local.checkpoints import LocalCheckpoints
    from scurry.runtime.local.database import Stores


class Levels:
    """Move the rows of a micro-batch from level to level, as Spark's exchanges would.

    Args:
        load_plan: Returns the plan as the tasks of a subtask get it.
        wall_clock: Returns processing time, in milliseconds.
        stores: The state of each (level, subtask) so far.
    """

    def __init__(
        self,
        plan: JobPlan,
        load_plan: Callable[[], JobPlan],
        wall_clock: Callable[[], int] = wall_clock_ms,
        stores: dict[tuple[int, int], UndoStore] | None = None,
    ) -> None:
        self.tasks = {level: LevelTask(load_plan, level, wall_clock) for level in range(1, plan.levels + 1)}
        self.stores = {} if stores is None else stores

    def process(self, rows: Iterable[WireRow], batch_id: int) -> list[WireRow]:
        """Process a batch; return the rows that leave the last level."""
        rows = list(rows)
        for level, task in self.tasks.items():
            subtasks: dict[int, list[WireRow]] = {}
            for row in rows:
                subtasks.setdefault(row.subtask, []).append(row)
            rows = []
            for subtask, some in sorted(subtasks.items()):
                rows += task.process(subtask, some, self.store(level, subtask), batch_id)
        return rows

    def store(self, level: int, subtask: int) -> UndoStore:
        store = self.stores.get((level, subtask))
        if store is None:
            store = self.stores[level, subtask] = UndoStore()
        return store

    def close(self) -> None:
        """Close the user's functions."""
        for task in self.tasks.values():
            task.close()

    def abandon(self) -> None:
        """Close the user's functions after a failure."""
        for task in self.tasks.values():
            task.abandon()


def plan_loader(plan: JobPlan) -> Callable[[], JobPlan]:
    """Return a function that unpickles copies of the plan, as on Spark: tasks share nothing with the program."""
    from scurry.graph.shipping import ship

    shipped = ship(plan)
    return lambda: pickle.loads(shipped)


@dataclass
class Memory:
    """The state and positions as of the last committed batch, from which a restarted job resumes.

    Attributes:
        batch_id: The id of the next batch.
        stores: The state of each (level, subtask).
        source_positions: The source positions; None before the first batch.
        origin: The savepoint from which a rescaled job starts.
    """

    batch_id: int = 0
    stores: dict[tuple[int, int], UndoStore] = field(default_factory=dict)
    source_positions: SourcePositions | None = None
    origin: str | None = None

    def prepare(self) -> None:
        """Drop uncommitted changes, and all state if it was not restored completely."""
        for store in self.stores.values():
            store.undo()
        if self.source_positions is not None and self.source_positions.restored is not None:
            self.stores.clear()
            self.source_positions = None


def streaming_steps(
    job: JobExecution, memory: Memory, wall_clock: Callable[[], int] | None = None, threads: bool = True
) -> Steps[Memory | None]:
    """Run a job until it ends or is rescaled.

    Args:
        memory: The result of the previous attempt.
        wall_clock: Returns processing time, in milliseconds; the job's if not given.
        threads: Whether sources may be read in threads, side by side.

    Returns:
        What a rescaled job resumes from, None if the job has ended.
    """
    memory.prepare()
    restore = _restore(job, memory)
    engine = LocalEngine(job, memory, wall_clock, threads=threads)
    outcome = yield from StreamingDriver(job, engine, restore, wall_clock=wall_clock).steps()
    return engine.rescale(outcome.request) if isinstance(outcome, Rescaled) else None


def _restore(job: JobExecution, memory: Memory) -> Restore | None:
    """Return the restore of the savepoint to start from, if nothing has been committed since."""
    if memory.source_positions is not None:
        return None
    path = memory.origin or savepoint_to_start_from(job.plan)
    if path is None:
        return None
    savepoint = open_for(job.plan, path, job.log.note, own=memory.origin is not None)
    collected = collect_schemas(plan_loader(job.plan)) if memory.origin is None else None
    restore = Restore.configured(savepoint, job.plan, collected)
    job.took_over(restore.migration)
    job.use(restore.plan)
    if memory.origin is None:
        job.log.note(f"starting from the savepoint {path}", "restored")
    return restore


def write_savepoint(
    path: str,
    stores: Stores,
    job: SavedJob,
    description: Description,
    batch_id: int,
    positions: SourcePositions,
    drained: bool = False,
) -> None:
    """Write state as a savepoint.

    Args:
        stores: The state by level and subtask.
        batch_id: The batch after which it is taken.
        positions: The source positions at that time.
        drained: Whether event time was ended before.
    """
    entries = (
        Entry(uid, kind, subtask, number, blob)
        for (_, subtask), store in stores.items()
        for (uid, kind, number), blob in store.items()
    )
    written = write_entries(path, entries)
    complete_savepoint(path, metadata_of(job, description, batch_id, positions, drained=drained), written)


class LocalEngine:
    """Execute each micro-batch while it is submitted.

    Args:
        memory: The result of the previous attempt, from which the next one resumes.
        wall_clock: Returns processing time, in milliseconds; the job's if not given.
        checkpoints: The checkpoint directory, or None.
        threads: Whether sources may be read in threads, side by side.
    """

    replaying = False
    not_computed_again = None

    def __init__(
        self,
        job: JobExecution,
        memory: Memory,
        wall_clock: Callable[[], int] | None = None,
        checkpoints: LocalCheckpoints | None = None,
        threads: bool = True,
    ) -> None:
        self.memory = memory
        self._job, self._plan, self._clock = job, job.plan, job.clock.monotonic
        self._wall_clock = wall_clock = wall_clock or job.clock.wall_ms
        self._checkpoints = checkpoints
        job.plan.settings = replace(job.plan.settings, capturing=capturing(job))
        self._load_plan = plan_loader(job.plan)
        self._sinks = self._load_plan()
        self._sources: dict[tuple[int, int], SourceTask] = {}
        self._levels = Levels(job.plan, self._load_plan, wall_clock, memory.stores)
        self._readers = Readers(threads)
        self._committed: CommittedBatch | None = None
        #: what the latest batches took
        self._details: dict[int, BatchDetails] = {}
        job.checkpoints.details = lambda since: self._details.copy()
        #: whether a batch was begun but not committed
        self._failed = False

    def recover(self) -> SourcePositions | None:
        return self.memory.source_positions

    def start(self) -> None:
        return

    @rarely_collected()
    def submit(self, assigned: Sequence[Assigned], positions: SourcePositions) -> None:
        """Process a batch through all levels and sinks, and commit it; a repeated attempt begins after it."""
        begun, memory, self._failed = self._clock(), self.memory, True
        read = self._readers.map(self._read, [each for each in assigned if isinstance(each, SplitAssignment)])
        rows = [row for each in assigned if not isinstance(each, SplitAssignment) for row in each.rows(self._plan)]
        rows += [row for some in read for row in some]
        read_at = self._clock()
        rows = self._levels.process(rows, memory.batch_id)
        processed = self._clock()
        output = self._job.sort(SinkStage(self._sinks, 0, memory.batch_id).run(rows))
        stood, phases = pickle.dumps(positions, 5), {"read": read_at - begun, "process": processed - read_at}
        written = self._clock()
        if self._checkpoints is not None:
            self._checkpoints.save(self._job, memory.batch_id, stood, memory.stores, output)
            restoring = int(positions.restored is not None)
            self._job.protocol.step("checkpoint", memory.batch_id, restoring, positions=stood)
            phases["checkpoint"] = self._clock() - written
        self._job.commit_output(memory.batch_id, output, begun)
        self._job.protocol.step("output", memory.batch_id)
        if self._checkpoints is not None:
            self._checkpoints.committed()
            self._job.protocol.step("noted", memory.batch_id)
        for store in memory.stores.values():
            store.keep()
        memory.source_positions = pickle.loads(stood)
        memory.batch_id += 1
        if memory.origin is not None and positions.restored is None:
            shutil.rmtree(memory.origin, ignore_errors=True)
            memory.origin = None
        ended = self._clock()
        phases["write"] = ended - begun - sum(phases.values())
        self._noted(memory.batch_id - 1, phases)
        self._committed, self._failed = CommittedBatch(ended - begun), False

    def _noted(self, batch_id: int, seconds: dict[str, float]) -> None:
        phases = {phase: round(duration * 1000) for phase, duration in seconds.items()}
        self._details[batch_id] = BatchDetails(None, phases)
        self._details.pop(batch_id - KEPT_CHECKPOINTS, None)

    def _read(self, assignment: SplitAssignment) -> list[WireRow]:
        key, batch_id = (assignment.source, assignment.channel), self.memory.batch_id
        if key not in self._sources:
            own = self._load_plan()
            source = own.sources[assignment.source]
            self._sources[key] = SourceTask(own, source, assignment.channel, self._wall_clock, self._clock)
        runs = self._sources[key].run(batch_id << SEQ_BITS, [assignment.split], assignment.final, batch_id)
        return [row for some in runs for row in some]

    def committed(self) -> CommittedBatch | None:
        committed, self._committed = self._committed, None
        return committed

    def wait(self, seconds: float) -> None:
        if self._committed is None:
            time.sleep(seconds)

    def finish(self) -> None:
        return

    # ---------------------------------------------------------------- savepoints

    def begin_savepoint(self, request: SavepointRequest) -> None:
        try:
            self.write_savepoint(request, None)
        except Exception as error:
            request.future.set_exception(error)
        else:
            request.future.set_result(request.path)

    def saving(self) -> Sequence[Assigned]:
        return ()

    def write_savepoint(self, request: SavepointRequest, positions: SourcePositions | None) -> None:
        with self._job.log.savepoint(request.path, request.asked_by):
            self._write(request.path, positions, request.has_sources)

    def _write(self, path: str, positions: SourcePositions | None, has_sources: bool = True) -> None:
        stood = positions or (self.memory.source_positions if has_sources else None) or SourcePositions()
        write_savepoint(
            path,
            self.memory.stores,
            self._job.as_saved(),
            Description.of(self._plan, self._job.state_schemas),
            self.memory.batch_id - 1,
            stood,
            drained=positions is not None,
        )
        self._job.protocol.step("saved", self.memory.batch_id - 1)

    def save_for_rescaling(self) -> None:
        return

    def rescale(self, request: RescaleRequest) -> Memory:
        """Return the state for another parallelism, written as a savepoint."""
        assert self._plan.rebuild is not None
        before, after = self._plan.settings.parallelism, request.parallelism
        with self._job.log.rescaling(before, after, request.asked_by):
            plan = self._plan.rebuild(replace(self._plan.settings, parallelism=after))
            directory = tempfile.mkdtemp(prefix="scurry-rescale-")
            self._write(directory, None)
            self._job.use(plan)
        request.future.set_result(None)
        return Memory(self.memory.batch_id, origin=directory)

    # ---------------------------------------------------------------- the end

    def stop(self) -> None:
        self._readers.close()

    def close(self) -> None:
        """Close the user's functions, after a failure, too."""
        held: list[SourceTask | Levels] = [*self._sources.values(), self._levels]
        for each in held:
            if self._failed:
                each.abandon()
            else:
                each.close()
