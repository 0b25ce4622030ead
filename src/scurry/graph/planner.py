"""The planner, which folds a stream graph into levels.

It chains operators that need no exchange, and puts every exchange on the level below its inputs.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from scurry.common.config_options import MAX_PARALLELISM
from scurry.common.watermark_strategy import WatermarkStrategy
from scurry.errors import TopologyError
from scurry.graph import operators as ops
from scurry.graph.configured_settings import check_parallelism
from scurry.graph.nodes import Node, OperatorNode, PartitionNode, SideOutputNode, SourceNode, UnionNode
from scurry.graph.plan import ChannelGroup, Edge, JobPlan, OperatorPlan, Output, SourcePlan, naming_source
from scurry.graph.settings import JobSettings

_TWO_INPUTS = (
    ops.CoMap,
    ops.CoFlatMap,
    ops.CoProcess,
    ops.KeyedCoProcess,
    ops.BroadcastProcess,
    ops.KeyedBroadcastProcess,
    ops.DynamicCep,
    ops.BroadcastBundle,
)


def plan_job(sinks: list[OperatorNode], settings: JobSettings) -> JobPlan:
    """Return the plan of the graph that ends in `sinks`."""
    plan = _Planner(settings).plan(sinks)
    plan.rebuild = partial(plan_job, sinks)
    return plan


class _Planner:
    def __init__(self, settings: JobSettings) -> None:
        self.settings = settings
        self.job = JobPlan(settings)
        self.ids: dict[int, int] = {}
        self.uids: dict[str, Node] = {}

    def plan(self, sinks: list[OperatorNode]) -> JobPlan:
        nodes = _reachable(sinks)
        for number, node in enumerate(nodes):
            if isinstance(node, (SourceNode, OperatorNode)):
                self.ids[node.id] = number
        for node in nodes:
            if isinstance(node, SourceNode):
                self._add_source(node)
            elif isinstance(node, OperatorNode):
                self._add_operator(node)
        self.job.unused = tuple(sorted({text for node in nodes for text in node.unused}))
        self._place()
        self._find_senders()
        self._find_progress()
        receivers = [edge.receivers for edge in self.job.edges.values()]
        self.job.subtask_ids = list(range(max(receivers, default=1)))
        self.job.require_consistent()
        return self.job

    # ---------------------------------------------------------------- nodes -> tasks and outputs

    def _uid(self, node: Node, number: int) -> str:
        uid = node.uid or f"{number}-{node.name}"
        if uid in self.uids:
            raise TopologyError(
                f"uid {uid!r} is given to two operators ({self.uids[uid].origin} and {node.origin}): "
                "state is matched by uid, so each needs its own"
            )
        self.uids[uid] = node
        return uid

    def _parallelism(self, node: Node) -> int:
        parallelism = node.parallelism or self.settings.parallelism
        most, where = node.max_parallelism, "set_max_parallelism"
        if most is None and MAX_PARALLELISM.key in self.settings.configuration:
            most, where = self.settings.max_parallelism, MAX_PARALLELISM.key
        if most is not None:
            check_parallelism(f"{node.name or 'the operator'!r} ({node.origin})", parallelism, most, where)
        return parallelism

    def _add_source(self, node: SourceNode) -> None:
        number = self.ids[node.id]
        parallelism = self._parallelism(node)
        with naming_source(node.name, node.origin):
            channels = node.source.channels(parallelism)
        source = self.job.sources[number] = SourcePlan(
            number,
            self._uid(node, number),
            node.name or "Source",
            node.source,
            node.watermark_strategy,
            node.output_type,
            parallelism,
            channels,
            node.origin,
            node.description,
            dead_letters=node.dead_letters,
            captured=node.captured,
        )
        source.assigner = _assigner(source)

    def _add_operator(self, node: OperatorNode) -> None:
        number = self.ids[node.id]
        operator = runnable(node.operator, node.dead_letters is not None)
        self.job.operators[number] = OperatorPlan(
            number,
            self._uid(node, number),
            node.name or operator.kind,
            operator,
            node.output_type,
            self._parallelism(node),
            node.origin,
            node.description,
            dead_letters=node.dead_letters,
            captured=node.captured,
            sets_parallelism=node.parallelism is not None,
        )
        for index, source in enumerate(node.inputs):
            self._connect(node, index, source, None, None)

    def _connect(
        self, node: OperatorNode, index: int, source: Node, tag: str | None, partition: PartitionNode | None
    ) -> None:
        """Walk from an input of `node` up to the operators that feed it."""
        if isinstance(source, UnionNode):
            for each in source.inputs:
                self._connect(node, index, each, tag, partition)
        elif isinstance(source, SideOutputNode):
            self._connect(node, index, source.inputs[0], source.tag_id, partition)
        elif isinstance(source, PartitionNode):
            # of two repartitionings in a row only the last one matters
            self._connect(node, index, source.inputs[0], tag, partition or source)
        else:
            task: Any = self.job.sources.get(self.ids[source.id]) or self.job.operators[self.ids[source.id]]
            target = self.job.operators[self.ids[node.id]]
            if isinstance(task, OperatorPlan):
                target.producers += [each for each in task.as_producers() if each not in target.producers]
            if partition is None or self._chainable(node, partition.partitioner):
                if partition is not None and isinstance(partition.partitioner, ops.Forward):
                    _check_forward(task, target)
                task.outputs.append(Output(tag, operator=target.id, ship=_ship(task, target, partition)))
            else:
                edge = self._edge(node, index, partition, target)
                task.outputs.append(Output(tag, edge=edge.id, ship=_ship(task, target, partition)))

    def _chainable(self, node: OperatorNode, partitioner: ops.Partitioner) -> bool:
        """Return whether a repartitioning moves nothing and the operator can stay in its producer's task."""
        if isinstance(node.operator, _TWO_INPUTS) or node.operator.keyed:
            return False
        if isinstance(partitioner, ops.Forward):
            return True
        return isinstance(partitioner, (ops.Rebalance, ops.Global)) and self._parallelism(node) == 1 == (
            self.settings.parallelism
        )

    def _edge(self, node: OperatorNode, index: int, partition: PartitionNode, target: OperatorPlan) -> Edge:
        for number in target.input_edges:
            edge = self.job.edges[number]
            if edge.input_index == index and edge.partitioner is partition.partitioner:
                return edge
        edge = Edge(
            len(self.job.edges),
            target.id,
            index,
            partition.partitioner,
            parallelism=target.parallelism,
            max_parallelism=self.settings.max_parallelism,
            name=partition.name,
            origin=partition.origin,
            captured=partition.captured,
        )
        self.job.edges[edge.id] = edge
        target.input_edges.append(edge.id)
        return edge

    # ---------------------------------------------------------------- levels

    def _feeders(self) -> dict[int, list[tuple[Any, Output]]]:
        """Map each operator id to the (task or operator, output) pairs that feed it."""
        feeders: dict[int, list[tuple[Any, Output]]] = {number: [] for number in self.job.operators}
        tasks: list[SourcePlan | OperatorPlan] = [*self.job.sources.values(), *self.job.operators.values()]
        for task in tasks:
            for out in task.outputs:
                target = out.operator if out.edge is None else self.job.edges[out.edge].target
                assert target is not None
                feeders[target].append((task, out))
        return feeders

    def _place(self) -> None:
        """Set all levels. Ids ascend from producers to consumers, so one pass sees every producer first."""
        feeders, deepest = self._feeders(), {number: 0 for number in self.job.sources}
        for number, op in sorted(self.job.operators.items()):
            above = [deepest[task.id] for task, _ in feeders[number]]
            chained = [deepest[task.id] for task, out in feeders[number] if out.edge is None]
            if op.input_edges:
                op.level = 1 + max(above)
                for edge in op.input_edges:
                    self.job.edges[edge].level = op.level
                self.job.levels = max(self.job.levels, op.level)
            else:
                op.level = max(above)
            deepest[number] = max([op.level, *chained])

    def _find_senders(self) -> None:
        """Find which tasks send along which edge, and with how many channels."""
        for source in self.job.sources.values():
            strategy = source.watermark_strategy
            idle = getattr(strategy, "idle_timeout_ms", None)
            self._walk(source.outputs, ChannelGroup(source.id, source.channels, idle))
        for op in self.job.operators.values():
            if op.input_edges:
                self._walk(op.outputs, ChannelGroup(op.id, op.parallelism))

    def _walk(self, outputs: list[Output], sender: ChannelGroup) -> None:
        for out in outputs:
            if out.edge is not None:
                edge = self.job.edges[out.edge]
                if all(known.task != sender.task for known in edge.senders):
                    untimed = _has_no_time(self.job.operators[edge.target].operator, edge.input_index)
                    edge.senders.append(replace(sender, untimed=True) if untimed else sender)
            else:
                assert out.operator is not None
                op, passed = self.job.operators[out.operator], sender
                if isinstance(op.operator, ops.AssignTimestamps):
                    passed = replace(sender, idle_timeout=op.operator.function.idle_timeout_ms)
                self._walk(op.outputs, passed)

    # ---------------------------------------------------------------- edges that need watermarks

    def _find_progress(self) -> None:
        """Mark the edges along which time must travel.

        These are the edges above operators that can act on time alone (timers, windows), or that can read a watermark
        generated upstream: these edges tick. They are also the edges above operators where records of several tasks
        meet, in the order in which they were read; there, time comes with the data.
        """
        strategies = [s.watermark_strategy for s in self.job.sources.values()]
        strategies += [
            o.operator.function for o in self.job.operators.values() if isinstance(o.operator, ops.AssignTimestamps)
        ]
        watermarks = any(strategy is not None and strategy.generates_watermarks for strategy in strategies)
        ticks: dict[int, bool] = {}
        meet: dict[int, bool] = {}
        for number, op in sorted(self.job.operators.items(), reverse=True):
            outs = [out.operator if out.edge is None else self.job.edges[out.edge].target for out in op.outputs]
            below = [target for target in outs if target is not None]
            acts = op.operator.timed and (watermarks or _acts_on_time(op.operator))
            ticks[number] = acts or any(ticks[target] for target in below)
            senders = {sender.task for edge in op.input_edges for sender in self.job.edges[edge].senders}
            meet[number] = len(senders) > 1 or any(meet[target] for target in below)
            for edge in op.input_edges:
                self.job.edges[edge].ticks = ticks[number]
                self.job.edges[edge].progress = ticks[number] or meet[number]
        operators = [op.operator for op in self.job.operators.values()]
        waits = any(map(_moves_by_clock, strategies)) or any(map(_acts_on_clock, operators))
        self.job.ticks = waits and any(ticks.values())


