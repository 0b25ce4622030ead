"""Spark's part of a job as a model: what a query does with its logs and state, under the code of scurry's engine.

The model replays what Spark has been seen to do. The offsets of a batch are logged before it runs, its commit after; a
batch without a commit runs again with the same offsets. A task loads the state that the batch before has stored, and
stores the next version. Tasks fail and are repeated, run twice at once, and lose the worker with what it holds. Nothing
is forced to the disk: files that a crash has damaged are not loaded, and Spark's reader says so.
"""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pyarrow as pa

from scurry.runtime.checkpoint.storage import DamagedFileError, LocalStorage, Storage
from scurry.runtime.exchange.wire import WireRow
from scurry.runtime.local.streaming import plan_loader
from scurry.runtime.savepoint.entries import write_entries
from scurry.runtime.savepoint.format import Entry
from scurry.runtime.savepoint.schemas import collect_schemas
from scurry.runtime.state.store import DictStore
from scurry.spark.checkpoint import recovery
from scurry.spark.checkpoint.sealed import sealed, unsealed
from scurry.spark.savepoint import taker
from scurry.spark.session.jvm_classes.collect_rows import collect_frame
from scurry.spark.streaming import assignment_stream, engine, runner, stages, start
from scurry.spark.workers import instances
from scurry.testing.simulation.machine import KilledError, Machine, SimulatedError
from support.simulated.jvm import Java, Stream

#: Workers of the cluster, and how often a task may fail.
_WORKERS, _ATTEMPTS = 2, 4
#: One of so many tasks runs twice.
_SPECULATED = 6


#: The batches of Arrow of each partition.
Partitions = list[list[Any]]


class _Frame:
    """A plan: computes its partitions for a batch."""

    def __init__(self, cluster: Cluster, compute: Callable[[_Batch], Partitions], stream: Stream) -> None:
        self.cluster, self.compute, self.stream = cluster, compute, stream

    def mapInArrow(self, function: Any, schema: Any) -> _Frame:
        def compute(batch: _Batch) -> Partitions:
            partitions = self.compute(batch)
            return self.cluster.stage(
                batch,
                [lambda some=some: list(function(iter(some))) for some in partitions],  # type: ignore[misc]
            )

        return _Frame(self.cluster, compute, self.stream)

    def groupBy(self, column: str) -> _Frame:
        assert column == "subtask"
        return self

    def transformWithState(self, processor: Any, schema: Any, output: str, time: str) -> _Frame:
        level = processor._level

        def compute(batch: _Batch) -> Partitions:
            count = int(self.cluster.settings["spark.sql.shuffle.partitions"])
            shuffled: list[dict[int, list[WireRow]]] = [{} for _ in range(count)]
            for some in self.compute(batch):
                for rows in some:
                    for row in instances.rows_of(rows, WireRow):
                        shuffled[row.subtask % count].setdefault(row.subtask, []).append(row)
            return self.cluster.stage(
                batch,
                [
                    lambda number=number, rows=rows: _transformed(batch, processor, level, number, rows)  # type: ignore[misc]
                    for number, rows in enumerate(shuffled)
                ],
            )

        return _Frame(self.cluster, compute, self.stream)

    @property
    def writeStream(self) -> _Writer:
        return _Writer(self)


def _transformed(batch: _Batch, processor: Any, level: int, number: int, rows: dict[int, list[WireRow]]) -> list[Any]:
    """Run the task of a partition: from the state of the batch before to that after this one."""
    place = f"{batch.directory}/state/{level}/{number}"
    stored: dict[int, dict[Any, bytes]] = {}
    if batch.number:
        stored = _loaded(f"{place}/{batch.number}.zip")
    handle = SimpleNamespace(entries={})
    own = copy.copy(processor)
    own.init(handle)
    found: list[Any] = []
    for subtask, some in sorted(rows.items()):
        handle.entries = stored.setdefault(subtask, {})
        found += own.handleInputRows((subtask,), iter(some), None)
    _write(f"{place}/{batch.number + 1}.zip", sealed(pickle.dumps(stored, 5)))
    return list(instances.arrow_batches([WireRow(*row) for row in found], WireRow._fields, instances.wire_schema()))


def _loaded(path: str) -> dict[int, dict[Any, bytes]]:
    try:
        with open(path, "rb") as file:
            stored: dict[int, dict[Any, bytes]] = pickle.loads(unsealed(file.read(), path))
    except (FileNotFoundError, DamagedFileError) as error:
        raise RuntimeError(f"[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] java.io.EOFException: {path}") from error
    return stored


def _unreadable_state(spark: Any, checkpoint: str, storage: Storage, files: Any, batch: int) -> str | None:
    """Return why Spark's reader cannot read the state after a batch."""
    for level in sorted(storage.list("state")):
        for partition in sorted(storage.list(f"state/{level}")):
            path = f"state/{level}/{partition}/{batch + 1}.zip"
            try:
                unsealed(storage.read(path), path)
            except (FileNotFoundError, DamagedFileError) as error:
                return str(error)
    return None


