"""The tasks of the levels below the sources: head operators with the operators chained behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from scurry.common.config_options import STATE_MEMORY
from scurry.graph.plan import JobPlan, OperatorPlan
from scurry.runtime.clock import ProcessingClock, wall_clock_ms
from scurry.runtime.exchange.input_gate import InputGate
from scurry.runtime.exchange.record_columns import unpack_records
from scurry.runtime.exchange.wire import (
    ANSWER,
    COMMIT,
    MAX_TIME,
    QUERY,
    RESTORE,
    SAVE,
    STATE,
    WireRow,
    pack,
    require_columns,
    unpack,
)
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.keys import key_hash, subtask_of
from scurry.runtime.operators import KeyedOperator, RuntimeOperator
from scurry.runtime.replay.batch import Batch
from scurry.runtime.replay.recording import Recorder, RecordingStore
from scurry.runtime.savepoint.restore import receivers
from scurry.runtime.savepoint.saving import link_store, save_store
from scurry.runtime.state.backend import STATE_BYTES, KeyedStateBackend, take_over
from scurry.runtime.state.layout import GROUP_SHIFT
from scurry.runtime.state.store import StateSize, StateStore
from scurry.runtime.tasks.task import Task


@contextmanager
def writing_state(plan: OperatorPlan) -> Iterator[None]:
    """Name the operator whose state cannot be written."""
    try:
        yield
    except Exception as error:
        hint = "state values must fit their declared type and be picklable"
        raise operator_error(plan, error, hint=hint) from error


class BatchState:
    """The keyed state of one operator in a batch, in parts: large parts are written back before the end.

    Args:
        state_bytes: About how many bytes the state of a part may take up in memory.

    Attributes:
        backend: The state of the part that has begun.
    """

    def __init__(
        self, operator: RuntimeOperator, plan: OperatorPlan, store: StateStore, max_parallelism: int, state_bytes: int
    ) -> None:
        self._operator, self._plan, self._store = operator, plan, store
        self._max_parallelism, self._state_bytes = max_parallelism, state_bytes
        self._written = self._merged = 0
        self.backend = self._begun()

    def _begun(self) -> KeyedStateBackend:
        return KeyedStateBackend(self._plan.uid, self._store, self._max_parallelism, state_bytes=self._state_bytes)

    def bind(self, watermark: int) -> None:
        """Let the operator use the state; the part begins at this watermark."""
        if isinstance(self._operator, KeyedOperator):
            self._operator.bind(self.backend, watermark)

    def cut(self, now: int) -> None:
        """Begin another part: write back the state of this one, and forget it."""
        assert isinstance(self._operator, KeyedOperator)
        self._operator.emit_after_timers()
        self.end(now)
        self.backend = self._begun()
        self.bind(self._operator.current_watermark)

    def end(self, now: int) -> StateSize | None:
        """Write back the state; return its size, and the bytes written by all parts, None if that is unknown.

        Args:
            now: The time in milliseconds, by which state expires.
        """
        if isinstance(self._operator, KeyedOperator):
            self._operator.write_back()
        with writing_state(self._plan):
            size = self.backend.flush(now)
        self.backend.forget()
        if size is None:
            return None
        self._written += size.written
        self._merged += size.merged
        return StateSize(size.total, self._written, self._merged)


class LevelTask:
    """Run the head operators of a level, one subtask after another.

    Instances live as long as their worker, so functions are opened once, not once per batch.

    Args:
        load_plan: Returns a new copy of the plan; every subtask gets its own function objects.
        wall_clock: Returns the wall clock time, in milliseconds.
    """

    def __init__(
        self, load_plan: Callable[[], JobPlan], level: int, wall_clock: Callable[[], int] = wall_clock_ms
    ) -> None:
        plan = self.plan = load_plan()
        plan.require_consistent()
        self._load_plan = load_plan
        self._recorder = None if plan.settings.capturing is None else Recorder(plan, wall_clock)
        self._level, self._wall_clock = level, self._recorder.wall_clock if self._recorder else wall_clock
        self._subtasks = {number: subtask for subtask, number in enumerate(plan.subtask_ids)}
        self._heads = {op.id: op for op in plan.heads(level)}
        self._target = {edge: op.id for op in self._heads.values() for edge in op.input_edges}
        self._state_bytes = int(plan.settings.configuration.get(STATE_MEMORY.key, STATE_BYTES))
        #: (head operator, subtask) -> its open instance
        self.tasks: dict[tuple[int, int], Task] = {}

    def process(
        self, subtask_id: int, rows: Iterable[WireRow], store: StateStore, batch_id: int = 0
    ) -> Iterator[WireRow]:
        """Process one batch of one subtask; pass rows for deeper levels and for the driver through."""
        mine: dict[int, list[WireRow]] = {}
        saving: WireRow | None = None
        for row in rows:
            target = self._target.get(row.port) if row.kind < COMMIT else None
            if row.kind in (STATE, RESTORE) and row.port in self._heads:
                entries = unpack(row.block) if row.kind == STATE else unpack(row.block).entries()
                head = self._heads[row.port]
                take_over(head.uid, self._belonging(head, subtask_id, entries), store)
                mine.setdefault(row.port, [])  # so that the size of restored state is reported before there are records
            elif row.kind == QUERY and row.port in self._heads:
                yield self._answer(self._heads[row.port], row, store)
            elif row.kind == SAVE and row.port in self._heads:
                saving = row
            elif target is None:
                yield row
            else:
                mine.setdefault(target, []).append(row)
        run = self._run if self._recorder is None else self._record
        for number in sorted(mine):
            yield from run(self._heads[number], subtask_id, mine[number], store, batch_id)
        if saving is not None:
            self._save(saving, store)

    def _run(
        self, plan: OperatorPlan, subtask_id: int, rows: list[WireRow], store: StateStore, batch_id: int
    ) -> Iterator[WireRow]:
        task = self.task(plan, subtask_id)
        operator, info = task.operators[plan.id], task.info
        task.begin(batch_id)
        reads = store.reads
        state = BatchState(operator, plan, store, info.max_parallelism, self._state_bytes)
        edges = [self.plan.edges[number] for number in plan.input_edges]
        timed = any(edge.progress for edge in edges)
        gate = InputGate(edges, state.backend.meta.gate)
        for row in rows:
            gate.add(row)
        before, has_data = gate.watermark, any(channel.blocks for channel in gate.channels.values())
        info.clock.set(state.backend.meta.clock)
        keyed = isinstance(operator, KeyedOperator)
        state.bind(gate.watermark)
        operator.begin_batch(store, gate.watermark)
        for step, index, payload in gate.merge():
            if index is None:
                for _ in operator.advance(*payload):
                    state.cut(info.clock.stamp)
                    task.drain()
                    yield from task.flush(step)
                for assigner in task.assigners:
                    assigner.emit_periodic()
                task.drain()
                yield from task.flush(step)
                task.point(step, payload[1])
            else:
                keys, values, times, stamp = unpack_records(payload)
                require_columns(plan.id, keys, values, times)
                self._require_own(plan, subtask_id, keys)
                info.clock.advance_to(stamp)
                if keys is not None and keyed:
                    state.backend.look_up(keys)
                task.received(plan.id, values)
                operator.process_input(index, keys, values, times)
                task.forget()
                if state.backend.is_full:
                    state.cut(stamp)
                task.drain()
                yield from task.flush(step)
        yield from task.progress()
        if info.subtask == 0 and gate.watermark > before:  # all subtasks have the same watermark: one reports for all
            info.report.watermarks[plan.id] = gate.watermark
        elif timed and has_data and gate.watermark == before < MAX_TIME:
            info.report.held_back[plan.id] = gate.slowest()
        if timed:
            state.backend.meta.gate = gate.save()
            state.backend.meta.clock = info.clock.now()
        size = state.end(info.clock.stamp)
        with writing_state(plan):
            other = operator.end_batch(store)
        if size is not None:
            sizes = (mine + others for mine, others in zip(size, other, strict=True))
            task.has_state(plan.id, StateSize(*sizes), reads, store.reads)
        yield from task.report()

    def _record(
        self, plan: OperatorPlan, subtask_id: int, rows: list[WireRow], store: StateStore, batch_id: int
    ) -> Iterator[WireRow]:
        """Run a batch that is captured."""
        recorder = self._recorder
        assert recorder is not None
        with recorder.recording(Batch(plan.id, subtask_id, batch_id, rows), self._subtasks[subtask_id]) as batch:
            recorder.begin(self.task(plan, subtask_id), batch)
            recorded = RecordingStore(store, batch, recorder.took)
            for row in self._run(plan, subtask_id, rows, recorded, batch_id):
                recorder.emitted(row, batch)
                yield row

    def _require_own(self, plan: OperatorPlan, subtask_id: int, keys: Sequence[Any] | None) -> None:
        """Assert that a block was sent to the subtask of its keys, by the first one."""
        if keys:
            own = subtask_of(key_hash(keys[0]), self.plan.settings.max_parallelism, plan.parallelism)
            assert own == self._subtasks[subtask_id], f"operator {plan.id}: key {keys[0]!r} belongs to subtask {own}"

    def _belonging(
        self, plan: OperatorPlan, subtask_id: int, entries: Iterable[tuple[str, int, bytes]]
    ) -> Iterator[tuple[str, int, bytes]]:
        """Yield entries that are restored; assert that their key groups are those of the subtask."""
        count, subtask = receivers(self.plan, plan), self._subtasks[subtask_id]
        for kind, number, blob in entries:
            own = subtask_of(number >> GROUP_SHIFT, self.plan.settings.max_parallelism, count)
            assert kind != "page" or own == subtask, f"operator {plan.id}: page {number} belongs to subtask {own}"
            yield kind, number, blob

    def _answer(self, plan: OperatorPlan, question: WireRow, store: StateStore) -> WireRow:
        """Answer a query with a state value as of the previous batch: queries are served before data."""
        number, name, key = unpack(question.block)
        task = self.task(plan, question.subtask)
        backend = KeyedStateBackend(plan.uid, store, task.info.max_parallelism)
        backend.select(key)
        found, value = task.operators[plan.id].states.read(name, backend)
        return question._replace(port=-1, kind=ANSWER, block=pack((number, found, value)))

    def _save(self, request: WireRow, store: StateStore) -> None:
        """Write the level's state of a subtask into a savepoint, unless an earlier start was asked to."""
        path, links, start = unpack(request.block)
        subtask = self._subtasks[request.subtask]
        if start == self.plan.settings.start:
            name = f"level-{self._level}-{subtask:05d}"
            if links is None:
                save_store(store, path, name, subtask)
            else:
                link_store(store, path, name, subtask, links)

    def task(self, plan: OperatorPlan, subtask_id: int) -> Task:
        """Return the operator's instance for a subtask; create and open it on first use."""
        subtask = self._subtasks[subtask_id]
        task = self.tasks.get((plan.id, subtask))
        if task is None:
            own, settings = self._load_plan(), self.plan.settings  # subtasks share no function objects
            info = TaskInfo(
                subtask,
                plan.parallelism,
                settings.max_parallelism,
                mode=settings.mode,
                job_parameters=settings.job_parameters,
                clock=ProcessingClock(self._wall_clock),
                job_key=settings.job_key,
                attempt=settings.attempt,
                saves_state=settings.saves_state,
            )
            task = Task(own, plan.id, subtask, info)
            task.operator(plan.id)
            task.open()
            self.tasks[plan.id, subtask] = task
        return task

    def close(self) -> None:
        """Close the user's functions."""
        for task in self.tasks.values():
            task.close()
        self.tasks.clear()

    def abandon(self) -> None:
        """Close the user's functions after a failure."""
        for task in self.tasks.values():
            task.abandon()
        self.tasks.clear()
