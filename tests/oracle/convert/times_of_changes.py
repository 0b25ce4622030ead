# timeout: 900
# parallelism: 1
"""Declared schemas of streams of changes: which column of a table becomes the timestamp, wherever it stands."""

from __future__ import annotations

import re

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessFunction, StreamExecutionEnvironment
from pyflink.table import DataTypes, Schema, StreamTableEnvironment


class FirstField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[0]


class Shown(ProcessFunction):
    def process_element(self, value, ctx):
        yield f"{value} at {ctx.timestamp()}"


env = StreamExecutionEnvironment.get_execution_environment()
t_env = StreamTableEnvironment.create(env)
events = env.from_collection(
    [(1, 10, "a"), (5, 20, "b")], Types.ROW_NAMED(["at", "n", "name"], [Types.LONG(), Types.INT(), Types.STRING()])
).assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(FirstField()))
TIME = DataTypes.TIMESTAMP_LTZ(3)
declared = Schema.new_builder().column_by_metadata("rowtime", TIME).watermark("rowtime", "SOURCE_WATERMARK()").build()
t_env.create_temporary_view("events", t_env.from_data_stream(events, declared))


def new():
    return Schema.new_builder()


SCHEMAS = {
    "nothing": None,
    "time only": new().column_by_metadata("rowtime", TIME).build(),
    "time of another name": new().column_by_metadata("t", TIME, "rowtime").build(),
    "computed": new().column_by_expression("upper", "UPPER(name)").build(),
    "time between": new()
    .column("name", DataTypes.STRING())
    .column_by_metadata("t", TIME, "rowtime")
    .column_by_expression("upper", "UPPER(name)")
    .column("n", DataTypes.INT())
    .build(),
    "time first": new()
    .column_by_metadata("rowtime", TIME)
    .column("s", DataTypes.STRING())
    .column("i", DataTypes.BIGINT())
    .build(),
    "virtual": new()
    .column_by_metadata("rowtime", TIME, is_virtual=True)
    .column("s", DataTypes.STRING())
    .column("i", DataTypes.INT())
    .build(),
}
for columns in ("name, rowtime, n", "rowtime, name, n", "name, n, rowtime", "name, n"):
    for name, schema in SCHEMAS.items():
        case = f"{columns} / {name}:"
        try:
            stream = t_env.to_changelog_stream(t_env.sql_query(f"SELECT {columns} FROM events"), schema)
            print(case, str(stream.get_type()).rpartition("(")[2])
            with stream.process(Shown(), Types.STRING()).execute_and_collect() as found:
                for record in found:
                    print(" ", record)
        except Exception as error:
            lines = [line.strip() for line in str(error).splitlines() if not line.startswith("\tat ")]
            message = next((line for line in lines if "Exception: " in line), lines[0])
            print(case, "refused:", re.sub(r"\$\d+", "", message.rpartition("Exception: ")[2]))
