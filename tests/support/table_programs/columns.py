# mypy: disable-error-code="misc, untyped-decorator"
"""Columns: expressions, names, casts, conditions, texts of SQL."""

from __future__ import annotations

from typing import Any

from pyflink.table import DataTypes
from pyflink.table.expressions import (
    call,
    call_sql,
    coalesce,
    col,
    concat,
    concat_ws,
    date_format,
    if_then_else,
    lit,
    not_,
    null_of,
    range_,
    to_timestamp,
    with_all_columns,
    with_columns,
    without_columns,
)

from support.table_programs.registry import Tables, program


@program("columns are added, replaced, renamed and dropped in one chain")
def _(d: Tables) -> Any:
    return (
        d.orders.add_columns((col("price") * col("pieces")).alias("total"), lit("EUR"))
        .add_or_replace_columns(col("item").upper_case.alias("item"))
        .rename_columns(col("who").alias("customer"), col("_c7").alias("currency"))
        .drop_columns(col("at"), col("id"))
    )


@program("columns are chosen by positions, ranges and exclusion")
def _(d: Tables) -> Any:
    t = d.orders.select(with_columns(range_(1, 3)), col("price"))
    return t.select(without_columns(col("item")), with_columns(3).alias("thing"))


@program("all columns, and a star, beside computed ones")
def _(d: Tables) -> Any:
    return d.users.select(with_all_columns(), col("name").char_length.alias("n")).select(col("*"), col("n") + 1)


@program("conditions with NULL follow three-valued logic")
def _(d: Tables) -> Any:
    many = col("pieces") > 2
    return d.orders.select(
        col("id"), many, not_(many), many & (col("who") == "ann"), many | (col("who") == "ann"), many.is_true,
        many.is_not_false, col("who").is_null, ~many,
    )  # fmt: skip


@program("arithmetic of decimals, integers and literals has Flink's types")
def _(d: Tables) -> Any:
    p, n = col("price"), col("pieces")
    return d.orders.select(
        p + n, p * n, p / 3, n / 2, n % 2, -p, p - 0.5, 10 - n, 2 * p, p.round(0), p.floor(), p.ceil()
    )


@program("texts of SQL beside expressions")
def _(d: Tables) -> Any:
    return d.orders.select(
        call_sql("price * 2").alias("double price"),
        call_sql("CASE WHEN pieces > 2 THEN 'many' WHEN pieces IS NULL THEN 'none' ELSE 'few' END").alias("how_many"),
        call("UPPER", col("item")).alias("item"),
    ).where(call_sql("how_many <> 'few'"))


@program("nested conditions and NULL replacements")
def _(d: Tables) -> Any:
    size = if_then_else(col("pieces") > 3, "big", if_then_else(col("pieces") > 1, "mid", null_of(DataTypes.STRING())))
    return d.orders.select(
        col("id"), size.alias("size"), coalesce(col("who"), "?"), col("pieces").if_null(0), (col("id") > 4).then(1, 0)
    )


@program("casts between texts, numbers and times, with failures as NULL")
def _(d: Tables) -> Any:
    return d.orders.select(
        col("id").cast(DataTypes.STRING()), col("price").cast(DataTypes.INT()), col("at").cast(DataTypes.DATE()),
        col("who").try_cast(DataTypes.INT()), col("price").cast(DataTypes.STRING()).cast(DataTypes.DOUBLE()),
        col("id").cast(DataTypes.BOOLEAN()), col("at").cast(DataTypes.STRING()), lit("12").cast(DataTypes.TINYINT()),
    )  # fmt: skip


@program("dates and times are taken apart, moved and rounded")
def _(d: Tables) -> Any:
    from pyflink.table.expression import TimeIntervalUnit, TimePointUnit
    from pyflink.table.expressions import timestamp_diff

    at = col("at")
    return d.orders.select(
        at.extract(TimeIntervalUnit.MINUTE), at.floor(TimeIntervalUnit.HOUR), at.ceil(TimeIntervalUnit.DAY),
        at + lit(90).minutes, at - lit(1).month, date_format(at, "yyyy/MM/dd HH-mm"),
        timestamp_diff(TimePointUnit.SECOND, to_timestamp("2024-05-01 10:00:00"), at), at.cast(DataTypes.TIME()),
    )  # fmt: skip


@program("texts are cut, searched and joined")
def _(d: Tables) -> Any:
    s = col("item")
    return d.orders.select(
        concat(s, "-", col("who")), concat_ws("/", s, col("who"), "x"), s.substring(2, 2), s.like("%k%"), s.left(2),
        s.position("e"), lit("a").position(s), s.lpad(6, "*"), s.overlay("XX", 2), s.regexp_extract("(.)[ae]", 1),
        s.replace("e", "3"), s.reverse, s.starts_with("t"), s.init_cap, s.repeat(2), s.trim("t"),
    )  # fmt: skip


@program("filters of lists, ranges and patterns, one after another")
def _(d: Tables) -> Any:
    t = d.orders.filter(col("item").in_("tea", "milk")).filter(col("price").between(1.2, 3.6))
    return t.where(~col("who").like("b%")).where(col("id").not_between(4, 6)).select(col("id"), col("who"), col("item"))


@program("columns that are attributes of the table")
def _(d: Tables) -> Any:
    t = d.orders
    return t.filter(t.price > 2).select(t.id, t.item.upper_case.alias("thing"), (t.price + t.id).alias("sum"))
