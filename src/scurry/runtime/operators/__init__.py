"""The runtime operators, and the table that maps a plan's operators to them."""

from __future__ import annotations

from scurry.graph import operators as ops
from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators.asynchronous import AsyncOperator
from scurry.runtime.operators.base import KeyedOperator, RuntimeOperator
from scurry.runtime.operators.batch.interval_join import BatchIntervalJoinOperator
from scurry.runtime.operators.batch.process import BatchKeyedProcessOperator
from scurry.runtime.operators.batch.reduce import BatchReduceOperator
from scurry.runtime.operators.batch.windows import BatchAlignedWindowOperator, BatchSessionWindowOperator
from scurry.runtime.operators.broadcast import BroadcastProcessOperator, KeyedBroadcastProcessOperator
from scurry.runtime.operators.cep import CepOperator, DynamicCepOperator
from scurry.runtime.operators.interval_join import IntervalJoinOperator
from scurry.runtime.operators.keyed import KeyedCoProcessOperator, KeyedProcessOperator, KeyedReduceOperator
from scurry.runtime.operators.rows import (
    AssignWatermarksOperator,
    KeyedRowsOperator,
    RecordsToRowsOperator,
    RowsToRecordsOperator,
)
from scurry.runtime.operators.sink import SinkOperator
from scurry.runtime.operators.stateless import (
    CoFlatMapOperator,
    CoMapOperator,
    CoProcessOperator,
    FilterOperator,
    FlatMapOperator,
    MapOperator,
    MapOrDeadLetterOperator,
    ProcessOperator,
)
from scurry.runtime.operators.timestamps import AssignTimestampsOperator
from scurry.runtime.operators.window import WindowOperator
from scurry.runtime.operators.window_variants import (
    AlignedWindowOperator,
    EvictingWindowOperator,
    SessionWindowOperator,
)

LOWERED: dict[type[ops.Operator], type[RuntimeOperator]] = {
    ops.Map: MapOperator,
    ops.MapOrDeadLetter: MapOrDeadLetterOperator,
    ops.FlatMap: FlatMapOperator,
    ops.Filter: FilterOperator,
    ops.Process: ProcessOperator,
    ops.AsyncWait: AsyncOperator,
    ops.AssignTimestamps: AssignTimestampsOperator,
    ops.AssignWatermarks: AssignWatermarksOperator,
    ops.KeyedRows: KeyedRowsOperator,
    ops.RecordsToRows: RecordsToRowsOperator,
    ops.RowsToRecords: RowsToRecordsOperator,
    ops.CoMap: CoMapOperator,
    ops.CoFlatMap: CoFlatMapOperator,
    ops.CoProcess: CoProcessOperator,
    ops.KeyedProcess: KeyedProcessOperator,
    ops.KeyedCoProcess: KeyedCoProcessOperator,
    ops.BroadcastProcess: BroadcastProcessOperator,
    ops.KeyedBroadcastProcess: KeyedBroadcastProcessOperator,
    ops.KeyedReduce: KeyedReduceOperator,
    ops.IntervalJoin: IntervalJoinOperator,
    ops.Cep: CepOperator,
    ops.DynamicCep: DynamicCepOperator,
    ops.Window: WindowOperator,
    ops.AlignedWindow: AlignedWindowOperator,
    ops.SessionWindow: SessionWindowOperator,
    ops.EvictingWindow: EvictingWindowOperator,
    ops.Sink: SinkOperator,
}


#: Those of a BATCH job whose time ends, where they are others.
_LOWERED_IN_BATCH: dict[type[ops.Operator], type[RuntimeOperator]] = {
    ops.KeyedProcess: BatchKeyedProcessOperator,
    ops.KeyedReduce: BatchReduceOperator,
    ops.AlignedWindow: BatchAlignedWindowOperator,
    ops.SessionWindow: BatchSessionWindowOperator,
    ops.IntervalJoin: BatchIntervalJoinOperator,
}


def create_operator(plan: OperatorPlan, collector: Collector, info: TaskInfo) -> RuntimeOperator:
    kind = type(plan.operator)
    if info.mode == "BATCH" and not info.saves_state and kind in _LOWERED_IN_BATCH:
        return _LOWERED_IN_BATCH[kind](plan, collector, info)
    return LOWERED[kind](plan, collector, info)


__all__ = ["LOWERED", "KeyedOperator", "RuntimeOperator", "create_operator"]
