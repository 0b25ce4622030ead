# mypy: disable-error-code="misc, untyped-decorator"
"""dev/python/table/intro_to_table_api."""

from __future__ import annotations

from typing import Any

from support.documented_programs.registry import Tables, program


@program("intro_to_table_api: tables of lists and their types", "batch")
def _(d: Tables) -> Any:
    from pyflink.table import DataTypes

    own = d.t_env.from_elements([(1, "Hi"), (2, "Hello")], ["id", "data"])
    fields = [DataTypes.FIELD("id", DataTypes.TINYINT()), DataTypes.FIELD("data", DataTypes.STRING())]
    declared = d.t_env.from_elements([(1, "Hi"), (2, "Hello")], DataTypes.ROW(fields))
    lines = [str(table.to_pandas()["id"].dtype) for table in (own, declared)]
    return [*lines, str(d.t_env.from_elements([(1, "Hi")]).to_pandas().columns.to_list())]


@program("intro_to_table_api: a connector and a view", "streaming")
def _(d: Tables) -> Any:
    d.t_env.execute_sql(
        "CREATE TABLE numbers (id BIGINT, data TINYINT) WITH ('connector' = 'datagen', 'fields.id.kind' = 'sequence', "
        "'fields.id.start' = '1', 'fields.id.end' = '3', 'fields.data.kind' = 'sequence', 'fields.data.start' = '4', "
        "'fields.data.end' = '6')"
    )
    d.t_env.create_temporary_view("source_table", d.t_env.from_path("numbers"))
    table = d.t_env.from_path("source_table")
    return table.select(table.id + 1, table.data)


@program("intro_to_table_api: a query of columns that are attributes")
def _(d: Tables) -> Any:
    orders = d.t_env.from_elements([("Jack", "FRANCE", 10), ("Jack", "FRANCE", 20)], ["name", "country", "revenue"])
    french = orders.select(orders.name, orders.country, orders.revenue).where(orders.country == "FRANCE")
    return french.group_by(orders.name).select(orders.name, orders.revenue.sum.alias("rev_sum"))


@program("intro_to_table_api: Map with pandas")
def _(d: Tables) -> Any:
    import pandas as pd
    from pyflink.table import DataTypes
    from pyflink.table.udf import udf

    orders = d.t_env.from_elements([("Jack", "FRANCE", 10), ("Rose", "ENGLAND", 30)], ["name", "country", "revenue"])
    fields = [DataTypes.FIELD("name", DataTypes.STRING()), DataTypes.FIELD("revenue", DataTypes.BIGINT())]

    def tenfold(frame: Any) -> Any:
        return pd.concat([frame.name, frame.revenue * 10], axis=1)

    function = udf(tenfold, result_type=DataTypes.ROW(fields), func_type="pandas")
    return orders.map(function).alias("name", "revenue")


@program("intro_to_table_api: a changelog of SQL", "streaming")
def _(d: Tables) -> Any:
    return d.t_env.sql_query("SELECT a, SUM(b) AS b FROM (SELECT a, b / 2 AS b FROM Orders) WHERE b > 1 GROUP BY a")


@program("intro_to_table_api: tables in SQL, and collect")
def _(d: Tables) -> Any:
    source = d.t_env.from_elements([(1, "Hi", "Hello"), (2, "Hello", "Hello")], ["a", "b", "c"])
    with d.t_env.execute_sql(f"SELECT a + 1, b, c FROM {source}").collect() as results:
        return [str(result) for result in results]


@program("intro_to_table_api: Emit Results to Multiple Sink Tables", "batch")
def _(d: Tables) -> Any:
    for name in ("first", "second"):
        d.t_env.execute_sql(
            f"CREATE TABLE {name}_sink (id BIGINT, data STRING) "
            f"WITH ('connector' = 'filesystem', 'path' = '{d.directory}/{name}', 'format' = 'csv')"
        )
    table = d.t_env.from_elements([(1, "Hi"), (2, "Hello")], ["id", "data"])
    d.t_env.create_temporary_view("simple_source", table)
    statements = d.t_env.create_statement_set()
    statements.add_insert("first_sink", table)
    statements.add_insert_sql("INSERT INTO second_sink SELECT * FROM simple_source")
    statements.execute().wait()
    return d.t_env.from_path("first_sink").union_all(d.t_env.from_path("second_sink"))


@program("intro_to_table_api: Explain Tables")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    one = d.t_env.from_path("Orders").select(col("b"), col("a"))
    text = one.where(col("a").like("J%")).union_all(one).explain()
    return [line for line in text.splitlines() if line.startswith("==")]
