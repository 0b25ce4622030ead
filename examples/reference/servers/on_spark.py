"""DataFrames of Spark, to and from streams, tables and savepoints. This needs Java: `scurry run on_spark.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import SparkSession

from scurry.common import Time, Types
from scurry.datastream import RuntimeContext, RuntimeExecutionMode, StreamExecutionEnvironment
from scurry.datastream.state import ValueStateDescriptor
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.state import KeyedStateReaderFunction, OperatorTransformation, SavepointReader, SavepointWriter
from scurry.table import EnvironmentSettings, TableEnvironment
from scurry.table.expressions import col

env = StreamExecutionEnvironment.get_execution_environment()
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
sold = str(Path("sales").absolute())  # Spark writes and reads it
env.from_collection([("tea", 3)], Types.TUPLE([Types.STRING(), Types.INT()])).to_spark(
    "parquet", {"path": sold}, ["item", "price"]
)
env.execute()

spark = SparkSession.builder.getOrCreate()
sales = spark.read.parquet(sold)
with env.from_spark(sales).map(lambda row: row.price).execute_and_collect() as prices:
    assert list(prices) == [3]

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
doubled = t_env.from_spark(sales).select(col("item"), (col("price") * 2).alias("price"))
assert doubled.to_spark().collect() == [("tea", 6)]

# Savepoints

count = ValueStateDescriptor("count", Types.LONG())
visits = OperatorTransformation.keyed_state([("ann", {"count": 3}), ("bob", {"count": 1})])
timed = OperatorTransformation.bootstrap_with([("tea", 1_000)]).assign_timestamps(lambda sale: sale[1])
windows = timed.key_by(lambda sale: sale[0]).window(TumblingEventTimeWindows.of(Time.seconds(10)))
directory = str(Path("savepoint").absolute())  # workers read it
writer = SavepointWriter.new_savepoint().with_operator("visits", visits)
writer.with_operator("sales", windows.reduce(lambda a, b: a)).write(directory)


class Counts(KeyedStateReaderFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(count)

    def read_key(self, key: str, ctx: KeyedStateReaderFunction.Context) -> Iterator[tuple[str, int]]:
        yield key, self.count.value() or 0


savepoint = SavepointReader.read(directory)
states = savepoint.keyed_state_frame(spark, "visits", "key STRING, count BIGINT", count)
assert states.where("count > 1").collect() == [("ann", 3)]
read = savepoint.read_keyed_state_frame(spark, "visits", Counts(), "key STRING, count BIGINT")
assert sorted(read.collect()) == [("ann", 3), ("bob", 1)]
contents = savepoint.window_state_frame(spark, "sales", "STRUCT<item: STRING, time: BIGINT>")
assert contents.count() == 1
timers = savepoint.timers_frame(spark, "sales")
assert [timer.time for timer in timers.collect()] == [9_999]
