"""The runtime operators, and the table that maps a plan's operators to them."""

from __future__ import annotations

import functools
import importlib
from typing import cast

from scurry.graph import operators as ops
from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators.base import KeyedOperator, RuntimeOperator

#: The classes by module and name: a job loads those that it has.
LOWERED: dict[type[ops.Operator], str | type[RuntimeOperator]] = {
    ops.Map: "stateless.MapOperator",
    ops.MapOrDeadLetter: "stateless.MapOrDeadLetterOperator",
    ops.FlatMap: "stateless.FlatMapOperator",
    ops.Filter: "stateless.FilterOperator",
    ops.Process: "stateless.ProcessOperator",
    ops.AsyncWait: "asynchronous.AsyncOperator",
    ops.AssignTimestamps: "timestamps.AssignTimestampsOperator",
    ops.AssignWatermarks: "rows.AssignWatermarksOperator",
    ops.KeyedRows: "rows.KeyedRowsOperator",
    ops.Bundle: "bundles.BundleOperator",
    ops.BroadcastBundle: "bundles.BundleOperator",
    ops.RecordsToRows: "rows.RecordsToRowsOperator",
    ops.RowsToRecords: "rows.RowsToRecordsOperator",
    ops.CoMap: "stateless.CoMapOperator",
    ops.CoFlatMap: "stateless.CoFlatMapOperator",
    ops.CoProcess: "stateless.CoProcessOperator",
    ops.KeyedProcess: "keyed.KeyedProcessOperator",
    ops.KeyedCoProcess: "keyed.KeyedCoProcessOperator",
    ops.BroadcastProcess: "broadcast.BroadcastProcessOperator",
    ops.KeyedBroadcastProcess: "broadcast.KeyedBroadcastProcessOperator",
    ops.KeyedReduce: "keyed.KeyedReduceOperator",
    ops.IntervalJoin: "interval_join.IntervalJoinOperator",
    ops.Cep: "cep.CepOperator",
    ops.DynamicCep: "cep.DynamicCepOperator",
    ops.Window: "window.WindowOperator",
    ops.AlignedWindow: "window_variants.AlignedWindowOperator",
    ops.SessionWindow: "window_variants.SessionWindowOperator",
    ops.EvictingWindow: "window_variants.EvictingWindowOperator",
    ops.Sink: "sink.SinkOperator",
}


#: Those of a BATCH job whose time ends, where they are others.
_LOWERED_IN_BATCH: dict[type[ops.Operator], str] = {
    ops.KeyedProcess: "batch.process.BatchKeyedProcessOperator",
    ops.KeyedReduce: "batch.reduce.BatchReduceOperator",
    ops.AlignedWindow: "batch.windows.BatchAlignedWindowOperator",
    ops.SessionWindow: "batch.windows.BatchSessionWindowOperator",
    ops.IntervalJoin: "batch.interval_join.BatchIntervalJoinOperator",
}


def create_operator(plan: OperatorPlan, collector: Collector, info: TaskInfo) -> RuntimeOperator:
    kind = type(plan.operator)
    if info.mode == "BATCH" and not info.saves_state and kind in _LOWERED_IN_BATCH:
        return _class_of(_LOWERED_IN_BATCH[kind])(plan, collector, info)
    lowered = LOWERED[kind]
    operator = _class_of(lowered) if isinstance(lowered, str) else lowered
    return operator(plan, collector, info)


@functools.cache
def _class_of(lowered: str) -> type[RuntimeOperator]:
    module, _, name = lowered.rpartition(".")
    return cast(type[RuntimeOperator], getattr(importlib.import_module(f"{__name__}.{module}"), name))


__all__ = ["LOWERED", "KeyedOperator", "RuntimeOperator", "create_operator"]
