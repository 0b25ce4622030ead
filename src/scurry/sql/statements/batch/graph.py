"""The graph of a BATCH job of tables, for its plan, metrics and sinks; the runner executes the plans as wholes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.collection import CollectionSource
from scurry.connectors.source import Source
from scurry.graph import operators as ops
from scurry.graph.nodes import Node, OperatorNode, PartitionNode, SourceNode
from scurry.graph.plan import JobPlan
from scurry.graph.planner import plan_job
from scurry.graph.settings import JobSettings
from scurry.sql.connectors.contract import TableSource
from scurry.sql.connectors.scanning import TableScan
from scurry.sql.plan import nodes as relational
from scurry.sql.plan.nodes import Plan, Sink
from scurry.sql.planner.explain import Operator, operators

#: Operators that pass rows on as they come: their rows are not exchanged.
_ROW_BY_ROW = ("Calc", "Correlate", "Limit", "Union", "WindowTableFunction")


@dataclass(frozen=True)
class BatchGraph:
    """The plan of a job, and its numbers.

    Attributes:
        numbers: Identity of a node of a relational plan -> number of its operator or source in the job's plan.
        sinks: The number of the sink of each statement, in their order.
    """

    job: JobPlan
    numbers: Mapping[int, int]
    sinks: Sequence[int]


def batch_graph(
    plans: Sequence[Plan],
    source_of: Callable[[relational.Scan], TableSource],
    sinks: Sequence[Any],
    settings: JobSettings,
    parallelism: int | None,
) -> BatchGraph:
    """Return the graph of a job.

    Args:
        plans: The plans of sinks, or that of a query, after all rules.
        source_of: Returns the source of a scanned table.
        sinks: What writes the rows of each plan.
        parallelism: The parallelism of its operators; None for that of the settings.
    """
    builder = _Builder(source_of, parallelism)
    written = [builder.sink(plan, sink) for plan, sink in zip(plans, sinks, strict=True)]
    job = plan_job(written, settings)
    by_uid = {each.uid: each.id for each in job.sources.values()}
    by_uid |= {each.uid: each.id for each in job.operators.values()}
    numbers = {node: by_uid[uid] for node, uid in builder.uids.items()}
    return BatchGraph(job, numbers, [by_uid[str(node.uid)] for node in written])


class _Builder:
    def __init__(self, source_of: Callable[[relational.Scan], TableSource], parallelism: int | None) -> None:
        self._source_of = source_of
        self._parallelism = parallelism
        #: identity of a node of a plan -> uid of the operator that emits its rows
        self.uids: dict[int, str] = {}
        self._count = 0

    def sink(self, plan: Plan, sink: Any) -> OperatorNode:
        rows, name = (plan.input, f"Sink[{'.'.join(plan.path)}]") if isinstance(plan, Sink) else (plan, "Collect")
        inputs = (self._node(operators(rows, None)),)
        return self._operator(inputs, name, ops.Sink(sink), None)

    def _operator(
        self, inputs: tuple[Node, ...], name: str, operator: ops.Operator, description: str | None
    ) -> OperatorNode:
        return OperatorNode(
            inputs=inputs,
            name=name,
            operator=operator,
            uid=self._uid(name),
            description=description,
            parallelism=self._parallelism,
        )

    def _source(self, name: str, source: Source, description: str) -> SourceNode:
        return SourceNode(
            name=name, source=source, uid=self._uid(name), description=description, parallelism=self._parallelism
        )

    def _uid(self, name: str) -> str:
        self._count += 1
        return f"{self._count}_{name.partition('[')[0]}"

    def _node(self, operator: Operator) -> Node:
        inputs = tuple(self._exchanged(operator, each) for each in operator.inputs)
        plan, name = operator.plan, operator.name
        if isinstance(plan, relational.Scan) and not inputs:
            name = f"{name}[{'.'.join(plan.path)}]"
            table = TableScan(self._source_of(plan), tuple(plan.schema.names))
            node: Node = self._source(name, table, operator.text)
        elif not inputs:
            node = self._source(name, CollectionSource(()), operator.text)
        else:
            node = self._operator(inputs, name, ops.TableOperation(plan), operator.text)
        self.uids[id(plan)] = node.uid or ""
        return node

    def _exchanged(self, operator: Operator, rows: Operator) -> Node:
        node, plan = self._node(rows), operator.plan
        if operator.name in _ROW_BY_ROW or isinstance(plan, relational.Scan):
            return node
        while isinstance(plan, relational.Project):
            plan = plan.input
        partitioner = ops.HashRows(None) if getattr(plan, "keys", None) else ops.Global()
        return PartitionNode(inputs=(node,), name="Exchange", partitioner=partitioner)
