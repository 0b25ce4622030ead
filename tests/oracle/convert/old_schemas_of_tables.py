# compare: ordered
# parallelism: 1
"""Old schemas of tables print watermarks and keys, and know what columns are computed."""

from __future__ import annotations

from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import DataTypes, Schema, StreamTableEnvironment
from pyflink.table.expressions import col

env = StreamExecutionEnvironment.get_execution_environment()
tables = StreamTableEnvironment.create(env)
tables.execute_sql("""
    CREATE TABLE visits (
        `id` INT NOT NULL,
        `the page` STRING,
        twice AS id * 2,
        `offset` BIGINT METADATA VIRTUAL,
        moment TIMESTAMP(3) METADATA FROM 'timestamp',
        WATERMARK FOR moment AS moment - INTERVAL '1' SECOND,
        CONSTRAINT unique_visit PRIMARY KEY (id, `the page`) NOT ENFORCED
    ) WITH ('connector' = 'kafka', 'topic' = 'visits', 'properties.bootstrap.servers' = 'nowhere:9', 'format' = 'json')
""")
visits = tables.from_path("visits")
plain = tables.from_elements([(1, "a")], ["id", "name"])
changed = tables.from_changelog_stream(
    tables.to_changelog_stream(plain),
    Schema.new_builder().column("id", DataTypes.BIGINT().not_null()).column("name", "STRING").primary_key("id").build(),
)
rowtimes = visits.select(col("moment"), col("twice"))
for table in (visits, plain, changed, rowtimes, visits.where(col("id") > 1)):
    print(table.get_schema())
print(visits.get_schema() == visits.get_schema(), visits.get_schema().copy() == visits.get_schema())
names = visits.get_schema().get_field_names()
print(visits.get_schema().copy())
print(names, visits.get_schema().to_row_data_type())
print(changed.get_schema() == plain.get_schema())
visits.where(col("id") > 1).print_schema()
visits.order_by(col("moment")).fetch(3).print_schema()
visits.distinct().print_schema()
visits.group_by(col("id")).select(col("id"), col("twice").sum).print_schema()
visits.union_all(visits).print_schema()
visits.rename_columns(col("id").alias("key")).print_schema()
visits.drop_columns(col("twice")).print_schema()
visits.add_columns(col("id").alias("again")).print_schema()
visits.alias("a", "b", "c", "d", "e").print_schema()
tables.create_temporary_view("chosen", visits.where(col("id") > 1))
tables.from_path("chosen").print_schema()
tables.execute_sql("DESCRIBE chosen").print()
print(tables.execute_sql("DESCRIBE chosen").get_table_schema())
