"""Checks of the settings of single operators."""

from __future__ import annotations

from scurry.datastream.slot_sharing_group import SlotSharingGroup
from scurry.errors import ArgumentError, ArgumentTypeError, TopologyError
from scurry.graph.nodes import Node, OperatorNode, SourceNode

__all__ = ["MAX_KEY_GROUPS", "NO_UID_HASH", "check_max_parallelism", "check_parallelism", "check_slot_sharing_group"]

NO_UID_HASH = "scurry reads no savepoints of Flink, so operators have no hashes to set: call uid(...) instead"

#: The most key groups a job can have, as in Flink.
MAX_KEY_GROUPS = 1 << 15


def check_parallelism(node: Node, parallelism: int) -> int:
    """Return the parallelism for an operator if it can have it.

    Raises:
        ArgumentError: It is less than 1, or more than the operator allows.
        TopologyError: The node is no operator.
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
    """Return the maximum parallelism if it is one.

    Raises:
        ArgumentError: It is not between 1 and 32768.
    """
    if not isinstance(max_parallelism, int) or not 1 <= max_parallelism <= MAX_KEY_GROUPS:
        raise ArgumentError(f"The maximum parallelism must be between 1 and {MAX_KEY_GROUPS}, not {max_parallelism!r}")
    return max_parallelism


def check_slot_sharing_group(slot_sharing_group: object) -> None:
    """Check that a group is one, or the name of one.

    Raises:
        ArgumentTypeError: It is neither.
    """
    if not isinstance(slot_sharing_group, (str, SlotSharingGroup)):
        raise ArgumentTypeError(f"expected a SlotSharingGroup or the name of one, got {slot_sharing_group!r}")


def _parallel(node: Node) -> bool:
    if isinstance(node, SourceNode):
        from scurry.connectors.collection import CollectionSource

        if isinstance(node.source, CollectionSource):
            return False
    return node.max_parallelism != 1
