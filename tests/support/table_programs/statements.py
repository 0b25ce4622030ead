# mypy: disable-error-code="misc, untyped-decorator"
"""Views, insertions, sets of statements, explanations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyflink.table import DataTypes, ExplainDetail, FormatDescriptor, Schema, TableDescriptor
from pyflink.table.expressions import col, lit

from support.table_programs.registry import Tables, program


@program("a view of a view, used by both APIs")
def _(d: Tables) -> Any:
    d.env.create_temporary_view("paid", d.orders.select(col("who"), (col("price") * col("pieces")).alias("total")))
    d.env.execute_sql("CREATE TEMPORARY VIEW known AS SELECT who, total FROM paid WHERE who IS NOT NULL")
    return d.env.from_path("known").group_by(col("who")).select(col("who"), col("total").sum)


@program("a table is inserted through a description")
def _(d: Tables) -> Any:
    target = d.directory / "described"
    schema = Schema.new_builder().column("id", DataTypes.INT()).column("thing", DataTypes.STRING()).build()
    form = FormatDescriptor.for_format("csv").option("field-delimiter", ";").build()
    sink = TableDescriptor.for_connector("filesystem").schema(schema).option("path", str(target)).format(form).build()
    d.orders.select(col("id"), col("item")).execute_insert(sink).wait()
    return d.written(target)


@program("a set of statements writes tables that share a view")
def _(d: Tables) -> Any:
    one, two = d.sink("first_sink", "id INT, item STRING"), d.sink("second_sink", "who STRING, total DECIMAL(20, 2)")
    d.env.create_temporary_view("known", d.orders.where(col("who").is_not_null))
    statements = d.env.create_statement_set()
    statements.add_insert("first_sink", d.env.from_path("known").select(col("id"), col("item")))
    statements.add_insert_sql("INSERT INTO second_sink SELECT who, price * pieces FROM known WHERE pieces > 1")
    statements.add(d.orders.where(col("id") == 7).select(col("id") * 10, lit("extra")).insert_into("first_sink"))
    statements.execute().wait()
    return d.written(one) + d.written(two)


@program("an insertion overwrites what was there", "batch")
def _(d: Tables) -> Any:
    target = d.sink("kept", "id INT")
    d.orders.select(col("id")).execute_insert("kept").wait()
    d.orders.select(col("id")).where(col("id") < 3).execute_insert("kept", overwrite=True).wait()
    return d.written(target)


@program("a pipeline names its target and what it does")
def _(d: Tables) -> Any:
    d.sink("later", "id INT")
    pipeline = d.orders.select(col("id")).insert_into("later")
    text = pipeline.explain(ExplainDetail.CHANGELOG_MODE)
    return [
        pipeline.get_sink_identifier().as_summary_string(),
        "Sink(table=[default_catalog.default_database.later]" in text,
    ]


@program("tables keep their place in SQL after the program's variables change")
def _(d: Tables) -> Any:
    t = d.orders.select(col("id"), col("item"))
    text = f"SELECT item, COUNT(*) AS n FROM {t} GROUP BY item"
    t = t.where(col("id") > 100)
    return d.env.sql_query(text)


@program("a column computed by the schema of a description", final=True)
def _(d: Tables) -> Any:
    schema = (
        Schema.new_builder()
        .column("name", DataTypes.STRING())
        .column("country", DataTypes.STRING())
        .column("since", DataTypes.DATE())
        .column_by_expression("label", "UPPER(country) || '-' || name")
        .build()
    )
    made = TableDescriptor.for_connector("filesystem").schema(schema).option("path", str(d.directory / "users.csv"))
    d.env.create_temporary_table("labelled", made.format("csv").option("csv.null-literal", "").build())
    return d.env.from_path("labelled").select(col("label"), col("since"))


@program("a program catches mistakes where they are made")
def _(d: Tables) -> Any:
    builds: list[Callable[[], Any]] = [
        lambda: d.orders.select(col("prize")),
        lambda: d.orders.where(col("price")),
        lambda: d.orders.group_by(col("who")).select(col("item")),
        lambda: d.orders.add_columns(col("price")),
        lambda: d.orders.union_all(d.users),
        lambda: d.orders.join(d.orders, col("id") == col("id")),
        lambda: d.env.from_path("order"),
        lambda: d.env.sql_query("SELECT prize FROM orders"),
    ]
    found = []
    for build in builds:
        try:
            build()
        except Exception:
            found.append("refused")
        else:
            found.append("allowed")
    return found
