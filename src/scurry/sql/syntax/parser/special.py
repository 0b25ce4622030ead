"""Functions whose arguments are separated by keywords."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.keywords import STANDARD_FUNCTIONS
from scurry.sql.syntax.lexer import IDENTIFIER_KEYS
from scurry.sql.syntax.parser.calls import (
    parse_after_call,
    parse_argument,
    parse_arguments,
    parse_call,
    parse_call_of,
    parse_null_treatment,
    parse_over,
)
from scurry.sql.syntax.parser.json import parse_json_function
from scurry.sql.syntax.parser.lists import another, parse_order_by
from scurry.sql.syntax.parser.literals import parse_interval_qualifier, parse_signed_number
from scurry.sql.syntax.parser.parser import Context, Parser
from scurry.sql.syntax.parser.types import parse_data_type

_UNITS: Final = frozenset(
    """NANOSECOND MICROSECOND MILLISECOND SECOND MINUTE HOUR DAY DOW DOY ISODOW ISOYEAR WEEK MONTH QUARTER YEAR EPOCH
    DECADE CENTURY MILLENNIUM""".split()
)


def open_call(p: Parser) -> int:
    """Go past the name and the parenthesis of a function, and return where the name is."""
    p.position += 2
    return p.position - 2


def parse_case(p: Parser) -> nodes.Expression:
    start = p.position
    p.position += 1
    operand = None if p.at("WHEN") else p.expression()
    branches = []
    while p.accept("WHEN"):
        branches.append(_parse_when(p, operand, p.position - 1))
    if not branches:
        p.fail()
    default: nodes.Expression = nodes.NullLiteral()
    if p.accept("ELSE"):
        default = p.expression()
    p.expect("END")
    return nodes.Case(tuple(branches), default, span=p.span_from(start))


def _parse_when(p: Parser, operand: nodes.Expression | None, start: int) -> nodes.WhenClause:
    conditions = [p.expression()]
    while another(p):
        conditions.append(p.expression())
    span = p.span_from(start + 1)
    condition = conditions[0]
    if operand is not None and len(conditions) > 1:
        condition = nodes.In(operand, tuple(conditions), span=span)
    elif operand is not None:
        condition = nodes.BinaryOperation("=", operand, condition, span=span)
    elif len(conditions) > 1:
        condition = nodes.RowConstructor(tuple(conditions), explicit=False, span=span)
    p.expect("THEN")
    return nodes.WhenClause(condition, p.expression(), span=p.span_from(start))


def at_operand(p: Parser) -> bool:
    """Return whether an operand follows the current token: otherwise FINAL, which is not reserved, is a name."""
    following, after = p.keys[p.position + 1 : p.position + 3]
    if following in ("FINAL", "RUNNING"):
        return True
    return (following.isidentifier() and after == "(") or (following in IDENTIFIER_KEYS and after == ".")


def parse_running(p: Parser, key: str) -> nodes.Expression:
    start = p.position
    p.position += 1
    following = p.keys[p.position]
    after = p.keys[p.position + 1]
    if following in ("FINAL", "RUNNING"):
        operand = parse_running(p, following)
    elif following in IDENTIFIER_KEYS and after != "(":
        operand = p.compound_name()
    else:
        operand = _parse_navigation(p) if following in ("FIRST", "LAST") else parse_call(p)
    return nodes.UnaryOperation(key, operand, span=p.span_from(start))


def _parse_cast(p: Parser) -> nodes.Expression:
    start = open_call(p)
    operand = p.expression()
    p.expect("AS")
    target: nodes.TypeSpec
    if p.at("INTERVAL"):
        p.position += 1
        unit = parse_interval_qualifier(p)
        target = nodes.IntervalTypeSpec(unit, span=unit.span)
    else:
        target = parse_data_type(p)
    p.expect(")")
    return nodes.Cast(operand, target, p.keys[start], span=p.span_from(start))


def _parse_unit(p: Parser) -> nodes.IntervalQualifier:
    """Parse a unit, or the name of a time frame."""
    position = p.position
    key = p.keys[position]
    if key in _UNITS:
        p.position += 1
        return nodes.IntervalQualifier(key, span=p.span_of(position))
    name = p.name()
    return nodes.IntervalQualifier(name.last, named=True, span=name.span)


def _parse_extract(p: Parser) -> nodes.Expression:
    start = open_call(p)
    unit = _parse_unit(p)
    p.expect("FROM")
    operand = p.expression()
    p.expect(")")
    return nodes.Extract(unit, operand, span=p.span_from(start))


def _parse_convert(p: Parser) -> nodes.Expression:
    start = open_call(p)
    operand = p.expression()
    p.expect("USING")
    charset = p.name()
    p.expect(")")
    return nodes.Convert(operand, charset, span=p.span_from(start))


def _parse_translate(p: Parser) -> nodes.Expression:
    start = open_call(p)
    operand = p.expression()
    if p.accept("USING"):
        charset = p.name()
        p.expect(")")
        return nodes.Translate(operand, charset, span=p.span_from(start))
    arguments = [operand]
    while p.accept(","):
        arguments.append(p.expression())
    p.expect(")")
    return _plain_call(p, start, tuple(arguments))


def _plain_call(p: Parser, start: int, arguments: tuple[nodes.Expression, ...], name: str = "") -> nodes.Call:
    span = p.span_of(start)
    written = name or p.image(start)
    written = written.upper() if written.upper() in STANDARD_FUNCTIONS else written
    identifier = nodes.Identifier((written,), quoted=(False,), part_spans=(span,), span=span)
    return nodes.Call(identifier, arguments, call_span=p.span_from(start), span=p.span_from(start))


def _parse_overlay(p: Parser) -> nodes.Expression:
    start = open_call(p)
    operand = p.expression()
    p.expect("PLACING")
    replacement = p.expression()
    p.expect("FROM")
    from_ = p.expression()
    length = p.expression() if p.accept("FOR") else None
    p.expect(")")
    return nodes.Overlay(operand, replacement, from_, length, span=p.span_from(start))


def _parse_substring(p: Parser) -> nodes.Expression:
    start = open_call(p)
    operand = p.expression()
    p.expect_any("FROM", ",")
    from_ = p.expression()
    length = p.expression() if p.accept_any("FOR", ",") else None
    p.expect(")")
    return nodes.Substring(operand, from_, length, span=p.span_from(start))


def _parse_trim(p: Parser) -> nodes.Expression:
    start = open_call(p)
    side = p.accept_any("BOTH", "LEADING", "TRAILING")
    characters: nodes.Expression = nodes.StringLiteral(" ")
    if side is not None and p.accept("FROM"):
        operand = p.expression()
    else:
        if p.at("FROM"):
            p.fail()
        operand = p.expression()
        if p.accept("FROM"):
            characters, operand = operand, p.expression()
    p.expect(")")
    return nodes.Trim(side or "BOTH", characters, operand, span=p.span_from(start))


def _parse_floor(p: Parser) -> nodes.Expression:
    start = open_call(p)
    floor = p.keys[start] == "FLOOR"
    arguments = [p.expression()]
    if p.accept("TO"):
        unit = _parse_unit(p)
        p.expect(")")
        call_span = p.span_from(start)
        over = parse_over(p)
        make = nodes.Floor if floor else nodes.Ceil
        return make(arguments[0], unit, over=over, call_span=call_span, span=p.span_from(start))
    if p.accept(","):
        arguments.append(p.expression())
    p.expect(")")
    call = _plain_call(p, start, tuple(arguments), "FLOOR" if floor else "CEIL")
    over = parse_over(p)
    if over is None:
        return call
    return nodes.Call(call.name, call.arguments, over=over, call_span=call.call_span, span=p.span_from(start))


def _parse_timestamp_arithmetic(p: Parser) -> nodes.Expression:
    """Parse TIMESTAMPADD or TIMESTAMPDIFF."""
    start = open_call(p)
    unit = _parse_unit(p)
    p.expect(",")
    first = p.expression()
    p.expect(",")
    second = p.expression()
    p.expect(")")
    made = nodes.TimestampAdd if p.keys[start] == "TIMESTAMPADD" else nodes.TimestampDiff
    return made(unit, first, second, span=p.span_from(start))


def _parse_call_with_unit(p: Parser) -> nodes.Expression:
    """Parse a call whose last argument may be a unit, as DATE_TRUNC(x, MONTH)."""
    start = open_call(p)
    arguments = [p.expression()]
    while p.accept(","):
        key = p.keys[p.position]
        is_unit = key in _UNITS and p.keys[p.position + 1] == ")"
        arguments.append(_parse_unit(p) if is_unit else p.expression())
    p.expect(")")
    return _plain_call(p, start, tuple(arguments), p.keys[start])


def _parse_navigation(p: Parser) -> nodes.Expression:
    """Parse FIRST, LAST, PREV or NEXT of a row pattern."""
    start = open_call(p)
    default = "0" if p.keys[start] in ("FIRST", "LAST") else "1"
    value = p.expression()
    offset: nodes.Expression = nodes.NumericLiteral(default)
    if p.accept(","):
        offset = parse_signed_number(p)
    p.expect(")")
    return _plain_call(p, start, (value, offset), p.keys[start])


def _parse_call_without_arguments(p: Parser) -> nodes.Expression:
    start = open_call(p)
    p.expect(")")
    return _plain_call(p, start, (), p.keys[start])


def _parse_group_window(p: Parser) -> nodes.Expression:
    """Parse a group window, whose call has neither FILTER nor OVER."""
    start = p.position
    p.position += 1
    _, arguments = parse_arguments(p)
    return _plain_call(p, start, arguments)


def _parse_period(p: Parser) -> nodes.Expression:
    start = open_call(p)
    first = p.expression()
    p.expect(",")
    second = p.expression()
    p.expect(")")
    return nodes.RowConstructor((first, second), span=p.span_from(start))


def _parse_reserved_call(p: Parser) -> nodes.Expression:
    """Parse a call of a reserved word that is the name of no function elsewhere."""
    start = p.position
    p.position += 1
    span = p.span_of(start)
    name = nodes.Identifier((p.image(start),), quoted=(False,), part_spans=(span,), span=span)
    return parse_call_of(p, name, start)


def _parse_array_aggregate(p: Parser) -> nodes.Expression:
    """Parse ARRAY_AGG, which takes an ORDER BY in its parentheses."""
    start = open_call(p)
    quantifier = p.accept_any("DISTINCT", "ALL")
    arguments = [parse_argument(p, Context.SUB_QUERY)]
    while p.accept(","):
        arguments.append(parse_argument(p, Context.SUB_QUERY))
    nulls = parse_null_treatment(p)
    order = parse_order_by(p) if p.at("ORDER") else ()
    p.expect(")")
    call_span = p.span_from(start)
    span = p.span_of(start)
    name = nodes.Identifier(("ARRAY_AGG",), quoted=(False,), part_spans=(span,), span=span)
    after = parse_after_call(p)
    return nodes.Call(
        name,
        tuple(arguments),
        quantifier,
        order,
        null_treatment=nulls or after.null_treatment,
        within_distinct=after.within_distinct,
        within_group=after.within_group,
        filter=after.filter,
        over=after.over,
        call_span=call_span,
        span=p.span_from(start),
    )


# All but POSITION, whose first operand is an expression without operators.
SPECIAL_FUNCTIONS: Final[dict[str, Callable[[Parser], nodes.Expression]]] = {
    "CAST": _parse_cast,
    "TRY_CAST": _parse_cast,
    "SAFE_CAST": _parse_cast,
    "EXTRACT": _parse_extract,
    "CONVERT": _parse_convert,
    "TRANSLATE": _parse_translate,
    "OVERLAY": _parse_overlay,
    "SUBSTRING": _parse_substring,
    "TRIM": _parse_trim,
    "FLOOR": _parse_floor,
    "CEIL": _parse_floor,
    "CEILING": _parse_floor,
    "TIMESTAMPADD": _parse_timestamp_arithmetic,
    "TIMESTAMPDIFF": _parse_timestamp_arithmetic,
    **dict.fromkeys(("DATE_TRUNC", "TIMESTAMP_TRUNC", "DATETIME_TRUNC", "TIME_TRUNC"), _parse_call_with_unit),
    **dict.fromkeys(("DATE_DIFF", "DATETIME_DIFF", "TIMESTAMP_DIFF", "TIME_DIFF"), _parse_call_with_unit),
    **dict.fromkeys(("FIRST", "LAST", "PREV", "NEXT"), _parse_navigation),
    **dict.fromkeys(("CLASSIFIER", "MATCH_NUMBER"), _parse_call_without_arguments),
    **dict.fromkeys(("TUMBLE", "HOP", "SESSION"), _parse_group_window),
    **dict.fromkeys(("DATE", "TIME", "TIMESTAMP", "DATETIME", "IF"), _parse_reserved_call),
    **dict.fromkeys(
        ("JSON_EXISTS", "JSON_VALUE", "JSON_QUERY", "JSON_OBJECT", "JSON_OBJECTAGG", "JSON_ARRAY", "JSON_ARRAYAGG"),
        parse_json_function,
    ),
    "PERIOD": _parse_period,
    "ARRAY_AGG": _parse_array_aggregate,
}
