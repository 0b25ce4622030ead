"""STREAMING in this process: micro-batches over state in memory."""

from __future__ import annotations

import pickle
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from scurry.connectors.source import Assignment
from scurry.graph.plan import JobPlan
from scurry.runtime.clock import wall_clock_ms
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.requests import RescaleRequest, SavepointRequest, Tick
from scurry.runtime.driver.source_coordinator import SourceCoordinator
from scurry.runtime.exchange.wire import MIN_TIME, WireRow
from scurry.runtime.local.levels import Levels
from scurry.runtime.operators.sink import SinkStage
from scurry.runtime.savepoint.entries import write_entries
from scurry.runtime.savepoint.format import Entry
from scurry.runtime.savepoint.migration import collect_schemas
from scurry.runtime.savepoint.reading import complete_savepoint
from scurry.runtime.savepoint.restore import Restore, open_for, savepoint_to_start_from
from scurry.runtime.savepoint.taking import Description, SourcePositions, metadata_of, restore_source
from scurry.runtime.state.store import UndoStore
from scurry.runtime.tasks.source_task import SourceTask

#: A batch of work: source id -> what its channels read.
Assigned = dict[int, list[Assignment]]


def plan_loader(plan: JobPlan) -> Callable[[], JobPlan]:
    """Copies of the plan as tasks on Spark would get them: pickled, so that they share nothing with the program."""
    from scurry.graph.shipping import ship

    shipped = ship(plan)
    return lambda: pickle.loads(shipped)


@dataclass
class Memory:
    """What a run that is repeated goes on with: state and positions as of the last committed batch.

    Attributes:
        batch_id: The next batch.
        stores: The state of each (level, subtask).
        source_positions: Where the sources stand; None before the first batch.
        origin: The savepoint that a rescaled job begins with.
    """

    batch_id: int = 0
    stores: dict[tuple[int, int], UndoStore] = field(default_factory=dict)
    source_positions: SourcePositions | None = None
    origin: str | None = None


