# timeout: 900
# modes: streaming batch
"""Streams, tables and streams again are one job; insertions can be attached to it."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import DataTypes, Schema, StreamTableEnvironment, TableDescriptor
from pyflink.table.expressions import col
from pyflink.table.udf import udf

env = StreamExecutionEnvironment.get_execution_environment()
t_env = StreamTableEnvironment.create(env)
words = env.from_collection(["a b", "c", "a"], type_info=Types.STRING())
split = words.flat_map(lambda line: line.split(), output_type=Types.STRING())
table = t_env.from_data_stream(split).select(col("f0").upper_case.alias("word"))
lengths = t_env.to_data_stream(table).map(lambda row: len(row["word"]), output_type=Types.INT())
again = t_env.from_data_stream(lengths, Schema.new_builder().column("f0", DataTypes.INT()).build())
with again.select(col("f0").sum).execute().collect() as rows:
    print("sum", list(rows)[-1][0])


@udf(result_type=DataTypes.STRING())
def twice(text):
    return text + text


t_env.to_data_stream(table.select(twice(col("word")))).map(
    lambda row: "stream " + row[0], output_type=Types.STRING()
).print()
t_env.create_temporary_table(
    "sink",
    TableDescriptor.for_connector("print").schema(Schema.new_builder().column("a", DataTypes.STRING()).build()).build(),
)
statements = t_env.create_statement_set()
statements.add_insert("sink", table)
statements.attach_as_datastream()
env.execute("one job")
table.execute_insert("sink").wait()
