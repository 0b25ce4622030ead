"""Functions by name: what each does that another would not expect of it. All values are those of Flink."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from scurry.errors import EvaluationError, ValidationError
from sql.functions.evaluation import typed, value

TEXTS: list[tuple[str, Any]] = [
    ("SUBSTRING('hello' FROM 0)", "hello"),
    ("SUBSTRING('hello' FROM -2)", "lo"),
    ("SUBSTRING('hello' FROM -10)", ""),
    ("SUBSTRING('hello' FROM 2 FOR -1)", None),
    ("TRIM('\t a ')", "\t a"),
    ("TRIM(BOTH 'xy' FROM 'xyaxy')", "a"),
    ("LPAD('hi', 4, '?!')", "?!hi"),
    ("LPAD('hi', -1, '?')", None),
    ("UPPER(CAST('straße' AS STRING))", "STRASSE"),
    ("INITCAP('éa b_c')", "éA B_C"),
    ("ASCII('Ä')", -61),
    ("LOCATE('', 'hello', 4)", 1),
    ("INSTR('hello', 'l', 1, 2)", 4),
    ("OVERLAY('abc' PLACING 'Z' FROM 1 FOR 0)", "Z"),
    ("CONCAT_WS(',', 'a', CAST(NULL AS STRING), 'b')", "a,b"),
    ("SPLIT_INDEX('a||b', '||', 1)", "b"),
    ("STR_TO_MAP('a=1,b')", [("a", "1"), ("b", None)]),
    ("REGEXP_REPLACE('foobar', 'oo|ar', '$1')", "f$1b$1"),
    ("REGEXP_EXTRACT('100-200', '(\\d+)-(\\d+)', 2)", "200"),
    ("'a%b' LIKE 'a\\%b'", False),
    ("'a%b' LIKE 'a!%b' ESCAPE '!'", True),
    ("'hello' SIMILAR TO '(he|x)l{2}o'", True),
    ("PRINTF('%05.1f|%-3s|', CAST(2.25 AS DOUBLE), 'a')", "002.3|a  |"),
    ("PARSE_URL('http://a/b?k=1&l=2', 'QUERY', 'l')", "2"),
    ("SHA2('test', 256)", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
]
NUMBERS: list[tuple[str, Any]] = [
    ("-7 / 2", -3),
    ("-7 % 2", -1),
    ("ABS(-2147483648)", -2147483648),
    ("ROUND(2.5)", Decimal(3)),
    ("ROUND(-2.5)", Decimal(-3)),
    ("TRUNCATE(2.567, 2)", Decimal("2.56")),
    ("CEIL(-1.2)", Decimal(-1)),
    ("LOG(2, 8)", 3.0),
    ("BIN(-1)", "1" * 64),
    ("UNHEX('4')", b"\0"),
]
TIMES: list[tuple[str, Any]] = [
    ("EXTRACT(WEEK FROM DATE '2021-01-03')", 53),
    ("EXTRACT(DOW FROM DATE '2021-01-03')", 1),
    ("YEAR(TIMESTAMP '1969-12-31 23:59:59.999')", 1970),
    ("CAST(FLOOR(TIMESTAMP '2020-02-29 13:14:15' TO WEEK) AS STRING)", "2020-02-23 00:00:00"),
    ("CAST(CEIL(DATE '2020-02-29' TO DAY) AS STRING)", "2020-03-01"),
    ("CAST(DATE '2020-01-31' + INTERVAL '1' MONTH AS STRING)", "2020-02-29"),
    ("CAST(TIMESTAMPADD(HOUR, 13, DATE '2020-02-29') AS STRING)", "2020-02-29 13:00:00.000000"),
    ("TIMESTAMPDIFF(MONTH, TIMESTAMP '2020-02-29 13:14:15', TIMESTAMP '2021-02-28 13:14:14')", 11),
    ("DATE_FORMAT(TIMESTAMP '2020-02-29 13:04:05', 'EEE, d MMM yyyy hh:mm a')", "Sat, 29 Feb 2020 01:04 PM"),
    ("CAST(TO_TIMESTAMP('Feb 29 2020', 'MMM dd yyyy') AS STRING)", "2020-02-29 00:00:00.000"),
    ("UNIX_TIMESTAMP('abc')", -(2**63)),
    ("FROM_UNIXTIME(253402300800)", "10000-01-01 00:00:00"),
    ("CONVERT_TZ('1970-01-01 00:00:00', 'UTC', 'America/Los_Angeles')", "1969-12-31 16:00:00"),
    ("(DATE '2020-01-10', DATE '2020-01-01') OVERLAPS (DATE '2020-01-05', DATE '2020-01-06')", True),
]
CASTS: list[tuple[str, Any]] = [
    ("CAST(300 AS TINYINT)", 44),
    ("CAST(CAST('1e20' AS DOUBLE) AS SMALLINT)", -1),
    ("CAST(' 42.9 ' AS INT)", 42),
    ("CAST(12.345 AS DECIMAL(4, 2))", Decimal("12.35")),
    ("CAST(123.4 AS DECIMAL(3, 1))", None),
    ("CAST('hi' AS CHAR(4))", "hi  "),
    ("CAST(CAST('1e7' AS DOUBLE) AS STRING)", "1.0E7"),
    ("CAST(CAST(2147483647 AS FLOAT) AS STRING)", "2.14748365E9"),
    ("CAST(ARRAY['a', CAST(NULL AS STRING)] AS STRING)", "[a, NULL]"),
    ("CAST(ROW(1, MAP['k', TRUE]) AS STRING)", "(1, {k=TRUE})"),
    ("CAST(INTERVAL -'13' MONTH AS STRING)", "-1-01"),
    ("CAST(CAST('2020-02-30' AS TIMESTAMP(0)) AS STRING)", "2020-02-29 00:00:00"),
    ("TRY_CAST('abc' AS INT)", None),
    ("CAST(ARRAY['1', '2'] AS ARRAY<INT>)", [1, 2]),
]
COLLECTIONS: list[tuple[str, Any]] = [
    ("ARRAY_SORT(ARRAY[3, CAST(NULL AS INT), 1])", [None, 1, 3]),
    ("ARRAY_SORT(ARRAY[3, CAST(NULL AS INT), 1], FALSE)", [3, 1, None]),
    ("ARRAY_EXCEPT(ARRAY[3, 1, 2, 1], ARRAY[1])", [3, 2]),
    ("ARRAY_JOIN(ARRAY['a', CAST(NULL AS STRING)], '-', 'nil')", "a-nil"),
    ("ARRAY_SLICE(ARRAY[3, 1, 2, 1], -2)", [2, 1]),
    ("ARRAY[3, 1][9]", -1),
    ("ARRAY[3, CAST(NULL AS INT)][9]", None),
    ("MAP['a', 1, 'a', 2]", [("a", 2)]),
    ("BITMAP_TO_ARRAY(BITMAP_XOR(BITMAP_BUILD(ARRAY[1, 2]), BITMAP_BUILD(ARRAY[2, -1])))", [1, -1]),
]
JSON: list[tuple[str, Any]] = [
    ("""JSON_VALUE('{"a": 1.50}', '$.a')""", "1.50"),
    ("""JSON_VALUE('{"a": [1]}', '$.a' DEFAULT 'd' ON ERROR)""", "d"),
    ("""JSON_VALUE('{}', 'lax $.a' DEFAULT 'd' ON EMPTY)""", "d"),
    ("""JSON_QUERY('{"a": {"b": 1, "a": 2}}', '$.a')""", '{"a":2,"b":1}'),
    ("""JSON_QUERY('[1, 2, 3]', '$[0,2]' WITH WRAPPER)""", "[[1,3]]"),
    ("""JSON_EXISTS('[{"x": 1}, {"x": 3}]', '$[?(@.x > 2)].x')""", True),
    ("""JSON_OBJECT('b' VALUE 1, 'a' VALUE JSON_ARRAY(1, CAST(NULL AS INT)))""", '{"a":[1],"b":1}'),
    ("""JSON_STRING(PARSE_JSON('{"c": {"d": 1.5}}')['c']['d'])""", "1.5"),
    ("""'01' IS JSON""", False),
]


@pytest.mark.parametrize(("expression", "expected"), [*TEXTS, *NUMBERS, *TIMES, *CASTS, *COLLECTIONS, *JSON])
def test_an_expression_has_the_value_that_flink_gives_it(expression: str, expected: Any) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "time_zone", "expected"),
    [
        # Clocks skip from 2 to 3 o'clock: a wall clock in between is an hour later.
        (
            "CAST(CAST(TIMESTAMP '2020-03-08 02:30:00' AS TIMESTAMP_LTZ(0)) AS STRING)",
            "America/Los_Angeles",
            "03:30:00",
        ),
        # Clocks are put back from 2 to 1 o'clock: a wall clock in between is the earlier one.
        (
            "CAST(CAST(TIMESTAMP '2020-11-01 01:30:00' AS TIMESTAMP_LTZ(0)) AS STRING)",
            "America/Los_Angeles",
            "01:30:00",
        ),
        ("CAST(TO_TIMESTAMP_LTZ(0, 3) AS STRING)", "Asia/Kolkata", "05:30:00.000"),
        ("CAST(TO_TIMESTAMP_LTZ(0, 3) AS STRING)", "GMT-03:00", "21:00:00.000"),
    ],
)
def test_points_of_time_are_shown_in_the_time_zone_of_the_session(
    expression: str, time_zone: str, expected: str
) -> None:
    assert value(expression, time_zone).partition(" ")[2] == expected


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("1 / 0", "Division by zero"),
        ("1.5 / 0.0", "Division by zero"),
        ("CAST('abc' AS INT)", "For input string: 'abc'. Invalid character found."),
        ("CAST('2020-02-29 25:00:00' AS TIMESTAMP(0))", "Invalid value for HourOfDay"),
        ("FROM_BASE64('!!!')", "Illegal base64 character 21"),
        ("""JSON_VALUE('{"a": 1.5}', '$.a' RETURNING INTEGER)""", "of JSON is no INT"),
        ("DATE_FORMAT(TIMESTAMP '2020-02-29 13:04:05', 'Z')", "has no zone"),
    ],
)
def test_what_has_no_value_fails_with_the_reason(expression: str, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        value(expression)


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("1.5 * 2.25", "DECIMAL(6, 3) NOT NULL"),
        ("CAST(1 AS FLOAT) + CAST(1 AS DOUBLE)", "FLOAT NOT NULL"),
        ("CASE WHEN TRUE THEN 'a' ELSE 'bcd' END", "VARCHAR(3) NOT NULL"),
        ("COALESCE(CAST(NULL AS INT), 2.5)", "DECIMAL(11, 1) NOT NULL"),
        ("ARRAY[1, 2.5]", "ARRAY<DECIMAL(11, 1) NOT NULL> NOT NULL"),
        ("INTERVAL '1' DAY", "INTERVAL SECOND(3) NOT NULL"),
        ("'a' || CAST('b' AS VARCHAR(3))", "VARCHAR(4) NOT NULL"),
        ("TRY_CAST('1' AS INT)", "INT"),
        ("UPPER('😀')", "CHAR(2) NOT NULL"),
    ],
)
def test_an_expression_has_the_type_that_flink_gives_it(expression: str, shown: str) -> None:
    assert typed(expression).type.as_summary_string() == shown


@pytest.mark.parametrize(
    "expression",
    [
        "1 = 'a'",
        "DATE '2020-01-01' = TIMESTAMP '2020-01-01 00:00:00'",
        "CAST(DATE '2020-01-01' AS INT)",
        "CAST(1 AS TIMESTAMP(3))",
        "IF(TRUE, ARRAY[1], ARRAY[2])",
        "ARRAY_CONTAINS(ARRAY[1], 'x')",
        "CASE WHEN TRUE THEN 1 ELSE 'a' END",
        "JSON_VALUE('{}', '$.a' RETURNING BIGINT)",
        "INTERVAL '1' YEAR + INTERVAL '2' DAY",
    ],
)
def test_what_flink_refuses_is_refused_before_it_runs(expression: str) -> None:
    with pytest.raises(ValidationError):
        typed(expression)


def test_a_string_goes_on_in_the_next_line() -> None:
    assert value("'a'\n'b'") == "ab"


def test_a_string_does_not_go_on_in_the_same_line() -> None:
    with pytest.raises(ValidationError, match="String literal continued on same line"):
        typed("'a' 'b'")