class _Store:
    """The store of a subtask, as `MapStore` is one."""

    reads = DictStore.reads

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def begin(self, local: Any, files: Any, batch: int) -> None:
        self.local = local

    def flush(self) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        store = DictStore()
        entries = self._handle.entries
        return {
            "get_many": lambda keys: [entries.get(key) for key in keys],
            "put": entries.__setitem__,
            "remove": lambda key: entries.pop(key, None),
            "get_runs": lambda runs: [entries.get(key) for key, _ in runs],
            "put_run": lambda key, digest, blob: entries.__setitem__(key, blob),
            "remove_run": lambda key, info: entries.pop(key, None),
            "stored_keys": lambda: list(entries),
            "link_run": store.link_run,
            "release": store.release,
        }[name]


def _write(path: str, content: bytes) -> None:
    """Write a file as Spark does: under another name, then renamed; nothing is forced to the disk."""
    directory, name = os.path.split(path)
    os.makedirs(directory, exist_ok=True)
    hidden = f"{directory}/.{name}.tmp"
    with open(hidden, "wb") as file:
        file.write(content)
    os.replace(hidden, path)


@dataclass(frozen=True)
class _Batch:
    """A micro-batch: its number, the offsets between which its blocks are, and the checkpoint."""

    number: int
    after: int
    until: int
    directory: str


class _Writer:
    def __init__(self, frame: _Frame) -> None:
        self._frame = frame

    def __getattr__(self, name: str) -> Callable[..., _Writer]:
        def noted(*values: Any, **_: Any) -> _Writer:
            if name == "foreachBatch":
                self.commit = values[0]
            if name == "option" and values[0] == "checkpointLocation":
                self.directory = values[1]
            return self

        return noted

    def start(self) -> Query:
        query = self._frame.cluster.query = Query(self._frame, self.commit, self.directory)
        return query


class Query:
    """A streaming query, which runs a batch at each step."""

    def __init__(self, frame: _Frame, commit: Callable[[Any, int], None], directory: str) -> None:
        self._frame, self._commit, self._directory = frame, commit, directory
        self._error: BaseException | None = None
        self.isActive = True
        logged, committed = self._numbers("offsets"), self._numbers("commits")
        last = max(logged, default=-1)
        #: the batch that is planned and not committed
        self._planned: int | None = None if last in committed or last < 0 else last
        self._next = last if self._planned is not None else last + 1
        self._after = self._offset(self._next - 1) if self._next else -1

    def _numbers(self, log: str) -> set[int]:
        try:
            return {int(name) for name in os.listdir(f"{self._directory}/{log}") if name.isdigit()}
        except FileNotFoundError:
            return set()

    def _offset(self, batch: int) -> int:
        with open(f"{self._directory}/offsets/{batch}", encoding="utf-8") as file:
            text = file.read().splitlines()[2]
        return -1 if text == "-" else int(text)

    def step(self) -> bool:
        """Run a batch if there is one; return whether there was."""
        if not self.isActive:
            return False
        try:
            return self._step()
        except Exception as error:
            self._error, self.isActive = error, False
            return False

    def _step(self) -> bool:
        machine, stream = self._frame.cluster.machine, self._frame.stream
        if not self.plan():
            return False
        assert self._planned is not None
        until = self._offset(self._planned)
        batch = _Batch(self._planned, self._after, until, self._directory)
        machine.operation("batch", f"{batch.number} after {batch.after} until {batch.until}")
        assert stream.latest >= until, f"batch {batch.number} needs blocks until {until}, there are {stream.latest}"
        self._frame.cluster.batch = batch.number
        self._commit(SimpleNamespace(collect=lambda: self._rows(batch)), batch.number)
        _write(f"{self._directory}/commits/{batch.number}", b'v1\n{"nextBatchWatermarkMs":0}')
        self._after, self._planned, self._next = until, None, batch.number + 1
        return True

    def plan(self) -> bool:
        """Plan the next batch, up to the latest block, if none is planned; return whether one is."""
        if self._planned is None and self._frame.stream.latest > self._after:
            _write(
                f"{self._directory}/offsets/{self._next}",
                f'v1\n{{"batchWatermarkMs":0,"batchTimestampMs":0}}\n{self._frame.stream.latest}'.encode(),
            )
            self._planned = self._next
        return self._planned is not None

    def _rows(self, batch: _Batch) -> list[WireRow]:
        return [row for some in self._frame.compute(batch) for each in some for row in instances.rows_of(each, WireRow)]

    def processAllAvailable(self) -> None:
        while self.step():
            pass
        if self._error is not None:
            raise RuntimeError(str(self._error)) from self._error

    def exception(self) -> BaseException | None:
        return self._error

    def stop(self) -> None:
        self.isActive = False


