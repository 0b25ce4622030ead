"""Relational plans to nodes of a job graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import pyarrow as pa

from scurry.connectors.collection import CollectionSource
from scurry.connectors.source import Source
from scurry.connectors.tables.contract import Changes, TableSource
from scurry.connectors.tables.scanning import TableScan
from scurry.errors import UnsupportedError
from scurry.functions.definition import Session
from scurry.graph import operators as ops
from scurry.graph.nodes import Node, OperatorNode, SourceNode, UnionNode
from scurry.relational import plan as relational
from scurry.relational.plan import Plan, walk
from scurry.runtime.tables.batch.executor import execute_batch
from scurry.runtime.tables.row_wise import ROW_WISE
from scurry.runtime.tables.streaming.calc import Calc, SelectColumns

__all__ = ["Lowering"]

SourceOf: TypeAlias = Callable[[relational.Scan], TableSource]

#: Flink's names of the operators that STREAMING does not have yet.
_MISSING = {
    "Aggregate": "GroupAggregate",
    "Correlate": "Correlate",
    "Join": "Join",
    "Limit": "Limit",
    "Match": "Match",
    "Over": "OverAggregate",
    "Sort": "Sort",
    "TableFunctionScan": "Correlate",
    "TemporalJoin": "TemporalJoin",
}


class Lowering:
    """Make the nodes of a job out of the plans of its sinks.

    Equal parts of the plans are one node, and a table is read once, with the columns that any part needs.
    """

    def __init__(self, plans: Iterable[Plan], session: Session, source_of: SourceOf) -> None:
        """Take the plans of all sinks, the session, and what returns the source of a scan."""
        self._session = session
        self._source_of = source_of
        self._columns: dict[Any, list[int]] = {}
        for plan in plans:
            for node in walk(plan):
                if isinstance(node, relational.Scan):
                    known = self._columns.setdefault(_table(node), [])
                    known += [column for column in node.columns if column not in known]
        self._scans: dict[Any, Node] = {}
        self._nodes: dict[Plan, Node] = {}
        self._count = 0

    def node(self, plan: Plan) -> Node:
        """Return the node whose records are the rows of a plan.

        Raises:
            UnsupportedError: STREAMING does not have an operator of the plan.
        """
        found = self._nodes.get(plan)
        if found is None:
            found = self._nodes[plan] = self._lowered(plan)
        return found

    def sink(self, rows: Node, sink: Any, name: str, guard: Any = None) -> OperatorNode:
        """Return the node that writes rows.

        Args:
            rows: The rows.
            sink: The sink of the table, or of the query.
            name: Its name.
            guard: A function that is applied to all rows before they are written; None for none.
        """
        if guard is not None:
            rows = self._operator(rows, ops.Map(guard), "ConstraintEnforcer")
        return self._operator(rows, ops.Sink(sink), name)

    def _operator(self, rows: Node, operator: ops.Operator, name: str) -> OperatorNode:
        return OperatorNode(inputs=(rows,), name=name, operator=operator, uid=self._uid(name))

    def _uid(self, name: str) -> str:
        """Return an identity that is the same each time the same statement is lowered."""
        self._count += 1
        return f"{self._count}_{name.partition('[')[0]}"

    def _source(self, source: Source, name: str, parallelism: int | None = None) -> Node:
        return SourceNode(name=name, source=source, uid=self._uid(name), parallelism=parallelism)

    def _lowered(self, plan: Plan) -> Node:
        if isinstance(plan, relational.Scan):
            return self._scan(plan)
        if isinstance(plan, relational.Values):
            return self._values(plan)
        if isinstance(plan, ROW_WISE):
            return self._calc(plan)
        if isinstance(plan, relational.SetOperation) and plan.kind == "UNION" and plan.all:
            return UnionNode(inputs=tuple(self._branch(branch, plan) for branch in plan.branches), name="Union")
        kind = type(plan).__name__
        name = plan.kind.capitalize() if isinstance(plan, relational.SetOperation) else _MISSING.get(kind, kind)
        raise UnsupportedError(
            f"{name} in STREAMING: its result changes with further rows, which scurry's SQL does not stream yet; "
            "use EnvironmentSettings.in_batch_mode()"
        )

    def _scan(self, plan: relational.Scan) -> Node:
        read = self._columns[_table(plan)]
        rows = self._scans.get(_table(plan))
        if rows is None:
            names = tuple(plan.table_schema.select(read).names)
            name = f"TableSourceScan[{'.'.join(plan.path)}]"
            rows = self._scans[_table(plan)] = self._source(TableScan(self._source_of(plan), names), name)
        positions = [read.index(column) for column in plan.columns]
        return self._operator(rows, ops.Map(SelectColumns(positions, _without_inputs(plan))), "SelectColumns")

    def _values(self, plan: relational.Values) -> Node:
        rows = [Changes(batch) for batch in execute_batch(plan, self._session, _no_table)]
        return self._source(CollectionSource(rows), "Values", parallelism=1)

    def _calc(self, plan: Plan) -> Node:
        steps: list[Plan] = []
        while isinstance(plan, ROW_WISE):
            steps.insert(0, _without_inputs(plan))
            plan = plan.inputs[0]
        return self._operator(self.node(plan), ops.FlatMap(Calc(steps, self._session)), "Calc")

    def _branch(self, branch: Plan, union: Plan) -> Node:
        """Return the rows of a branch with the names and types of the union."""
        rows = self.node(branch)
        if branch.schema == union.schema:
            return rows
        positions = range(len(branch.schema))
        return self._operator(rows, ops.Map(SelectColumns(positions, _without_inputs(union))), "SelectColumns")


def _table(scan: relational.Scan) -> Any:
    return scan.path, scan.options


def _without_inputs(plan: Plan) -> Plan:
    """Return a node on inputs of which only the columns are known: that is what tasks get."""
    if isinstance(plan, relational.Scan):
        return relational.Values(plan.schema, ())
    return plan.with_inputs(tuple(relational.Values(each.schema, ()) for each in plan.inputs))


def _no_table(scan: relational.Scan) -> Iterator[pa.RecordBatch]:
    raise AssertionError("a list of values reads no table")
