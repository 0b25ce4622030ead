"""Which cached streams a job reads, and which it fills."""

from __future__ import annotations

from scurry.connectors.cache import CacheSink
from scurry.graph import operators as ops
from scurry.graph.nodes import CacheNode, Node, OperatorNode

__all__ = ["resolve_caches"]


def resolve_caches(ends: list[OperatorNode], mode: str) -> list[OperatorNode]:
    """Make each cached stream that leads to the ends of a job what it is in this job.

    In BATCH, a stream that is in its cache is read from there, and others are computed and written there. In STREAMING
    all are computed.

    Returns:
        The sinks that write.
    """
    sinks: list[OperatorNode] = []
    seen: set[int] = set()
    todo: list[Node] = list(ends)
    while todo:
        node = todo.pop()
        if node.id in seen:
            continue
        seen.add(node.id)
        if isinstance(node, CacheNode):
            filled = mode == "BATCH" and node.records.parts is not None
            node.inputs = (node.stored if filled else node.computed,)
            if mode == "BATCH" and not filled:
                sink = ops.Sink(CacheSink(node.records))
                sinks.append(
                    OperatorNode(inputs=(node,), name=node.name, output_type=node.output_type, operator=sink,
                                 origin=node.origin)
                )  # fmt: skip
        todo.extend(node.inputs)
    return sinks
