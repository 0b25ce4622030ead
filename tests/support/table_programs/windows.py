# mypy: disable-error-code="misc, untyped-decorator"
"""Windows of groups and over rows."""

from __future__ import annotations

from typing import Any

from pyflink.table.expressions import CURRENT_ROW, UNBOUNDED_RANGE, UNBOUNDED_ROW, col, lit, row_interval
from pyflink.table.window import Over, Session, Slide, Tumble

from support.table_programs.registry import Tables, program


@program("tumbling windows with their properties")
def _(d: Tables) -> Any:
    t = d.orders.window(Tumble.over(lit(5).minutes).on(col("at")).alias("w")).group_by(col("w"), col("item"))
    return t.select(col("item"), col("w").start, col("w").end, col("w").rowtime, col("pieces").sum, col("price").max)


@program("windows of windows by the time of the first", "streaming")
def _(d: Tables) -> Any:
    small = d.orders.window(Tumble.over(lit(5).minutes).on(col("at")).alias("w")).group_by(col("w"), col("item"))
    small = small.select(col("item"), col("w").rowtime.alias("t"), col("id").count.alias("n"))
    large = small.window(Tumble.over(lit(20).minutes).on(col("t")).alias("v")).group_by(col("v"))
    return large.select(col("v").start, col("n").sum, col("item").count.distinct.alias("items"))


@program("sliding windows with distinct counts", "streaming")
def _(d: Tables) -> Any:
    t = d.orders.window(Slide.over(lit(10).minutes).every(lit(5).minutes).on(col("at")).alias("w")).group_by(col("w"))
    return t.select(col("w").start.alias("s"), col("w").end.alias("e"), col("item").count.distinct, col("price").avg)


@program("sessions by key", "streaming")
def _(d: Tables) -> Any:
    t = d.orders.window(Session.with_gap(lit(6).minutes).on(col("at")).alias("w")).group_by(col("w"), col("who"))
    return t.select(col("who"), col("w").start, col("w").end, col("id").count, col("item").list_agg(","))


@program("windows over rows with a condition on the result", "streaming")
def _(d: Tables) -> Any:
    w = Over.partition_by(col("item")).order_by(col("at")).preceding(UNBOUNDED_RANGE).alias("w")
    t = d.orders.over_window(w).select(
        col("id"), col("pieces").sum.over(col("w")).alias("n"), col("id").count.over(col("w"))
    )
    return t.where(col("n") > 3)


@program("the last rows of each key", "streaming")
def _(d: Tables) -> Any:
    w = Over.partition_by(col("who")).order_by(col("at")).preceding(row_interval(1)).following(CURRENT_ROW).alias("w")
    return d.orders.over_window(w).select(
        col("id"), col("price").max.over(col("w")), col("price").avg.over(col("w")), col("pieces").min.over(col("w"))
    )


@program("a range of time before each row", "streaming")
def _(d: Tables) -> Any:
    w = Over.order_by(col("at")).preceding(lit(10).minutes).alias("w")
    return d.orders.over_window(w).select(
        col("id"), col("id").count.over(col("w")), col("price").sum.over(col("w")) * 2
    )


@program("all rows before, without a key", "streaming")
def _(d: Tables) -> Any:
    w = Over.order_by(col("at")).preceding(UNBOUNDED_ROW).alias("w")
    return d.orders.over_window(w).select(col("id"), col("pieces").sum.over(col("w")), col("item").count.over(col("w")))


@program("windows of a filtered and renamed table, joined with users", "streaming", final=True)
def _(d: Tables) -> Any:
    t = d.orders.where(col("who").is_not_null).select(col("who").alias("u"), col("price"), col("at").alias("t"))
    sums = t.window(Tumble.over(lit(1).hour).on(col("t")).alias("w")).group_by(col("w"), col("u"))
    sums = sums.select(col("u"), col("w").end.alias("until"), col("price").sum.alias("total"))
    return sums.left_outer_join(d.users, col("u") == col("name")).select(
        col("u"), col("country"), col("until"), col("total")
    )


@program("windows of SQL over a view of the Table API")
def _(d: Tables) -> Any:
    d.env.create_temporary_view("cheap", d.orders.where(col("price") < 10).drop_columns(col("who")))
    return d.env.sql_query(
        "SELECT window_start, item, SUM(pieces) AS n FROM TABLE("
        "TUMBLE(TABLE cheap, DESCRIPTOR(`at`), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item"
    )
