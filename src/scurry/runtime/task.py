"""Tasks: an instance of a source or head operator with everything chained behind it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from scurry.connectors.source import ChunkSizer
from scurry.graph import operators as ops
from scurry.graph.plan import JobPlan, OperatorPlan, Output, SourcePlan
from scurry.runtime.clock import ProcessingClock, wall_clock_ms
from scurry.runtime.collector import Collector, Consumer
from scurry.runtime.context import CHANNEL_WATERMARKS, WATERMARK, TaskInfo
from scurry.runtime.exchange import EdgeWriter, edge_writer
from scurry.runtime.failure import operator_error
from scurry.runtime.gate import InputGate
from scurry.runtime.operators import KeyedOperator, RuntimeOperator, create_operator
from scurry.runtime.operators.asynchronous import AsyncOperator
from scurry.runtime.operators.sink import SinkOperator
from scurry.runtime.operators.timestamps import AssignTimestampsOperator
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.store import StateStore
from scurry.runtime.wire import COMMIT, MAX_TIME, METRICS, WireRow, channel_id, pack, unpack

#: A source task closes its blocks after this many records even if the auto-watermark interval has not passed.
SEGMENT_RECORDS = 65_536


class Task:
    """The operators of one task instance, wired to each other and to the edges that leave the task."""

    def __init__(self, plan: JobPlan, task_id: int, instance: int, info: TaskInfo) -> None:
        self.plan = plan
        self.info = info
        self.channel = channel_id(task_id, instance)
        self.operators: dict[int, RuntimeOperator] = {}
        self.writers: dict[int, EdgeWriter] = {}
        self.sinks: list[SinkOperator] = []
        self.assigners: list[AssignTimestampsOperator] = []
        self.asynchronous: list[AsyncOperator] = []
        self.collectors: list[tuple[int, Collector]] = []

    def operator(self, number: int) -> RuntimeOperator:
        """The instance of an operator in this task, made on first use together with what follows it."""
        if number not in self.operators:
            plan = self.plan.operators[number]
            operator = create_operator(plan, self.collector(plan), self.info)
            self.operators[number] = operator
            if isinstance(operator, SinkOperator):
                self.sinks.append(operator)
            elif isinstance(operator, AssignTimestampsOperator):
                self.assigners.append(operator)
            elif isinstance(operator, AsyncOperator):
                self.asynchronous.insert(0, operator)  # after those that follow it were made
        return self.operators[number]

    def collector(self, plan: OperatorPlan | SourcePlan) -> Collector:
        """The collector of an operator or source, wired to its outputs."""
        collector = Collector(plan)
        self.collectors.append((plan.id, collector))
        for out in plan.outputs:
            consumer = self._consumer(out, plan)
            if out.tag is None:
                collector.main.append(consumer)
            else:
                collector.side.setdefault(out.tag, []).append(consumer)
        return collector

    def _consumer(self, out: Output, sender: Any) -> Consumer:
        if out.edge is None:
            assert out.operator is not None
            return self.operator(out.operator)
        if out.edge not in self.writers:
            edge = self.plan.edges[out.edge]
            self.writers[out.edge] = edge_writer(edge, self.plan.subtask_ids, self.channel, self.info.subtask, sender)
        return self.writers[out.edge]

    def begin(self, batch_id: int) -> None:
        """Starts a batch."""
        self.info.batch_id = batch_id
        for writer in self.writers.values():
            writer.begin()
        for assigner in self.assigners:
            assigner.begin()

    def open(self) -> None:
        """Opens all operators, the last of the chain first, as Flink does."""
        for operator in self.operators.values():  # each was made after those that follow it
            operator.open()

    def close(self) -> None:
        """Closes all operators, the first of the chain first."""
        for operator in reversed(self.operators.values()):
            operator.close()

    def drain(self) -> None:
        """Waits for the results of all records taken so far."""
        for operator in self.asynchronous:
            operator.drain()

    # ---------------------------------------------------------------- rows

    def flush(self, seq: int) -> list[WireRow]:
        """What was emitted since the last flush, as rows at position `seq`."""
        stamp = self.info.clock.stamp
        rows = [row for writer in self.writers.values() for row in writer.flush(seq, stamp)]
        return rows + self.flush_sinks(seq) if self.sinks else rows

    def flush_sinks(self, seq: int) -> list[WireRow]:
        """The rows of the sinks alone."""
        return [
            WireRow(self._spread(), sink.plan.id, kind, self.channel, seq, pack(payload))
            for sink in self.sinks
            for kind, payload in sink.take()
        ]

    def point(self, seq: int, stamp: int) -> None:
        """Notes a progress point on every edge."""
        idle = any(assigner.idle for assigner in self.assigners)
        for writer in self.writers.values():
            writer.point(seq, stamp, idle)

    def progress(self) -> list[WireRow]:
        """The progress rows of the batch."""
        return [row for writer in self.writers.values() for row in writer.progress()]

    def metrics(self) -> list[WireRow]:
        """What was counted since the last call."""
        metrics = self.info.metrics
        for number, collector in self.collectors:
            if collector.count:
                metrics[number, "numRecordsOut"] = collector.count
                collector.count = 0
        items: list[tuple[tuple[int, str], Any]] = [*metrics.items(), *self._reports()]
        metrics.clear()
        return [WireRow(self._spread(), -1, METRICS, self.channel, 0, pack(items))] if items else []

    def _reports(self) -> Iterator[tuple[tuple[int, str], Any]]:
        for (number, name), metric in self.info.user_metrics.items():
            try:
                report = metric.report()
            except Exception as error:
                hint = f"the gauge {name!r} could not be read"
                raise operator_error(self.plan.operators[number], error, None, hint) from error
            if report is not None:
                yield (number, name), report

    def _spread(self) -> int:
        """A receiver for rows bound for the driver: any will do, different ones for different senders."""
        ids = self.plan.subtask_ids
        return ids[self.info.subtask % len(ids)]


class SourceTask:
    """Runs a source's chain over the work assigned to one of its channels.

    Args:
        plan: The plan.
        source: One of its sources.
        instance: The channel.
        wall_clock: Where processing time comes from, in milliseconds.
    """

    def __init__(
        self, plan: JobPlan, source: SourcePlan, instance: int, wall_clock: Callable[[], int] = wall_clock_ms
    ) -> None:
        settings = plan.settings
        self.info = TaskInfo(instance, source.parallelism, settings.max_parallelism, mode=settings.mode,
                             job_parameters=settings.configuration, clock=ProcessingClock(wall_clock),
                             job_key=settings.job_key)  # fmt: skip
        self._source = source
        self._wall_clock = wall_clock
        self._interval = settings.auto_watermark_interval_ms or 200
        self.task = Task(plan, source.id, instance, self.info)
        self._entry = self.task.collector(source)
        strategy = source.watermark_strategy
        self._aligned: AssignTimestampsOperator | None = None
        if strategy is not None and (strategy.timestamp_assigner is not None or strategy.generates_watermarks):
            self._entry = self._with_strategy(source)
            self._aligned = self.task.assigners[-1] if strategy.alignment is not None else None
        self._seq = 0
        self._rows: list[WireRow] = []
        for each in self.task.assigners:
            each.punctuate = self._end_segment
        self.task.open()

    def _with_strategy(self, source: SourcePlan) -> Collector:
        """Puts the strategy given to from_source between the reader and the chain."""
        operator = OperatorPlan(source.id, source.uid, source.name, ops.AssignTimestamps(source.watermark_strategy),
                                None, source.parallelism, source.origin)  # fmt: skip
        entry = Collector(source)
        assigner = AssignTimestampsOperator(operator, self._entry, self.info)
        self._entry._convert = None
        entry.main.append(assigner)
        self.task.operators[-1] = assigner
        self.task.assigners.append(assigner)
        return entry

    def run(self, seq: int, works: Iterable[Any], final: bool, batch_id: int = 0) -> Iterator[list[WireRow]]:
        """Reads the works one after another; yields rows whose positions ascend from `seq`.

        Args:
            seq: Position of the first block: higher than that of any earlier batch of this channel.
            works: The `work` of the channel's assignments in this batch, None where there is nothing to read.
            final: Whether the channel ends here.
            batch_id: The micro-batch.
        """
        task, info, entry = self.task, self.info, self._entry
        task.begin(batch_id)
        self._seq, self._rows = seq, []
        sizer = ChunkSizer()
        task.point(seq, self._wall_clock())
        records, due = 0, time.monotonic() + self._interval / 1000
        for values, timestamps in self._chunks(works, sizer):
            info.clock.advance_to(self._wall_clock())
            entry.emit(values, timestamps)
            records += len(values)
            now = time.monotonic()
            if now >= due or records >= SEGMENT_RECORDS:
                due, records = now + self._interval / 1000, 0
                for assigner in task.assigners:
                    assigner.emit_periodic()
                self._end_segment()
                yield self._take_rows()
            elif sizer.size == 1 and len(task.writers) > 1:
                self._seq += 1  # slow or few records: keep their order visible across edges
                self._rows += task.flush(self._seq)
                yield self._take_rows()
        for assigner in task.assigners:
            assigner.emit_periodic()
        if final:
            entry.watermark(MAX_TIME)
        task.drain()
        if self._aligned is not None:
            info.metrics[self._source.id, CHANNEL_WATERMARKS] = {info.subtask: self._aligned.last}
        self._end_segment()
        yield [*self._take_rows(), *task.progress(), *task.metrics()]

    def _end_segment(self) -> None:
        """Closes the current blocks; what the watermark and the clock are now holds behind them."""
        self._seq += 1
        self._rows += self.task.flush(self._seq)
        self.task.point(self._seq, self._wall_clock())

    def _take_rows(self) -> list[WireRow]:
        rows, self._rows = self._rows, []
        return rows

    def run_unordered(self, work: Any, batch_id: int) -> Iterator[list[WireRow]]:
        """Reads part of a batch that several tasks read at once as one channel.

        They know nothing of each other's order, so time moves only when the whole batch is through, to the highest
        watermark of them all.
        """
        task = self.task
        task.begin(batch_id)
        seq, records = batch_id << 24, 0
        for values, timestamps in self._chunks([work], ChunkSizer()):
            self.info.clock.advance_to(self._wall_clock())
            self._entry.emit(values, timestamps)
            records += len(values)
            if records >= SEGMENT_RECORDS:
                seq, records = seq + 1, 0
                yield task.flush(seq)
        for assigner in task.assigners:
            assigner.emit_periodic()
        task.drain()
        yield task.flush(seq + 1)
        task.point((batch_id + 1 << 24) - 1, self._wall_clock())
        yield [*task.progress(), *task.metrics()]

    def read_all(self, works: Iterable[Any], pause: int) -> Iterator[None]:
        """BATCH: runs the chain over all works without watermarks; pauses whenever `pause` records went through."""
        self.task.begin(0)
        records = 0
        for values, timestamps in self._chunks(works, ChunkSizer(size=4096)):
            self._entry.emit(values, timestamps)
            records += len(values)
            if records >= pause:
                records = 0
                yield
        self._entry.watermark(MAX_TIME)
        self.task.drain()

    def _chunks(self, works: Iterable[Any], sizer: ChunkSizer) -> Iterator[Any]:
        """The chunks of all works; a failing reader is reported like a failing operator."""
        for work in works:
            if work is not None:
                try:
                    yield from self._source.source.read(work, sizer)
                except Exception as error:
                    raise operator_error(self._source, error) from error

    def close(self) -> None:
        """Closes the user's functions."""
        self.task.close()


