"""One operator with state of a query in STREAMING, whose rows, clock and watermark a test decides."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.common.types import RowKind
from scurry.graph import operators as ops
from scurry.graph.nodes import Node, OperatorNode, Origin, PartitionNode
from scurry.graph.plan import OperatorPlan
from scurry.runtime.clock import ProcessingClock
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.exchange.wire import MIN_TIME
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators.rows import KeyedRowsOperator
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.store import DictStore
from scurry.sql.connectors.contract import Changes
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.operators.lowering import Lowering, ReadTable
from scurry.sql.plan import nodes as nodes
from scurry.sql.plan.nodes import Plan, walk
from scurry.sql.planner.changelog import Changelogs
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import from_values, to_values

__all__ = ["TableOperator"]


class _UnreadSource:
    bounded = False


class _Unread(dict[Any, ReadTable]):
    """Tables without watermarks that nobody reads."""

    def __missing__(self, key: Any) -> ReadTable:
        source: Any = _UnreadSource()
        return ReadTable(source)


class TableOperator:
    """Run the operator of a plan's node.

    Args:
        plan: The plan of the query.
        kind: The node's class; the first one is run.
        session: The session.
    """

    def __init__(self, plan: Plan, kind: type[Plan], session: EvaluationContext) -> None:
        found = next(each for each in walk(plan) if isinstance(each, kind))
        node: Node = Lowering([plan], Changelogs([plan]), session, _Unread()).node(found)
        assert isinstance(node, OperatorNode) and isinstance(node.operator, ops.KeyedRows)
        self._schemas = [each.schema for each in found.inputs]
        self._partitions: list[Any] = []
        for each in node.inputs:
            assert isinstance(each, PartitionNode) and isinstance(each.partitioner, ops.HashRows)
            self._partitions.append(each.partitioner.partition)
        described = OperatorPlan(1, "op", "op", node.operator, None, len(found.inputs), Origin("query.sql", 1))
        self._collector, self._found, self._store = Collector(described), _Received(), DictStore()
        self._collector.main.append(self._found)
        self._clock = 0
        self._watermark = MIN_TIME
        info = TaskInfo(0, 1, 128, clock=ProcessingClock(lambda: self._clock))
        self._operator = KeyedRowsOperator(described, self._collector, info)
        self._operator.open()

    def at(self, time: int, *rows: tuple[Any, ...], side: int = 0, watermark: int | None = None) -> list[str]:
        """Read rows at a time of the clock; return the changes they make, as `+I a 1`.

        Args:
            time: Processing time, in milliseconds.
            rows: The rows; a kind may come first.
            side: Which input they are of.
            watermark: The watermark behind them.
        """
        self._clock = time
        backend = KeyedStateBackend("op", self._store)
        self._found.values = []
        self._operator.bind(backend, self._watermark)
        deque(self._operator.advance(self._watermark, time), maxlen=0)
        if rows:
            ((_, keyed),) = self._partitions[side](self._changes(rows, side), 128, 1)
            self._operator.process_input(side, None, [keyed], None)
        self._watermark = self._watermark if watermark is None else watermark
        deque(self._operator.advance(self._watermark, time), maxlen=0)
        self._operator.write_back()
        backend.flush()
        return [text for each in self._found.values for text in _texts(each)]

    @property
    def has_state(self) -> bool:
        """Whether any key has state."""
        return any(key[1] != "meta" for key in self._store)

    def _changes(self, rows: tuple[tuple[Any, ...], ...], side: int) -> Changes:
        kinds = [row[0] if isinstance(row[0], RowKind) else RowKind.INSERT for row in rows]
        values = zip(*(row[1:] if isinstance(row[0], RowKind) else row for row in rows), strict=True)
        schema = self._schemas[side]
        columns = [
            from_values(list(some), arrow_type(column.type)) for some, column in zip(values, schema, strict=True)
        ]
        batch = pa.RecordBatch.from_arrays(columns, names=list(schema.names))
        return Changes(batch, np.asarray([kind.value for kind in kinds], dtype=np.int8))


class _Received:
    def __init__(self) -> None:
        self.values: list[Any] = []

    def process(self, values: Values, timestamps: Timestamps) -> None:
        self.values += values

    def watermark(self, watermark: int) -> None:
        return


def _texts(changes: Changes) -> list[str]:
    kinds = [0] * changes.batch.num_rows if changes.kinds is None else list(changes.kinds)
    rows = zip(*map(to_values, changes.batch.columns), strict=True)
    return [" ".join([str(RowKind(kind)), *map(str, row)]) for kind, row in zip(kinds, rows, strict=True)]
