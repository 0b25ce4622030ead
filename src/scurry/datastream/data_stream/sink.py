"""DataStreamSink: the end of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scurry.datastream.data_stream._settings import OperatorSettings

if TYPE_CHECKING:
    from scurry.datastream.stream_execution_environment import StreamExecutionEnvironment
    from scurry.graph.nodes import OperatorNode

__all__ = ["DataStreamSink"]


class DataStreamSink(OperatorSettings):
    """A sink of the job being built, which can be named and configured."""

    def __init__(self, env: StreamExecutionEnvironment, node: OperatorNode) -> None:
        """Wrap a sink node; programs get sinks from `sink_to`, `add_sink` and `print`."""
        self._env = env
        self._node = node
