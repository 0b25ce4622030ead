"""Run a captured micro-batch again, in this process: the same operators, blocks, state, clocks and random numbers."""

from __future__ import annotations

import io
import linecache
import os
import pickle
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from typing import Any, Generic, TypeVar

from scurry._dataclasses import dataclass
from scurry.connectors.source import ChunkSizer
from scurry.errors import ReplayError
from scurry.graph.plan import JobPlan
from scurry.graph.shipping import load_plan
from scurry.runtime.clock import wall_clock_ms
from scurry.runtime.exchange.record_columns import unpack_records
from scurry.runtime.exchange.wire import COMMIT, DATA, PROGRESS, REPORT, SINK, WireRow, unpack
from scurry.runtime.replay.batch import Batch
from scurry.runtime.replay.files import Capture, Start
from scurry.runtime.state.store import DictStore, RunInfo, StoreKey
from scurry.runtime.tasks.level_task import LevelTask
from scurry.runtime.tasks.source_task import SourceTask

T = TypeVar("T", bound=float)

_KINDS = {DATA: "records", PROGRESS: "progress", COMMIT: "committables", SINK: "records for a sink"}


class PlayedClock(Generic[T]):
    """A clock that shows the times of a recorded one again, once the batch has begun; then it stands still."""

    def __init__(self, shown: Sequence[T], otherwise: T) -> None:
        self._left: Iterator[T] = iter(())
        self._shown, self._last = shown, shown[0] if shown else otherwise

    def begin(self) -> None:
        self._left = iter(self._shown)

    def __call__(self) -> T:
        self._last = next(self._left, self._last)
        return self._last


class PlayedStore(DictStore):
    """The state that a batch read, as its store was before; writes are kept."""

    def __init__(self, state: dict[StoreKey, bytes | None]) -> None:
        super().__init__({key: blob for key, blob in state.items() if blob is not None})
        self._known = set(state)
        #: what was written; None for what was removed
        self.written: dict[StoreKey, bytes | None] = {}

    def get_many(self, keys: Sequence[StoreKey]) -> list[bytes | None]:
        """Return the entries, None for each missing one.

        Raises:
            ReplayError: The captured batch did not read one.
        """
        for uid, kind, number in keys:
            if (uid, kind, number) not in self._known and (uid, kind, number) not in self.written:
                raise ReplayError(
                    f"operator {uid!r} reads state that it did not read when it was captured ({kind} {number})"
                ).with_hint("replay without --program runs the functions as they were captured")
        return super().get_many(keys)

    def get_runs(self, runs: Sequence[tuple[StoreKey, RunInfo]]) -> list[Any]:
        return self.get_many([key for key, _ in runs])

    def put(self, key: StoreKey, blob: bytes) -> None:
        """Write an entry."""
        self.written[key] = blob
        super().put(key, blob)

    def remove(self, key: StoreKey) -> None:
        """Remove an entry, if there is one."""
        self.written[key] = None
        super().remove(key)


class PlayedSource:
    """A reader that yields the chunks of another one again."""

    def __init__(self, stands_in: Any, chunks: list[tuple[bytes, int]]) -> None:
        self.produced_type = stands_in.produced_type
        self.converts = stands_in.converts
        self.sources = stands_in.sources
        self._chunks = chunks

    def read(self, split: Any, sizer: ChunkSizer) -> Iterator[Any]:
        """Yield the chunks, and raise the error that ended them."""
        for blob, size in self._chunks:
            chunk = pickle.loads(blob)
            if isinstance(chunk, BaseException):
                raise chunk
            sizer.size = size
            yield chunk


@dataclass
class Replayed:
    """The outcome of a captured batch that was run again.

    Attributes:
        capture: The capture.
        rows: The rows that it emitted, without its report.
        error: What it failed with; None if it ended.
        differences: In what it differs from the captured run, in words; empty if it is the same, byte for byte.
    """

    capture: Capture
    rows: list[WireRow] = field(default_factory=list)
    error: BaseException | None = None
    differences: list[str] = field(default_factory=list)

    @property
    def records(self) -> list[Any]:
        """The records that it emitted, on whatever edge or to whatever sink."""
        return [record for row in self.rows for record in emitted_records(row)]


