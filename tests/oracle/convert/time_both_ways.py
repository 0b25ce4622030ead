# timeout: 900
"""Timestamps and watermarks of streams become rowtimes of tables and come back; late rows are dropped by windows."""

from __future__ import annotations

import re

from pyflink.common import Row, Types, WatermarkStrategy
from pyflink.common.time import Time
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows
from pyflink.table import Schema, StreamTableEnvironment
from pyflink.table.expressions import col

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
t_env = StreamTableEnvironment.create(env)
t_env.get_config().set("table.local-time-zone", "UTC")
TYPE = Types.ROW_NAMED(["k", "v", "e"], [Types.STRING(), Types.INT(), Types.LONG()])
rows = env.from_collection([Row("a", 1, 1000), Row("b", 2, 5000), Row("a", 4, 3000), Row("c", 8, 19000)], TYPE)


class Event(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Times(ProcessFunction):
    def process_element(self, value, ctx):
        yield f"{value} at {ctx.timestamp()}"


timed = rows.assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Event())
)


def new():
    return Schema.new_builder()


def show(name, stream):
    with stream.process(Times(), output_type=Types.STRING()).execute_and_collect() as records:
        for record in records:
            print(name, record)


of_stream = new().column_by_metadata("rt", "TIMESTAMP_LTZ(3)", "rowtime").watermark("rt", "SOURCE_WATERMARK()").build()
own = new().column_by_expression("rt", "TO_TIMESTAMP_LTZ(e, 3)").watermark("rt", "rt - INTERVAL '3' SECOND").build()
plain = new().column_by_metadata("rt", "TIMESTAMP(3)", "rowtime").watermark("rt", "SOURCE_WATERMARK()").build()
show("of the stream", t_env.to_data_stream(t_env.from_data_stream(timed, of_stream)))
show("own", t_env.to_data_stream(t_env.from_data_stream(rows, own)))
show("without zone", t_env.to_data_stream(t_env.from_data_stream(timed, plain)))
show("not changed", t_env.to_data_stream(t_env.from_data_stream(timed)))
as_time = new().column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)").build()
table = t_env.from_data_stream(timed, of_stream)
show("as timestamps", t_env.to_changelog_stream(table, as_time))
chosen = new().column("k", "STRING").column("v", "BIGINT").column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)").build()
show("declared", t_env.to_changelog_stream(table.select(col("k"), col("v"), col("rt")), chosen))

t_env.create_temporary_view("late", table)
windows = t_env.sql_query(
    "SELECT CAST(window_start AS STRING), SUM(v) AS s "
    "FROM TABLE(TUMBLE(TABLE late, DESCRIPTOR(rt), INTERVAL '2' SECOND)) "
    "GROUP BY window_start, window_end"
)
with windows.execute().collect() as found:
    for row in found:
        print("window", row)

back = t_env.to_data_stream(t_env.from_data_stream(rows, own))
sums = (
    back.map(lambda row: (row["k"], row["v"]), output_type=Types.TUPLE([Types.STRING(), Types.INT()]))
    .key_by(lambda pair: pair[0], key_type=Types.STRING())
    .window(TumblingEventTimeWindows.of(Time.seconds(10)))
    .reduce(lambda one, other: (one[0], one[1] + other[1]))
)
with sums.execute_and_collect() as found:
    for pair in found:
        print("window of the stream", pair)


def refused(name, action):
    try:
        action()
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if not line.startswith("\tat ")]
        message = next((line for line in lines if "Exception: " in line), lines[0])
        print(name, "refused:", re.sub(r"\$\d+", "", message.rpartition("Exception: ")[2]))


two = t_env.from_data_stream(rows, own).select(col("rt"), col("rt").alias("t2"))
refused("two rowtimes", lambda: t_env.to_data_stream(two))
