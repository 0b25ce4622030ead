"""Decide which cached streams a job reads and which it fills."""

from __future__ import annotations

import sys

from scurry.common import config_options as options
from scurry.common.configuration import Configuration
from scurry.connectors.cache import CacheSink
from scurry.graph import operators as ops
from scurry.graph.nodes import CacheNode, Node, OperatorNode


def keeps_caches(mode: str, configuration: Configuration) -> bool:
    """Return whether a job uses caches: BATCH jobs do, STREAMING jobs compute all streams, as in Flink.

    PyFlink 2.3 loses track of its caches and computes a cached stream in every job. A program that imports `pyflink`
    may show how often that happens, so it behaves the same here unless a directory for caches is configured.
    """
    named = configuration.get(options.CACHE_DIR) is not None
    return mode == "BATCH" and (named or "pyflink" not in sys.modules)


def resolve_caches(ends: list[OperatorNode], keep: bool) -> list[OperatorNode]:
    """Replace each cached stream that leads to the sinks of a job by a read of its cache or by its computation.

    If caches are used, a stream that is in its cache is read from there; others are computed and written there.
    Otherwise all are computed.

    Returns:
        The sinks that write the caches.
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
            filled = keep and node.records.parts is not None
            node.inputs = (node.stored if filled else node.computed,)
            if keep and not filled:
                sink = ops.Sink(CacheSink(node.records))
                sinks.append(
                    OperatorNode(
                        inputs=(node,), name=node.name, output_type=node.output_type, operator=sink, origin=node.origin
                    )
                )
        todo.extend(node.inputs)
    return sinks
