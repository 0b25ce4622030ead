"""Expressions: precedence, special forms, and where each part stands."""

from __future__ import annotations

import pytest

from scurry.sql.syntax import parse
from scurry.sql.syntax.nodes import (
    Between,
    BinaryOperation,
    Call,
    Case,
    Cast,
    Default,
    Expression,
    FieldAccess,
    Identifier,
    In,
    IntervalLiteral,
    IntervalQualifier,
    IsTest,
    ItemAccess,
    JsonValue,
    Like,
    NamedArgument,
    NullLiteral,
    NumericLiteral,
    RowConstructor,
    Select,
    Star,
    StringLiteral,
    Subquery,
    TableArgument,
    TableReference,
    Trim,
    UnaryOperation,
    WindowSpecification,
)

A, B, C, D = (Identifier((name,)) for name in "abcd")
ONE, TWO = NumericLiteral("1"), NumericLiteral("2")


def item(text: str) -> Expression:
    select = parse(f"SELECT {text}")
    assert isinstance(select, Select)
    return select.items[0].expression


def operation(operator: str, left: Expression, right: Expression) -> BinaryOperation:
    return BinaryOperation(operator, left, right)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b * c", operation("+", A, operation("*", B, C))),
        ("(a + b) * c", operation("*", operation("+", A, B), C)),
        ("a - b - c", operation("-", operation("-", A, B), C)),
        ("a - (b - c)", operation("-", A, operation("-", B, C))),
        ("a OR b AND c", operation("OR", A, operation("AND", B, C))),
        ("NOT a AND b", operation("AND", UnaryOperation("NOT", A), B)),
        ("NOT a = b", UnaryOperation("NOT", operation("=", A, B))),
        ("a = b OR c", operation("OR", operation("=", A, B), C)),
        ("- a + b", operation("+", UnaryOperation("-", A), B)),
        ("a + b IS NULL", IsTest(operation("+", A, B), "NULL")),
        ("a = b IS NULL", IsTest(operation("=", A, B), "NULL")),
        ("a OR b IS NULL", operation("OR", A, IsTest(B, "NULL"))),
        ("a LIKE b || c", Like(A, operation("||", B, C))),
        ("a IS DISTINCT FROM b + c", operation("IS DISTINCT FROM", A, operation("+", B, C))),
        ("a + b[1]", operation("+", A, ItemAccess(B, ONE))),
        ("a BETWEEN 1 AND 2 AND b", operation("AND", Between(A, ONE, TWO), B)),
        ("a IN (1, 2) = b", operation("=", In(A, (ONE, TWO)), B)),
    ],
)
def test_operators_bind_as_in_calcite(text: str, expected: Expression) -> None:
    assert item(text) == expected


def test_a_minus_before_a_number_is_part_of_it() -> None:
    assert item("a - -1") == operation("-", A, NumericLiteral("-1"))


def test_a_sign_within_parentheses_is_folded_too() -> None:
    assert item("-(-1)") == ONE


@pytest.mark.parametrize(
    ("text", "number"),
    [("007", "7"), (".5", "0.5"), ("1.", "1"), ("1.50", "1.50"), ("1e3", "1E3"), ("15e-4", "1.5E-3")],
)
def test_numbers_are_written_as_calcite_does(text: str, number: str) -> None:
    assert item(text) == NumericLiteral(number)


def test_a_name_knows_the_place_of_each_part() -> None:
    name = item("t.`a b`")
    assert isinstance(name, Identifier)
    assert (name.names, name.quoted) == (("t", "a b"), (False, True))
    assert [span.describe() for span in name.part_spans] == [
        "At line 1, column 8",
        "From line 1, column 10 to line 1, column 14",
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a + b", "a + b"),
        ("(a + b)", "(a + b)"),
        ("f(a, b)", "f(a, b)"),
        ("SUM(a) FILTER (WHERE b) OVER w", "SUM(a) FILTER (WHERE b) OVER w"),
        ("CASE WHEN a THEN b END", "CASE WHEN a THEN b END"),
        ("a NOT BETWEEN 1 AND 2", "a NOT BETWEEN 1 AND 2"),
        ("INTERVAL '1' DAY", "INTERVAL '1' DAY"),
        ("a[1].b", "a[1].b"),
        ("a IS NOT NULL", "a IS NOT NULL"),
    ],
)
def test_an_expression_spans_all_of_its_text(text: str, place: str) -> None:
    assert item(text).span.source == place


