"""The sink operators at the end of chains, and the stage that runs writers of staged sinks."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from scurry.connectors.sink import COUNTED, SinkWriter, WriterContext
from scurry.graph import operators as ops
from scurry.graph.plan import JobPlan, OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values, counter_of
from scurry.runtime.exchange.report import TaskReport
from scurry.runtime.exchange.wire import COMMIT, REPORT, SINK, WireRow, channel_id, pack, unpack
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators.base import RuntimeOperator


def _writer(plan: OperatorPlan, subtask: int, batch_id: int, job_key: str) -> SinkWriter:
    context = WriterContext(subtask, plan.parallelism, batch_id, sink_id(plan, job_key), plan.output_type)
    try:
        writer: SinkWriter = plan.operator.function.create_writer(context)
        return writer
    except Exception as error:
        raise operator_error(plan, error) from error


def sink_id(plan: OperatorPlan, job_key: str) -> str:
    """Return the name of a sink: it stays the same when the job resumes from its checkpoint, and is unique."""
    # long enough that sinks which store ids permanently, such as databases, never confuse two of them
    return hashlib.blake2b(f"{job_key}/{plan.uid}".encode(), digest_size=16).hexdigest()


class SinkOperator(RuntimeOperator):
    """Operator that writes the records of a sink.

    Sinks whose results go to the driver anyway (print, collect) and sinks that act at once (user functions) write here.
    For other sinks (files) the records continue as SINK rows to the end of the stage, where one writer per partition
    takes those of all subtasks: see `SinkStage`.
    """

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        self._staged = bool(plan.operator.function.staged)
        self._writer: SinkWriter | None = None
        self._count_of: Callable[[Values], int] | None = None
        self._blocks: list[tuple[Values, Timestamps]] = []

    def functions(self) -> list[Any]:
        return []

    def open(self) -> None:
        """Do nothing: writers are created when there is something to write."""

    def close(self) -> None:
        """Do nothing: a writer ends when its committables are taken."""

    def process(self, values: Values, timestamps: Timestamps) -> None:
        if self._count_of is None:
            self._count_of = counter_of(values[0])
        self.info.count(self.plan.id, "numRecordsIn", self._count_of(values))
        if self._staged:
            self._blocks.append((values, timestamps))
            return
        if self._writer is None:
            self._writer = _writer(self.plan, self.info.subtask, self.info.batch_id, self.info.job_key)
        with _counted(partial(self.info.count, self.plan.id)):
            _write(self.plan, self._writer, values, timestamps)

    def watermark(self, watermark: int) -> None:
        """Do nothing: sinks do not use watermarks."""

    def take(self) -> Iterator[tuple[int, Any]]:
        """Yield the output for the driver since the last call, as (kind, payload)."""
        if self._staged:
            blocks, self._blocks = self._blocks, []
            for block in blocks:
                yield SINK, block
        elif self._writer is not None:
            with _counted(partial(self.info.count, self.plan.id)):
                committables = self.call(self._writer.prepare_commit)
            self._writer = None
            if committables:
                yield COMMIT, committables


@contextmanager
def _counted(count: Callable[[str, int], None]) -> Iterator[None]:
    """Let a writer count its requests and their outcomes."""
    before = COUNTED.set(count)
    try:
        yield
    finally:
        COUNTED.reset(before)


def _write(plan: OperatorPlan, writer: Any, values: Values, timestamps: Timestamps) -> None:
    try:
        writer.write(values, timestamps)
    except Exception as error:
        raise operator_error(plan, error, values[0]) from error


def write_blocks(plan: OperatorPlan, subtask: int, job_key: str, blocks: Iterable[Values]) -> list[Any]:
    """Write all blocks of a task of a BATCH job with one writer; return its committables.

    Raises:
        OperatorError: The sink cannot write them.
    """
    writer = _writer(plan, subtask, 0, job_key)
    try:
        for values in blocks:
            _write(plan, writer, values, None)
        try:
            return writer.prepare_commit()
        except Exception as error:
            raise operator_error(plan, error) from error
    except BaseException:
        writer.abort()
        raise


def staged_sinks(plan: JobPlan) -> list[OperatorPlan]:
    """Return the sinks whose writers run after the last level."""
    sinks = [op for op in plan.operators.values() if isinstance(op.operator, ops.Sink)]
    return [sink for sink in sinks if sink.operator.function.staged and sink.operator.function.native]


class SinkStage:
    """Run the writers of staged sinks over one partition of the last level's rows."""

    def __init__(self, plan: JobPlan, partition: int, batch_id: int) -> None:
        self._plan = plan
        self._partition = partition
        self._batch_id = batch_id
        self._writers: dict[int, SinkWriter] = {}
        #: (sink, metric) -> count
        self._counts: Counter[tuple[int, str]] = Counter()

    def _counted(self, port: int) -> Any:
        def count(metric: str, value: int) -> None:
            self._counts[port, metric] += value

        return _counted(count)

    def run(self, rows: Iterable[WireRow]) -> Iterator[WireRow]:
        """Write the SINK rows of native sinks; yield all other rows, and at the end the writers' committables."""
        with self.begun():
            for row in rows:
                if row.kind == SINK and self.writes(row.port):
                    self.write(row.port, *unpack(row.block))
                else:
                    yield row
            yield from self.end()

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Connect the sinks; abort their writers after a failure."""
        self._connect()
        try:
            yield
        except BaseException:
            for writer in self._writers.values():
                writer.abort()
            raise

    def _connect(self) -> None:
        for plan in staged_sinks(self._plan):
            try:
                plan.operator.function.connect()
            except Exception as error:
                raise operator_error(plan, error) from error

    def writes(self, port: int) -> bool:
        """Return whether it writes the records of a sink: those of Spark's own sinks go on."""
        return bool(self._plan.operators[port].operator.function.native)

    def write(self, port: int, values: Values, timestamps: Timestamps) -> None:
        """Write records of a sink."""
        plan = self._plan.operators[port]
        if port not in self._writers:
            self._writers[port] = _writer(plan, self._partition, self._batch_id, self._plan.settings.job_key)
        with self._counted(port):
            _write(plan, self._writers[port], values, timestamps)

    def end(self) -> Iterator[WireRow]:
        """Yield the committables of the writers, and their counts."""
        for port, writer in self._writers.items():
            try:
                with self._counted(port):
                    committables = writer.prepare_commit()
            except Exception as error:
                raise operator_error(self._plan.operators[port], error) from error
            for committable in committables:  # one row per committable: a committable may be as large as a row can be
                yield WireRow(0, port, COMMIT, 0, self._partition, pack([committable]))
        if self._counts:
            report = TaskReport(counters=dict(self._counts))
            yield WireRow(0, -1, REPORT, channel_id(min(self._writers), self._partition), 0, pack(report))