class Cluster:
    """A session with its workers, of which each has instances of functions between tasks."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.settings = {"spark.sql.shuffle.partitions": "2"}
        self.query: Query | None = None
        self.batch = self.partition = 0
        self._workers: list[dict[str, Any]] = [{} for _ in range(_WORKERS)]

    def session(self) -> Any:
        conf = SimpleNamespace(get=self.settings.get, set=self.settings.__setitem__, unset=self.settings.pop)
        context = SimpleNamespace(master="spark://model", uiWebUrl=None)
        gateway = SimpleNamespace(_gateway=None)
        return SimpleNamespace(_jvm=Java(), _jsparkSession=None, _sc=gateway, conf=conf, sparkContext=context)

    def frame(self, stream: Stream) -> _Frame:
        def compute(batch: _Batch) -> Partitions:
            blocks = [stream.blocks[offset] for offset in range(batch.after + 1, batch.until + 1)]
            if batch.number % 2:
                blocks.reverse()  # they are read side by side
            return [[pa.RecordBatch.from_pydict({"value": pa.array([block], pa.binary())})] for block in blocks]

        return _Frame(self, compute, stream)

    def stage(self, batch: _Batch, tasks: list[Callable[[], list[Any]]]) -> Partitions:
        """Run tasks; a worker that is lost loses its instances."""
        try:
            self.machine.operation("worker")
        except SimulatedError:
            self._workers = [{} for _ in range(_WORKERS)]
        return [self._task(batch.number, number, task) for number, task in enumerate(tasks)]

    def _task(self, batch: int, number: int, task: Callable[[], list[Any]]) -> list[Any]:
        chance, failures = self.machine.chance, 0
        twice, name, self.partition = chance.randrange(_SPECULATED) == 0, f"{batch} {number}", number
        while True:
            try:
                result = self._attempt(name, task)
                if twice:
                    again = self._attempt(name, task)
                    result = chance.choice((result, again))
                return result
            except KilledError:
                raise
            except Exception:
                failures += 1
                if failures == _ATTEMPTS:
                    raise

    def _attempt(self, name: str, task: Callable[[], list[Any]]) -> list[Any]:
        driver, instances._instances = instances._instances, self.machine.chance.choice(self._workers)
        try:
            result = task()
            self.machine.operation("task", name)
        finally:
            instances._instances = driver
        return result


@dataclass(frozen=True)
class _StateVersion:
    """The state of all levels after a batch, read as Spark's state reader reads it."""

    checkpoint: str
    batch: int
    levels: int
    subtask_ids: Any
    files: Any

    def write(self, spark: Any, path: str) -> None:
        write_entries(path, self._entries())

    def _entries(self) -> Iterator[Entry]:
        index = {number: subtask for subtask, number in enumerate(self.subtask_ids)}
        for level in range(1, self.levels + 1):
            storage = LocalStorage(f"{self.checkpoint}/state/{level}")
            for partition in sorted(storage.list(".")):
                path = f"{partition}/{self.batch + 1}.zip"
                stored = pickle.loads(unsealed(storage.read(path), path))
                for number, entries in sorted(stored.items()):
                    for (uid, kind, place), blob in entries.items():
                        yield Entry(uid, kind, index[number], place, blob)


@contextmanager
def spark_of(machine: Machine, root: str, wait: Callable[[Cluster, float], None]) -> Iterator[Cluster]:
    """Let jobs that run on Spark run on the model.

    Args:
        wait: Called when the driver waits for Spark.
    """
    cluster = Cluster(machine)
    session = cluster.session()

    def begin(of: Any, request: Any) -> None:
        of._serve(request)

    with ExitStack() as patches:
        for place, name, instead in (
            (runner, "session_for", lambda plan: session),
            (runner._Run, "_clean_up", lambda run, generation, over: None),
            (recovery, "HadoopStorage", lambda spark, path: LocalStorage(path)),
            (recovery, "unreadable_state", _unreadable_state),
            (engine, "row_collector", lambda spark: collect_frame),
            (engine.SparkEngine, "wait", lambda of, seconds: wait(cluster, seconds)),
            (stages, "MapStore", _Store),
            (stages, "partition", lambda: cluster.partition),
            (start, "collect_on_worker", lambda spark, plan: collect_schemas(plan_loader(plan))),
            (taker, "StateVersion", _StateVersion),
            (taker.SavepointTaker, "begin", begin),
            (assignment_stream.AssignmentStream, "frame", lambda stream: cluster.frame(stream._stream)),
            (instances.Job, "batch_id", lambda job: job.first_batch + cluster.batch),
            (instances, "give_back", lambda: None),
        ):
            patches.enter_context(mock.patch.object(place, name, instead))
        patches.enter_context(mock.patch.dict(os.environ, {"SPARK_LOCAL_DIRS": f"{root}-workers"}))
        yield cluster
