# mypy: disable-error-code="misc, untyped-decorator"
"""dev/table/common, "Concepts & Common API"."""

from __future__ import annotations

from typing import Any

from support.documented_programs.registry import Tables, program


def customers(d: Tables) -> Any:
    rows = [(1, "Ann", "FRANCE", 10), (2, "Bob", "SPAIN", 5), (1, "Ann", "FRANCE", 7), (3, "Eve", "FRANCE", 1)]
    d.t_env.create_temporary_view("Customers", d.t_env.from_elements(rows, ["cID", "cName", "cCountry", "revenue"]))
    return d.t_env.from_path("Customers")


def words(t_env: Any, name: str, path: str) -> None:
    from pyflink.table import DataTypes, Schema, TableDescriptor

    schema = Schema.new_builder().column("count", DataTypes.INT()).column("word", DataTypes.STRING()).build()
    files = TableDescriptor.for_connector("filesystem").schema(schema).option("path", path).format("csv").build()
    t_env.create_temporary_table(name, files)


@program("common: Structure of Table API and SQL Programs")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    d.t_env.execute_sql(
        "CREATE TEMPORARY TABLE SourceTable (f0 STRING) "
        "WITH ('connector' = 'datagen', 'rows-per-second' = '100', 'number-of-rows' = '3')"
    )
    d.t_env.execute_sql(
        "CREATE TEMPORARY TABLE SinkTable WITH ('connector' = 'blackhole') LIKE SourceTable (EXCLUDING OPTIONS)"
    )
    first = d.t_env.from_path("SourceTable").select(col("f0"))
    second = d.t_env.sql_query("SELECT f0 FROM SourceTable")
    first.execute_insert("SinkTable").wait()
    return second.select(col("f0").char_length)


@program("common: Create a TableEnvironment", "streaming")
def _(_: Tables) -> Any:
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.table import EnvironmentSettings, StreamTableEnvironment, TableEnvironment

    settings = [EnvironmentSettings.in_streaming_mode(), EnvironmentSettings.in_batch_mode()]
    made = [TableEnvironment.create(each) for each in settings]
    made.append(StreamTableEnvironment.create(StreamExecutionEnvironment.get_execution_environment()))
    return [each.get_config().get("execution.runtime-mode", "") for each in made]


@program("common: Virtual Tables")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    d.t_env.create_temporary_view("projectedTable", d.orders.select(col("a"), col("b")))
    return d.t_env.from_path("projectedTable")


@program("common: Connector Tables", "streaming")
def _(d: Tables) -> Any:
    from pyflink.table import DataTypes, Schema, TableDescriptor

    schema = Schema.new_builder().column("f0", DataTypes.STRING()).build()
    source = TableDescriptor.for_connector("datagen").schema(schema).option("rows-per-second", "100").build()
    d.t_env.create_table("SourceTableA", source)
    d.t_env.create_temporary_table("SourceTableB", source)
    return [*d.t_env.list_tables(), *d.t_env.list_temporary_tables()]


@program("common: Expanding Table identifiers")
def _(d: Tables) -> Any:
    for catalog in ("custom_catalog", "other_catalog"):
        d.t_env.execute_sql(f"CREATE CATALOG {catalog} WITH ('type' = 'generic_in_memory')")
        for database in ("custom_database", "other_database"):
            d.t_env.execute_sql(f"CREATE DATABASE {catalog}.{database}")
    d.t_env.use_catalog("custom_catalog")
    d.t_env.use_database("custom_database")
    table = d.t_env.from_elements([(1,)], ["n"])
    for name in ("exampleView", "other_database.exampleView", "`example.View`"):
        d.t_env.create_temporary_view(name, table)
    d.t_env.create_temporary_view("other_catalog.other_database.exampleView", table)
    return d.t_env.sql_query(
        "SELECT * FROM exampleView UNION ALL SELECT n + 1 FROM `example.View` UNION ALL "
        "SELECT n + 2 FROM other_catalog.other_database.exampleView"
    )


@program("common: Query a Table with the Table API")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    french = customers(d).filter(col("cCountry") == "FRANCE").group_by(col("cID"), col("cName"))
    return french.select(col("cID"), col("cName"), col("revenue").sum.alias("revSum"))


@program("common: Query a Table with SQL, and insert the result")
def _(d: Tables) -> Any:
    customers(d)
    query = "SELECT cID, cName, SUM(revenue) AS revSum FROM Customers WHERE cCountry = 'FRANCE' GROUP BY cID, cName"
    d.t_env.execute_sql("CREATE TABLE RevenueFrance (a BIGINT, b STRING, c BIGINT) WITH ('connector' = 'blackhole')")
    d.t_env.execute_sql(f"INSERT INTO RevenueFrance {query}").wait()
    return d.t_env.sql_query(query)


@program("common: Emit a Table", "batch")
def _(d: Tables) -> Any:
    from pathlib import Path

    from pyflink.table import DataTypes, FormatDescriptor, Schema, TableDescriptor

    columns = Schema.new_builder().column("a", DataTypes.INT()).column("b", DataTypes.STRING())
    piped = FormatDescriptor.for_format("csv").option("field-delimiter", "|").build()
    path = f"{d.directory}/sink"
    files = TableDescriptor.for_connector("filesystem").schema(columns.column("c", DataTypes.BIGINT()).build())
    d.t_env.create_temporary_table("CsvSinkTable", files.option("path", path).format(piped).build())
    fields = [DataTypes.FIELD("a", DataTypes.INT()), DataTypes.FIELD("b", DataTypes.STRING())]
    kind = DataTypes.ROW([*fields, DataTypes.FIELD("c", DataTypes.BIGINT())])
    d.t_env.from_elements([(1, "x y", 2), (3, "a|b", 4)], kind).execute_insert("CsvSinkTable").wait()
    return sorted(line for file in Path(path).iterdir() for line in file.read_text().splitlines())


def written(text: str) -> list[str]:
    """Return the plan as it is written: scurry's files take no filters, and it shows no plan that is used twice."""
    return text.partition("== Optimized")[0].splitlines()


@program("common: Explaining a Table")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    for name in ("MyTable1", "MyTable2"):
        words(d.t_env, name, f"/nowhere/{name}")
    first = d.t_env.from_path("MyTable1").where(col("word").like("F%"))
    return written(first.union_all(d.t_env.from_path("MyTable2")).explain())


@program("common: Explaining several sinks")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    for name in ("MySource1", "MySource2", "MySink1", "MySink2"):
        words(d.t_env, name, f"/nowhere/{name}")
    statements = d.t_env.create_statement_set()
    first = d.t_env.from_path("MySource1").where(col("word").like("F%"))
    statements.add_insert("MySink1", first)
    statements.add_insert("MySink2", first.union_all(d.t_env.from_path("MySource2")))
    return written(statements.explain())
