"""BATCH tasks: the same operators, fed key by key from sorted rows, with state for a single key in memory."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

from scurry.connectors.source import ChunkSizer
from scurry.graph.operators import Broadcast
from scurry.graph.plan import JobPlan, OperatorPlan
from scurry.runtime.clock import wall_clock_ms
from scurry.runtime.exchange.key_records import KeyRecords, LargeKey, Part, in_time_order, records_by_key
from scurry.runtime.exchange.wire import BATCH_ORDER, MAX_TIME, MIN_TIME, BatchRow, require_columns, unpack
from scurry.runtime.keys import CanonicalKey, KeyOrder
from scurry.runtime.operators import KeyedOperator, RuntimeOperator
from scurry.runtime.operators.sink import SinkStage
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.single_key import SingleKeyBackend
from scurry.runtime.state.store import DictStore
from scurry.runtime.tasks.level_task import LevelTask
from scurry.runtime.tasks.source_task import FIRST_RECORDS, SourceTask
from scurry.runtime.tasks.task import Task

#: Records collected before a task's output is cut into rows: more make fewer rows, but leave the processor's caches.
RUN_RECORDS = 65_536
#: A key is processed in parts if it has so many times the records that take `ChunkSizer.TARGET_SECONDS`, so a second's.
#: Joins need several times as long for parts.
PARTS = 100


#: The order in which a level receives its rows; Spark sorts by the same columns.
sort_key = attrgetter(*BATCH_ORDER)


class BatchOutput:
    """Turn the output of a task into batch rows.

    Args:
        sinks: Writes the records of sinks, behind the last level; None: they become rows, too.
    """

    def __init__(self, plan: JobPlan, task: Task, sinks: SinkStage | None) -> None:
        self._task = task
        self._sinks = sinks
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
        rows += [BatchRow(*row) for row in self._task.flush_sinks(seq, self._sinks)]
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
    load_plan: Callable[[], JobPlan], source: int, instance: int, works: Iterable[Any], sinks: SinkStage | None = None
) -> Generator[list[BatchRow], None, None]:
    """Read one channel of a bounded source to its end (level 0).

    Args:
        sinks: The stage of sinks, if there is no other level.

    Yields:
        Rows, after every chunk: a job can be stopped between them. They are empty until enough are collected.
    """
    plan = load_plan()
    runner = SourceTask(plan, plan.sources[source], instance)
    output, seq, collected = BatchOutput(plan, runner.task, sinks), 0, 0
    with _closing(runner):
        for count in runner.read_all(works):
            collected += count
            if collected < RUN_RECORDS:
                yield []
                continue
            seq, collected = seq + 1, 0
            yield output.flush(seq)
        yield [*output.end(seq + 1), *(BatchRow(*row) for row in runner.task.report())]


@contextmanager
def _closing(held: SourceTask | LevelTask) -> Iterator[None]:
    """Close the user's functions at the end, also where the job has failed or is stopped."""
    try:
        yield
    except BaseException:
        held.abandon()
        raise
    held.close()