def _has_no_time(operator: ops.Operator, index: int) -> bool:
    """Return whether an input has no watermarks, and must not hold back those of the other one."""
    return isinstance(operator, ops.DynamicCep) and index == 1 and not operator.timed_patterns


def runnable(operator: ops.Operator, dead_letters: bool = False) -> ops.Operator:
    """Return the variant of a program's operator that runs.

    Windows that fire once, at their end, have variants of their own. Lateness excludes them: their windows would have
    to outlive the firing.

    Args:
        dead_letters: Whether records on which it fails go to a side output.
    """
    if isinstance(operator, ops.Map) and dead_letters:
        return ops.MapOrDeadLetter(**vars(operator))
    if not isinstance(operator, ops.Window):
        return operator
    if operator.evictor is not None:
        return ops.EvictingWindow(**vars(operator))
    if operator.allowed_lateness == 0 and operator.aligned is not None:
        return ops.AlignedWindow(**vars(operator))
    if operator.allowed_lateness == 0 and operator.session_gap is not None:
        return ops.SessionWindow(**vars(operator))
    return operator


def _assigner(source: SourcePlan) -> OperatorPlan | None:
    strategy = source.watermark_strategy
    if strategy is None or (strategy.timestamp_assigner is None and not strategy.generates_watermarks):
        return None
    operator = ops.AssignTimestamps(strategy)
    return OperatorPlan(
        source.id, source.uid, source.name, operator, None, source.parallelism, source.origin, captured=source.captured
    )


