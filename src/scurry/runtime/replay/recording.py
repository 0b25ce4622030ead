"""Record all that a subtask reads and emits in a micro-batch; none of this runs unless it is captured."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from scurry.errors import OperatorError
from scurry.runtime.exchange.wire import REPORT, WireRow
from scurry.runtime.replay.batch import Batch, random_state
from scurry.runtime.replay.files import Capture, CaptureDirectory
from scurry.runtime.state.store import RunInfo, StateStore, StoreKey, StoreReads

if TYPE_CHECKING:
    from scurry.graph.plan import JobPlan
    from scurry.runtime.tasks.task import Task

T = TypeVar("T", bound=float)

#: About how many bytes a value of a clock and a row take up besides the row's block.
_CLOCK_BYTES, _ROW_BYTES = 8, 64

_logger = logging.getLogger(__name__)


class RecordedClock(Generic[T]):
    """A clock that keeps the times that it has shown since `begin`."""

    def __init__(self, clock: Callable[[], T]) -> None:
        self._clock = clock
        self.shown: list[T] = []

    def begin(self) -> None:
        self.shown = []

    def __call__(self) -> T:
        now = self._clock()
        self.shown.append(now)
        return now


class RecordingStore:
    """A store that records the reads and writes of another one.

    Args:
        took: Called with numbers of bytes that were recorded; returns whether more may be.
    """

    def __init__(self, store: StateStore, batch: Batch, took: Callable[[int], bool]) -> None:
        self._store, self._batch, self._took = store, batch, took

    @property
    def reads(self) -> StoreReads:
        """Return the reads of the store."""
        return self._store.reads

    def get_many(self, keys: Sequence[StoreKey]) -> list[bytes | None]:
        """Return the entries, None for each missing one."""
        found = self._store.get_many(keys)
        self._read(keys, found)
        return found

    def get_runs(self, runs: Sequence[tuple[StoreKey, RunInfo]]) -> list[Any]:
        """Return the bytes of runs, None for each missing one."""
        found = self._store.get_runs(runs)
        self._read([key for key, _ in runs], found)
        return found

    def _read(self, keys: Sequence[StoreKey], found: Sequence[Any]) -> None:
        state, written = self._batch.state, self._batch.written
        for key, blob in zip(keys, found, strict=True):
            if key not in state and key not in written and self._took(len(blob or b"") + _ROW_BYTES):
                state[key] = blob  # runs may be mapped files, of which a copy is made when they are written

    def put(self, key: StoreKey, blob: bytes) -> None:
        """Write an entry."""
        self._wrote(key, blob)
        self._store.put(key, blob)

    def put_run(self, key: StoreKey, digest: int, blob: bytes) -> None:
        self._wrote(key, blob)
        self._store.put_run(key, digest, blob)

    def remove(self, key: StoreKey) -> None:
        """Remove an entry, if there is one."""
        self._batch.written[key] = None
        self._store.remove(key)

    def remove_run(self, key: StoreKey, info: RunInfo) -> None:
        self._batch.written[key] = None
        self._store.remove_run(key, info)

    def _wrote(self, key: StoreKey, blob: bytes) -> None:
        self._batch.written[key] = blob if self._took(len(blob) + _ROW_BYTES) else b""

    def stored_keys(self) -> list[StoreKey]:
        return self._store.stored_keys()

    def link_run(self, info: RunInfo, path: str) -> bool:
        """Make a link to the file of a run, if the store can."""
        return self._store.link_run(info, path)

    def release(self) -> None:
        """Return the memory of runs that were read."""
        self._store.release()


class Recorder:
    """Record the micro-batches of one task of a worker, one after the other.

    Args:
        plan: A plan that is captured.
        wall_clock: Returns the wall clock time, in milliseconds.
        clock: Returns the seconds of a clock that does not go back.
    """

    def __init__(self, plan: JobPlan, wall_clock: Callable[[], int], clock: Callable[[], float] | None = None) -> None:
        capturing = plan.settings.capturing
        assert capturing is not None
        self._plan, self._capturing = plan, capturing
        self._directory = CaptureDirectory(capturing)
        self.wall_clock = RecordedClock(wall_clock)
        self.clock = None if clock is None else RecordedClock(clock)
        self._batch: Batch | None = None
        #: bytes that were recorded, and why no more are
        self._size, self._refused = 0, ""

    @contextmanager
    def recording(self, batch: Batch, subtask: int) -> Iterator[Batch]:
        """Record a micro-batch within a `with` block, and write it if it failed or all are captured."""
        self._batch, self._size, self._refused = batch, 0, ""
        self.took(sum(len(row.block) + _ROW_BYTES for row in batch.rows))
        try:
            yield batch
        except GeneratorExit:  # who takes the rows has stopped
            raise
        except BaseException as error:
            written = self._write(batch, subtask, error)
            if written is not None and isinstance(error, OperatorError):
                error.failure.replay = self._directory.command(written)
                error.args = (str(error.failure),)
            raise
        else:
            if self._capturing.mode == "all":
                self._write(batch, subtask, None)
        finally:
            self._batch = None

    def begin(self, task: Task, batch: Batch) -> None:
        """Begin with the task of a batch, after it was opened and before it reads anything."""
        batch.carried, batch.random = task.carried(batch.batch_id), random_state()
        self.wall_clock.begin()
        if self.clock is not None:
            self.clock.begin()

    def took(self, size: int) -> bool:
        """Count recorded bytes; return whether they fit."""
        self._size += size
        if self._size > self._capturing.max_bytes and not self._refused:
            self._refused = "large"
            batch = self._batch
            assert batch is not None
            for held in (batch.state, batch.output, batch.chunks):  # the memory is the job's
                if held is not None:
                    held.clear()
        return not self._refused

    def emitted(self, row: WireRow, batch: Batch) -> None:
        if row.kind != REPORT and self.took(len(row.block) + _ROW_BYTES):
            batch.output.append(row)

    def chunk(self, chunk: Any, size: int, batch: Batch) -> None:
        """Record a chunk, or the error of a reader, before a function can change it.

        Args:
            size: The number of records of the next chunk.
        """
        if self._refused:
            return
        try:
            blob = pickle.dumps(chunk, 5)
        except Exception as error:
            self._refused = f"its records cannot be pickled: {error}"
            return
        assert batch.chunks is not None
        if self.took(len(blob) + _ROW_BYTES):
            batch.chunks.append((blob, size))

    def _write(self, batch: Batch, subtask: int, error: BaseException | None) -> Capture | None:
        """Write a batch, and return its capture, None without one; a job does not fail because that fails."""
        batch.wall = self.wall_clock.shown
        batch.monotonic = [] if self.clock is None else self.clock.shown
        self.took(_CLOCK_BYTES * (len(batch.wall) + len(batch.monotonic)))
        try:
            about = Capture.of(self._plan, batch.number, subtask, batch.batch_id, error)
            if self._refused == "large":
                about.too_large = self._size
            about.refused = self._refused.removeprefix("large")
            batch.state = {key: None if blob is None else bytes(blob) for key, blob in batch.state.items()}
            self._directory.write(about, None if self._refused else batch)
        except Exception:
            _logger.warning("micro-batch %d was not captured for scurry replay", batch.batch_id, exc_info=True)
            return None
        return None if self._refused else about
