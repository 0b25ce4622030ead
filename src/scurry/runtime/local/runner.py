"""Runs a plan in this process: for tests, breakpoints and notebooks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from scurry.connectors.source import Assignment
from scurry.errors import UnsupportedError
from scurry.graph.operators import Sink
from scurry.graph.plan import JobPlan, SourcePlan
from scurry.runtime.batch import BatchLevelTask, run_source, sort_key
from scurry.runtime.clock import wall_clock_ms
from scurry.runtime.feeding import Alignment, all_works, limits_of
from scurry.runtime.gate import CONTROL
from scurry.runtime.job import JobExecution
from scurry.runtime.local.levels import Levels
from scurry.runtime.operators.sink import SinkStage
from scurry.runtime.source_task import SourceTask
from scurry.runtime.wire import MIN_TIME, PROGRESS, BatchRow, WireRow, pack


class LocalRunner:
    """Executes STREAMING as a sequence of micro-batches and BATCH level by level, as Spark would.

    Args:
        wall_clock: Where STREAMING takes processing time from, in milliseconds.
    """

    def __init__(self, wall_clock: Callable[[], int] = wall_clock_ms) -> None:
        self._wall_clock = wall_clock

    def run(self, job: JobExecution) -> None:
        """Runs the job to its end."""
        _refuse_spark(job.plan)
        job.start_clock()
        if job.plan.settings.mode == "BATCH":
            _Batch(job).run()
        else:
            _Streaming(job, self._wall_clock).run()
        job.finish()


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


def plan_loader(plan: JobPlan) -> Callable[[], JobPlan]:
    """Copies of the plan as tasks on Spark would get them: pickled, so that they share nothing with the program."""
    import pickle

    from scurry.graph.shipping import ship

    shipped = ship(plan)
    return lambda: pickle.loads(shipped)


class _Streaming:
    def __init__(self, job: JobExecution, wall_clock: Callable[[], int]) -> None:
        self.job = job
        self.wall_clock = wall_clock
        plan = self.plan = job.plan
        self.load_plan = plan_loader(plan)
        self.sources: dict[tuple[int, int], SourceTask] = {}
        self.levels = Levels(plan, self.load_plan, wall_clock)
        limits = limits_of(plan)
        self.enumerators = {s.id: s.source.create_enumerator(s.parallelism, limits) for s in plan.sources.values()}
        self.alignment = Alignment(job)
        self.open_channels = {(s.id, i) for s in plan.sources.values() for i in range(s.channels)}
        self.tick = int(plan.settings.configuration.get("scurry.tick-interval", 200)) / 1000

    def run(self) -> None:
        try:
            self._run_batches()
        finally:
            for enumerator in self.enumerators.values():
                enumerator.close()
        for source in self.sources.values():
            source.close()
        self.levels.close()

    def _run_batches(self) -> None:
        batch_id, ticked = 0, time.monotonic()
        with ThreadPoolExecutor(max_workers=32) as pool:
            while self.open_channels and not self.job.stopping.is_set():
                assigned = {source.id: self._next(source) for source in self.plan.sources.values()}
                if any(assigned.values()):
                    self._batch(pool, assigned, batch_id)
                elif self.plan.ticks and time.monotonic() - ticked >= self.tick:
                    ticked = time.monotonic()
                    self._finish_batch(self._tick_rows(), batch_id)
                else:
                    time.sleep(0.005)
                    continue
                batch_id += 1

    def _next(self, source: SourcePlan) -> list[Assignment]:
        if self.alignment.waits(source):
            return []
        assignments: list[Assignment] = self.enumerators[source.id].next_batch()
        if assignments:
            self.alignment.has_read(source)
        return assignments

    def _batch(self, pool: ThreadPoolExecutor, assigned: dict[int, list[Assignment]], batch_id: int) -> None:
        futures = [
            pool.submit(self._source, number, assignment, batch_id)
            for number, assignments in assigned.items()
            for assignment in assignments
        ]
        self._finish_batch([row for future in futures for row in future.result()], batch_id)

    def _source(self, number: int, assignment: Assignment, batch_id: int) -> list[WireRow]:
        key = (number, assignment.channel)
        if key not in self.sources:
            own = self.load_plan()
            self.sources[key] = SourceTask(own, own.sources[number], assignment.channel, self.wall_clock)
        runs = self.sources[key].run(batch_id << 24, [assignment.work], assignment.final, batch_id)
        rows = [row for some in runs for row in some]
        if assignment.final:
            self.open_channels.discard(key)
        return rows

    def _tick_rows(self) -> list[WireRow]:
        """Processing time goes on although no source has data."""
        block = pack([(0, MIN_TIME, self.wall_clock(), False)])
        return [
            WireRow(subtask, edge.id, PROGRESS, CONTROL, 0, block)
            for edge in self.plan.edges.values()
            if edge.ticks
            for subtask in range(edge.receivers)
        ]

    def _finish_batch(self, rows: list[WireRow], batch_id: int) -> None:
        rows = self.levels.process(rows, batch_id)
        self.job.commit(batch_id, SinkStage(self.plan, 0, batch_id).run(rows))


class _Batch:
    def __init__(self, job: JobExecution) -> None:
        self.job = job
        self.plan = job.plan
        self.load_plan = plan_loader(job.plan)

    def run(self) -> None:
        rows = [row for rows in map(self._source, self.plan.sources.values()) for row in rows]
        for level in range(1, self.plan.levels + 1):
            rows = [row for rows in self._level(level, rows) for row in rows]
        wire = (WireRow(*row[:6]) for row in rows)
        self.job.commit(0, SinkStage(self.plan, 0, 0).run(wire))

    def _source(self, source: Any) -> list[BatchRow]:
        works = all_works(self.plan, source)
        return [
            row
            for instance in sorted(works)
            for rows in run_source(self.load_plan, source.id, instance, works[instance])
            for row in rows
        ]

    def _level(self, level: int, rows: Iterable[BatchRow]) -> Iterable[list[BatchRow]]:
        yield from BatchLevelTask(self.load_plan, level).run(sorted(rows, key=sort_key))
