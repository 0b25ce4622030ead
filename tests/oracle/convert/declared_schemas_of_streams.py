"""A schema that declares all columns in their order is that of the table, with key and watermark; others choose."""
# parallelism: 1

from __future__ import annotations

from pyflink.common import Row, RowKind, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import Schema, StreamTableEnvironment
from pyflink.table.changelog_mode import ChangelogMode

env = StreamExecutionEnvironment.get_execution_environment()
t_env = StreamTableEnvironment.create(env)
t_env.get_config().set("table.local-time-zone", "UTC")
kinds = Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()])
changes = env.from_collection(
    [
        Row.of_kind(RowKind.INSERT, "a", 1),
        Row.of_kind(RowKind.UPDATE_AFTER, "a", 5),
        Row.of_kind(RowKind.DELETE, "a", None),
        Row.of_kind(RowKind.INSERT, "b", 2),
    ],
    type_info=kinds,
)
keyed = Schema.new_builder().column("k", "STRING NOT NULL").column("v", "INT").primary_key("k").build()
turned = Schema.new_builder().column("v", "INT").column("k", "STRING NOT NULL").primary_key("k").build()
fewer = Schema.new_builder().column("k", "STRING NOT NULL").primary_key("k").build()
for schema in (keyed, turned, fewer):
    table = t_env.from_changelog_stream(changes, schema, ChangelogMode.upsert())
    table.print_schema()
    table.execute().print()

events = env.from_collection([("a", 1000), ("b", 2500)], type_info=Types.TUPLE([Types.STRING(), Types.LONG()]))
timed = (
    Schema.new_builder()
    .column("f0", "STRING")
    .column("f1", "BIGINT")
    .column_by_expression("at", "TO_TIMESTAMP_LTZ(f1, 3)")
    .watermark("at", "`at` - INTERVAL '1' SECOND")
    .build()
)
table = t_env.from_data_stream(events, timed)
print(table.get_schema().get_field_names(), "WATERMARK FOR `at`" in str(table.get_resolved_schema()))
table.execute().print()
