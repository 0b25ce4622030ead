"""Expressions of the Table API, each computed over one row and compared with its value."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

from scurry.table import DataTypes, EnvironmentSettings, TableEnvironment
from scurry.table.expression import Expression, JsonOnNull, JsonType, TimeIntervalUnit, TimePointUnit
from scurry.table.expressions import (
    and_,
    array,
    atan2,
    call,
    call_sql,
    coalesce,
    col,
    concat,
    concat_ws,
    convert_tz,
    current_database,
    current_date,
    current_time,
    current_timestamp,
    date_format,
    descriptor,
    e,
    from_unixtime,
    if_then_else,
    json,
    json_array,
    json_array_agg,
    json_object,
    json_object_agg,
    json_string,
    lit,
    local_time,
    local_timestamp,
    log,
    map_,
    map_from_arrays,
    negative,
    not_,
    null_of,
    or_,
    pi,
    rand,
    rand_integer,
    range_,
    row,
    row_interval,
    temporal_overlaps,
    timestamp_diff,
    to_date,
    to_timestamp,
    to_timestamp_ltz,
    unix_timestamp,
    uuid,
    with_all_columns,
    with_columns,
    without_columns,
)

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
t_env.get_config().set_local_timezone("UTC")
one = t_env.from_elements([(3, "to be", True)], ["n", "text", "flag"])
n, text, flag = col("n"), col("text"), col("flag")


def check(*expressions_and_values: tuple[Expression, Any]) -> None:
    """Compute all expressions in one query."""
    expressions = [expression for expression, _ in expressions_and_values]
    with one.select(*expressions).execute().collect() as rows:
        (found,) = rows
    pairs = zip(expressions_and_values, found, strict=True)
    different = [f"{expression} is {value!r}" for (expression, expected), value in pairs if value != expected]
    assert different == [], different


def about(value: float) -> Any:
    """Equal to a number up to its last digits."""

    class About:
        def __eq__(self, other: object) -> bool:
            return isinstance(other, float) and abs(other - value) < 1e-6

    return About()


# Comparisons and logic

check(
    (n.between(1, 3), True),
    (n.not_between(1, 3), False),
    (n.in_(1, 2, 3), True),
    (n.is_null, False),
    (n.is_not_null, True),
    (flag.is_true, True),
    (flag.is_false, False),
    (flag.is_not_true, False),
    (flag.is_not_false, True),
    (flag.then("yes", "no"), "yes"),
    (if_then_else(n > 2, "large", "small"), "large"),
    (n.if_null(0), 3),
    (coalesce(null_of(DataTypes.BIGINT()), n), 3),
    (and_(flag, n > 2), True),
    (or_(n > 9, flag), True),
    (not_(flag), False),
    (n.cast(DataTypes.STRING()), "3"),
    (text.try_cast(DataTypes.INT()), None),
    (n.alias("number"), 3),
    (lit(5, DataTypes.BIGINT().not_null()), 5),
    (call_sql("n + 1"), 4),
    (call("UPPER", text), "TO BE"),
)

# Numbers

check(
    (lit(-2).abs, 2),
    (lit(-2).sign, -1),
    (negative(n), -3),
    (lit(2.345).round(1), about(2.3)),
    (lit(2.345).truncate(1), about(2.3)),
    (lit(4.0).sqrt, 2.0),
    (lit(0.0).exp, 1.0),
    (lit(1.0).ln, 0.0),
    (lit(100.0).log10, about(2.0)),
    (lit(8.0).log2, about(3.0)),
    (lit(8.0).log(2.0), about(3.0)),
    (log(8.0, 2.0), about(3.0)),
    (lit(0.0).sin, 0.0),
    (lit(0.0).cos, 1.0),
    (lit(0.0).tan, 0.0),
    (lit(1.0).cot, about(0.6420926)),
    (lit(0.0).asin, 0.0),
    (lit(1.0).acos, 0.0),
    (lit(0.0).atan, 0.0),
    (atan2(0.0, 1.0), 0.0),
    (lit(0.0).sinh, 0.0),
    (lit(0.0).cosh, 1.0),
    (lit(0.0).tanh, 0.0),
    (lit(180.0).radians, about(3.1415927)),
    (pi().degrees, about(180.0)),
    (e().ln, about(1.0)),
    (lit(4).bin, "100"),
    (lit(255).hex, "FF"),
    (lit("FF").unhex, b"\xff"),
    (rand(1) < 1.0, True),
    (rand_integer(10, 1) < 10, True),
    (lit(2.5).floor(), Decimal(2)),
    (lit(2.5).ceil(), Decimal(3)),
)

# Texts

check(
    (text.upper_case, "TO BE"),
    (lit("TO").lower_case, "to"),
    (text.init_cap, "To Be"),
    (text.char_length, 5),
    (text.concat("!"), "to be!"),
    (concat("to", " ", "be"), "to be"),
    (concat_ws(" ", "to", "be"), "to be"),
    (text.starts_with("to"), True),
    (text.ends_with("be"), True),
    (text.substring(4), "be"),
    (text.substr(1, 2), "to"),
    (text.left(2), "to"),
    (text.right(2), "be"),
    (lit("xtox").trim("x"), "to"),
    (lit("xto").trim_leading("x"), "to"),
    (lit("tox").trim_trailing("x"), "to"),
    (lit(" to").ltrim(), "to"),
    (lit("to ").rtrim(), "to"),
    (lit(" to ").btrim(), "to"),
    (text.replace("be", "do"), "to do"),
    (text.translate("tb", "TB"), "To Be"),
    (text.like("to%"), True),
    (text.similar("to.*"), True),
    (lit("be").position(text), 4),
    (lit("be").locate(text), 4),
    (text.instr("be"), 4),
    (lit("7").lpad(3, "0"), "007"),
    (lit("7").rpad(3, "0"), "700"),
    (text.overlay("do", 4), "to do"),
    (text.regexp("b."), True),
    (text.regexp_count("[aeiou]"), 2),
    (text.regexp_replace("[aeiou]", "."), "t. b."),
    (text.regexp_extract("(b)(e)", 2), "e"),
    (text.regexp_extract_all("([aeiou])", 1), ["o", "e"]),
    (text.regexp_instr("b"), 4),
    (text.regexp_substr("b."), "be"),
    (lit("to").to_base64, "dG8="),
    (lit("dG8=").from_base64, "to"),
    (lit("a").ascii, 97),
    (lit(97).chr, "a"),
    (lit("to").encode("UTF-8"), b"to"),
    (lit(b"to").decode("UTF-8"), "to"),
    (lit("a b").url_encode(), "a+b"),
    (lit("a+b").url_decode(), "a b"),
    (lit("10.0.0.1").inet_aton(), 167772161),
    (lit(167772161).inet_ntoa(), "10.0.0.1"),
    (lit("http://shop/item?id=7").parse_url("QUERY", "id"), "7"),
    (lit("%s: %d").printf("tea", 7), "tea: 7"),
    (lit("ab").repeat(2), "abab"),
    (lit("ab").reverse, "ba"),
    (lit("a,b").split_index(",", 1), "b"),
    (lit("a,b").split(","), ["a", "b"]),
    (lit("a=1,b=2").str_to_map(), {"a": "1", "b": "2"}),
    (lit(2).elt("a", "b"), "b"),
)

# Hashes

check(
    (text.md5, "07062bb184376455ae1ec5e5734caf06"),
    (text.sha1.char_length, 40),
    (text.sha224.char_length, 56),
    (text.sha256.char_length, 64),
    (text.sha384.char_length, 96),
    (text.sha512.char_length, 128),
    (text.sha2(256) == text.sha256, True),
)

# Times

moment = lit("2026-03-04 05:06:07.008").to_timestamp
check(
    (lit("2026-03-04").to_date, datetime.date(2026, 3, 4)),
    (lit("05:06:07").to_time, datetime.time(5, 6, 7)),
    (moment, datetime.datetime(2026, 3, 4, 5, 6, 7, 8000)),
    (to_date("2026-03-04"), datetime.date(2026, 3, 4)),
    (to_timestamp("2026-03-04 00:00:00"), datetime.datetime(2026, 3, 4)),
    (to_timestamp_ltz(0, 3).cast(DataTypes.STRING()), "1970-01-01 00:00:00.000"),
    (moment.extract(TimeIntervalUnit.MONTH), 3),
    (moment.floor(TimeIntervalUnit.HOUR), datetime.datetime(2026, 3, 4, 5)),
    (moment.ceil(TimeIntervalUnit.HOUR), datetime.datetime(2026, 3, 4, 6)),
    (date_format(moment, "yyyy/MM"), "2026/03"),
    (timestamp_diff(TimePointUnit.DAY, to_date("2026-03-01"), to_date("2026-03-04")), 3),
    (convert_tz("2026-03-04 00:00:00", "UTC", "Europe/Berlin"), "2026-03-04 01:00:00"),
    (from_unixtime(0), "1970-01-01 00:00:00"),
    (unix_timestamp("1970-01-01 00:00:10"), 10),
    (moment + lit(1).year, datetime.datetime(2027, 3, 4, 5, 6, 7, 8000)),
    (moment + lit(1).quarter, datetime.datetime(2026, 6, 4, 5, 6, 7, 8000)),
    (moment + lit(1).month, datetime.datetime(2026, 4, 4, 5, 6, 7, 8000)),
    (moment + lit(1).week, datetime.datetime(2026, 3, 11, 5, 6, 7, 8000)),
    (moment + lit(1).day, datetime.datetime(2026, 3, 5, 5, 6, 7, 8000)),
    (moment + lit(1).hour, datetime.datetime(2026, 3, 4, 6, 6, 7, 8000)),
    (moment + lit(1).minute, datetime.datetime(2026, 3, 4, 5, 7, 7, 8000)),
    (moment + lit(1).second, datetime.datetime(2026, 3, 4, 5, 6, 8, 8000)),
    (moment + lit(1).milli, datetime.datetime(2026, 3, 4, 5, 6, 7, 9000)),
    (
        moment + lit(1).years - lit(12).months + lit(1).quarters - lit(3).months,
        datetime.datetime(2026, 3, 4, 5, 6, 7, 8000),
    ),
    (moment + lit(1).weeks - lit(6).days - lit(24).hours, datetime.datetime(2026, 3, 4, 5, 6, 7, 8000)),
    (moment + lit(1).minutes - lit(60_000).millis, datetime.datetime(2026, 3, 4, 5, 6, 7, 8000)),
    (temporal_overlaps(to_date("2026-03-01"), lit(2).day, to_date("2026-03-02"), lit(2).day), True),
    (current_date() > to_date("2020-01-01"), True),
    (current_time().is_not_null, True),
    (current_timestamp().is_not_null, True),
    (local_time().is_not_null, True),
    (local_timestamp().is_not_null, True),
)

# Arrays, maps, rows

letters = array("b", "a", "b")
prices = map_("tea", 3, "jam", 5)
check(
    (letters.cardinality, 3),
    (letters.at(1), "b"),
    (array("a").element, "a"),
    (letters.array_append("c"), ["b", "a", "b", "c"]),
    (letters.array_prepend("c"), ["c", "b", "a", "b"]),
    (letters.array_contains("a"), True),
    (letters.array_distinct(), ["b", "a"]),
    (letters.array_position("a"), 2),
    (letters.array_remove("b"), ["a"]),
    (letters.array_reverse(), ["b", "a", "b"]),
    (letters.array_slice(2, 3), ["a", "b"]),
    (letters.array_sort(), ["a", "b", "b"]),
    (letters.array_union(array("c")), ["b", "a", "c"]),
    (letters.array_concat(array("c")), ["b", "a", "b", "c"]),
    (letters.array_join("-"), "b-a-b"),
    (letters.array_except(array("b")), ["a"]),
    (letters.array_intersect(array("b")), ["b"]),
    (array(1, 3, 2).array_max(), 3),
    (array(1, 3, 2).array_min(), 1),
    (prices.at("tea"), 3),
    (prices.map_keys.array_sort(), ["jam", "tea"]),
    (prices.map_values.array_sort(), [3, 5]),
    (prices.map_entries.cardinality, 2),
    (prices.map_union(map_("bun", 2)).cardinality, 3),
    (map_from_arrays(array("tea"), array(3)), {"tea": 3}),
    (row("tea", 3).get(0), "tea"),
    (call("OBJECT_OF", "Item", "name", "tea", "price", 3).object_update("price", 4).get("price"), 4),
)
flat = one.select(row("tea", 3).alias("pair")).select(col("pair").flatten)
assert len(flat.get_schema().get_field_names()) == 2

# JSON

document = lit('{"item": "tea", "prices": [3, 5]}')
check(
    (document.is_json(), True),
    (document.is_json(JsonType.ARRAY), False),
    (document.json_exists("$.item"), True),
    (document.json_value("$.item"), "tea"),
    (document.json_query("$.prices"), "[3,5]"),
    (lit("tea").json_quote(), '"tea"'),
    (lit('"tea"').json_unquote(), "tea"),
    (json_string(array(1, 2)), "[1,2]"),
    (json_object(JsonOnNull.NULL, "item", "tea"), '{"item":"tea"}'),
    (json_array(JsonOnNull.ABSENT, 1, 2), "[1,2]"),
    (json_object(JsonOnNull.NULL, "prices", json("[3, 5]")), '{"prices":[3,5]}'),
)

# Bitmaps

twelve, twenty_three = array(1, 2).bitmap_build(), array(2, 3).bitmap_build()
check(
    (twelve.bitmap_cardinality(), 2),
    (twelve.bitmap_to_array(), [1, 2]),
    (twelve.bitmap_to_string(), "{1,2}"),
    (twelve.bitmap_and(twenty_three).bitmap_to_array(), [2]),
    (twelve.bitmap_or(twenty_three).bitmap_to_array(), [1, 2, 3]),
    (twelve.bitmap_xor(twenty_three).bitmap_to_array(), [1, 3]),
    (twelve.bitmap_andnot(twenty_three).bitmap_to_array(), [1]),
    (twelve.bitmap_to_bytes().bitmap_from_bytes().bitmap_to_array(), [1, 2]),
)

# Aggregates

numbers = t_env.from_elements([(1, "a"), (2, "b"), (2, "b")], ["n", "text"])


def aggregated(*expressions: Expression) -> list[Any]:
    with numbers.select(*expressions).execute().collect() as rows:
        (found,) = rows
    return list(found)


assert aggregated(n.sum, n.sum0, n.min, n.max, n.count, n.avg) == [5, 5, 1, 2, 3, 1]
assert aggregated(n.count.distinct, text.first_value, text.last_value) == [2, "a", "b"]
assert aggregated(text.list_agg("-"), text.array_agg) == ["a-b-b", ["a", "b", "b"]]
assert aggregated(text.collect) == [{"a": 1, "b": 2}]
assert aggregated(n.cast(DataTypes.DOUBLE()).percentile(0.5)) == [2.0]
n_double = n.cast(DataTypes.DOUBLE())
assert aggregated(n_double.var_pop, n_double.var_samp) == [about(2 / 9), about(1 / 3)]
assert aggregated(n_double.stddev_pop, n_double.stddev_samp) == [about(0.4714045), about(0.5773503)]
assert aggregated(json_array_agg(JsonOnNull.NULL, n)) == ["[1,2,2]"]
distinct = t_env.from_elements([(1, "a"), (2, "b")], ["n", "text"])
with distinct.select(json_object_agg(JsonOnNull.NULL, text, n)).execute().collect() as rows:
    assert [found[0] for found in rows] == ['{"a":1,"b":2}']
i = n.cast(DataTypes.INT())
assert aggregated(i.bitmap_build_agg().bitmap_to_array(), i.bitmap_build_cardinality_agg()) == [[1, 2], 2]
bitmaps = t_env.from_elements(
    [([1, 2],), ([2, 3],)], DataTypes.ROW([DataTypes.FIELD("b", DataTypes.ARRAY(DataTypes.INT()))])
)
b = bitmaps.select(col("b").bitmap_build().alias("b"))
both = b.select(
    col("b").bitmap_and_agg().bitmap_to_array(),
    col("b").bitmap_or_agg().bitmap_to_array(),
    col("b").bitmap_xor_agg().bitmap_to_array(),
    col("b").bitmap_and_cardinality_agg(),
    col("b").bitmap_or_cardinality_agg(),
    col("b").bitmap_xor_cardinality_agg(),
)
with both.execute().collect() as rows:
    assert [list(found) for found in rows] == [[[2], [1, 2, 3], [1, 3], 1, 3, 2]]

# Columns and order

wide = t_env.from_elements([(1, 2, 3)], ["a", "b", "c"])
assert wide.select(with_columns(range_("a", "b"))).get_schema().get_field_names() == ["a", "b"]
assert wide.select(without_columns(col("a"))).get_schema().get_field_names() == ["b", "c"]
assert wide.select(with_all_columns()).get_schema().get_field_names() == ["a", "b", "c"]
with numbers.order_by(n.desc, text.asc).execute().collect() as rows:
    assert [found[0] for found in rows] == [2, 2, 1]
check((current_database(), "default_database"), (uuid().char_length, 36))
assert str(row_interval(2)) and str(descriptor("n"))
