# mypy: disable-error-code="misc, untyped-decorator"
"""dev/table/tableApi: the operations of tables."""

from __future__ import annotations

from typing import Any

from support.documented_programs.registry import Tables, program


@program("tableApi: From")
def _(d: Tables) -> Any:
    return d.t_env.from_path("Orders")


@program("tableApi: FromValues")
def _(d: Tables) -> Any:
    return d.t_env.from_elements([(1, "ABC"), (2, "ABCDE")])


@program("tableApi: FromValues of a type")
def _(d: Tables) -> Any:
    from decimal import Decimal

    from pyflink.table import DataTypes

    fields = [DataTypes.FIELD("id", DataTypes.DECIMAL(10, 2)), DataTypes.FIELD("name", DataTypes.STRING())]
    return d.t_env.from_elements([(Decimal(1), "ABC"), (Decimal(2), "ABCDE")], schema=DataTypes.ROW(fields))


@program("tableApi: Select")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    return d.orders.select(col("a"), col("c").alias("d"))


@program("tableApi: Select of all columns")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    return d.orders.select(col("*"))


@program("tableApi: As")
def _(d: Tables) -> Any:
    return d.orders.alias("x", "y", "z", "t")


@program("tableApi: Where / Filter")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    return d.orders.where(col("a") == "Jack").filter(col("b") % 20 == 0)


@program("tableApi: AddColumns")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col, concat

    return d.orders.add_columns(concat(col("c"), "sunny"))


@program("tableApi: AddOrReplaceColumns")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col, concat

    return d.orders.add_or_replace_columns(concat(col("c"), "sunny").alias("c"), col("b").alias("desc"))


@program("tableApi: DropColumns and RenameColumns")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    return d.orders.drop_columns(col("c"), col("rowtime")).rename_columns(col("b").alias("b2"), col("a").alias("a2"))


@program("tableApi: a batch query", "batch")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    d.t_env.execute_sql(
        "CREATE TABLE Counts (a STRING, cnt BIGINT) "
        f"WITH ('connector' = 'filesystem', 'path' = '{d.directory}/counts', 'format' = 'csv')"
    )
    counted = d.orders.group_by(col("a")).select(col("a"), col("b").count.alias("cnt"))
    counted.execute_insert("Counts").wait()
    return d.t_env.from_path("Counts")


@program("tableApi: an hourly average")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col, lit
    from pyflink.table.window import Tumble

    given = d.orders.filter(col("a").is_not_null & col("b").is_not_null & col("c").is_not_null)
    return (
        given.select(col("a").lower_case.alias("a"), col("b"), col("rowtime"))
        .window(Tumble.over(lit(1).hour).on(col("rowtime")).alias("hourly_window"))
        .group_by(col("hourly_window"), col("a"))
        .select(col("a"), col("hourly_window").end.alias("hour"), col("b").avg.alias("avg_billing_amount"))
    )


@program("tableApi: GroupBy Aggregation")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    return d.orders.group_by(col("a")).select(col("a"), col("b").sum.alias("d"))


@program("tableApi: GroupBy Window Aggregation")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col, lit
    from pyflink.table.window import Tumble

    windows = d.orders.window(Tumble.over(lit(5).minutes).on(col("rowtime")).alias("w"))
    grouped = windows.group_by(col("a"), col("w"))
    return grouped.select(col("a"), col("w").start, col("w").end, col("w").rowtime, col("b").sum.alias("d"))


@program("tableApi: Over Window Aggregation")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import CURRENT_RANGE, UNBOUNDED_RANGE, col
    from pyflink.table.window import Over

    window = Over.partition_by(col("a")).order_by(col("rowtime")).preceding(UNBOUNDED_RANGE).following(CURRENT_RANGE)
    b, w = col("b"), col("w")
    return d.orders.over_window(window.alias("w")).select(col("a"), b.avg.over(w), b.max.over(w), b.min.over(w))


@program("tableApi: Distinct Aggregation")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    return d.orders.group_by(col("a")).select(col("a"), col("b").sum.distinct.alias("d"))


@program("tableApi: Distinct Aggregation in windows")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col, lit
    from pyflink.table.window import Tumble

    windows = d.orders.window(Tumble.over(lit(2).hours).on(col("rowtime")).alias("w"))
    return windows.group_by(col("a"), col("w")).select(col("a"), col("b").sum.distinct.alias("d"))


@program("tableApi: Distinct Aggregation over rows", "streaming")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import UNBOUNDED_RANGE, col
    from pyflink.table.window import Over

    window = Over.partition_by(col("a")).order_by(col("rowtime")).preceding(UNBOUNDED_RANGE).alias("w")
    b, w = col("b"), col("w")
    return d.orders.over_window(window).select(col("a"), b.sum.distinct.over(w), b.max.over(w))


@program("tableApi: Distinct")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    return d.orders.select(col("a"), col("c")).distinct()


@program("tableApi: Inner Join")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    left = d.orders.select(col("a"), col("b"), col("c"))
    return left.join(d.names).where(col("a") == col("d")).select(col("a"), col("b"), col("e"))


