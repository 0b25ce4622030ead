"""Declare side outputs for records that operators and sources fail on."""

from __future__ import annotations

from scurry.datastream.output_tag import OutputTag
from scurry.errors import ArgumentError, ArgumentTypeError, TopologyError, UnsupportedError
from scurry.graph import operators as ops
from scurry.graph.nodes import Node, OperatorNode, SourceNode

#: Operators that call a function for one record at a time and emit its results.
_PER_RECORD = (
    ops.Map,
    ops.FlatMap,
    ops.Filter,
    ops.Process,
    ops.CoMap,
    ops.CoFlatMap,
    ops.CoProcess,
    ops.KeyedProcess,
    ops.KeyedCoProcess,
    ops.BroadcastProcess,
    ops.KeyedBroadcastProcess,
)

_INSTEAD = {
    ops.AsyncWait: "catch exceptions in async_invoke(...) and return results that describe them",
    ops.AssignTimestamps: "check the records in a map(...).with_dead_letters(...) before it",
}


def declare_dead_letters(node: Node, output_tag: OutputTag) -> None:
    """Add a side output: to an operator for records its function fails on, or to a source for malformed input.

    Raises:
        UnsupportedError: The operator does not call a function for one record at a time.
        TopologyError: The node is neither an operator nor a source that can read past malformed records.
        ArgumentError: The tag has a type.
    """
    if not isinstance(output_tag, OutputTag):
        raise ArgumentTypeError(f"expected an OutputTag, got {output_tag!r}")
    if output_tag.declared is not None:
        raise ArgumentError(
            f"dead letters are DeadLetter objects, not {output_tag.declared}: give OutputTag({output_tag.tag_id!r}) "
            "no type, and map the side output to what you need"
        )
    if isinstance(node, SourceNode) and node.source.meets_malformed_records:
        node.dead_letters = output_tag
        return
    if not isinstance(node, OperatorNode):
        raise TopologyError(
            f"{node.name or 'this stream'} has no function that could fail on a record: call with_dead_letters on the "
            "stream that map(...), flat_map(...), filter(...) or process(...) returned, or on that of a FileSource "
            "or KafkaSource"
        )
    if not isinstance(node.operator, _PER_RECORD):
        instead = _INSTEAD.get(
            type(node.operator),
            "its results come from many records. Check the records in a map(...).with_dead_letters(...) before it",
        )
        raise UnsupportedError(f"{node.name} ({node.origin}) cannot have dead letters: {instead}")
    node.dead_letters = output_tag