class BatchLevelTask:
    """Run the head operators of a level over one sorted partition.

    Args:
        load_plan: Returns a new copy of the plan.
        run_of: Creates what drives an operator in a subtask, and decides whether its state is kept.
        sinks: The stage of sinks, if it is the last level.
    """

    def __init__(
        self,
        load_plan: Callable[[], JobPlan],
        level: int,
        run_of: RunOf | None = None,
        sinks: SinkStage | None = None,
    ) -> None:
        self._level = LevelTask(load_plan, level)
        plan = self._plan = self._level.plan
        self._heads = {op.id for op in plan.heads(level)}
        self._run_of = run_of or OperatorRun
        self._sinks = sinks

    def run(self, rows: Iterable[BatchRow]) -> Generator[list[BatchRow], None, None]:
        """Process the partition; pass rows for deeper levels and for the driver through.

        Yields:
            Rows as `run_source` does, after the records of every key or a part of them.
        """
        used: dict[int, Task] = {}
        with _closing(self._level):
            for target, group in groupby(rows, key=attrgetter("target")):
                if target not in self._heads:
                    yield list(group)
                else:
                    yield from self._operator(self._plan.operators[target], group, used)
            for task in used.values():
                yield [BatchRow(*row) for row in task.report()]

    def _operator(
        self, plan: OperatorPlan, rows: Iterable[BatchRow], used: dict[int, Task]
    ) -> Iterator[list[BatchRow]]:
        seq = 0
        for subtask_id, some in groupby(rows, key=attrgetter("subtask")):
            task = self._level.task(plan, subtask_id)
            task.info.clock.set(wall_clock_ms())
            output = BatchOutput(self._plan, task, self._sinks)
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
    #: the order of keys
    order = KeyOrder()

    def __init__(self, plan: JobPlan, op: OperatorPlan, task: Task) -> None:
        self.op = op
        self.task = task
        self.operator = task.operators[op.id]
        self.store = DictStore()
        self._single = SingleKeyBackend(op.uid)
        self._plan = plan
        self._sizer, self._is_measured = ChunkSizer(FIRST_RECORDS, RUN_RECORDS), False
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
            yield from self._parts(self.operator, None, [(self._plan.edges[row.port].input_index, values, times)])

    def _keys(self, operator: KeyedOperator, rows: Iterable[BatchRow]) -> Iterator[int]:
        for has_keys, some in groupby(rows, key=lambda row: bool(row.key)):
            if not has_keys:
                yield from self._key(operator, 0, self._received(in_time_order(some, self._plan)))
                continue
            for found in records_by_key(some, self._plan, self.order):
                if isinstance(found, LargeKey):
                    yield from self._key(operator, found.key, self._received(found.parts))
                else:
                    self.task.received(self.op.id, found.values)
                    yield from self._some_keys(operator, found)
                del found  # before further records are made, which take their place in memory

    def _received(self, parts: Iterable[Part]) -> Iterator[Part]:
        for part in parts:
            self.task.received(self.op.id, part[1])
            yield part

    def _key(self, operator: KeyedOperator, key: CanonicalKey, parts: Iterable[Part]) -> Iterator[int]:
        """Feed the operator with a key whose records come in parts."""
        self._begin(operator, key)
        yield from self._parts(operator, key, parts)
        operator.backend.select(key)
        operator.end_of_key(self.watermark)

    def _parts(self, operator: RuntimeOperator, key: CanonicalKey | None, parts: Iterable[Part]) -> Iterator[int]:
        """Feed the operator with records in pieces that are small while they take long; None: they have no key."""
        sizer, count, seconds = self._sizer, 0, 0.0
        for index, values, times in parts:
            for some, some_times in self._cut(values, times):
                keys, began = None if key is None else [key] * len(some), time.monotonic()
                operator.process_input(index, keys, some, some_times)
                count, seconds = count + len(some), seconds + time.monotonic() - began
                if count >= sizer.size or seconds >= sizer.TARGET_SECONDS:
                    yield count
                    self._took(seconds * sizer.size / count)  # as if there had been as many as it asks for
                    count, seconds = 0, 0.0
        if count:
            yield count

    def _some_keys(self, operator: KeyedOperator, records: KeyRecords) -> Iterator[int]:
        """Feed the operator with all records of some keys, many keys at once while they do not take long."""
        sizer, first = self._sizer, 0
        while first < len(records.keys):
            start = records.ends[first - 1] if first else 0
            last = max(bisect_right(records.ends, start + sizer.size, first), first + 1)
            began, count = time.monotonic(), records.ends[last - 1] - start
            if count > sizer.size * (PARTS if self._is_measured else 1):
                yield from self._key(operator, records.keys[first], records.parts_of(first))
            else:
                operator.process_keys(records.some(first, last), partial(self._begin, operator), self.watermark)
                self._took((time.monotonic() - began) * min(1.0, sizer.size / count))
                yield count
            first = last

    def _took(self, seconds: float) -> None:
        self._sizer.processed(seconds)
        self._is_measured = True

    def _begin(self, operator: KeyedOperator, key: CanonicalKey) -> None:
        """Make a key the current one, whose state is empty, before the watermark has risen."""
        backend = self.backend_of(key)
        if backend is operator.backend:
            operator.set_watermark(MIN_TIME)
        else:
            operator.bind(backend, MIN_TIME)
        backend.select(key)

    def _cut(self, values: list[Any], times: list[int] | None) -> Iterator[tuple[list[Any], list[int] | None]]:
        """Yield records in pieces that are small while they take long; each is processed before the next one."""
        if len(values) <= FIRST_RECORDS:
            yield values, times
            return
        first = 0
        while first < len(values):
            last = first + self._sizer.size
            yield values[first:last], None if times is None else times[first:last]
            first = last

    def backend_of(self, key: CanonicalKey) -> KeyedStateBackend:
        """Return the backend for the state of a key: in memory, until the next key comes."""
        self._single.begin(key)
        return self._single

    def end(self) -> None:
        """End the input: all records are processed."""
        self.operator.watermark(self.watermark)


#: Plan, operator and its task -> the operator's driver.
RunOf = Callable[[JobPlan, OperatorPlan, Task], OperatorRun]