class PlanOfStart:
    """The plan of one start of a job, whose captures run with it.

    Args:
        program: The program's file and arguments, to run its functions as they are now; None for those captured.

    Raises:
        WorkerModuleError: Functions are in a module that this process cannot import.
        ReplayError: The program is another one.
    """

    def __init__(self, start: Start, program: str | None = None) -> None:
        provide_program(start.job, {} if program is not None else start.sources())
        self._start, self._shipped = start, start.plan()
        if program is not None:
            from scurry.runtime.replay.program import plan_of_program

            self._shipped = plan_of_program(program, load_plan(self._shipped))

    def replay(self, capture: Capture, run: Callable[[Callable[[], None]], None] | None = None) -> Replayed:
        """Run a captured batch again.

        Args:
            run: Calls what it is given, under a debugger for example.

        Raises:
            ReplayError: It cannot be run.
        """
        return replay(lambda: load_plan(self._shipped), capture, self._start.read(capture), run)


def replay(
    plan_copy: Callable[[], JobPlan],
    capture: Capture,
    batch: Batch,
    run: Callable[[Callable[[], None]], None] | None = None,
) -> Replayed:
    """Run a captured batch again.

    Args:
        plan_copy: Returns a new copy of the job's plan.
        capture: What is known of it.
        batch: What was captured.
        run: Calls what it is given, under a debugger for example.

    Raises:
        ReplayError: The plan has no such operator.
    """
    replayed = Replayed(capture)
    task = _LevelReplay(plan_copy, batch) if batch.chunks is None else _SourceReplay(plan_copy, batch)

    def steps() -> None:
        for row in task.run():
            if row.kind != REPORT:
                replayed.rows.append(row)

    ended = False
    try:
        task.open()
        _set_random(batch.random)
        (run or _call)(steps)
        ended = True
    except ReplayError:
        raise
    except Exception as error:
        replayed.error = error
    finally:
        task.close(ended)
    replayed.differences = list(_differences(replayed, batch, task.store.written))
    return replayed


def _call(steps: Callable[[], None]) -> None:
    steps()


def _set_random(state: tuple[Any, Any]) -> None:
    own, numpys = state
    if own is not None:
        random.setstate(own)
    if numpys is not None:
        import numpy as np

        np.random.set_state(numpys)


class _LevelReplay:
    def __init__(self, plan_copy: Callable[[], JobPlan], batch: Batch) -> None:
        plan = plan_copy()
        if batch.number not in plan.operators:
            raise ReplayError(f"the program has no operator of number {batch.number}, which was captured")
        self._operator = plan.operators[batch.number]
        self._batch = batch
        self._clock = PlayedClock(batch.wall, 0)
        self._task = LevelTask(plan_copy, self._operator.level, self._clock)
        self.store = PlayedStore(batch.state)

    def open(self) -> None:
        opened = self._task.task(self._operator, self._batch.subtask_id)
        if self._batch.carried is not None:
            opened.carry(self._batch.carried)

    def run(self) -> Iterator[WireRow]:
        self._clock.begin()
        return self._task.process(self._batch.subtask_id, self._batch.rows, self.store, self._batch.batch_id)

    def close(self, ended: bool) -> None:
        if ended:
            self._task.close()
        else:
            self._task.abandon()


