"""Sinks at the end of a chain, and the stage that runs their writers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from scurry.connectors.sink import SinkWriter, WriterContext
from scurry.graph.plan import JobPlan, OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.exchange.wire import COMMIT, SINK, WireRow, pack, unpack
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
    """Names a sink: the same when the job is restarted from its checkpoint, unlike any other's."""
    # long enough that sinks which remember ids for good, such as in a database, never take one for another
    return hashlib.blake2b(f"{job_key}/{plan.uid}".encode(), digest_size=16).hexdigest()


class SinkOperator(RuntimeOperator):
    """Takes the records of a sink.

    Sinks whose results go to the driver anyway (print, collect) and those that act at once (user functions) write here.
    For the others (files) the records travel on as SINK rows to the end of the stage, where one writer per partition
    takes those of all key groups: see `SinkStage`.
    """

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        self._staged = bool(plan.operator.function.staged)
        self._writer: SinkWriter | None = None
        self._blocks: list[tuple[Timestamps, Values]] = []

    def functions(self) -> list[Any]:
        return []

    def open(self) -> None:
        """Writers are made when there is something to write."""

    def close(self) -> None:
        """Writers end with what they wrote."""

    def process(self, values: Values, timestamps: Timestamps) -> None:
        self.info.count(self.plan.id, "numRecordsIn", len(values))
        if self._staged:
            self._blocks.append((timestamps, values))
            return
        if self._writer is None:
            self._writer = _writer(self.plan, self.info.subtask, self.info.batch_id, self.info.job_key)
        _write(self.plan, self._writer, values, timestamps)

    def watermark(self, watermark: int) -> None:
        """Sinks have no use for time."""

    def take(self) -> Iterator[tuple[int, Any]]:
        """What has to leave the task since the last call, as (kind, payload)."""
        if self._staged:
            blocks, self._blocks = self._blocks, []
            for block in blocks:
                yield SINK, block
        elif self._writer is not None:
            committables = self.call(self._writer.prepare_commit)
            self._writer = None
            if committables:
                yield COMMIT, committables


def _write(plan: OperatorPlan, writer: Any, values: Values, timestamps: Timestamps) -> None:
    try:
        writer.write(values, timestamps)
    except Exception as error:
        raise operator_error(plan, error, values[0]) from error


class SinkStage:
    """Runs the writers of staged sinks over one partition of the last level's rows."""

    def __init__(self, plan: JobPlan, partition: int, batch_id: int) -> None:
        self._plan = plan
        self._partition = partition
        self._batch_id = batch_id

    def run(self, rows: Iterable[WireRow]) -> Iterator[WireRow]:
        """Writes SINK rows of native sinks; yields all others, and at the end what writers hand to the committers."""
        writers: dict[int, SinkWriter] = {}
        try:
            yield from self._run(rows, writers)
        except BaseException:
            for writer in writers.values():
                writer.abort()
            raise

    def _run(self, rows: Iterable[WireRow], writers: dict[int, SinkWriter]) -> Iterator[WireRow]:
        job_key = self._plan.settings.job_key
        for row in rows:
            plan = self._plan.operators[row.port] if row.kind == SINK else None
            if plan is None or not plan.operator.function.native:
                yield row
                continue
            if row.port not in writers:
                writers[row.port] = _writer(plan, self._partition, self._batch_id, job_key)
            timestamps, values = unpack(row.block)
            _write(plan, writers[row.port], values, timestamps)
        for port, writer in writers.items():
            try:
                committables = writer.prepare_commit()
            except Exception as error:
                raise operator_error(self._plan.operators[port], error) from error
            for committable in committables:  # a row each: a committable may be as large as a row can be
                yield WireRow(0, port, COMMIT, 0, self._partition, pack([committable]))
