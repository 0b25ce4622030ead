"""BATCH tasks: the same operators, fed key by key from sorted rows, with state for a single key in memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from itertools import chain, groupby
from operator import attrgetter
from typing import Any

from scurry.connectors.source import ChunkSizer
from scurry.graph.operators import Broadcast
from scurry.graph.plan import JobPlan, OperatorPlan
from scurry.runtime.clock import wall_clock_ms
from scurry.runtime.exchange.ordering import by_time
from scurry.runtime.exchange.wire import BATCH_ORDER, MAX_TIME, MIN_TIME, BatchRow, require_columns, unpack
from scurry.runtime.keys import CanonicalKey, from_sortable
from scurry.runtime.operators import KeyedOperator
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.store import DictStore
from scurry.runtime.tasks.level_task import LevelTask
from scurry.runtime.tasks.single_key import SingleKeyBackend
from scurry.runtime.tasks.source_task import FIRST_RECORDS, SourceTask
from scurry.runtime.tasks.task import Task

#: Records collected before a task's output is cut into rows: the more records, the fewer rows per key.
RUN_RECORDS = 262_144


#: Records of a key are sorted at once if their rows have at most so many bytes.
_AT_ONCE_BYTES = 8 * 1024 * 1024

#: The order in which a level receives its rows; Spark sorts by the same columns.
sort_key = attrgetter(*BATCH_ORDER)


class BatchOutput:
    """Turn the output of a task into batch rows."""

    def __init__(self, plan: JobPlan, task: Task) -> None:
        self._task = task
        self._by_group = plan.settings.saves_state
        self._by_time = {
            number: plan.operators[plan.edges[number].target].operator.keyed
            and not isinstance(plan.edges[number].partitioner, Broadcast)
            for number in task.writers
        }

    def flush(self, seq: int) -> list[BatchRow]:
        """Return all rows since the last flush."""
        rows: list[BatchRow] = []
        for number, writer in self._task.writers.items():
            rows += writer.flush_by_key(seq, self._by_time[number], self._by_group)
        rows += [BatchRow(*row) for row in self._task.flush_sinks(seq)]
        return rows

    def end(self, seq: int) -> list[BatchRow]:
        """Return the last rows; if the job ends in a savepoint, they include the final watermarks."""
        rows = self.flush(seq)
        if self._by_group:
            idle = any(assigner.idle for assigner in self._task.assigners)
            for writer in self._task.writers.values():
                rows += writer.final_progress(idle)
        return rows


def run_source(
    load_plan: Callable[[], JobPlan], source: int, instance: int, works: Iterable[Any]
) -> Iterator[list[BatchRow]]:
    """Read one channel of a bounded source to its end (level 0).

    Yields:
        Rows, after every chunk: a job can be stopped between them. They are empty until enough are collected.
    """
    plan = load_plan()
    runner = SourceTask(plan, plan.sources[source], instance)
    output, seq, collected = BatchOutput(plan, runner.task), 0, 0
    for count in runner.read_all(works):
        collected += count
        if collected < RUN_RECORDS:
            yield []
            continue
        seq, collected = seq + 1, 0
        yield output.flush(seq)
    yield [*output.end(seq + 1), *(BatchRow(*row) for row in runner.task.report())]
    runner.close()


class BatchLevelTask:
    """Run the head operators of a level over one sorted partition.

    Args:
        load_plan: Returns a new copy of the plan.
        level: The level.
        run_of: Creates what drives an operator in a subtask, and decides whether its state is kept.
    """

    def __init__(self, load_plan: Callable[[], JobPlan], level: int, run_of: RunOf | None = None) -> None:
        self._level = LevelTask(load_plan, level)
        plan = self._plan = self._level.plan
        self._heads = {op.id for op in plan.heads(level)}
        self._run_of = run_of or OperatorRun

    def run(self, rows: Iterable[BatchRow]) -> Iterator[list[BatchRow]]:
        """Process the partition; pass rows for deeper levels and for the driver through.

        Yields:
            Rows as `run_source` does, after the records of every key or a part of them.
        """
        used: dict[int, Task] = {}
        for target, group in groupby(rows, key=attrgetter("target")):
            if target not in self._heads:
                yield list(group)
            else:
                yield from self._operator(self._plan.operators[target], group, used)
        for task in used.values():
            yield [BatchRow(*row) for row in task.report()]
        self._level.close()

    def _operator(
        self, plan: OperatorPlan, rows: Iterable[BatchRow], used: dict[int, Task]
    ) -> Iterator[list[BatchRow]]:
        seq = 0
        for subtask_id, some in groupby(rows, key=attrgetter("subtask")):
            task = self._level.task(plan, subtask_id)
            task.info.clock.set(wall_clock_ms())
            output = BatchOutput(self._plan, task)
            run = self._run_of(self._plan, plan, task)
            collected = 0
            for count in run.feed(some):
                collected += count
                if collected < RUN_RECORDS:
                    yield []
                    continue
                seq, collected = seq + 1, 0
                yield output.flush(seq)
            run.end()
            task.drain()
            seq += 1
            yield output.end(seq)
            used[id(task)] = task


class OperatorRun:
    """Drive one operator in one subtask, from its first record to the end of time, and drop its state."""

    #: the watermark after the records of a key, or after all of them
    watermark = MAX_TIME

    def __init__(self, plan: JobPlan, op: OperatorPlan, task: Task) -> None:
        self.op = op
        self.task = task
        self.operator = task.operators[op.id]
        self.store = DictStore()
        self._single = SingleKeyBackend(op.uid)
        self._plan = plan
        self._sizer = ChunkSizer(FIRST_RECORDS, RUN_RECORDS)
        self._broadcast = {edge for edge in op.input_edges if isinstance(plan.edges[edge].partitioner, Broadcast)}

    def feed(self, rows: Iterable[BatchRow]) -> Iterator[int]:
        """Feed the operator, first the broadcast side, then key by key; yield numbers of records."""
        self.operator.begin_batch(self.store, MIN_TIME)
        for broadcast, some in groupby(rows, key=lambda row: row.port in self._broadcast):
            if isinstance(self.operator, KeyedOperator) and not broadcast:
                yield from self._keys(self.operator, some)
            else:
                yield from self._plain(some)
        self.operator.collector.release()

    def _plain(self, rows: Iterable[BatchRow]) -> Iterator[int]:
        for row in rows:
            _, values, times, _ = unpack(row.block)
            require_columns(row.port, None, values, times)
            self.task.received(self.op.id, values)
            index = self._plan.edges[row.port].input_index
            for some, some_times in self._cut(values, times):
                self.operator.process_input(index, None, some, some_times)
                yield len(some)

    def _keys(self, operator: KeyedOperator, rows: Iterable[BatchRow]) -> Iterator[int]:
        for encoded, some in groupby(rows, key=attrgetter("key")):
            key = self.key_of(encoded) if encoded else 0
            backend = self.backend_of(key)
            operator.bind(backend, MIN_TIME)
            backend.select(key)
            for index, values, times in in_time_order(some, self._plan):
                self.task.received(self.op.id, values)
                for part, part_times in self._cut(values, times):
                    operator.process_input(index, [key] * len(part), part, part_times)
                    yield len(part)
            backend.select(key)
            operator.end_of_key(self.watermark)

    def _cut(self, values: list[Any], times: list[int] | None) -> Iterator[tuple[list[Any], list[int] | None]]:
        """Yield records in pieces that are small while they take long; each is processed before the next one."""
        sizer = self._sizer
        if len(values) <= FIRST_RECORDS:
            yield values, times
            return
        first = 0
        while first < len(values):
            last, began = first + sizer.size, time.monotonic()
            yield values[first:last], None if times is None else times[first:last]
            first = last
            sizer.processed(time.monotonic() - began)

    def key_of(self, encoded: bytes) -> CanonicalKey:
        """Return the key by which rows are sorted."""
        return from_sortable(encoded)

    def backend_of(self, key: CanonicalKey) -> KeyedStateBackend:
        """Return the backend for the state of a key: in memory, until the next key comes."""
        self._single.begin(key)
        return self._single

    def end(self) -> None:
        """End the input: all records are processed."""
        self.operator.watermark(self.watermark)


#: Plan, operator and its task -> the operator's driver.
RunOf = Callable[[JobPlan, OperatorPlan, Task], OperatorRun]


def in_time_order(rows: Iterable[BatchRow], plan: JobPlan) -> Iterator[tuple[int, list[Any], list[int] | None]]:
    """Yield the records of one key in time order, from rows that come by their first time and are each in time order.

    Few rows are sorted together. Of many, only those that overlap in time are held in memory at once.
    """
    rows, held, size = iter(rows), [], 0
    for row in rows:
        held.append(row)
        size += len(row.block)
        if size > _AT_ONCE_BYTES:
            yield from _merged(chain(held, rows), plan)
            return
    blocks = [_block(row, plan) for row in held]
    timed = [(index, values, times) for index, values, times in blocks if times is not None]
    if len(blocks) == 1:
        yield from blocks
    elif len(timed) < len(blocks):
        yield from _merged(held, plan)
    else:
        yield from _sorted(timed)


def _block(row: BatchRow, plan: JobPlan) -> tuple[int, list[Any], list[int] | None]:
    _, values, times, _ = unpack(row.block)
    require_columns(row.port, None, values, times)
    return plan.edges[row.port].input_index, values, times


def _sorted(blocks: list[tuple[int, list[Any], list[int]]]) -> Iterator[tuple[int, list[Any], list[int]]]:
    """Yield the records of blocks in time order, one input's at a time."""
    values: list[Any] = []
    times: list[int] = []
    inputs: list[int] = []
    overlapping = False
    for index, some, some_times in blocks:
        overlapping = overlapping or (bool(times) and times[-1] > some_times[0])
        values += some
        times += some_times
        inputs += [index] * len(some)
    if overlapping:
        order = by_time(times)
        values, times, inputs = ([column[place] for place in order] for column in (values, times, inputs))
    if len(set(inputs)) == 1:
        yield inputs[0], values, times
        return
    start = 0
    for index, run in groupby(inputs):
        end = start + len(list(run))
        yield index, values[start:end], times[start:end]
        start = end


def _merged(rows: Iterable[BatchRow], plan: JobPlan) -> Iterator[tuple[int, list[Any], list[int] | None]]:
    heap: list[tuple[int, int, int, list[Any], list[int], int]] = []
    for order, row in enumerate(rows):
        index, values, times = _block(row, plan)
        if times is None:
            yield from _drain(heap, MAX_TIME)
            yield index, values, None
        else:
            yield from _drain(heap, times[0])
            heappush(heap, (times[0], order, index, values, times, 0))
    yield from _drain(heap, MAX_TIME)


def _drain(heap: list[Any], until: int) -> Iterator[tuple[int, list[Any], list[int] | None]]:
    """Merge the held rows up to a time; a row that no other overlaps is yielded whole."""
    while heap and (heap[0][0] < until or until == MAX_TIME):
        _, order, index, values, times, start = heappop(heap)
        limit = min(until, heap[0][0]) if heap else until
        stop = start + 1
        if limit == MAX_TIME:
            stop = len(times)
        else:
            while stop < len(times) and times[stop] < limit:
                stop += 1
        yield index, values[start:stop], times[start:stop]
        if stop < len(times):
            heappush(heap, (times[stop], order, index, values, times, stop))
