"""A table function that returns a ROW has columns f0, f1 ..., unless the call names them; an aggregate keeps names."""
# parallelism: 1
# modes: streaming batch

from __future__ import annotations

from pyflink.common import Row
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import DataTypes, StreamTableEnvironment
from pyflink.table.expressions import col
from pyflink.table.udf import udf, udtf

t_env = StreamTableEnvironment.create(StreamExecutionEnvironment.get_execution_environment())
fields = [DataTypes.FIELD("p", DataTypes.BIGINT()), DataTypes.FIELD("q", DataTypes.STRING())]
as_row = udtf(lambda i: [Row(i, "n")], result_types=DataTypes.ROW(fields))
as_text = udtf(lambda i: [Row(i, "n")], result_types="ROW<p BIGINT, q STRING>")
as_list = udtf(lambda i: [Row(i, "n")], result_types=[DataTypes.BIGINT(), DataTypes.STRING()])
mapped = udf(lambda i: Row(i, "n"), result_type=DataTypes.ROW(fields))
numbers = t_env.from_elements([(1,), (2,)], ["i"])
for table in (
    numbers.join_lateral(as_row(col("i"))),
    numbers.left_outer_join_lateral(as_row(col("i")).alias("x", "y")),
    numbers.join_lateral(as_text(col("i"))),
    numbers.join_lateral(as_list(col("i"))),
    numbers.flat_map(as_row(col("i"))),
    numbers.map(mapped(col("i"))),
):
    print(table.get_schema().get_field_names())
t_env.create_temporary_function("as_row", as_row)
t_env.create_temporary_view("numbers", numbers)
for columns in ("i, f0, f1", "*"):
    print(t_env.sql_query(f"SELECT {columns} FROM numbers, LATERAL TABLE(as_row(i))").get_schema().get_field_names())
