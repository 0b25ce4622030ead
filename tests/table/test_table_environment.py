"""TableEnvironment: Python values in and out, names, settings."""

from __future__ import annotations

import array
import datetime
from decimal import Decimal

import pytest

from scurry.common.configuration import Configuration
from scurry.common.time import Instant
from scurry.common.types import Row, RowKind
from scurry.errors import ArgumentError, ArgumentTypeError, TypeMismatchError, ValidationError
from scurry.table import (
    DataTypes,
    EnvironmentSettings,
    ExplainDetail,
    ResultKind,
    Schema,
    TableDescriptor,
    TableEnvironment,
)
from scurry.table.expressions import col, lit, null_of, row
from scurry.table.types import DataType
from scurry.table.udf import udf


@pytest.fixture
def env() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.get_config().set("table.local-time-zone", "UTC").set("scurry.runner", "local")
    return made


def only_row(env: TableEnvironment, query: str) -> Row:
    with env.execute_sql(query).collect() as rows:
        (row,) = rows
    return row


def test_rows_have_python_values(env: TableEnvironment) -> None:
    found = only_row(
        env,
        "SELECT 1, 'a', 1.50, DATE '2024-02-29', TIME '01:02:03', TIMESTAMP '2024-02-29 01:02:03.5', x'0102', "
        "ARRAY[1, 2], MAP['k', 1], ROW(1, 'x'), TRUE, CAST(NULL AS INT), CAST(TIMESTAMP '1970-01-01 00:00:01' AS "
        "TIMESTAMP_LTZ(3)), INTERVAL '1' DAY",
    )
    assert list(found) == [
        1,
        "a",
        Decimal("1.50"),
        datetime.date(2024, 2, 29),
        datetime.time(1, 2, 3),
        datetime.datetime(2024, 2, 29, 1, 2, 3, 500000),
        bytearray(b"\x01\x02"),
        [1, 2],
        {"k": 1},
        Row(1, "x"),
        True,
        None,
        Instant(1, 0),
        datetime.timedelta(days=1),
    ]
    assert found.get_row_kind() is RowKind.INSERT


def test_values_of_elements_come_back(env: TableEnvironment) -> None:
    values = (1, 1.5, "a", True, datetime.date(2020, 1, 2), Decimal("1.5"), [1, None], {"k": 2}, datetime.time(1, 2, 3))
    with env.from_elements([values]).execute().collect() as rows:
        assert [list(row) for row in rows] == [list(values)]


def test_types_of_elements_are_inferred_as_by_pyflink(env: TableEnvironment) -> None:
    schema = env.from_elements([(1, None), (2, "a")], ["k", "v"]).get_resolved_schema()
    assert str(schema) == "(\n  `k` BIGINT,\n  `v` STRING\n)"


def test_elements_follow_a_declared_type(env: TableEnvironment) -> None:
    row_type = DataTypes.ROW([DataTypes.FIELD("x", DataTypes.TINYINT()), DataTypes.FIELD("y", DataTypes.TIMESTAMP(3))])
    table = env.from_elements([Row(x=1, y=datetime.datetime(2020, 1, 1))], row_type)
    assert [str(kind) for kind in table.get_schema().get_field_data_types()] == ["TINYINT", "TIMESTAMP"]
    with pytest.raises(TypeMismatchError, match="field x: TINYINT can not accept object 300"):
        env.from_elements([(300, None)], row_type)


def test_elements_that_are_not_verified_are_made_to_fit_as_by_pyflink(env: TableEnvironment) -> None:
    row_type = DataTypes.ROW([DataTypes.FIELD("x", DataTypes.TINYINT()), DataTypes.FIELD("y", DataTypes.STRING())])
    elements = [(300, "a"), (1, 2), (1.0, True), ("x", 1.5), (None, None)]
    with env.from_elements(elements, row_type, verify_schema=False).execute().collect() as rows:
        assert [tuple(row) for row in rows] == [(44, "a"), (1, "2"), (None, "true"), (None, "1.5"), (None, None)]
    with pytest.raises(TypeMismatchError, match="2 fields are required while 1 values are provided"):
        env.from_elements([(1,)], row_type, verify_schema=False)


ROW_TYPE = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.BIGINT()), DataTypes.FIELD("s", DataTypes.STRING())])


