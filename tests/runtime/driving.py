"""An operator of a program, fed by hand: records and watermarks in, what reaches the program's sinks out.

All inputs of the operator come from one channel, so they are merged in exactly the order in which they are fed; state
is written back and read again between batches.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from scurry.common import Configuration
from scurry.common.watermark_strategy import WatermarkStrategy
from scurry.connectors.collect_sink import CollectSink
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.graph.plan import JobPlan
from scurry.runtime.exchange import edge_writer
from scurry.runtime.local.runner import plan_loader
from scurry.runtime.state.store import DictStore
from scurry.runtime.task import LevelTask
from scurry.runtime.wire import COMMIT, METRICS, WireRow, channel_id, unpack


class Record(NamedTuple):
    """A record for one of the operator's inputs."""

    value: Any
    timestamp: int
    input: int = 0


#: A record, or a watermark.
Step = Record | int


class Driven:
    """The one operator behind an exchange of a program.

    Args:
        build: Given the stream that feeds all inputs, returns the streams to be collected, by name.
    """

    def __init__(self, build: Callable[[DataStream], dict[str, DataStream]]) -> None:
        configuration = Configuration()
        configuration.set_string("scurry.runner", "local")
        configuration.set_string("execution.runtime-mode", "STREAMING")
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(1)
        env.set_max_parallelism(1)
        source = env.from_collection([None], type_info=None)
        # the watermarks are fed, too; the strategy tells the planner that there are going to be some
        outputs = build(source.assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps()))
        self.results: dict[str, list[Any]] = {name: [] for name in outputs}
        self.metrics: Counter[str] = Counter()
        for name, stream in outputs.items():
            stream._sink(CollectSink(self.results[name].extend), f"to {name}")
        self.plan: JobPlan = env._plan("driven")
        self.store, self._batch_id = DictStore(), 0
        self._sinks = {
            op.id: self.results[op.name.partition("to ")[2]] for op in self.plan.operators.values() if "to " in op.name
        }
        self._level = LevelTask(plan_loader(self.plan), 1)

    def batch(self, steps: list[Step]) -> None:
        """Processes a micro-batch."""
        (source,) = self.plan.sources.values()
        channel = channel_id(source.id, 0)
        edges = sorted(self.plan.edges.values(), key=lambda edge: edge.input_index)
        writers = [edge_writer(edge, self.plan.subtask_ids, channel, 0, source) for edge in edges]
        seq, rows = self._batch_id << 24, []
        for writer in writers:
            writer.point(seq, seq)
        for step in steps:
            seq += 1
            if isinstance(step, Record):
                writers[step.input].process([step.value], [step.timestamp])
            for writer in writers:
                if not isinstance(step, Record):
                    writer.watermark(step)
                rows += writer.flush(seq, seq)
                writer.point(seq, seq)
        rows += [row for writer in writers for row in writer.progress()]
        for row in self._level.process(0, rows, self.store, self._batch_id):
            self._take(row)
        self._batch_id += 1

    def pages(self) -> list[Any]:
        """The keys of what is left of keyed state."""
        return [key for key in self.store if key[1] != "meta"]

    def _take(self, row: WireRow) -> None:
        if row.kind == COMMIT:
            for block in unpack(row.block):
                self._sinks[row.port].extend(pickle.loads(block))
        elif row.kind == METRICS:
            for (_, metric), count in unpack(row.block):
                self.metrics[metric] += count
