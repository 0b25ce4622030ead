# timeout: 900
# modes: streaming batch
"""A declared schema chooses, orders, renames by expression, and computes the columns of a stream."""

from __future__ import annotations

import re

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import Schema, StreamTableEnvironment
from pyflink.table.expressions import col

env = StreamExecutionEnvironment.get_execution_environment()
t_env = StreamTableEnvironment.create(env)
t_env.get_config().set("table.local-time-zone", "UTC")
NAMED = Types.ROW_NAMED(["k", "v", "e"], [Types.STRING(), Types.INT(), Types.LONG()])
named = env.from_collection([Row("a", 1, 1000), Row("b", None, 2000)], type_info=NAMED)
tuples = env.from_collection(
    [("a", 1, 1000), ("b", 2, 2000)], type_info=Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
)
numbers = env.from_collection([5, 6], type_info=Types.LONG())


def new():
    return Schema.new_builder()


def show(name, stream, *arguments):
    table = t_env.from_data_stream(stream, *arguments)
    print(name, re.sub(r" AS \S.*?(?= \|--|$)", "", " ".join(str(table.get_schema()).split())))
    with table.execute().collect() as rows:
        for row in rows:
            print(name, row)


show("computed", named, new().column_by_expression("c", "v + 1").build())
show(
    "reordered",
    named,
    new().column("e", "BIGINT").column_by_expression("c", "UPPER(k)").column("k", "STRING").build(),
)
show("chosen", tuples, new().column("f2", "BIGINT").column("f0", "STRING").build())
show("atomic", numbers, new().column_by_expression("x", "f0 * 2").build())
show("retyped", numbers, new().column("f0", "BIGINT").build())
show("key", named, new().column("k", "STRING NOT NULL").column("v", "INT").primary_key("k").build())
show("by name", named, col("v"), col("k").alias("kk"))
show("by position", tuples, col("a"), col("b"), col("c"))
show("renamed row", named, col("a"), col("b"), col("c"))
show("renamed atomic", numbers, col("x"))
show("named fields of tuples", tuples, col("f2"), col("f0").alias("x"))
show("fewer", tuples, col("a"), col("b"))
t_env.create_temporary_view("v1", named, new().column("v", "INT").build())
t_env.create_temporary_view("v2", tuples, col("a"), col("b"), col("c"))
t_env.create_temporary_view("v3", numbers)
t_env.execute_sql("DESCRIBE v1").print()
with t_env.execute_sql("SELECT a, f0 FROM v2 JOIN v3 ON b = f0 - 4").collect() as rows:
    for row in rows:
        print("joined", row)
print(t_env.list_views(), t_env.list_temporary_views(), t_env.list_tables())


def refused(name, action):
    try:
        action()
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if not line.startswith("\tat ")]
        message = next((line for line in lines if "Exception: " in line), lines[0])
        print(name, "refused:", message.rpartition("Exception: ")[2])


refused("no field", lambda: t_env.from_data_stream(named, new().column("zz", "INT").build()))
refused("no atomic field", lambda: t_env.from_data_stream(numbers, new().column("x", "BIGINT").build()))
refused("nullable key", lambda: t_env.from_data_stream(named, new().column("k", "STRING").primary_key("k").build()))
refused("not expressions", lambda: t_env.from_data_stream(named, "k"))
refused("view twice", lambda: t_env.create_temporary_view("v1", named))