def test_the_span_of_an_inner_operation_is_its_own() -> None:
    outer = item("a +\n  b * c")
    assert isinstance(outer, BinaryOperation)
    assert outer.right.span.describe() == "From line 2, column 3 to line 2, column 7"


def test_a_call_keeps_its_quantifier_and_what_follows_it() -> None:
    call = item("COUNT(DISTINCT a) FILTER (WHERE b) OVER (PARTITION BY c)")
    expected = Call(Identifier(("COUNT",)), (A,), "DISTINCT", filter=B, over=WindowSpecification(partition_by=(C,)))
    assert call == expected
    assert isinstance(call, Call)
    assert call.call_span.source == "COUNT(DISTINCT a)"


def test_count_of_all_rows_has_a_star() -> None:
    assert item("COUNT(*)") == Call(Identifier(("COUNT",)), (Star(),))


def test_arguments_can_be_named_or_left_to_their_default() -> None:
    assert item("f(x => 1, y => DEFAULT)") == Call(
        Identifier(("f",)), (NamedArgument(Identifier(("x",)), ONE), NamedArgument(Identifier(("y",)), Default()))
    )


def test_a_table_argument_has_its_keys() -> None:
    argument = TableArgument(TableReference(Identifier(("t",))), partition_by=(A, B))
    assert item("f(TABLE t PARTITION BY (a, b))") == Call(Identifier(("f",)), (argument,))


def test_a_simple_case_is_read_as_a_searched_one() -> None:
    case = item("CASE a WHEN 1 THEN b END")
    assert isinstance(case, Case)
    assert case.branches[0].condition == operation("=", A, ONE)
    assert case.default == NullLiteral()


def test_trim_says_what_is_left_out() -> None:
    assert item("TRIM(a)") == Trim("BOTH", StringLiteral(" "), A)


def test_an_interval_has_its_units() -> None:
    assert item("INTERVAL -'1 2' DAYS TO HOUR") == IntervalLiteral("1 2", IntervalQualifier("DAY", "HOUR"), True)


def test_casts_differ_by_their_function() -> None:
    cast, try_cast = item("CAST(a AS INT)"), item("TRY_CAST(a AS INT)")
    assert isinstance(cast, Cast) and isinstance(try_cast, Cast)
    assert (cast.is_try, try_cast.is_try) == (False, True)


def test_behaviors_of_json_functions_are_fields() -> None:
    value = item("JSON_VALUE(a, '$.x' RETURNING INT DEFAULT 1 ON EMPTY ERROR ON ERROR)")
    assert isinstance(value, JsonValue)
    assert value.on_empty is not None and value.on_error is not None
    assert (value.on_empty.kind, value.on_empty.default, value.on_error.kind) == ("DEFAULT", ONE, "ERROR")


def test_several_values_in_parentheses_are_a_row() -> None:
    assert item("(a, b)") == RowConstructor((A, B))


def test_a_query_in_parentheses_is_a_value() -> None:
    subquery = item("(SELECT 1) + 1")
    assert isinstance(subquery, BinaryOperation)
    assert isinstance(subquery.left, Subquery)


def test_fields_of_expressions_are_accessed() -> None:
    assert item("f(a).b") == FieldAccess(Call(Identifier(("f",)), (A,)), B)


def test_a_reserved_word_is_no_name_but_may_be_a_function() -> None:
    assert item("YEAR(a)") == Call(Identifier(("YEAR",)), (A,))


def test_map_is_a_name_where_no_bracket_follows() -> None:
    assert item("map") == Identifier(("map",))


def test_many_parentheses_are_parsed_in_time_proportional_to_their_number() -> None:
    assert item("(" * 60 + "a" + ")" * 60) == A
    assert isinstance(item("(" * 60 + "SELECT 1" + ")" * 60), Subquery)


def test_a_long_chain_of_operators_needs_no_recursion() -> None:
    chain = item(" OR ".join(["a"] * 5000))
    assert isinstance(chain, BinaryOperation)