def test_elements_that_are_expressions_are_converted_to_the_declared_type(env: TableEnvironment) -> None:
    table = env.from_elements([row(1, "a"), row(lit(1) + 1, 2.5), row(3, null_of(DataTypes.STRING()))], ROW_TYPE)
    assert str(table.get_resolved_schema()) == "(\n  `n` BIGINT,\n  `s` STRING\n)"
    with table.execute().collect() as rows:
        assert list(rows) == [Row(1, "a"), Row(2, "2.5"), Row(3, None)]
    with env.from_elements([lit(1), lit(2)], DataTypes.STRING()).execute().collect() as rows:
        assert list(rows) == [Row("1"), Row("2")]


def test_elements_that_are_expressions_call_functions_of_users(env: TableEnvironment) -> None:
    doubled = udf(lambda n: 2 * n, result_type=DataTypes.BIGINT())
    with env.from_elements([row(doubled(lit(21)), "a")], ROW_TYPE).execute().collect() as rows:
        assert list(rows) == [Row(42, "a")]


def test_elements_are_all_expressions_of_the_declared_width_or_none_is(env: TableEnvironment) -> None:
    with pytest.raises(ArgumentError, match="It doesn't support part of the elements are Expression"):
        env.from_elements([row(1, "a"), (2, "b")], ROW_TYPE)
    with pytest.raises(ValidationError, match="has a different length than the expected size: 2"):
        env.from_elements([row(1)], ROW_TYPE)


class Point:
    """An object with attributes."""

    def __init__(self, y: int, x: int) -> None:
        self.y = y
        self.x = x


def test_objects_are_rows_of_their_attributes(env: TableEnvironment) -> None:
    table = env.from_elements([Point(1, 2), Point(3, 4)])
    assert table.get_schema().get_field_names() == ["x", "y"]
    with table.execute().collect() as rows:
        assert [tuple(row) for row in rows] == [(2, 1), (4, 3)]
    declared = DataTypes.ROW([DataTypes.FIELD("y", DataTypes.INT()), DataTypes.FIELD("z", DataTypes.INT())])
    for verify in (True, False):
        with env.from_elements([Point(1, 2)], declared, verify_schema=verify).execute().collect() as rows:
            assert [tuple(row) for row in rows] == [(1, None)]


def test_arrays_of_python_are_arrays_of_their_type(env: TableEnvironment) -> None:
    table = env.from_elements([(array.array("h", [1, 2]), array.array("I", [3]), array.array("f", [1.5]))])
    assert [kind.as_summary_string() for kind in table.get_resolved_schema().get_column_data_types()] == [
        "ARRAY<SMALLINT NOT NULL>",
        "ARRAY<BIGINT NOT NULL>",
        "ARRAY<FLOAT NOT NULL>",
    ]
    with table.execute().collect() as rows:
        assert [tuple(row) for row in rows] == [([1, 2], [3], [1.5])]


def test_a_row_with_names_may_have_more_fields_than_the_declared_ones(env: TableEnvironment) -> None:
    inner = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT())])
    table = env.from_elements([(Row(m=1, n=2),)], DataTypes.ROW([DataTypes.FIELD("r", inner)]))
    with table.execute().collect() as rows:
        assert [tuple(row) for row in rows] == [(Row(2),)]


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (DataTypes.VARCHAR(2), "abc", "length of object .* of VarCharType exceeds: 2"),
        (DataTypes.CHAR(2), "a", "length of object .* of CharType is not: 2"),
        (DataTypes.VARBINARY(1), bytearray(b"ab"), "length of object .* of VarBinaryType exceeds: 1"),
        (DataTypes.BINARY(1), bytearray(b"ab"), "length of object .* of BinaryType is not: 1"),
    ],
)
def test_an_element_longer_than_its_type_is_refused(
    env: TableEnvironment, kind: DataType, value: object, message: str
) -> None:
    with pytest.raises(TypeMismatchError, match=message):
        env.from_elements([(value,)], DataTypes.ROW([DataTypes.FIELD("c", kind)]))


def test_a_nested_element_that_does_not_fit_is_named(env: TableEnvironment) -> None:
    inner = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT())])
    with pytest.raises(TypeMismatchError, match="field n in field r: INT can not accept object 'a'"):
        env.from_elements([(Row("a"),)], DataTypes.ROW([DataTypes.FIELD("r", inner)]))


