"""Expressions without operators: names, constructors, parentheses, and forms that a keyword begins."""

from __future__ import annotations

from typing import Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.keywords import CONTEXT_VARIABLES, RESERVED_FUNCTION_NAMES
from scurry.sql.syntax.lexer import END, IDENTIFIER_KEYS
from scurry.sql.syntax.parser.calls import parse_arguments, parse_call, parse_call_of, standard
from scurry.sql.syntax.parser.lists import check_value, parse_expressions
from scurry.sql.syntax.parser.literals import at_literal, parse_interval, parse_interval_qualifier, parse_literal
from scurry.sql.syntax.parser.parser import Context, Parser
from scurry.sql.syntax.parser.queries import as_expressions, parse_leaf_query_or_expression, parse_query_list
from scurry.sql.syntax.parser.special import SPECIAL_FUNCTIONS, at_operand, open_call, parse_case, parse_running

_UNITS_OF_DIFFERENCES: Final = frozenset(
    "YEAR YEARS MONTH MONTHS DAY DAYS HOUR HOURS MINUTE MINUTES SECOND SECONDS QUARTER QUARTERS WEEK WEEKS".split()
)


def parse_primary(p: Parser, context: Context) -> nodes.Expression:
    """Parse an expression without operators.

    Args:
        context: Whether a query may stand here as well.
    """
    key = p.keys[p.position]
    if key == "(":
        return _parse_parenthesized(p, context)
    if key == "ROW" and p.keys[p.position + 1] == "(":
        return _parse_row(p, context)
    if key == "CURSOR":
        return _parse_cursor(p, context)
    value = _parse_atom(p, key)
    check_value(p, context)
    return value


def _parse_atom(p: Parser, key: str) -> nodes.Expression:
    if key in IDENTIFIER_KEYS:
        if key == "MAP" and _at_map(p):
            return _parse_collection(p, key)
        found = _parse_special(p, key)
        return _parse_name_or_call(p) if found is None else found
    if at_literal(p) and key not in ("+", "-", "INTERVAL"):
        return parse_literal(p)
    if key == "INTERVAL":
        if p.keys[p.position + 1] == END:
            p.looked_ahead_at = p.position
            p.fail()
        return parse_interval(p)
    if key == "?":
        p.position += 1
        p.parameters += 1
        return nodes.DynamicParameter(p.parameters - 1, span=p.span_of(p.position - 1))
    found = _parse_special(p, key)
    if found is not None:
        return found
    if key in ("ARRAY", "MAP", "MULTISET"):
        return _parse_collection(p, key)
    following = p.keys[p.position + 1]
    if (key in RESERVED_FUNCTION_NAMES and following == "(") or key == "SPECIFIC":
        return parse_call(p)
    if key == "ROW":
        p.position += 1
        p.expect("(")
    if key in CONTEXT_VARIABLES:
        p.position += 1
        return nodes.ContextVariable(key, span=p.span_of(p.position - 1))
    if key in ("NEXT", "CURRENT") and following == "VALUE":
        return _parse_sequence_value(p, key)
    if key == "NEW":
        return _parse_new(p)
    if key == "{FN":
        return _parse_jdbc_function(p)
    p.name_tried_at = p.position
    p.fail()


def _at_map(p: Parser) -> bool:
    """Return whether MAP begins a constructor; elsewhere it is a name."""
    following = p.keys[p.position + 1]
    return following == "[" or (following == "(" and p.keys[p.position + 2] in ("SELECT", "VALUES", "WITH"))


def _parse_name_or_call(p: Parser) -> nodes.Expression:
    start = p.position
    name = p.compound_name()
    keys = p.keys
    key = keys[p.position]
    if key == "(":
        return parse_call_of(p, standard(name), start)
    if key == "." and keys[p.position + 1] == "*":
        p.position += 2
        return nodes.Star(name, span=p.span_from(start))
    return name


def _parse_parenthesized(p: Parser, context: Context) -> nodes.Expression:
    start = p.position
    items = parse_query_list(p, context)
    if p.keys[p.position] in _UNITS_OF_DIFFERENCES:
        return _parse_difference(p, items, start)
    span = p.span_from(start)
    if len(items) > 1:
        return nodes.RowConstructor(as_expressions(items), explicit=False, span=span)
    item = items[0]
    if isinstance(item, nodes.Query):
        return nodes.Subquery(item, span=span)
    return nodes.replace(item, span=span)


