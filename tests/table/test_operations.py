"""Methods of tables give the plans of SQL with the names and types of Flink 2.3, and name the user's line."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from scurry.errors import ArgumentTypeError, SqlParserError, ValidationError
from scurry.table import DataTypes, EnvironmentSettings, Row, Table, TableEnvironment
from scurry.table.expression import Expression
from scurry.table.expressions import (
    and_,
    array,
    call,
    call_sql,
    coalesce,
    col,
    concat,
    if_then_else,
    lit,
    not_,
    null_of,
    with_all_columns,
)
from scurry.table.udf import udaf, udf, udtf
from scurry.table.window import Slide, Tumble

ROWS = [(1, "a", 5.0), (2, "b", 2.5), (3, "a", 1.0)]


@pytest.fixture(params=["batch", "streaming"])
def env(request: pytest.FixtureRequest) -> TableEnvironment:
    return environment(request.param)


@pytest.fixture
def batch() -> TableEnvironment:
    return environment("batch")


def environment(mode: str) -> TableEnvironment:
    settings = EnvironmentSettings.in_batch_mode() if mode == "batch" else EnvironmentSettings.in_streaming_mode()
    made = TableEnvironment.create(settings)
    made.get_config().set("scurry.runner", "local").set("parallelism.default", "1")
    return made


def rows(table: Table) -> list[tuple[Any, ...]]:
    with table.execute().collect() as found:
        return [tuple(row) for row in found]


def numbers(env: TableEnvironment) -> Table:
    return env.from_elements(ROWS, ["id", "g", "x"])


Make = Callable[[Table], Table]


@pytest.mark.parametrize(
    ("make", "sql"),
    [
        (lambda t: t.select(col("id") + 1, col("g")), "SELECT id + 1 AS _c0, g FROM t"),
        (lambda t: t.filter((col("x") > 1) & (col("g") == "a")), "SELECT * FROM t WHERE x > 1 AND g = 'a'"),
        (lambda t: t.where(col("g").in_("a", "c")), "SELECT * FROM t WHERE g IN ('a', 'c')"),
        (
            lambda t: t.group_by(col("g")).select(col("g"), col("x").sum.alias("s"), col("id").max.alias("m")),
            "SELECT g, SUM(x) AS s, MAX(id) AS m FROM t GROUP BY g",
        ),
        (lambda t: t.select(col("x").avg.alias("a")), "SELECT AVG(x) AS a FROM t"),
        (lambda t: t.select(col("g")).distinct(), "SELECT DISTINCT g FROM t"),
        (lambda t: t.union_all(t), "SELECT * FROM t UNION ALL SELECT * FROM t"),
        (lambda t: t.minus(t.filter(col("id") > 1)), "SELECT * FROM t EXCEPT SELECT * FROM t WHERE id > 1"),
        (lambda t: t.order_by(col("x").desc).limit(2), "SELECT * FROM t ORDER BY x DESC NULLS FIRST LIMIT 2"),
        (
            lambda t: t.join(t.alias("i", "h", "y"), col("id") == col("i")).select(col("g"), col("y")),
            "SELECT g, y FROM (SELECT t.*, u.* FROM t JOIN (SELECT id AS i, g AS h, x AS y FROM t) u ON t.id = u.i)",
        ),
        (
            lambda t: t.select(if_then_else(col("x") > 2, "hi", "lo")),
            "SELECT CASE WHEN x > 2 THEN 'hi' ELSE 'lo' END AS _c0 FROM t",
        ),
    ],
)  # fmt: skip
def test_a_method_gives_the_plan_of_sql(batch: TableEnvironment, make: Make, sql: str) -> None:
    table = batch.from_elements(ROWS, ["id", "g", "x"])
    batch.create_temporary_view("t", table)
    assert make(batch.from_path("t"))._plan == batch.sql_query(sql)._plan


@pytest.mark.parametrize(
    ("make", "names", "types"),
    [
        (
            lambda t: t.select(col("id") + 1, col("x").sqrt, lit("a"), col("g").upper_case),
            ["_c0", "_c1", "_c2", "_c3"],
            ["BIGINT", "DOUBLE", "CHAR(1) NOT NULL", "STRING"],
        ),
        (
            lambda t: t.group_by(col("g")).select(
                col("g"), col("x").sum, col("id").count.alias("n"), col("id").avg
            ),
            ["g", "EXPR$0", "n", "EXPR$2"],
            ["STRING", "DOUBLE", "BIGINT NOT NULL", "BIGINT"],
        ),
        (
            lambda t: t.group_by((col("id") % 2).alias("k")).select(col("k"), col("x").count),
            ["k", "EXPR$0"],
            ["INT", "BIGINT NOT NULL"],
        ),
        (
            lambda t: t.add_columns(col("x") * 2, (col("x") * 3).alias("y")),
            ["id", "g", "x", "_c3", "y"],
            ["BIGINT", "STRING", "DOUBLE", "DOUBLE", "DOUBLE"],
        ),
        (
            lambda t: t.add_or_replace_columns((col("x") * 2).alias("x"), lit(1).alias("z")),
            ["id", "g", "x", "z"],
            ["BIGINT", "STRING", "DOUBLE", "INT NOT NULL"],
        ),
        (lambda t: t.drop_columns(col("g")), ["id", "x"], ["BIGINT", "DOUBLE"]),
        (lambda t: t.rename_columns(col("g").alias("k")), ["id", "k", "x"], ["BIGINT", "STRING", "DOUBLE"]),
        (lambda t: t.alias("a"), ["a", "g", "x"], ["BIGINT", "STRING", "DOUBLE"]),
        (lambda t: t.select(with_all_columns()), ["id", "g", "x"], ["BIGINT", "STRING", "DOUBLE"]),
        (lambda t: t.select(t.g, t.id), ["g", "id"], ["STRING", "BIGINT"]),
        (
            lambda t: t.select(
                lit(1), lit(1.5), lit(True), null_of(DataTypes.INT()), lit(2, DataTypes.BIGINT().not_null())
            ),
            ["_c0", "_c1", "_c2", "_c3", "_c4"],
            ["INT NOT NULL", "DOUBLE NOT NULL", "BOOLEAN NOT NULL", "INT", "BIGINT NOT NULL"],
        ),
        (
            lambda t: t.select(col("id").cast(DataTypes.STRING()) + lit("z"), -col("id"), col("id") ** 2),
            ["_c0", "_c1", "_c2"],
            ["STRING", "BIGINT", "DOUBLE"],
        ),
        (lambda t: t.select(call("upper", col("g")), call_sql("id + 1")), ["_c0", "_c1"], ["STRING", "BIGINT"]),
    ],
)  # fmt: skip
def test_columns_have_flinks_names_and_types(
    batch: TableEnvironment, make: Make, names: list[str], types: list[str]
) -> None:
    schema = make(numbers(batch)).get_resolved_schema()
    assert schema.get_column_names() == names
    assert [each.as_summary_string() for each in schema.get_column_data_types()] == types


def test_rows_are_selected_filtered_and_combined(env: TableEnvironment) -> None:
    table = numbers(env)
    chosen = table.filter(and_(col("x") >= 1, not_(col("id") == 2), col("id") < 9)).select(concat(col("g"), "!"))
    assert rows(chosen) == [("a!",), ("a!",)]
    assert sorted(rows(table.select(col("id")).union_all(table.select(col("id") * 10)))) == [
        (1,),
        (2,),
        (3,),
        (10,),
        (20,),
        (30,),
    ]
    computed = table.select(col("id").between(2, 3), 1 + col("id"), coalesce(null_of(DataTypes.INT()), 7))
    assert rows(computed) == [(False, 2, 7), (True, 3, 7), (True, 4, 7)]


def test_rows_of_values_have_arrays_maps_and_rows(env: TableEnvironment) -> None:
    table = env.from_elements([(1, [1, 2], {"a": [1]}, Row(7, ["x"]))])
    assert rows(table.filter(col("_1") > 0)) == [(1, [1, 2], {"a": [1]}, Row(7, ["x"]))]


def test_a_join_without_a_condition_names_all_columns_that_both_have(env: TableEnvironment) -> None:
    table = env.from_elements(ROWS, ["id", "g", "x"])
    with pytest.raises(ValidationError, match=r"join relations with ambiguous names: \[id, g, x\]"):
        table.join(table)


def test_groups_orders_and_limits(batch: TableEnvironment) -> None:
    table = numbers(batch)
    assert rows(table.group_by(col("g")).select(col("g"), col("x").sum, col("id").count)) == [
        ("a", 6.0, 2),
        ("b", 2.5, 1),
    ]
    assert rows(table.order_by(col("x")).select(col("id"))) == [(3,), (2,), (1,)]
    assert rows(table.order_by(col("x").desc).offset(1).fetch(1)) == [(2, "b", 2.5)]
    assert rows(table.select(col("g").count.alias("n"), col("g").count.distinct.alias("d"))) == [(3, 2)]


def test_outer_joins_fill_with_null(batch: TableEnvironment) -> None:
    left = batch.from_elements([(1, "l1"), (2, "l2")], ["a", "b"])
    right = batch.from_elements([(2, "r2"), (3, "r3")], ["c", "d"])
    on = col("a") == col("c")
    assert rows(left.left_outer_join(right, on).select(col("b"), col("d"))) == [("l2", "r2"), ("l1", None)]
    assert rows(left.right_outer_join(right, on).select(col("b"), col("d"))) == [("l2", "r2"), (None, "r3")]
    assert len(rows(left.full_outer_join(right, on))) == 3
    assert len(rows(left.join(right))) == 4
    with pytest.raises(ValidationError, match="Ambiguous column name: a"):
        left.join(left, on)


def test_functions_of_users_are_called_without_a_name(env: TableEnvironment) -> None:
    twice = udf(lambda n: 2 * n, result_type=DataTypes.BIGINT())
    parts = udtf(lambda text: list(text), result_types=DataTypes.STRING())
    table = env.from_elements([(1, "ab"), (2, "")], ["n", "s"])
    assert rows(table.select(twice(col("n")), twice(twice(col("n") + 1)))) == [(2, 8), (4, 12)]
    assert rows(table.join_lateral(parts(col("s")).alias("p")).select(col("n"), col("p"))) == [(1, "a"), (1, "b")]
    assert rows(table.left_outer_join_lateral(parts(col("s")).alias("p")).select(col("p"))) == [("a",), ("b",), (None,)]


def test_aggregates_of_users_are_called_without_a_name(batch: TableEnvironment) -> None:
    mean = udaf(lambda v: v.mean(), result_type=DataTypes.DOUBLE(), func_type="pandas")
    assert rows(numbers(batch).group_by(col("g")).select(col("g"), mean(col("x")))) == [("a", 3.0), ("b", 2.5)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda t: t.select(col("nope")), r"Cannot resolve field \[nope\], input field list:\[id, g, x\]"),
        (lambda t: t.group_by(col("g")).select(col("x")), "Cannot resolve field \\[x\\], input field list:\\[g\\]"),
        (lambda t: t.add_columns(col("x").alias("id")), "Ambiguous column name: id"),
        (lambda t: t.filter(col("id")), "Filter operator requires a boolean expression as input"),
        (lambda t: t.union(t.select(col("id"))), "different column sizes: 3 and 1"),
        (lambda t: t.select(col("g").sqrt), r"Invalid function call:\nsqrt\(STRING\)"),
    ],
)
def test_what_is_wrong_is_said_at_once(batch: TableEnvironment, make: Make, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        make(numbers(batch))


def test_an_error_names_the_line_of_the_expression(batch: TableEnvironment) -> None:
    wrong = col("nope")  # cause
    with pytest.raises(ValidationError, match=r"At .*test_operations\.py:\d+"):
        numbers(batch).select(wrong)


def test_pythons_and_takes_expressions_for_true_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="& .* for AND") as caught:
        assert (col("a") == 1) is not None and bool(col("a") == 1)
    assert caught[0].filename == __file__


def test_a_text_of_sql_has_a_name_only_by_an_alias(batch: TableEnvironment) -> None:
    table = batch.from_elements(ROWS, ["id", "g", "x"])
    names = [
        table.select(call_sql("id + 1"), call_sql("g")).get_schema().get_field_names(),
        table.select(call_sql("COUNT(*)"), call_sql("MAX(x)").alias("m")).get_schema().get_field_names(),
        table.add_columns(call_sql("id")).get_schema().get_field_names(),
    ]
    assert names == [["_c0", "_c1"], ["_c0", "m"], ["id", "g", "x", "_c3"]]


@pytest.mark.parametrize("text", ["id AS z", "id, g", "id FROM t", "* FROM t"])
def test_a_text_of_sql_is_one_expression(text: str) -> None:
    with pytest.raises(SqlParserError, match="Invalid SQL expression: "):
        call_sql(text)


def test_a_text_of_sql_that_cannot_be_read_says_where_in_the_text() -> None:
    with pytest.raises(SqlParserError, match=r'Encountered "\+ <EOF>" at line 1, column 4\.'):
        call_sql("id +")


def test_a_text_of_sql_with_a_wrong_column_is_named_with_the_line(batch: TableEnvironment) -> None:
    table = batch.from_elements(ROWS, ["id", "g", "x"])
    with pytest.raises(
        ValidationError, match=r"\[nope\], .* At .*test_operations\.py:\d+, in the SQL expression: nope \+ 1"
    ):
        table.select(call_sql("nope + 1"))


@pytest.mark.parametrize(
    ("expression", "call"),
    [
        (col("id") + col("g"), r"plus\(BIGINT, STRING\)"),
        (col("id") - "x", r"minus\(BIGINT, CHAR\(1\) NOT NULL\)"),
        (col("id").in_("x"), r"in\(BIGINT, CHAR\(1\) NOT NULL\)"),
        (col("id").cast(DataTypes.DATE()), r"cast\(BIGINT, DATE\)"),
        (col("g").sum, r"sum\(STRING\)"),
    ],
)
def test_a_call_with_values_of_other_types_is_refused(
    batch: TableEnvironment, expression: Expression, call: str
) -> None:
    table = batch.from_elements(ROWS, ["id", "g", "x"])
    with pytest.raises(ValidationError, match=rf"Invalid function call:\n{call} At .*test_operations\.py"):
        table.select(expression)


def test_literals_have_the_types_of_flink(batch: TableEnvironment) -> None:
    table = batch.from_elements(ROWS, ["id", "g", "x"]).fetch(1)
    chosen = table.select(lit(Decimal("1e10")), lit(float("inf")), lit(1e300))
    assert list(map(str, chosen.get_schema().get_field_data_types())) == ["DECIMAL", "DOUBLE", "DOUBLE"]
    assert rows(chosen) == [(Decimal(10**10), float("inf"), 1e300)]


def test_bitmaps_are_combined_and_aggregated(batch: TableEnvironment) -> None:
    numbers = DataTypes.ROW([DataTypes.FIELD("a", DataTypes.ARRAY(DataTypes.INT()))])
    table = batch.from_elements([([1, 2, 3],), ([2, 5],)], numbers)
    bitmap, two = col("a").bitmap_build(), array(2).bitmap_build()
    assert rows(
        table.select(
            bitmap.bitmap_to_string(),
            bitmap.bitmap_and(two).bitmap_to_array(),
            bitmap.bitmap_or(two).bitmap_cardinality(),
            bitmap.bitmap_xor(two).bitmap_to_string(),
            bitmap.bitmap_andnot(two).bitmap_to_bytes().bitmap_from_bytes().bitmap_to_string(),
        )
    ) == [("{1,2,3}", [2], 3, "{1,3}", "{1,3}"), ("{2,5}", [2], 2, "{5}", "{5}")]
    number = col("a").at(1)
    assert rows(
        table.select(
            number.bitmap_build_agg().bitmap_to_string(),
            number.bitmap_build_cardinality_agg(),
            bitmap.bitmap_and_agg().bitmap_to_string(),
            bitmap.bitmap_and_cardinality_agg(),
            bitmap.bitmap_or_agg().bitmap_to_string(),
            bitmap.bitmap_or_cardinality_agg(),
            bitmap.bitmap_xor_agg().bitmap_to_string(),
            bitmap.bitmap_xor_cardinality_agg(),
        )
    ) == [("{1,2}", 2, "{2}", 1, "{1,2,3,5}", 4, "{1,3,5}", 3)]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda t, o: t.join(o), ValidationError, "Only tables from the same TableEnvironment can be joined"),
        (lambda t, o: t.union_all(o), ValidationError, "Only tables from the same TableEnvironment can be joined"),
        (lambda t, o: t.minus(5), ArgumentTypeError, "expected another table, got 5"),
        (lambda t, o: t.window("w"), ArgumentTypeError, "with a column of time and an alias, .* got 'w'"),
        (lambda t, o: t.window(Tumble.over(lit(1).hour)), ArgumentTypeError, "with a column of time and an alias"),
        (lambda t, o: t.over_window("w"), ArgumentTypeError, "windows with an alias, .* got 'w'"),
        (lambda t, o: t.over_window(), ValidationError, "only a single over window is supported"),
        (lambda t, o: t.explain(77), ArgumentTypeError, "details of ExplainDetail, such as CHANGELOG_MODE, got 77"),
    ],
)
def test_what_an_operation_does_not_take_is_refused_at_once(
    batch: TableEnvironment, make: Callable[[Any, Any], Any], error: type[Exception], message: str
) -> None:
    table, other = (env.from_elements(ROWS, ["id", "g", "x"]) for env in (batch, environment("batch")))
    with pytest.raises(error, match=message):
        make(table, other)


def test_a_function_that_is_not_registered_is_named_as_it_is(batch: TableEnvironment) -> None:
    def summed(a: int, b: int) -> int:
        return a + b

    added = udf(summed, result_type=DataTypes.INT(), input_types=[DataTypes.INT(), DataTypes.INT()])
    assert str(added(col("id"), 1)) == "summed(id, 1)"
    with pytest.raises(ValidationError, match=r"No match found for function signature summed\(<NUMERIC>\)"):
        batch.from_elements(ROWS, ["id", "g", "x"]).select(added(col("id")))


@pytest.mark.parametrize(
    ("window", "found"),
    [
        (Tumble.over(lit(2).seconds), [(0, 1), (2, 6), (4, 8)]),
        (Slide.over(lit(2).seconds).every(lit(1).seconds), [(0, 1), (1, 3), (2, 6), (3, 12), (4, 8)]),
    ],
)
def test_windows_of_batch_may_be_over_milliseconds(batch: TableEnvironment, window: Any, found: list[Any]) -> None:
    table = batch.from_elements([(1000, 1), (2000, 2), (3000, 4), (4000, 8)], ["at", "v"])
    grouped = table.window(window.on(col("at")).alias("w")).group_by(col("w"))
    made = grouped.select(col("w").start.alias("start"), col("v").sum.alias("total"))
    assert str(made.get_resolved_schema()) == "(\n  `start` TIMESTAMP(3),\n  `total` BIGINT\n)"
    with made.execute().collect() as rows:
        times = [(start - datetime.datetime(1970, 1, 1), total) for start, total in rows]
    assert sorted((time.seconds, total) for time, total in times) == found


def test_windows_of_streaming_are_over_time_attributes_only() -> None:
    table = environment("streaming").from_elements([(1000, 1)], ["at", "v"])
    window = Tumble.over(lit(2).seconds).on(col("at")).alias("w")
    with pytest.raises(ValidationError, match="expects a time attribute for grouping in a stream environment"):
        table.window(window).group_by(col("w")).select(col("v").sum)


def test_lists_and_dicts_as_arguments_are_arrays_and_maps(env: TableEnvironment) -> None:
    table = env.from_elements([(1, [1, 2], {"k": 1})], ["i", "a", "m"])
    chosen = table.select(
        col("m") == {"k": 1},
        col("a").array_union([2, 3]),
        if_then_else(col("i") > 0, [1.5], [2.5]),
        array((1, 2)),
        col("a").in_([1, 2], [3]),
    )
    assert [kind.as_summary_string() for kind in chosen.get_resolved_schema().get_column_data_types()] == [
        "BOOLEAN",
        "ARRAY<BIGINT>",
        "ARRAY<DOUBLE NOT NULL> NOT NULL",
        "ARRAY<ARRAY<INT NOT NULL> NOT NULL> NOT NULL",
        "BOOLEAN",
    ]
    with chosen.execute().collect() as rows:
        assert [tuple(row) for row in rows] == [(True, [1, 2, 3], [1.5], [[1, 2]], True)]


def test_an_object_gets_other_values_of_its_fields(env: TableEnvironment) -> None:
    made = env.sql_query("SELECT OBJECT_OF('Guest', 'name', 'Ann', 'age', 30) AS g")
    changed = made.select(col("g").object_update("age", 31).alias("g")).select(col("g").name, col("g").age)
    with changed.execute().collect() as rows:
        assert [tuple(row) for row in rows] == [("Ann", 31)]


def test_fields_without_names_are_attributes_of_a_row(env: TableEnvironment) -> None:
    table = env.from_elements([((4, "x"),)], ["r"])
    with table.select(col("r")._2, col("r")._1 + 1).execute().collect() as rows:
        assert [tuple(row) for row in rows] == [("x", 5)]
