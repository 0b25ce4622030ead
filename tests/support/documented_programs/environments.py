# mypy: disable-error-code="misc, untyped-decorator"
"""Pages on pandas, catalogs and settings."""

from __future__ import annotations

from typing import Any

from support.documented_programs.registry import Tables, program


@program("conversion_of_pandas: the ways to say names and types", "batch")
def _(d: Tables) -> Any:
    import pandas as pd
    from pyflink.table import DataTypes

    frame = pd.DataFrame([[0.25, 0.5], [0.75, 1.0]])
    fields = [DataTypes.FIELD("f0", DataTypes.DOUBLE()), DataTypes.FIELD("f1", DataTypes.DOUBLE())]
    schemas = [None, ["x", "y"], [DataTypes.DOUBLE(), DataTypes.DOUBLE()], DataTypes.ROW(fields)]
    tables = [d.t_env.from_pandas(frame, schema) for schema in schemas]
    return [f"{table.get_schema().get_field_names()} {table.to_pandas().to_numpy().tolist()}" for table in tables]


@program("conversion_of_pandas: a limited DataFrame", "batch")
def _(d: Tables) -> Any:
    import pandas as pd
    from pyflink.table.expressions import col

    frame = pd.DataFrame([[0.25, 0.5], [0.75, 1.0], [0.9, 2.0]])
    table = d.t_env.from_pandas(frame, ["a", "b"]).filter(col("a") > 0.5)
    return [str(table.limit(100).to_pandas().to_numpy().tolist()), str(len(table.limit(1).to_pandas()))]


@program("catalogs: databases, tables and views", "batch")
def _(d: Tables) -> Any:
    from pyflink.table import DataTypes, Schema, TableDescriptor, TableSchema
    from pyflink.table.catalog import CatalogBaseTable, CatalogDatabase, ObjectPath

    catalog = d.t_env.get_catalog("default_catalog")
    catalog.create_database("mydb", CatalogDatabase.create_instance({"k1": "v1"}), False)
    schema = Schema.new_builder().column("name", DataTypes.STRING()).column("age", DataTypes.INT()).build()
    descriptor = TableDescriptor.for_connector("datagen").option("number-of-rows", "1").schema(schema).build()
    d.t_env.create_table("mydb.mytable", descriptor)
    columns = TableSchema.builder().field("name", DataTypes.STRING()).build()
    kept = CatalogBaseTable.create_table(columns, [], {"connector": "datagen"}, "my comment")
    path = ObjectPath("mydb", "mytable2")
    catalog.create_table(path, kept, False)
    lines = [catalog.list_databases(), catalog.list_tables("mydb"), catalog.get_table(path).get_comment()]
    catalog.rename_table(path, "my_new_table", False)
    catalog.drop_table(ObjectPath("mydb", "mytable"), False)
    lines += [catalog.list_tables("mydb"), catalog.table_exists(path), catalog.list_views("mydb")]
    catalog.alter_database("mydb", CatalogDatabase.create_instance({"k2": "v2"}), False)
    lines += [catalog.get_database("mydb").get_properties(), catalog.database_exists("mydb")]
    d.t_env.use_database("mydb")
    return [*map(str, lines), d.t_env.get_current_database()]


@program("catalogs: partitions", "batch")
def _(d: Tables) -> Any:
    from pyflink.table.catalog import CatalogPartition, CatalogPartitionSpec, ObjectPath

    d.t_env.execute_sql(
        "CREATE TABLE mytable (`first` INT, `second` STRING, third STRING) PARTITIONED BY (third, `second`) "
        f"WITH ('connector' = 'filesystem', 'path' = '{d.directory}', 'format' = 'csv')"
    )
    catalog, path = d.t_env.get_catalog("default_catalog"), ObjectPath("default_database", "mytable")
    spec = CatalogPartitionSpec({"third": "2010", "second": "bob"})
    catalog.create_partition(path, spec, CatalogPartition.create_instance({}, "my partition"), False)
    catalog.alter_partition(path, spec, CatalogPartition.create_instance({"k": "v"}, "my partition"), False)
    lines = [catalog.get_partition(path, spec).get_properties(), catalog.partition_exists(path, spec)]
    lines += [len(catalog.list_partitions(path)), len(catalog.list_partitions(path, spec))]
    catalog.drop_partition(path, spec, False)
    return [*map(str, lines), str(catalog.list_partitions(path))]


@program("catalogs: functions", "batch")
def _(d: Tables) -> Any:
    from pyflink.table.catalog import CatalogFunction, ObjectPath

    catalog, path = d.t_env.get_catalog("default_catalog"), ObjectPath("default_database", "myfunc")
    catalog.create_function(path, CatalogFunction.create_instance(class_name="my.python.udf"), False)
    catalog.alter_function(path, CatalogFunction.create_instance(class_name="my.python.other"), False)
    lines = [catalog.get_function(path).get_class_name(), catalog.function_exists(path)]
    lines.append(catalog.list_functions("default_database"))
    catalog.drop_function(path, False)
    return [*map(str, lines), str(catalog.function_exists(path))]


@program("table_environment: settings", "streaming")
def _(d: Tables) -> Any:
    from pyflink.table import EnvironmentSettings, StreamTableEnvironment, TableEnvironment

    config = d.t_env.get_config()
    config.set("state.backend.type", "rocksdb").set("execution.checkpointing.interval", "3min")
    config.set("python.fn-execution.bundle.size", "1000")
    lines = [config.get("state.backend.type", ""), config.get("python.fn-execution.bundle.size", "")]
    made = TableEnvironment.create(EnvironmentSettings.new_instance().in_batch_mode().build())
    assert not isinstance(made, StreamTableEnvironment)
    return [*lines, *made.list_catalogs(), *made.list_databases()]
