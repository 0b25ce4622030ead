"""partition_custom with a KeySelector: where each record goes, and that it need not use every subtask."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import FlatMapFunction, KeySelector, Partitioner, StreamExecutionEnvironment


class ByLength(Partitioner):
    def partition(self, key, num_partitions):
        return min(key, num_partitions - 1)


class Length(KeySelector):
    def get_key(self, value):
        return len(value)


class Where(FlatMapFunction):
    def open(self, runtime_context):
        self.me = runtime_context.get_index_of_this_subtask()

    def flat_map(self, value):
        yield "%s in %d" % (value, self.me)


env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection(["", "a", "bb", "cc", "dddddd"], type_info=Types.STRING()).partition_custom(
    ByLength(), Length()
).flat_map(Where(), output_type=Types.STRING()).set_parallelism(3).print()
env.execute()