@program("tableApi: Left Outer Join", "batch")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    return d.orders.left_outer_join(d.names, col("a") == col("d")).select(col("a"), col("b"), col("e"))


@program("tableApi: Right and Full Outer Join", "batch")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    right = d.orders.right_outer_join(d.names, col("a") == col("d")).select(col("a"), col("b"), col("e"))
    full = d.orders.full_outer_join(d.names, col("a") == col("d")).select(col("a"), col("b"), col("e"))
    return right.union_all(full)


@program("tableApi: Interval Join")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col, lit

    left = d.orders.select(col("a"), col("b"), col("rowtime").alias("rowtime1"))
    right = d.orders.select(col("a").alias("d"), col("b").alias("e"), col("rowtime").alias("rowtime2"))
    after = col("rowtime1") >= col("rowtime2") - lit(1).second
    before = col("rowtime1") <= col("rowtime2") + lit(10).minutes
    joined = left.join(right).where((col("a") == col("d")) & after & before)
    return joined.select(col("a"), col("b"), col("e"), col("rowtime1"))


def split() -> Any:
    from pyflink.table import DataTypes
    from pyflink.table.udf import udtf

    @udtf(result_types=[DataTypes.STRING(), DataTypes.BIGINT()])
    def split(text: str) -> Any:
        for word in text.split(" ")[1:]:
            yield word, len(word)

    return split


@program("tableApi: Inner Join with Table Function")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    joined = d.orders.join_lateral(split()(col("c")).alias("s", "t"))
    return joined.select(col("a"), col("b"), col("s"), col("t"))


@program("tableApi: Left Outer Join with Table Function")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    joined = d.orders.left_outer_join_lateral(split()(col("c")).alias("s", "t"))
    return joined.select(col("a"), col("b"), col("s"), col("t"))


@program("tableApi: Set Operations", "batch")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    left, right = d.orders.select(col("a"), col("b")), d.orders.select(col("a"), col("b")).fetch(3)
    made = {
        "union": left.union(right),
        "union all": left.union_all(right),
        "intersect": left.intersect(right),
        "intersect all": left.intersect_all(right),
        "minus": left.minus(right.filter(col("b") > 20)),
        "minus all": left.minus_all(right),
    }
    lines = []
    for name, table in made.items():
        with table.execute().collect() as rows:
            lines += sorted(f"{name}: {tuple(row)}" for row in rows)
    return lines


@program("tableApi: In")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    return d.orders.select(col("a"), col("b")).where(col("a").in_(d.names.select(col("d"))))


@program("tableApi: OrderBy, Offset and Fetch", "batch")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    table = d.orders.select(col("b"), col("c")).order_by(col("b").asc, col("c").desc)
    lines = []
    for each in (table.fetch(2), table.offset(3).fetch(5), table.offset(1).fetch(2)):
        with each.execute().collect() as rows:
            lines.append(str([tuple(row) for row in rows]))
    return lines


@program("tableApi: Insert", "batch")
def _(d: Tables) -> Any:
    d.t_env.execute_sql(
        "CREATE TABLE OutOrders (a STRING, b BIGINT, c STRING, rowtime TIMESTAMP(3)) "
        f"WITH ('connector' = 'filesystem', 'path' = '{d.directory}/out', 'format' = 'csv')"
    )
    d.orders.insert_into("OutOrders").execute().wait()
    d.orders.execute_insert("OutOrders").wait()
    return d.t_env.from_path("OutOrders")


@program("tableApi: Slide")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col, lit
    from pyflink.table.window import Slide

    window = Slide.over(lit(10).minutes).every(lit(5).minutes).on(col("rowtime")).alias("w")
    grouped = d.orders.window(window).group_by(col("w"), col("a"))
    return grouped.select(col("a"), col("w").start, col("w").end, col("b").count)


@program("tableApi: Session", "streaming")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col, lit
    from pyflink.table.window import Session

    window = Session.with_gap(lit(10).minutes).on(col("rowtime")).alias("w")
    return d.orders.window(window).group_by(col("w")).select(col("w").start, col("w").end, col("b").sum)


@program("tableApi: Unbounded Over Windows")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import UNBOUNDED_ROW, col
    from pyflink.table.window import Over

    window = Over.partition_by(col("a")).order_by(col("rowtime")).preceding(UNBOUNDED_ROW).alias("w")
    return d.orders.over_window(window).select(col("a"), col("b").sum.over(col("w")), col("c").min.over(col("w")))


@program("tableApi: Bounded Over Windows of time")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col, lit
    from pyflink.table.window import Over

    window = Over.partition_by(col("a")).order_by(col("rowtime")).preceding(lit(10).minutes).alias("w")
    return d.orders.over_window(window).select(col("a"), col("b").sum.over(col("w")))


@program("tableApi: Bounded Over Windows of rows")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col, row_interval
    from pyflink.table.window import Over

    window = Over.partition_by(col("a")).order_by(col("rowtime")).preceding(row_interval(1)).alias("w")
    return d.orders.over_window(window).select(col("a"), col("b").sum.over(col("w")))