def _parse_difference(p: Parser, items: tuple[nodes.Expression | nodes.Query, ...], start: int) -> nodes.Expression:
    list_span = p.span_from(start)
    unit = parse_interval_qualifier(p)
    item = items[0]
    if len(items) == 1 and isinstance(item, nodes.BinaryOperation) and item.operator == "-":
        return nodes.MinusDate(item.left, item.right, unit, span=p.span_from(start))
    message = 'Illegal expression. Was expecting "(DATETIME - DATETIME) INTERVALQUALIFIER"'
    raise p.error_at(message, list_span)


def _parse_row(p: Parser, context: Context) -> nodes.Expression:
    start = p.position
    p.position += 1
    values = as_expressions(parse_query_list(p, context))
    return nodes.RowConstructor(values, span=p.span_from(start))


def _parse_cursor(p: Parser, context: Context) -> nodes.Expression:
    start = p.position
    p.position += 1
    if context not in (Context.ALL, Context.CURSOR):
        raise p.error_at_last("CURSOR expression encountered in illegal context")
    value = p.expression(Context.QUERY)
    assert isinstance(value, nodes.Subquery)
    return nodes.CollectionFromQuery("CURSOR", value.query, span=p.span_from(start))


def _parse_collection(p: Parser, key: str) -> nodes.Expression:
    start = p.position
    p.position += 1
    if p.accept("("):
        value = parse_leaf_query_or_expression(p, Context.QUERY)
        p.expect(")")
        query = value.query if isinstance(value, nodes.Subquery) else value
        assert isinstance(query, nodes.Query)
        return nodes.CollectionFromQuery(key, query, span=p.span_from(start))
    p.expect("[")
    values: tuple[nodes.Expression, ...] = ()
    if key == "MULTISET":
        values = p.comma_list(lambda p: p.expression(Context.NON_QUERY))
    elif not p.at("]"):
        values = parse_expressions(p, Context.NON_QUERY)
    p.expect("]")
    span = p.span_from(start)
    if key == "ARRAY":
        return nodes.ArrayConstructor(values, span=span)
    return nodes.MapConstructor(values, span=span) if key == "MAP" else nodes.MultisetConstructor(values, span=span)


def _parse_sequence_value(p: Parser, key: str) -> nodes.Expression:
    start = p.position
    p.position += 2
    p.expect("FOR")
    return nodes.NextValue(p.compound_name(), key == "CURRENT", span=p.span_from(start))


def _parse_new(p: Parser) -> nodes.Expression:
    start = p.position
    p.position += 1
    return nodes.NewObject(parse_call(p), span=p.span_from(start))


def _parse_jdbc_function(p: Parser) -> nodes.Expression:
    start = p.position
    p.position += 1
    name = p.image(p.position)
    p.position += 1
    _, arguments = parse_arguments(p)
    p.expect("}")
    return nodes.JdbcFunction(name, arguments, span=p.span_from(start))


def _parse_special(p: Parser, key: str) -> nodes.Expression | None:
    """Parse an expression that begins with a keyword of its own, if there is one for this keyword."""
    if key == "CASE":
        return parse_case(p)
    if key == "RUNNING" and p.keys[p.position + 1] != "." or key == "FINAL" and at_operand(p):
        return parse_running(p, key)
    parse = _SPECIAL_FUNCTIONS.get(key)
    if parse is None or p.keys[p.position + 1] != "(":
        return None
    return parse(p)


def _parse_position(p: Parser) -> nodes.Expression:
    start = open_call(p)
    substring = _parse_atom(p, p.keys[p.position])
    p.expect("IN")
    operand = p.expression()
    from_ = p.expression() if p.accept("FROM") else None
    p.expect(")")
    return nodes.Position(substring, operand, from_, span=p.span_from(start))


_SPECIAL_FUNCTIONS: Final = {**SPECIAL_FUNCTIONS, "POSITION": _parse_position}
