"""Queries: WITH, set operations, ORDER BY and limits, VALUES."""

from __future__ import annotations

from typing import Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser.lists import another, check_value, parse_order_by
from scurry.sql.syntax.parser.literals import parse_number
from scurry.sql.syntax.parser.parser import Context, Parser

_SET_OPERATORS: Final = {"UNION": 12, "EXCEPT": 12, "MINUS": 12, "INTERSECT": 14}


def parse_query_list(p: Parser, context: Context) -> tuple[nodes.Expression | nodes.Query, ...]:
    p.expect("(")
    items = [parse_query_or_expression(p, context.in_parentheses())]
    while p.accept(","):
        check_value(p, context)
        items.append(p.expression(context))
    p.expect(")")
    return tuple(items)


def as_expressions(items: tuple[nodes.Expression | nodes.Query, ...]) -> tuple[nodes.Expression, ...]:
    """Return the items of a list, queries as subqueries."""
    return tuple(nodes.Subquery(item, span=item.span) if isinstance(item, nodes.Query) else item for item in items)


def parse_query(p: Parser) -> nodes.Query:
    """Parse a query, with ORDER BY and limits."""
    return as_query(p, parse_query_or_expression(p, Context.QUERY))


def as_query(p: Parser, value: nodes.Expression | nodes.Query) -> nodes.Query:
    """Return the query of an expression, for a position that takes only queries."""
    if isinstance(value, nodes.Subquery):
        return value.query
    if isinstance(value, nodes.Query):
        return value
    raise p.error_at_last("Non-query expression encountered in illegal context")


def parse_query_or_expression(p: Parser, context: Context) -> nodes.Expression | nodes.Query:
    """Parse a query, with ORDER BY and limits, or an expression.

    Args:
        context: Which of them may stand here.

    Returns:
        What was found; a query in parentheses is a ``Subquery``.
    """
    start = p.position
    return parse_order_and_limits(p, _parse_query_without_order(p, context), start)


def _parse_query_without_order(p: Parser, context: Context) -> nodes.Expression | nodes.Query:
    start = p.position
    if not p.at("WITH"):
        return parse_set_operations(p, parse_leaf_query_or_expression(p, context), context)
    p.position += 1
    recursive = p.accept("RECURSIVE")
    tables = p.comma_list(_parse_common_table)
    body = as_query(p, parse_set_operations(p, parse_leaf_query_or_expression(p, context), context))
    return nodes.With(tables, body, recursive, span=p.span_from(start))


def _parse_common_table(p: Parser) -> nodes.CommonTableExpression:
    start = p.position
    name = p.name()
    columns = p.names() if p.at("(") else ()
    p.expect("AS", "(")
    query = parse_query(p)
    p.expect(")")
    return nodes.CommonTableExpression(name, query, columns, span=p.span_from(start))


def parse_set_operations(
    p: Parser, first: nodes.Expression | nodes.Query, context: Context, least: int = 0
) -> nodes.Expression | nodes.Query:
    """Parse UNION, EXCEPT and INTERSECT after their first operand, if there are some."""
    left = first
    while True:
        precedence = _SET_OPERATORS.get(p.keys[p.position], 0)
        if precedence <= least:
            return left
        if not isinstance(left, nodes.Query | nodes.Subquery):
            raise p.error_at_last("Non-query expression encountered in illegal context")
        operator = p.keys[p.position]
        p.position += 1
        if operator == "MINUS":
            raise p.error_at_last("MINUS is not allowed under the current SQL conformance level")
        every = p.accept_any("ALL", "DISTINCT") == "ALL"
        _check_query(p, context)
        right = parse_set_operations(p, parse_leaf_query_or_expression(p, Context.QUERY), Context.QUERY, precedence)
        span = left.span.to(right.span)
        left = nodes.SetOperation(operator, every, as_query(p, left), as_query(p, right), span=span)


def _check_query(p: Parser, context: Context) -> None:
    if not context.takes_query:
        raise p.error_at_last("Query expression encountered in illegal context")