def test_names_of_columns_of_elements_are_a_list_of_different_ones(env: TableEnvironment) -> None:
    with pytest.raises(ArgumentError, match=r"Field names must be unique\. Found duplicates: \[a\]"):
        env.from_elements([(1, 2)], ["a", "a"])
    with pytest.raises(ArgumentTypeError, match="schema should be RowType, list, tuple or None, but got: 'a'"):
        env.from_elements([(1,)], "a")


def test_elements_without_a_common_type_are_refused(env: TableEnvironment) -> None:
    with pytest.raises(ArgumentTypeError, match="field a: Can not merge type BIGINT and DOUBLE"):
        env.from_elements([(1,), (1.5,)], ["a"])
    with pytest.raises(ArgumentError, match="can not infer schema from empty data set"):
        env.from_elements([], ["a"])


def test_a_table_is_a_name_in_sql(env: TableEnvironment) -> None:
    table = env.sql_query("SELECT 1 AS a")
    assert list(only_row(env, f"SELECT a + 1 FROM {table}")) == [2]


def test_a_view_of_a_table_is_seen_by_sql(env: TableEnvironment) -> None:
    env.create_temporary_view("v", env.sql_query("SELECT 1 AS a"))
    assert env.list_temporary_views() == ["v"]
    assert list(only_row(env, "SELECT a FROM v")) == [1]
    assert env.drop_temporary_view("v") and not env.drop_temporary_view("v")


def test_a_descriptor_makes_a_table(env: TableEnvironment) -> None:
    builder = Schema.new_builder().column("a", "INT NOT NULL").column_by_expression("b", "a + 1")
    schema = builder.primary_key("a").build()
    descriptor = TableDescriptor.for_connector("datagen").schema(schema).option("number-of-rows", "1").build()
    env.create_temporary_table("t", descriptor)
    assert str(env.from_path("t").get_resolved_schema()) == (
        "(\n  `a` INT NOT NULL,\n  `b` INT NOT NULL AS a + 1,\n  CONSTRAINT `PK_a` PRIMARY KEY (`a`) NOT ENFORCED\n)"
    )
    with pytest.raises(ValidationError, match="already exists"):
        env.create_temporary_table("t", descriptor)


@pytest.mark.parametrize("connector", ["print", "nope"])
def test_a_table_has_columns_also_where_its_connector_cannot_read_it(env: TableEnvironment, connector: str) -> None:
    env.execute_sql(f"CREATE TABLE t (id BIGINT, name STRING) WITH ('connector' = '{connector}')")
    table = env.from_path("t")
    assert table.select(col("id")).get_schema().get_field_names() == ["id"]
    for use in (table.execute, table.explain, lambda: env.sql_query("SELECT * FROM t")):
        with pytest.raises(ValidationError, match="Unable to create a source for reading table"):
            use()


def test_types_of_varying_length_without_one_have_the_greatest(env: TableEnvironment) -> None:
    env.execute_sql("CREATE TABLE t (a VARCHAR, b VARBINARY, c CHAR, d VARCHAR(2)) WITH ('connector' = 'print')")
    types = env.from_path("t").get_resolved_schema().get_column_data_types()
    assert [each.as_summary_string() for each in types] == ["STRING", "BYTES", "CHAR(1)", "VARCHAR(2)"]
    assert only_row(env, "SELECT CAST('abc' AS VARCHAR), CAST('abc' AS CHAR)") == Row("abc", "a")


def test_kinds_of_results_are_pyflinks(env: TableEnvironment) -> None:
    created = env.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'blackhole')")
    assert created.get_result_kind() == ResultKind.SUCCESS
    assert [str(row) for row in created.collect()] == ["<Row('OK')>"]
    inserted = env.execute_sql("INSERT INTO t VALUES (1)")
    inserted.wait()
    assert inserted.get_result_kind() == ResultKind.SUCCESS_WITH_CONTENT
    assert [str(row) for row in inserted.collect()] == ["<Row(-1)>"]


def test_rows_of_statements_that_are_no_queries_can_be_taken_again(
    env: TableEnvironment, capsys: pytest.CaptureFixture[str]
) -> None:
    created = env.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'blackhole')")
    for statement, found in ((created, "OK"), (env.execute_sql("SHOW TABLES"), "t")):
        assert [str(row) for row in statement.collect()] == [f"<Row('{found}')>"]
        with statement.collect() as begun:
            assert next(begun) == Row(found)
        statement.print()
        assert found in capsys.readouterr().out
        assert [str(row) for row in statement.collect()] == [f"<Row('{found}')>"]
    queried = env.execute_sql("SELECT 1")
    assert [len(list(queried.collect())) for _ in range(2)] == [1, 0]


