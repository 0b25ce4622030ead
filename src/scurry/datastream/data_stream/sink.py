"""DataStreamSink: the end of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from scurry.datastream.data_stream._settings import NO_UID_HASH, check_parallelism, check_slot_sharing_group
from scurry.datastream.slot_sharing_group import SlotSharingGroup
from scurry.errors import UnsupportedError

if TYPE_CHECKING:
    from scurry.datastream.stream_execution_environment import StreamExecutionEnvironment
    from scurry.graph.nodes import OperatorNode

__all__ = ["DataStreamSink"]


class DataStreamSink:
    """A sink of the job being built; lets it be named and configured."""

    def __init__(self, env: StreamExecutionEnvironment, node: OperatorNode) -> None:
        """Wrap a sink node; programs get sinks from `sink_to`, `add_sink` and `print`."""
        self._env = env
        self._node = node

    def name(self, name: str) -> DataStreamSink:
        """Set the name shown in plans and metrics."""
        self._node.name = name
        return self

    def uid(self, uid: str) -> DataStreamSink:
        """Set the identity by which savepoints find the sink's state."""
        self._node.uid = uid
        return self

    def set_uid_hash(self, uid_hash: str) -> NoReturn:
        """Refuse the hash of a sink in a savepoint of Flink, which scurry does not read.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError(NO_UID_HASH)

    def set_parallelism(self, parallelism: int) -> DataStreamSink:
        """Set the number of subtasks that write.

        Raises:
            ArgumentError: It is less than 1.
        """
        self._node.parallelism = check_parallelism(self._node, parallelism)
        return self

    def set_description(self, description: str) -> DataStreamSink:
        """Describe the sink in more detail than its name does."""
        self._node.description = description
        return self

    def disable_chaining(self) -> DataStreamSink:
        """Accept where Flink would put thread boundaries; results are the same."""
        return self

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup) -> DataStreamSink:
        """Accept which operators Flink would put into the same slots; Spark schedules tasks by itself."""
        check_slot_sharing_group(slot_sharing_group)
        return self
