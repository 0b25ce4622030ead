"""Settings of single operators, and side outputs for the records that they fail on."""

from __future__ import annotations

from typing import NoReturn, Self

from scurry.common._api import ApiObject
from scurry.common.config_options import OPERATOR_CHAINING
from scurry.datastream.output_tag import OutputTag
from scurry.datastream.slot_sharing_group import SlotSharingGroup
from scurry.errors import ArgumentError, ArgumentTypeError, TopologyError, UnsupportedError
from scurry.graph import operators as ops
from scurry.graph.nodes import Node, OperatorNode, SourceNode

#: The most key groups a job can have, as in Flink.
MAX_KEY_GROUPS = 1 << 15


class OperatorSettings(ApiObject):
    """The settings that streams and sinks offer for the operator behind them."""

    _node: Node

    def name(self, name: str) -> Self:
        """Set the name shown in plans and metrics."""
        self._node.name = name
        return self

    def uid(self, uid: str) -> Self:
        """Set the identity by which savepoints find the operator's state, also in later versions of the program."""
        self._node.uid = uid
        return self

    def set_uid_hash(self, uid_hash: str) -> NoReturn:
        """Refuse the hash of an operator in a savepoint of Flink, which scurry does not read.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError(
            "scurry reads no savepoints of Flink, so operators have no hashes to set: call uid(...) instead"
        )

    def set_description(self, description: str) -> Self:
        """Describe the operator in more detail than its name does."""
        self._node.description = description
        return self

    def set_parallelism(self, parallelism: int) -> Self:
        """Set the number of subtasks of this operator.

        Raises:
            ArgumentError: It is less than 1, or the operator is not parallel.
            TopologyError: The stream is not an operator but, for example, the result of `union` or `rebalance`.
        """
        self._node.parallelism = check_parallelism(self._node, parallelism)
        return self

    def disable_chaining(self) -> Self:
        """Accept Flink's setting of thread boundaries; it has no effect here.

        Notes:
            Operators without an exchange between them always run in one task here; results are the same.
        """
        self._node.unused.add(f"disable_chaining ({OPERATOR_CHAINING.instead})")
        return self

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup) -> Self:
        """Accept which operators Flink puts into the same slots; here Spark schedules tasks.

        Raises:
            ArgumentTypeError: It is neither a group nor the name of one.
        """
        if not isinstance(slot_sharing_group, (str, SlotSharingGroup)):
            raise ArgumentTypeError(f"expected a SlotSharingGroup or the name of one, got {slot_sharing_group!r}")
        self._node.unused.add("slot_sharing_group (Spark schedules tasks: set spark.executor.* and spark.task.cpus)")
        return self


def check_parallelism(node: Node, parallelism: int) -> int:
    """Return the parallelism if the operator allows it.

    Raises:
        ArgumentError: It is less than 1, or more than the operator allows.
        TopologyError: The node is not an operator.
    """
    if not isinstance(node, (OperatorNode, SourceNode)):
        raise TopologyError(
            f"{node.name} has no parallelism of its own: call set_parallelism on the operator that follows it"
        )
    if not isinstance(parallelism, int) or parallelism < 1:
        raise ArgumentError(f"The parallelism of an operator must be at least 1, not {parallelism!r}")
    if parallelism > 1 and not _parallel(node):
        raise ArgumentError(f"The parallelism of non parallel operator must be 1, not {parallelism}: {node.name}")
    return parallelism


def check_max_parallelism(max_parallelism: int) -> int:
    """Return the maximum parallelism if it is valid.

    Raises:
        ArgumentError: It is not between 1 and 32768.
    """
    if not isinstance(max_parallelism, int) or not 1 <= max_parallelism <= MAX_KEY_GROUPS:
        raise ArgumentError(f"The maximum parallelism must be between 1 and {MAX_KEY_GROUPS}, not {max_parallelism!r}")
    return max_parallelism


def _parallel(node: Node) -> bool:
    if isinstance(node, SourceNode):
        from scurry.connectors.collection import CollectionSource

        if isinstance(node.source, CollectionSource):
            return False
    return node.max_parallelism != 1


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