class _SourceReplay:
    def __init__(self, plan_copy: Callable[[], JobPlan], batch: Batch) -> None:
        plan = plan_copy()
        if batch.number not in plan.sources:
            raise ReplayError(f"the program has no source of number {batch.number}, which was captured")
        source = plan.sources[batch.number]
        assert batch.chunks is not None
        played: Any = PlayedSource(source.source, batch.chunks)
        plan.sources[batch.number] = source = replace(source, source=played)
        self._batch = batch
        self._clock, self._monotonic = PlayedClock(batch.wall, 0), PlayedClock(batch.monotonic, 0.0)
        self._task: SourceTask | None = None
        self._plan, self._source = plan, source
        self.store = PlayedStore({})

    def open(self) -> None:
        clocks = self._clock, self._monotonic, wall_clock_ms
        self._task = SourceTask(self._plan, self._source, self._batch.subtask_id, *clocks)
        if self._batch.carried is not None:
            self._task.task.carry(self._batch.carried)

    def run(self) -> Iterator[WireRow]:
        assert self._task is not None
        batch = self._batch
        self._clock.begin()
        self._monotonic.begin()
        split = "captured"
        if batch.seq is None:
            rows = self._task.run_unordered(split, batch.batch_id)
        else:
            rows = self._task.run(batch.seq, [split], batch.final, batch.batch_id)
        return (row for some in rows for row in some)

    def close(self, ended: bool) -> None:
        if self._task is None:
            return
        if ended:
            self._task.close()
        else:
            self._task.abandon()


# ------------------------------------------------------------------ comparison


def _differences(replayed: Replayed, batch: Batch, written: dict[StoreKey, bytes | None]) -> Iterator[str]:
    failed = replayed.capture.error
    if failed is not None and replayed.error is None:
        yield f"it ended; when it was captured it failed with {failed}"
    elif failed is None and replayed.error is not None:
        yield "it failed; when it was captured it ended"
    for place, (now, before) in enumerate(zip(replayed.rows, batch.output, strict=False)):
        if now[:5] != before[:5] or not _same(now.block, before.block):
            yield f"row {place} that it emitted, {_KINDS.get(now.kind, 'a row')}, is another one"
            break
    if len(replayed.rows) != len(batch.output):
        yield f"it emitted {len(replayed.rows)} rows, and {len(batch.output)} when it was captured"
    if failed is None and replayed.error is None:
        for key in dict.fromkeys([*written, *batch.written]):
            blob, captured = written.get(key, b""), batch.written.get(key, b"")
            if blob != captured and (blob is None or captured is None or not _same(blob, captured)):
                yield f"it wrote other state: {key[1]} {key[2]} of {key[0]!r}"
                break


def _same(one: bytes, other: bytes) -> bool:
    """Return whether two blocks hold the same: pickles also differ in which equal values are one object."""
    if one == other:
        return True
    try:
        return _plain(one) == _plain(other)
    except Exception:
        return False


def _plain(block: bytes) -> bytes:
    output = io.BytesIO()
    pickler = pickle.Pickler(output, 5)
    pickler.fast = True
    pickler.dump(pickle.loads(block))
    return output.getvalue()


# ------------------------------------------------------------------ what a replay needs of the process


def provide_program(job: dict[str, Any], texts: dict[str, str]) -> None:
    """Let the modules of a captured job be imported, and debuggers and errors show its lines as they were.

    Args:
        job: What the job is.
        texts: The text of its files.
    """
    for entry in (os.getcwd(), *job.get("path", ())):
        if entry not in sys.path and os.path.isdir(entry):
            sys.path.append(entry)
    for file, text in texts.items():
        lines = [line + "\n" for line in text.split("\n")]
        for name in {file, os.path.abspath(file)}:
            linecache.cache[name] = (len(text), None, lines, name)


def emitted_records(row: WireRow) -> list[Any]:
    """Return the records of an emitted row; empty if it has none."""
    if row.kind == DATA:
        return list(unpack_records(row.block)[1])
    if row.kind == SINK:
        return list(unpack(row.block)[0])
    if row.kind != COMMIT:
        return []
    written = unpack(row.block)  # a sink that prints has written lines
    return [each for one in written for each in (one.splitlines() if isinstance(one, str) else (one,))]
