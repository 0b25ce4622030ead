"""A task: one subtask of a source or head operator with everything chained behind it."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, cast

from scurry.common._config.tuning import OBJECT_REUSE
from scurry.common.config_options import LOG_FORMAT, LOG_LEVEL, LOG_LEVELS
from scurry.common.typeinfo import TupleTypeInfo
from scurry.graph.operators import AssignTimestamps, AsyncWait, Hash
from scurry.graph.plan import JobPlan, OperatorPlan, Output, SourcePlan
from scurry.metrics.scopes import identifier
from scurry.runtime.exchange.collector import Collector, Consumer, GatheringCollector, Values, counter_of, is_immutable
from scurry.runtime.exchange.key_blocks import BatchHashWriter
from scurry.runtime.exchange.record_columns import TakenApart
from scurry.runtime.exchange.report import TaskReport
from scurry.runtime.exchange.wire import REPORT, SINK, WireRow, channel_id, pack
from scurry.runtime.exchange.writers import HashWriter, RecordWriter, edge_writer
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.json_log import JsonFormatter, RunningTask, running_task
from scurry.runtime.operators import RuntimeOperator, create_operator
from scurry.runtime.operators.sink import SinkOperator, SinkStage
from scurry.runtime.operators.timestamps import AssignTimestampsOperator
from scurry.runtime.state.store import StateSize, StoreReads

if TYPE_CHECKING:
    from scurry.runtime.operators.asynchronous import AsyncOperator

#: Bytes that were written, those of them by merges, and read from the store; runs that the machine had, and had not.
_STATE_METRICS = ("stateBytesWritten", "stateBytesMerged", "stateBytesRead", "localRunHits", "localRunMisses")

_logger = logging.getLogger(__name__)


class Task:
    """The operators of one subtask, connected to each other and to the edges that leave the task."""

    def __init__(self, plan: JobPlan, task_id: int, instance: int, info: TaskInfo) -> None:
        self.plan = plan
        self.info = info
        self._name = (plan.sources.get(task_id) or plan.operators[task_id]).name
        self.channel = channel_id(task_id, instance)
        self.operators: dict[int, RuntimeOperator] = {}
        self.writers: dict[int, RecordWriter] = {}
        self.sinks: list[SinkOperator] = []
        self.assigners: list[AssignTimestampsOperator] = []
        self.asynchronous: list[AsyncOperator] = []
        self.collectors: list[tuple[int, Collector]] = []
        self._taken_apart = TakenApart()
        self._opened: list[RuntimeOperator] = []
        reuse = plan.settings.configuration.get(OBJECT_REUSE.key)
        self._reuses_objects = reuse is not None and OBJECT_REUSE.parse(reuse)
        #: bytes of state that were reported last
        self._state_bytes = 0
        #: the operator or source whose busy time is that of the task
        self._head = task_id
        #: when the present micro-batch began here, None in BATCH, where tasks wait for input
        self._began: float | None = None
        #: seconds of work that are not reported yet
        self._worked = 0.0

    def operator(self, number: int) -> RuntimeOperator:
        """Return the instance of an operator in this task; create it and those that follow it on first use."""
        if number not in self.operators:
            plan = self.plan.operators[number]
            self._create(plan, self.collector(plan, not self._are_converted(plan)))
        return self.operators[number]

    def _create(self, plan: OperatorPlan, collector: Collector) -> RuntimeOperator:
        operator = self.operators[plan.id] = create_operator(plan, collector, self.info)
        if isinstance(operator, SinkOperator):
            self.sinks.append(operator)
        elif isinstance(operator, AssignTimestampsOperator):
            self.assigners.append(operator)
            operator.taken_apart = self._taken_apart
        elif isinstance(plan.operator, AsyncWait):
            self.asynchronous.insert(
                0, cast("AsyncOperator", operator)
            )  # at the front: those that follow it were created before it
        return operator

    def _are_converted(self, plan: OperatorPlan) -> bool:
        """Return whether what an operator emits is what those before it have converted to the same declared type."""
        if type(plan.operator) is not AssignTimestamps or plan.input_edges or not is_immutable(plan.output_type):
            return False
        before: list[SourcePlan | OperatorPlan] = [*self.plan.sources.values(), *self.plan.operators.values()]
        tags = [(out.tag, each.output_type) for each in before for out in each.outputs if out.operator == plan.id]
        return all(each == (None, plan.output_type) for each in tags)

    def entry(self, source: SourcePlan, outputs: Collector) -> Collector:
        """Return where a source's reader emits, given the collector of the source's outputs."""
        if source.assigner is None:
            return outputs
        entry = Collector(source)
        entry.main.append(self._create(source.assigner, outputs))
        return entry

    def collector(self, plan: OperatorPlan | SourcePlan, converts: bool = True) -> Collector:
        """Create the collector of an operator or source, connected to its outputs."""
        by_key = self.info.mode == "BATCH" and plan.id == self._head and isinstance(plan, OperatorPlan)
        kind = GatheringCollector if by_key else Collector
        collector = kind(plan, converts, copies=not self._reuses_objects)
        self.collectors.append((plan.id, collector))
        for out in plan.outputs:
            consumer = self._consumer(out, plan)
            if out.tag is None:
                collector.main.append(consumer)
            else:
                collector.side.setdefault(out.tag, []).append(consumer)
        if any(map(_looks_at_fields, collector.main)):  # others would not
            packs = self.info.mode == "BATCH"
            collector.convert_with(lambda declared: self._taken_apart.converter(declared, packs))
        return collector

    def _consumer(self, out: Output, sender: OperatorPlan | SourcePlan) -> Consumer:
        if out.edge is None:
            assert out.operator is not None
            return self.operator(out.operator)
        if out.edge not in self.writers:
            edge = self.plan.edges[out.edge]
            sorts = self.info.mode == "BATCH" and self.plan.operators[edge.target].operator.keyed
            create = BatchHashWriter if sorts and isinstance(edge.partitioner, Hash) else edge_writer
            writer = create(edge, self.plan.subtask_ids, self.channel, self.info.subtask, sender)
            if isinstance(writer, BatchHashWriter):
                writer.taken_apart = self._taken_apart
            self.writers[out.edge] = writer
            if type(writer) is HashWriter and (declared := self._sent_fields(out, sender)) is not None:
                writer.send_fields(declared, self._taken_apart)
        else:
            writer = self.writers[out.edge]
            if isinstance(writer, HashWriter) and writer.declared != self._sent_fields(out, sender):
                writer.send_records()
        return writer

    def _sent_fields(self, out: Output, sender: OperatorPlan | SourcePlan) -> TupleTypeInfo | None:
        """Return the type of records that are sent by key in columns; None of those that are sent as they are."""
        declared = sender.output_type
        if self.info.mode == "BATCH" or out.tag is not None or not isinstance(declared, TupleTypeInfo):
            return None
        sends = is_immutable(declared) and declared.get_field_types() and self._surely_converts(sender)
        return declared if sends else None

    def _surely_converts(self, sender: OperatorPlan | SourcePlan) -> bool:
        """Return whether all that is emitted was converted here to its type; a source may only say that it has it."""
        if isinstance(sender, SourcePlan):
            return sender.source.converts or sender.output_type != sender.source.produced_type
        if not self._are_converted(sender):
            return True
        before: list[SourcePlan | OperatorPlan] = [*self.plan.sources.values(), *self.plan.operators.values()]
        return all(self._surely_converts(each) for each in before for out in each.outputs if out.operator == sender.id)

    def begin(self, batch_id: int) -> None:
        self.info.batch_id = batch_id
        self._began = time.perf_counter() if self.info.mode == "STREAMING" else None
        self._name_in_logs()
        for writer in self.writers.values():
            writer.begin()
        for assigner in self.assigners:
            assigner.begin()

    def carried(self, batch_id: int) -> tuple[Any, ...]:
        """Return all that a batch takes over from those before it in memory, without the attributes of functions."""
        turns = {number: writer.turn for number, writer in self.writers.items()}
        return self.info.clock.standing(), turns, [each.carried(batch_id) for each in self.assigners]

    def carry(self, carried: tuple[Any, ...]) -> None:
        """Continue with all that another instance of the task had before a batch."""
        standing, turns, assigners = carried
        self.info.clock.stand(standing)
        for number, turn in turns.items():
            self.writers[number].turn = turn
        for assigner, own in zip(self.assigners, assigners, strict=True):
            assigner.carry(own)

    def open(self) -> None:
        """Open all operators, the last of the chain first, as Flink does."""
        _set_up_logging(self.plan.settings.configuration)
        self._name_in_logs()
        try:
            for operator in self.operators.values():  # each was created after those that follow it
                operator.open()
                self._opened.append(operator)
        except BaseException:
            self.abandon()
            raise

    def _name_in_logs(self) -> None:
        settings = self.plan.settings
        running_task.set(RunningTask(settings.job_name, settings.job_id, self._name, self.info.subtask))

    def close(self) -> None:
        """Close all operators, the first of the chain first."""
        while self._opened:
            self._opened.pop().close()

    def abandon(self) -> None:
        """Close all operators of a task that has failed or is stopped; errors meanwhile are only logged."""
        opened, self._opened = self._opened, []
        for operator in reversed(opened):
            try:
                operator.close()
            except Exception:
                _logger.warning("closing operator %r failed after its job had", operator.plan.name, exc_info=True)

    def drain(self) -> None:
        """Wait for the results of all records taken so far."""
        for operator in self.asynchronous:
            operator.drain()

    # ---------------------------------------------------------------- rows

    def flush(self, seq: int) -> list[WireRow]:
        """Return the output since the last flush, as rows at position `seq`."""
        stamp = self.info.clock.stamp
        rows = [row for writer in self.writers.values() for row in writer.flush(seq, stamp)]
        return rows + self.flush_sinks(seq) if self.sinks else rows

    def flush_sinks(self, seq: int, stage: SinkStage | None = None) -> list[WireRow]:
        """Return the output of sinks as rows, except for sinks that write at once in this process."""
        rows = []
        for sink in self.sinks:
            port = sink.plan.id
            for kind, payload in sink.take():
                if kind == SINK and stage is not None and stage.writes(port):
                    stage.write(port, *payload)
                else:
                    rows.append(WireRow(self._spread(), port, kind, self.channel, seq, pack(payload)))
        return rows

    def forget(self) -> None:
        """Keep nothing of the last block of records."""
        self._taken_apart.forget()

    def point(self, seq: int, stamp: int) -> None:
        """Record a progress point on every edge."""
        idle = any(assigner.idle for assigner in self.assigners)
        for writer in self.writers.values():
            writer.point(seq, stamp, idle)

    def progress(self) -> list[WireRow]:
        return [row for writer in self.writers.values() for row in writer.progress()]

    def received(self, number: int, values: Values) -> None:
        """Count the input of the head operator; sinks count their own output."""
        if values and not isinstance(self.operators[number], SinkOperator):
            self.info.count(number, "numRecordsIn", counter_of(values[0])(values))

    def has_state(self, number: int, size: StateSize, before: StoreReads, after: StoreReads) -> None:
        """Report the size of the head operator's state, if it has changed, and the parts that were read and written.

        Args:
            before: Reads of the store before the micro-batch.
            after: Reads of the store after it.
        """
        if size.written or size.total != self._state_bytes:
            self.info.report.state[number] = size
            self._state_bytes = size.total
        read, hits, misses = (now - then for now, then in zip(after, before, strict=True))
        for metric, value in zip(_STATE_METRICS, (size.written, size.merged, read, hits, misses), strict=True):
            if value:
                self.info.count(number, metric, value)

    def report(self) -> list[WireRow]:
        """Return the row of the report since the last call; none if it is empty."""
        report, self.info.report = self.info.report, TaskReport()
        if self._began is not None:
            self._worked, self._began = self._worked + time.perf_counter() - self._began, None
            if milliseconds := int(1000 * self._worked):
                report.counters[self._head, "accumulateBusyTimeMs"] = milliseconds
                self._worked -= milliseconds / 1000
        for number, collector in self.collectors:
            if collector.count:
                report.counters[number, "numRecordsOut"] = collector.count
                collector.count = 0
        for number, operator in self.operators.items():
            registered = operator.states.registry.news()
            if registered:
                report.schemas[number] = registered
        for (number, name), metric in self.info.user_metrics.items():
            try:
                measured = metric.report()
            except Exception as error:
                hint = f"the gauge {identifier(name)!r} could not be read"
                raise operator_error(self.plan.operators[number], error, hint=hint) from error
            if measured is not None:
                report.user_metrics[number, name] = measured
        assert all(value >= 0 for value in report.counters.values()), f"a counter fell: {report.counters}"
        return [WireRow(self._spread(), -1, REPORT, self.channel, 0, pack(report))] if report else []

    def _spread(self) -> int:
        """Return a receiver for rows to the driver: any will do, but different senders use different ones."""
        ids = self.plan.subtask_ids
        return ids[self.info.subtask % len(ids)]


def _looks_at_fields(consumer: Consumer) -> bool:
    """Return whether a consumer uses the fields of records that were taken apart when they were converted."""
    if isinstance(consumer, BatchHashWriter | AssignTimestampsOperator):
        return True
    return isinstance(consumer, HashWriter) and consumer.declared is not None


def _set_up_logging(configuration: dict[str, str]) -> None:
    """Set the log levels that the job configures for this process, and the form of its lines; log to stderr."""
    level = configuration.get(LOG_LEVEL.key)
    levels = LOG_LEVELS.parse(configuration.get(LOG_LEVELS.key, "")) or {}
    as_json = LOG_FORMAT.parse(configuration.get(LOG_FORMAT.key, "text")) == "json"
    if as_json and not logging.getLogger().handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(JsonFormatter())
        logging.basicConfig(handlers=[handler])
    elif level or levels:
        logging.basicConfig()
    if level:
        logging.getLogger().setLevel(LOG_LEVEL.parse(level))
    for logger, its_level in levels.items():
        logging.getLogger(logger).setLevel(its_level)