def test_rows_of_streaming_are_printed_with_their_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    env.execute_sql("SELECT 1 AS a").print()
    assert "| +I |           1 |" in capsys.readouterr().out


def test_rows_of_a_query_whose_result_changes_have_kinds() -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    table = env.sql_query("SELECT COUNT(*) FROM (VALUES (1), (2)) AS t(a)")
    with table.execute().collect() as rows:
        assert [(str(row.get_row_kind()), row[0]) for row in rows] == [("+I", 1), ("-U", 1), ("+U", 2)]


def test_sql_query_takes_queries_only(env: TableEnvironment) -> None:
    with pytest.raises(ValidationError, match=r"sqlQuery\(\) only accepts a single SQL query"):
        env.sql_query("SHOW TABLES")


def test_statement_sets_write_all_their_tables(env: TableEnvironment, capsys: pytest.CaptureFixture[str]) -> None:
    env.execute_sql("CREATE TABLE p (a INT) WITH ('connector' = 'print')")
    statements = env.create_statement_set().add_insert_sql("INSERT INTO p VALUES (1)")
    statements.add_insert("p", env.sql_query("SELECT 2")).execute().wait()
    assert capsys.readouterr().out == "+I[1]\n+I[2]\n"


def streaming() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    made.get_config().set("scurry.runner", "local").set("parallelism.default", "1")
    return made


def printing(with_schema: bool) -> TableDescriptor:
    made = TableDescriptor.for_connector("print")
    if with_schema:
        made = made.schema(Schema.new_builder().column("id", DataTypes.BIGINT()).build())
    return made.build()


@pytest.mark.parametrize("with_schema", [True, False])
def test_a_table_is_inserted_into_a_description_that_no_list_has(
    with_schema: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    env = streaming()
    env.from_elements([(1,), (2,)], ["id"]).execute_insert(printing(with_schema)).wait()
    assert sorted(capfd.readouterr().out.splitlines()) == ["+I[1]", "+I[2]"]
    assert env.list_tables() == env.list_temporary_tables() == []


def test_a_description_that_is_read_needs_a_schema() -> None:
    with pytest.raises(ValidationError, match="Missing schema in TableDescriptor"):
        streaming().from_descriptor(printing(with_schema=False))


def test_plan_advice_is_about_operators_that_mini_batches_would_make_faster() -> None:
    env = streaming()
    table = env.from_elements([(1, "a")], ["id", "g"])
    sums = table.group_by(col("g")).select(col("g"), col("id").sum)
    text = sums.explain(ExplainDetail.PLAN_ADVICE)
    physical = text.partition("== Optimized Physical Plan With Advice ==\n")[2].partition("\n\n== ")[0]
    assert physical.startswith("GroupAggregate(advice=[1], groupBy=[g], select=[g, SUM(id) AS EXPR$0])\n")
    assert "\n\nadvice[1]: [ADVICE] You might want to enable local-global two-phase optimization" in physical
    assert "No available advice..." in table.explain(ExplainDetail.PLAN_ADVICE)
    config = {"enabled": "true", "allow-latency": "1 s", "size": "10"}
    for key, value in config.items():
        env.get_config().set(f"table.exec.mini-batch.{key}", value)
    assert "No available advice..." in sums.explain(ExplainDetail.PLAN_ADVICE)


def test_an_option_of_a_descriptor_has_a_value() -> None:
    with pytest.raises(ArgumentError, match="Value must not be null"):
        TableDescriptor.for_connector("print").option("print-identifier", None)


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_values_that_are_no_numbers_are_read_and_explained(mode: str) -> None:
    configuration = Configuration().set_string("execution.runtime-mode", mode).set_string("scurry.runner", "local")
    environment = TableEnvironment.create(EnvironmentSettings(configuration))
    table = environment.from_elements([(float("nan"),), (float("inf"),), (-float("inf"),)], ["a"])
    assert "NaN" in table.explain() and "-Infinity" in table.explain()
    with table.execute().collect() as rows:
        assert [str(row[0]) for row in rows] == ["nan", "inf", "-inf"]
