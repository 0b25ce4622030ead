"""Schemas and descriptions of tables: their texts and refusals are those of PyFlink 2.3."""

from __future__ import annotations

from pathlib import Path

import pytest

from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.table import DataTypes, EnvironmentSettings, FormatDescriptor, Schema, TableDescriptor, TableEnvironment
from scurry.table.expressions import call_sql, col, if_then_else

BUILDER = Schema.new_builder


def test_a_schema_shows_types_as_they_were_given_and_all_kinds_of_columns() -> None:
    schema = (
        BUILDER()
        .column("a", "INT NOT NULL")
        .column("b", DataTypes.STRING())
        .column_by_expression("c", "a + 1")
        .column_by_metadata("m", DataTypes.INT(), "k", True)
        .column("ts", "TIMESTAMP(3)")
        .watermark("ts", "ts - INTERVAL '1' SECOND")
        .primary_key("a")
        .build()
    )
    assert str(schema) == (
        "(\n  `a` [INT NOT NULL],\n  `b` STRING,\n  `c` AS [a + 1],\n  `m` INT METADATA FROM 'k' VIRTUAL,\n"
        "  `ts` [TIMESTAMP(3)],\n  WATERMARK FOR `ts` AS [ts - INTERVAL '1' SECOND],\n"
        "  CONSTRAINT `PK_a` PRIMARY KEY (`a`) NOT ENFORCED\n)"
    )
    copy = BUILDER().from_schema(schema).build()
    assert copy == schema and hash(copy) == hash(schema) and copy != BUILDER().build()


def test_a_schema_is_made_of_names_and_types() -> None:
    schema = BUILDER().from_fields(["x", "y"], [DataTypes.INT(), DataTypes.STRING()]).build()
    assert str(schema) == "(\n  `x` INT,\n  `y` STRING\n)"
    with pytest.raises(ArgumentError, match="must have the same length"):
        BUILDER().from_fields(["x"], [DataTypes.INT(), DataTypes.STRING()])


def test_a_schema_is_made_of_a_row() -> None:
    row = DataTypes.ROW([DataTypes.FIELD("q", DataTypes.BIGINT())])
    assert str(BUILDER().from_row_data_type(row).build()) == "(\n  `q` BIGINT\n)"
    with pytest.raises(ArgumentTypeError, match="Data type of ROW expected"):
        BUILDER().from_row_data_type(DataTypes.INT())


def test_a_primary_key_may_have_a_name_and_needs_a_column() -> None:
    builder = BUILDER().column("a", DataTypes.INT(False))
    assert "CONSTRAINT `k` PRIMARY KEY (`a`)" in str(builder.primary_key_named("k", "a").build())
    with pytest.raises(ArgumentError, match="at least a single column"):
        BUILDER().primary_key()


def test_a_format_has_options_without_its_prefix() -> None:
    made = FormatDescriptor.for_format("json").option("ignore-parse-errors", "true").build()
    assert made.get_format() == "json" and made.get_options() == {"ignore-parse-errors": "true"}
    assert str(made) == "json[{ignore-parse-errors=true}]"


def test_a_description_of_a_table_shows_what_create_table_would_have() -> None:
    made = (
        TableDescriptor.for_connector("filesystem")
        .schema(BUILDER().column("a", DataTypes.INT()).column("p", DataTypes.STRING()).build())
        .format(FormatDescriptor.for_format("json").option("ignore-parse-errors", "true").build())
        .option("path", "/x")
        .comment("it's")
        .partitioned_by("p")
        .build()
    )
    options = {"path": "/x", "connector": "filesystem", "json.ignore-parse-errors": "true", "format": "json"}
    assert made.get_options() == options
    assert made.get_partition_keys() == ["p"] and made.get_comment() == "it's"
    written = ",\n".join(f"  '{key}' = '{value}'" for key, value in options.items())
    assert str(made) == (f"(\n  `a` INT,\n  `p` STRING\n)\nCOMMENT 'it's'\nPARTITIONED BY (`p`)\nWITH (\n{written}\n)")


def test_a_format_may_be_only_a_name() -> None:
    made = TableDescriptor.for_connector("filesystem").format("csv").build()
    assert made.get_options() == {"connector": "filesystem", "format": "csv"}


def test_expressions_of_a_schema_are_kept_as_sql(tmp_path: Path) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("scurry.runner", "local")
    (tmp_path / "t.csv").write_text("3,x\n,y\n")
    schema = (
        Schema.new_builder()
        .column("a", DataTypes.INT())
        .column("s", DataTypes.STRING())
        .column_by_expression("b", (col("a") + 1) * 2)
        .column_by_expression("c", if_then_else(col("a").is_null, "none", col("s").upper_case))
        .column_by_expression("d", col("a").cast(DataTypes.STRING()))
        .build()
    )
    descriptor = TableDescriptor.for_connector("filesystem").schema(schema).option("path", str(tmp_path))
    env.create_temporary_table("t", descriptor.format("csv").option("csv.null-literal", "").build())
    with env.from_path("t").execute().collect() as rows:
        assert [tuple(row) for row in rows] == [(3, "x", 8, "X", "3"), (None, "y", None, "none", None)]


def test_texts_and_expressions_are_shown_as_recorded_from_flink() -> None:
    schema = (
        Schema.new_builder()
        .column("id", DataTypes.INT().not_null())
        .column("name", "STRING")
        .column_by_expression("up", "UPPER(name)")
        .column_by_expression("p", col("id") + 1)
        .column_by_metadata("m", DataTypes.TIMESTAMP_LTZ(3), "timestamp", True)
        .column_by_expression("ts", call_sql("TO_TIMESTAMP(name)"))
        .watermark("ts", "ts - INTERVAL '5' SECOND")
        .primary_key("id")
        .build()
    )
    assert str(schema).splitlines() == [
        "(",
        "  `id` INT NOT NULL,",
        "  `name` [STRING],",
        "  `up` AS [UPPER(name)],",
        "  `p` AS plus(id, 1),",
        "  `m` TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL,",
        "  `ts` AS [TO_TIMESTAMP(name)],",
        "  WATERMARK FOR `ts` AS [ts - INTERVAL '5' SECOND],",
        "  CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED",
        ")",
    ]


def test_options_are_in_the_order_recorded_from_flink() -> None:
    builder = TableDescriptor.for_connector("datagen").option("number-of-rows", "5")
    made = builder.option("fields.id.kind", "sequence").format("json").build()
    assert list(made.get_options()) == ["number-of-rows", "connector", "format", "fields.id.kind"]