class StreamingRun:
    """One attempt at a job.

    Args:
        job: The job.
        memory: What the attempt before left.
        wall_clock: Where processing time comes from, in milliseconds.
    """

    def __init__(self, job: JobExecution, memory: Memory, wall_clock: Callable[[], int] = wall_clock_ms) -> None:
        self.job = job
        self.memory = memory
        self.wall_clock = wall_clock
        self._restore = self._restoring()
        plan = self.plan = job.plan
        self.load_plan = plan_loader(plan)
        self.sources: dict[tuple[int, int], SourceTask] = {}
        for store in memory.stores.values():
            store.undo()
        self.levels = Levels(plan, self.load_plan, wall_clock, memory.stores)
        self.source_coordinator = SourceCoordinator(job, plan.sources.values())
        self.enumerators = self.source_coordinator.enumerators
        self.ended: set[tuple[str, int]] = set()
        self.tick = int(plan.settings.configuration.get("scurry.tick-interval", 200)) / 1000

    def _restoring(self) -> Restore | None:
        """The savepoint to begin with, if nothing has been committed since."""
        if self.memory.source_positions is not None:
            return None
        path = self.memory.origin or savepoint_to_start_from(self.job.plan)
        if path is None:
            return None
        savepoint = open_for(self.job, path, own=self.memory.origin is not None)
        collected = collect_schemas(plan_loader(self.job.plan)) if self.memory.origin is None else None
        restore = Restore.into(savepoint, self.job, self.job.plan, collected)
        self.job.use(restore.plan)
        if self.memory.origin is None:
            self.job.note(f"starting from the savepoint {path}", "restored")
        return restore

    # ---------------------------------------------------------------- life cycle

    def run(self) -> Memory | None:
        """Runs until the sources end or the job is told to stop.

        Returns:
            What a job that was rescaled goes on with, None if the job is over.
        """
        try:
            with ThreadPoolExecutor(max_workers=32) as pool:
                rescaled = self._run_batches(pool)
        finally:
            self.source_coordinator.close()
        for source in self.sources.values():
            source.close()
        self.levels.close()
        return rescaled

    def _run_batches(self, pool: ThreadPoolExecutor) -> Memory | None:
        self._begin(pool)
        ticked = time.monotonic()
        while not (self._all_ended() or self.job.stopping.is_set()):
            request = self.job.requests.take()
            if isinstance(request, SavepointRequest):
                if self._savepoint(request, pool):
                    return None
            elif isinstance(request, RescaleRequest):
                return self._rescaled(request)
            if questions := self.job.requests.questions():
                self._commit(list(questions.rows(self.plan)))
            assigned = {source.id: self.source_coordinator.next(source) for source in self.plan.sources.values()}
            if any(assigned.values()):
                begun = time.monotonic()
                self._batch(pool, assigned)
                self.source_coordinator.batch_took(time.monotonic() - begun)
            elif self.plan.ticks and time.monotonic() - ticked >= self.tick:
                ticked = time.monotonic()
                self._commit(list(Tick(MIN_TIME, self.wall_clock()).rows(self.plan)))
            else:
                time.sleep(0.005)
        return None

    def _begin(self, pool: ThreadPoolExecutor) -> None:
        """Goes on where a savepoint or an earlier attempt says."""
        source_positions = self.memory.source_positions
        if source_positions is not None:
            self.ended = set(source_positions.ended)
            for source in self.plan.sources.values():
                self.enumerators[source.id].restore(source_positions.positions[source.uid])
        elif self._restore is not None:
            first: Assigned = {}
            for source in self.plan.sources.values():
                if source.uid in self._restore.sources:
                    enumerator = self.enumerators[source.id]
                    first[source.id] = restore_source(source, self._restore.sources[source.uid], enumerator)
            state = [row for batch in self._restore.batches() for work in batch for row in work.rows(self.plan)]
            self._batch(pool, first, state)
            if self.memory.origin is not None:
                shutil.rmtree(self.memory.origin, ignore_errors=True)

    def _all_ended(self) -> bool:
        return len(self.ended) == sum(source.channels for source in self.plan.sources.values())

    # ---------------------------------------------------------------- batches

    def _batch(self, pool: ThreadPoolExecutor, assigned: Assigned, state: Iterable[WireRow] = ()) -> None:
        """Reads what is assigned, and runs it through the job behind some state to restore."""
        futures = [
            pool.submit(self._source, number, assignment)
            for number, assignments in assigned.items()
            for assignment in assignments
        ]
        rows = [*state, *(row for future in futures for row in future.result())]
        for number, assignments in assigned.items():
            uid = self.plan.sources[number].uid
            self.ended.update((uid, assignment.channel) for assignment in assignments if assignment.final)
        self._commit(rows)

    def _source(self, number: int, assignment: Assignment) -> list[WireRow]:
        key, batch_id = (number, assignment.channel), self.memory.batch_id
        if key not in self.sources:
            own = self.load_plan()
            self.sources[key] = SourceTask(own, own.sources[number], assignment.channel, self.wall_clock)
        runs = self.sources[key].run(batch_id << 24, [assignment.work], assignment.final, batch_id)
        return [row for some in runs for row in some]

    def _commit(self, rows: list[WireRow]) -> None:
        """Takes a batch through the levels and to the sinks; from here on a repeated attempt begins behind it."""
        memory = self.memory
        rows = self.levels.process(rows, memory.batch_id)
        self.job.commit(memory.batch_id, SinkStage(self.plan, 0, memory.batch_id).run(rows))
        for store in memory.stores.values():
            store.keep()
        memory.source_positions = self._source_positions()
        self.job.checkpoints.source_positions = memory.source_positions.positions
        memory.batch_id += 1
        self.source_coordinator.committed()

    def _source_positions(self) -> SourcePositions:
        positions = {source.uid: self.enumerators[source.id].position() for source in self.plan.sources.values()}
        return SourcePositions(pickle.loads(pickle.dumps(positions, 5)), set(self.ended))

    # ---------------------------------------------------------------- requests

    def _savepoint(self, request: SavepointRequest, pool: ThreadPoolExecutor) -> bool:
        """Takes a savepoint; returns whether the job ends with it."""
        source_positions = self._source_positions()
        try:
            if request.then == "drain":
                self._batch(pool, self._end_of_input())
            with self.job.log.savepoint(request.path, request.asked_by):
                self._write(request.path, source_positions, drained=request.then == "drain")
        except BaseException as error:
            request.future.set_exception(error)
            if request.then == "drain" or not isinstance(error, Exception):
                raise
            return False
        if request.then == "go on":
            request.future.set_result(request.path)
            return False
        self.job.answer_at_end(request.future, request.path)
        return True

    def _end_of_input(self) -> Assigned:
        return {
            source.id: [Assignment(i, None, True) for i in range(source.channels) if (source.uid, i) not in self.ended]
            for source in self.plan.sources.values()
        }

    def _write(self, path: str, source_positions: SourcePositions, drained: bool = False) -> None:
        entries = (
            Entry(uid, kind, subtask, number, blob)
            for (_, subtask), store in self.memory.stores.items()
            for (uid, kind, number), blob in store.items()
        )
        write_entries(path, entries)
        description = Description.of(self.plan, self.job.state_schemas)
        complete_savepoint(
            path, metadata_of(self.job, description, self.memory.batch_id, source_positions, drained=drained)
        )

    def _rescaled(self, request: RescaleRequest) -> Memory:
        """The state for another parallelism: what a savepoint would hold."""
        assert self.plan.rebuild is not None
        before, after = self.plan.settings.parallelism, request.parallelism
        with self.job.log.rescaling(before, after, request.asked_by):
            plan = self.plan.rebuild(replace(self.plan.settings, parallelism=after))
            directory = tempfile.mkdtemp(prefix="scurry-rescale-")
            self._write(directory, self._source_positions())
            self.job.use(plan)
        request.future.set_result(None)
        return Memory(self.memory.batch_id, origin=directory)