class LevelTask:
    """Runs the head operators of a level, one subtask after another.

    Instances live as long as their worker: functions are opened once, not once per batch.

    Args:
        load_plan: Returns a new copy of the plan; every subtask gets function objects of its own.
        level: The level.
        wall_clock: Where processing time comes from, in milliseconds.
    """

    def __init__(
        self, load_plan: Callable[[], JobPlan], level: int, wall_clock: Callable[[], int] = wall_clock_ms
    ) -> None:
        plan = self.plan = load_plan()
        self._load_plan = load_plan
        self._wall_clock = wall_clock
        self._subtasks = {number: subtask for subtask, number in enumerate(plan.subtask_ids)}
        self._heads = {op.id: op for op in plan.heads(level)}
        self._target = {edge: op.id for op in self._heads.values() for edge in op.input_edges}
        self._tasks: dict[tuple[int, int], Task] = {}

    def process(
        self, subtask_id: int, rows: Iterable[WireRow], store: StateStore, batch_id: int = 0
    ) -> Iterator[WireRow]:
        """Processes one batch of one subtask; rows for deeper levels and for the driver pass through."""
        mine: dict[int, list[WireRow]] = {}
        for row in rows:
            target = self._target.get(row[1]) if row[2] < COMMIT else None
            if target is None:
                yield row
            else:
                mine.setdefault(target, []).append(row)
        for number in sorted(mine):
            yield from self._run(self._heads[number], subtask_id, mine[number], store, batch_id)

    def _run(
        self, plan: OperatorPlan, subtask_id: int, rows: list[WireRow], store: StateStore, batch_id: int
    ) -> Iterator[WireRow]:
        task = self.task(plan, subtask_id)
        operator, info = task.operators[plan.id], task.info
        task.begin(batch_id)
        backend = KeyedStateBackend(plan.uid, store, info.max_parallelism)
        edges = [self.plan.edges[number] for number in plan.input_edges]
        timed = any(edge.progress for edge in edges)
        gate = InputGate(edges, backend.meta.gate)
        for row in rows:
            gate.add(row)
        before = gate.watermark
        info.clock.set(backend.meta.clock)
        if isinstance(operator, KeyedOperator):
            operator.bind(backend, gate.watermark)
        operator.restore(store, gate.watermark)
        for step, index, payload in gate.merge():
            if index is None:
                operator.advance(*payload)
                for assigner in task.assigners:
                    assigner.emit_periodic()
                task.drain()
                yield from task.flush(step)
                task.point(step, payload[1])
            else:
                keys, times, values, stamp = unpack(payload)
                info.clock.advance_to(stamp)
                if keys is not None:
                    backend.prefetch(keys)
                operator.process_input(index, keys, values, times)
                task.drain()
                yield from task.flush(step)
        yield from task.progress()
        if info.subtask == 0 and gate.watermark > before:  # all subtasks see the same ones: one speaks for them
            info.metrics[plan.id, WATERMARK] = gate.watermark
        if timed:
            backend.meta.gate = gate.save()
            backend.meta.clock = info.clock.now()
        try:
            backend.flush()
            operator.snapshot(store)
        except Exception as error:
            hint = "state values must fit their declared type and be picklable"
            raise operator_error(plan, error, None, hint) from error
        yield from task.metrics()

    def task(self, plan: OperatorPlan, subtask_id: int) -> Task:
        """The operator's instance for a subtask."""
        subtask = self._subtasks[subtask_id]
        task = self._tasks.get((plan.id, subtask))
        if task is None:
            own, settings = self._load_plan(), self.plan.settings  # subtasks share no function objects
            info = TaskInfo(subtask, plan.parallelism, settings.max_parallelism, mode=settings.mode,
                            job_parameters=settings.configuration, clock=ProcessingClock(self._wall_clock),
                            job_key=settings.job_key)  # fmt: skip
            task = Task(own, plan.id, subtask, info)
            task.operator(plan.id)
            task.open()
            self._tasks[plan.id, subtask] = task
        return task

    def close(self) -> None:
        """Closes the user's functions."""
        for task in self._tasks.values():
            task.close()
        self._tasks.clear()
