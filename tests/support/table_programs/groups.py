# mypy: disable-error-code="misc, untyped-decorator"
"""Groups, distinct aggregates, sorting, operations of sets."""

from __future__ import annotations

from typing import Any

from pyflink.table.expressions import col, if_then_else, lit

from support.table_programs.registry import Tables, program


@program("groups by a column with many aggregates")
def _(d: Tables) -> Any:
    p, n = col("price"), col("pieces")
    return d.orders.group_by(col("item")).select(
        col("item"), n.sum, n.sum0, n.count, lit(1).count, p.avg, p.min, p.max, n.stddev_pop, n.var_samp
    )


@program("groups by an expression, filtered afterwards")
def _(d: Tables) -> Any:
    cheap = (col("price") < 3).alias("cheap")
    t = d.orders.group_by(cheap, col("who")).select(col("cheap"), col("who"), col("id").count.alias("n"))
    return t.where(col("n") > 1)


@program("distinct aggregates beside plain ones")
def _(d: Tables) -> Any:
    return d.orders.group_by(col("item")).select(
        col("item"), col("who").count.distinct.alias("buyers"), col("price").sum.distinct, col("price").sum,
        col("price").avg.distinct, col("id").count,
    )  # fmt: skip


@program("aggregates of the whole table, also of none of its rows")
def _(d: Tables) -> Any:
    t = d.orders.select(col("price").sum.alias("s"), col("pieces").max.alias("m"), col("who").count.alias("n"))
    empty = d.orders.where(col("id") > 99)
    return t.union_all(empty.select(col("price").sum, col("pieces").max, col("who").count))


@program("aggregates of aggregates")
def _(d: Tables) -> Any:
    t = d.orders.group_by(col("who")).select(col("who"), col("pieces").sum.alias("n"))
    return t.group_by(col("n") > 3).select(col("n").max, col("who").count)


@program("an aggregate of a condition, and expressions over aggregates")
def _(d: Tables) -> Any:
    many = if_then_else(col("pieces") > 1, 1, 0).sum
    return d.orders.group_by(col("item")).select(
        col("item").upper_case.alias("thing"),
        many.alias("many"), (col("price").max - col("price").min).alias("spread"),
        (col("price").sum / col("price").count).round(1).alias("mean"),
    )  # fmt: skip


@program("one of each, then how many")
def _(d: Tables) -> Any:
    return (
        d.orders.select(col("item"), col("price"))
        .distinct()
        .group_by(col("item"))
        .select(col("item"), col("price").count)
    )


@program("the first rows of an order with ties and NULL", "batch")
def _(d: Tables) -> Any:
    t = d.orders.order_by(col("pieces").desc, col("price"), col("id")).offset(1).fetch(4)
    return [tuple(row) for row in t.select(col("id"), col("pieces"), col("price")).execute().collect()]


@program("the greatest rows, in STREAMING too", final=True)
def _(d: Tables) -> Any:
    return d.orders.order_by(col("price").desc, col("id").asc).limit(3, 1).select(col("id"), col("price"))


@program("operations of sets with repeated rows and NULL", "batch")
def _(d: Tables) -> Any:
    left = d.orders.select(col("who"))
    right = d.users.select(col("name"))
    parts = {
        "union": left.union(right), "union_all": left.union_all(right), "intersect": left.intersect(right),
        "intersect_all": left.intersect_all(left), "minus": left.minus(right), "minus_all": left.minus_all(right),
    }  # fmt: skip
    return [(name, sorted(str(row[0]) for row in t.execute().collect())) for name, t in parts.items()]


@program("union of different types gives their common one")
def _(d: Tables) -> Any:
    return d.orders.select(col("id"), col("price")).union_all(d.rates.select(col("rate"), col("rate") * 2))


def refused(build: Any) -> str:
    try:
        build()
    except Exception as raised:
        return "refused" if "two unbounded tables is currently not supported" in str(raised) else str(raised)
    return "allowed"


@program("operations of sets that STREAMING refuses", "streaming")
def _(d: Tables) -> Any:
    left, right = d.orders.select(col("who")), d.users.select(col("name"))
    names = ["union", "union_all", "intersect", "intersect_all", "minus", "minus_all"]
    return [(name, refused(lambda name=name: getattr(left, name)(right))) for name in names]
