"""Stages as nodes of a job graph."""

from __future__ import annotations

from typing import Any

from apache_beam.runners.portability.fn_api_runner.execution import ENCODED_IMPULSE_VALUE
from apache_beam.runners.portability.fn_api_runner.translations import IMPULSE_BUFFER

from scurry.beam.functions import METRICS, RunStage, tag_of
from scurry.beam.grouping import GroupInBatch, PartitionGroups
from scurry.beam.panes import GroupInStreams
from scurry.beam.stages import RESHUFFLE, Stage, Stages, components_of_stage
from scurry.beam.stateful import PartitionElements, RunStatefulStage
from scurry.beam.test_streams import test_stream
from scurry.connectors.collect_sink import CollectSink
from scurry.datastream import DataStream, OutputTag, ProcessFunction, StreamExecutionEnvironment
from scurry.graph import operators as ops
from scurry.graph.nodes import Node, OperatorNode, PartitionNode


class Translation:
    """Build the streams of a pipeline.

    Args:
        env: Where they are built.
        stages: The pipeline.
        streaming: Whether the job runs in STREAMING.
        measured: Takes what bundles have measured, on the driver: pairs of a stage and an encoded monitoring info.
    """

    def __init__(self, env: StreamExecutionEnvironment, stages: Stages, measured: Any, streaming: bool) -> None:
        self._env, self._stages, self._measured, self._streaming = env, stages, measured, streaming
        #: what writes each buffer
        self._written: dict[bytes, list[DataStream[Any]]] = {}
        self._read: dict[bytes, DataStream[Any]] = {}

    def build(self) -> None:
        """Build all stages, and the sink of their measurements."""
        for test in self._stages.tests:
            self._written.setdefault(test.buffer, []).append(test_stream(self._env, test))
        metrics = []
        for stage in self._stages.stages:
            results = self._stage(stage)
            for place, output in enumerate(stage.outputs):
                self._written.setdefault(output.buffer, []).append(results.get_side_output(tag_of(place)))
            metrics.append(results.get_side_output(METRICS))
        (metrics[0].union(*metrics[1:]) if len(metrics) > 1 else metrics[0])._sink(
            CollectSink(self._measured), "Metrics"
        )

    def _stage(self, stage: Stage) -> DataStream[Any]:
        source = self._input(stage)
        name = stage.name[:100]
        inputs: list[Node] = [source._node]
        if stage.side_inputs:
            sides = [
                self._buffer(side.buffer).map(_Numbered(place)).name(f"Side input {side.tag}")
                for place, side in enumerate(stage.side_inputs)
            ]
            broadcast = sides[0].union(*sides[1:]) if len(sides) > 1 else sides[0]
            inputs[0] = PartitionNode(inputs=(source._node,), name="Rebalance", partitioner=ops.Rebalance())
            inputs.append(PartitionNode(inputs=(broadcast._node,), name="Broadcast", partitioner=ops.Broadcast()))
        components = components_of_stage(stage)
        if not stage.stateful:
            kind = ops.BroadcastBundle if stage.side_inputs else ops.Bundle
            operator = kind(RunStage(stage, components))
            return self._env._stream(OperatorNode(inputs=tuple(inputs), name=name, operator=operator))
        partitioner = ops.HashRows(PartitionElements(components, stage.collection))
        inputs[0] = PartitionNode(inputs=(source._node,), name="Exchange", partitioner=partitioner)
        keyed = ops.KeyedRows(RunStatefulStage(stage, components, self._streaming))
        return self._env._stream(OperatorNode(inputs=tuple(inputs), name=name, operator=keyed)).process(_Tagged())

    def _input(self, stage: Stage) -> DataStream[Any]:
        if stage.buffer == IMPULSE_BUFFER:
            return self._env.from_collection([ENCODED_IMPULSE_VALUE]).name("Impulse")
        return self._buffer(stage.buffer)

    def _buffer(self, buffer: bytes) -> DataStream[Any]:
        """Return the elements of a buffer."""
        if buffer not in self._read:
            written = self._written.get(buffer, [])
            if not written:
                return self._env.from_collection([]).name("Nothing")
            stream = written[0].union(*written[1:]) if len(written) > 1 else written[0]
            if buffer in self._stages.groupings:
                stream = self._grouped(buffer, stream)
            elif buffer.startswith(RESHUFFLE.encode()):
                stream = stream.rebalance()
            self._read[buffer] = stream
        return self._read[buffer]

    def _grouped(self, buffer: bytes, stream: DataStream[Any]) -> DataStream[Any]:
        exchange = PartitionNode(inputs=(stream._node,), name="Exchange", partitioner=ops.HashRows(PartitionGroups()))
        name = buffer.partition(b":")[2].decode()[:100]
        operator = ops.KeyedRows((GroupInStreams if self._streaming else GroupInBatch)(self._stages.groupings[buffer]))
        return self._env._stream(OperatorNode(inputs=(exchange,), name=name, operator=operator))


class _Numbered:
    """Give the chunks of a side input its number."""

    def __init__(self, place: int) -> None:
        self._place = place

    def __call__(self, chunk: bytes) -> tuple[int, bytes]:
        return self._place, chunk


class _Tagged(ProcessFunction):
    """Send the results of a stage with state where their tags say."""

    def process_element(self, value: tuple[OutputTag, Any], ctx: Any) -> list[tuple[OutputTag, Any]]:
        """Return the result."""
        return [value]
