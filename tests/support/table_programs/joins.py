# mypy: disable-error-code="misc, untyped-decorator"
"""Joins of all kinds, lateral functions, tables of versions."""

from __future__ import annotations

from typing import Any

from pyflink.table import DataTypes, Row
from pyflink.table.expressions import col, lit
from pyflink.table.udf import TableFunction, udtf

from support.table_programs.registry import Tables, program


class Letters(TableFunction):
    def eval(self, text: Any, least: int) -> Any:
        for place, letter in enumerate(text or ""):
            if place >= least:
                yield Row(letter, place)


LETTERS = udtf(Letters(), result_types=[DataTypes.STRING(), DataTypes.INT()])


@program("outer joins to all sides", final=True)
def _(d: Tables) -> Any:
    on = col("who") == col("name")
    left = d.orders.left_outer_join(d.users, on).select(col("id"), col("name"), lit("left"))
    right = d.orders.right_outer_join(d.users, on).select(col("id"), col("name"), lit("right"))
    full = d.orders.full_outer_join(d.users, on).select(col("id"), col("name"), lit("full"))
    return left.union_all(right).union_all(full)


@program("a left join with a further condition on one side", final=True)
def _(d: Tables) -> Any:
    on = (col("who") == col("name")) & (col("price") > 2)
    return d.orders.left_outer_join(d.users, on).select(col("id"), col("country"))


@program("a cross join, then a condition", final=True)
def _(d: Tables) -> Any:
    t = d.orders.join(d.users.select(col("name"))).where((col("who") == col("name")) | (col("pieces") > 9))
    return t.select(col("id"), col("who"), col("name"))


@program("three tables joined and grouped", final=True)
def _(d: Tables) -> Any:
    latest = d.rates.group_by(col("thing")).select(col("thing"), col("rate").max.alias("rate"))
    t = d.orders.join(d.users, col("who") == col("name")).join(latest, col("item") == col("thing"))
    return t.group_by(col("country")).select(col("country"), (col("price") * col("rate")).sum.alias("total"))


@program("a table joined with itself under other names", final=True)
def _(d: Tables) -> Any:
    other = d.orders.select(col("id").alias("id2"), col("item").alias("item2"))
    return d.orders.join(other, (col("item") == col("item2")) & (col("id") < col("id2"))).select(col("id"), col("id2"))


@program("rows whose key is in another table, and is not", final=True)
def _(d: Tables) -> Any:
    return d.orders.where(col("who").in_(d.users.select(col("name")))).select(col("id"), col("who"))


@program("an interval join of event times", final=True)
def _(d: Tables) -> Any:
    later = d.orders.select(col("id").alias("id2"), col("item").alias("item2"), col("at").alias("at2"))
    near = (col("at2") >= col("at")) & (col("at2") < col("at") + lit(10).minutes) & (col("item") == col("item2"))
    return d.orders.join(later, near).select(col("id"), col("id2"))


@program("a lateral function of a user, with and without rows")
def _(d: Tables) -> Any:
    t = d.users.join_lateral(LETTERS(col("country"), 1).alias("letter", "place"))
    return t.select(col("name"), col("letter"), col("place"))


@program("a lateral function keeps rows without results")
def _(d: Tables) -> Any:
    t = d.orders.left_outer_join_lateral(LETTERS(col("item"), 3).alias("letter", "place"))
    return t.select(col("id"), col("letter"), col("place")).where(col("id") < 4)


@program("a temporal join in SQL over views of tables", "streaming", final=True)
def _(d: Tables) -> Any:
    d.env.create_temporary_view("o", d.orders.select(col("id"), col("item"), col("price"), col("at")))
    return d.env.sql_query(
        "SELECT id, price * rate AS total FROM o JOIN rates FOR SYSTEM_TIME AS OF o.`at` AS r ON o.item = r.thing"
    )


@program("a semi join and an anti join in SQL over tables", final=True)
def _(d: Tables) -> Any:
    t = d.env.sql_query(
        f"SELECT name, 'some' AS kind FROM {d.users} WHERE EXISTS (SELECT 1 FROM {d.orders} WHERE who = name) "
        "UNION ALL SELECT name, 'none' FROM users WHERE name NOT IN (SELECT who FROM orders WHERE who IS NOT NULL)"
    )
    return t.select(col("name"), col("kind"))