def _ship(sender: SourcePlan | OperatorPlan, receiver: OperatorPlan, partition: PartitionNode | None) -> str:
    """Return how Flink would distribute the records: without a partitioner, only a changed parallelism moves them."""
    parallelism = sender.channels if isinstance(sender, SourcePlan) else sender.parallelism
    moves = parallelism != receiver.parallelism
    if partition is not None and not (moves and isinstance(partition.partitioner, ops.Forward)):
        partitioner = partition.partitioner
        return (getattr(partitioner, "style", "") or type(partitioner).__name__).upper()
    return "REBALANCE" if moves else "FORWARD"


def _check_forward(sender: SourcePlan | OperatorPlan, receiver: OperatorPlan) -> None:
    """Check Flink's rule: forward() passes the records of an instance to the one with the same index."""
    if sender.parallelism != receiver.parallelism:
        raise TopologyError(
            f"forward() cannot change the parallelism, but {sender.name!r} ({sender.origin}) has {sender.parallelism} "
            f"and {receiver.name!r} ({receiver.origin}) has {receiver.parallelism}; use rebalance() or rescale()"
        )


def _moves_by_clock(strategy: Any) -> bool:
    """Return whether the watermarks of a strategy may move while there are no records."""
    if strategy is None:
        return False
    is_custom = isinstance(strategy, WatermarkStrategy) and strategy.max_out_of_orderness_ms is None
    return strategy.idle_timeout_ms is not None or (is_custom and strategy.generates_watermarks)


def _acts_on_clock(operator: ops.Operator) -> bool:
    """Return whether an operator may act in processing time; windows with their default triggers follow watermarks."""
    fires_by_watermark = isinstance(operator, ops.Window) and (operator.aligned or operator.session_gap) is not None
    return operator.timed and _acts_on_time(operator) and not fires_by_watermark


def _acts_on_time(operator: ops.Operator) -> bool:
    if isinstance(operator, ops.Window | ops.KeyedRows):
        return True
    if isinstance(operator, ops.Cep):
        return not operator.event_time
    if "on_timer" in getattr(operator.function, "__dict__", {}):
        return True
    classes = [cls for cls in type(operator.function).__mro__ if not cls.__module__.startswith("scurry.datastream.")]
    return any("on_timer" in vars(cls) for cls in classes)


def _reachable(sinks: list[OperatorNode]) -> list[Node]:
    """Return all nodes that lead to the sinks, producers before consumers, in the order the program built them."""
    seen: dict[int, Node] = {}
    todo: list[Node] = list(sinks)
    while todo:
        node = todo.pop()
        if node.id not in seen:
            seen[node.id] = node
            todo.extend(node.inputs)
    return [seen[number] for number in sorted(seen)]