def parse_leaf_query_or_expression(p: Parser, context: Context) -> nodes.Expression | nodes.Query:
    """Parse SELECT, VALUES, TABLE or an expression."""
    key = p.keys[p.position]
    if key not in ("SELECT", "VALUES", "TABLE"):
        return p.expression(context)
    _check_query(p, context)
    if key == "SELECT":
        return p.select()
    start = p.position
    p.position += 1
    if key == "TABLE":
        return nodes.ExplicitTable(p.compound_name(), span=p.span_from(start))
    rows = [parse_values_row(p)]
    while another(p):
        rows.append(parse_values_row(p))
    return nodes.Values(tuple(rows), span=p.span_from(start))


def parse_values_row(p: Parser) -> nodes.RowConstructor:
    start = p.position
    if p.at_all("(", "ROW") and p.keys[start + 2] == "(":
        p.position += 1
        row = parse_values_row(p)
        p.expect(")")
        return nodes.RowConstructor(row.values, span=p.span_from(start))
    explicit = p.at_all("ROW", "(")
    if explicit:
        p.position += 1
    if not p.at("("):
        value = p.expression(Context.NONCURSOR)
        return nodes.RowConstructor((value,), explicit=False, span=value.span)
    p.position += 1
    values = [_parse_values_item(p, Context.NONCURSOR)]
    while p.accept(","):
        values.append(_parse_values_item(p, Context.NONCURSOR))
    p.expect(")")
    return nodes.RowConstructor(tuple(values), explicit, span=p.span_from(start))


def _parse_values_item(p: Parser, context: Context) -> nodes.Expression:
    if p.accept("DEFAULT"):
        return nodes.Default(span=p.span_of(p.position - 1))
    value = parse_query_or_expression(p, context)
    return nodes.Subquery(value, span=value.span) if isinstance(value, nodes.Query) else value


def parse_order_and_limits(
    p: Parser, value: nodes.Expression | nodes.Query, start: int
) -> nodes.Expression | nodes.Query:
    """Parse ORDER BY and limits after their query, if there are some."""
    items: tuple[nodes.OrderItem, ...] | None = None
    if p.at("ORDER"):
        if not isinstance(value, nodes.Query | nodes.Subquery):
            p.position += 1
            raise p.error_at_last("ORDER BY unexpected")
        items = parse_order_by(p)
    offset, fetch = _parse_limits(p)
    if items is None and offset is None and fetch is None:
        return value
    return nodes.OrderBy(as_query(p, value), items or (), offset, fetch, span=p.span_from(start))


def _parse_limits(p: Parser) -> tuple[nodes.Expression | None, nodes.Expression | None]:
    """Parse LIMIT, OFFSET and FETCH, and return the number of rows to skip and to return."""
    offset = fetch = None
    limit = p.position
    if p.accept("LIMIT"):
        if not p.accept("ALL"):
            fetch = _parse_row_count(p)
            if p.accept(","):
                _parse_row_count(p)
                message = "'LIMIT start, count' is not allowed under the current SQL conformance level"
                raise p.error_at(message, p.span_of(limit))
    limit = p.position
    if p.accept("OFFSET"):
        offset = _parse_row_count(p)
        p.accept_any("ROW", "ROWS")
        if p.at("LIMIT") and fetch is None:
            p.position += 1
            if not p.accept("ALL"):
                _parse_row_count(p)
            message = "'OFFSET start LIMIT count' is not allowed under the current SQL conformance level"
            raise p.error_at(message, p.span_of(limit))
    if p.accept("FETCH"):
        p.expect_any("FIRST", "NEXT")
        fetch = _parse_row_count(p)
        p.expect_any("ROW", "ROWS")
        p.expect("ONLY")
    return offset, fetch


def _parse_row_count(p: Parser) -> nodes.Expression:
    if p.accept("?"):
        p.parameters += 1
        return nodes.DynamicParameter(p.parameters - 1, span=p.span_of(p.position - 1))
    return parse_number(p)
