"""A statement set answers with a column for each table; a setting may default to None; intervals are whole numbers."""

# compare: ordered
# parallelism: 1
# modes: batch
from __future__ import annotations

from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import lit

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
for table in ("s", "t", "u"):
    t_env.execute_sql(f"CREATE TABLE {table} (a INT) WITH ('connector' = 'blackhole')")
for tables in ("s", "st", "ss", "sts", "sst", "ssttu", "usts"):
    statements = t_env.create_statement_set()
    for place, table in enumerate(tables):
        statements.add_insert(table, t_env.sql_query(f"SELECT {place}"))
    result = statements.execute()
    result.wait()
    names = result.get_table_schema().get_field_names()
    print([name.rsplit(".", 1)[1] for name in names], [tuple(row) for row in result.collect()])

config = t_env.get_config()
print(config.get("nope", None), config.get("pipeline.name", None), config.get_python_executable())
intervals = (lit(1.5).months, lit(-1.5).years, lit(2.9).hours, lit(-1.5).days, lit(1.999).seconds)
one = t_env.from_elements([(1,)], ["one_"])
one.select(*[interval.cast(DataTypes.STRING()) for interval in intervals]).execute().print()
