"""SELECT."""

from __future__ import annotations

from scurry.sql.syntax import nodes
from scurry.sql.syntax.lexer import IDENTIFIER_KEYS, STRING
from scurry.sql.syntax.parser.calls import parse_window_definitions
from scurry.sql.syntax.parser.lists import can_begin
from scurry.sql.syntax.parser.parser import Parser
from scurry.sql.syntax.parser.tables import parse_from, parse_hints


def parse_select(p: Parser) -> nodes.Select:
    start = p.position
    p.position += 1
    hints = parse_hints(p)
    stream = p.accept("STREAM")
    quantifier = p.accept_any("ALL", "DISTINCT")
    items = p.comma_list(_parse_select_item)
    if not p.accept("FROM"):
        return nodes.Select(items, quantifier=quantifier, hints=hints, stream=stream, span=p.span_from(start))
    table = parse_from(p)
    where = p.expression() if p.accept("WHERE") else None
    group_by = _parse_group_by(p)
    having = p.expression() if p.accept("HAVING") else None
    windows = parse_window_definitions(p)
    qualify = p.expression() if p.accept("QUALIFY") else None
    return nodes.Select(
        items,
        table,
        where,
        group_by,
        having,
        windows,
        qualify,
        quantifier,
        hints,
        stream,
        span=p.span_from(start),
    )


def _parse_select_item(p: Parser) -> nodes.SelectItem:
    start = p.position
    value = nodes.Star(span=p.span_of(start)) if p.accept("*") else p.expression()
    alias = _parse_column_alias(p)
    if alias is None:
        return nodes.SelectItem(value, span=value.span)
    return nodes.SelectItem(value, alias, span=p.span_from(start))


def _parse_column_alias(p: Parser) -> nodes.Identifier | None:
    explicit = p.accept("AS")
    if p.keys[p.position] == STRING:
        p.position += 1
        raise p.error_at_last("Expecting alias, found character literal")
    p.name_tried_at = p.position
    if explicit or p.keys[p.position] in IDENTIFIER_KEYS:
        return p.name()
    return None


def _parse_group_by(p: Parser) -> nodes.GroupBy | None:
    start = p.position
    if not p.accept("GROUP"):
        return None
    p.expect("BY")
    quantifier = p.accept_any("ALL", "DISTINCT")
    items = _parse_grouping_items(p)
    return nodes.GroupBy(items, quantifier, span=p.span_from(start))


def _parse_grouping_items(p: Parser) -> tuple[nodes.Expression, ...]:
    items = [_parse_grouping_item(p)]
    while p.at(",") and _can_begin_grouping(p, p.position + 1):
        p.position += 1
        items.append(_parse_grouping_item(p))
    if p.at(","):
        p.looked_ahead_at = p.position
    return tuple(items)


def _can_begin_grouping(p: Parser, position: int) -> bool:
    key = p.keys[position]
    return key in ("ROLLUP", "CUBE", "GROUPING", "(") or can_begin(p, position, 1)


def _parse_grouping_item(p: Parser) -> nodes.Expression:
    start = p.position
    if p.accept_all("GROUPING", "SETS"):
        p.expect("(")
        sets = _parse_grouping_items(p)
        p.expect(")")
        return nodes.GroupingSets("GROUPING SETS", sets, span=p.span_from(start))
    kind = p.accept_any("ROLLUP", "CUBE")
    if kind is not None:
        sets = p.parenthesized_list(Parser.expression)
        return nodes.GroupingSets(kind, sets, span=p.span_from(start))
    if p.accept_all("(", ")"):
        return nodes.RowConstructor((), explicit=False, span=p.span_from(start))
    return p.expression()
