"""Operators between, before and after expressions, by their precedence in Calcite."""

from __future__ import annotations

from typing import Final

from scurry.errors import SqlParserError
from scurry.sql.syntax import nodes
from scurry.sql.syntax.lexer import END, IDENTIFIER_KEYS
from scurry.sql.syntax.parser.calls import parse_member
from scurry.sql.syntax.parser.lists import PREFIXES, can_begin, check_value
from scurry.sql.syntax.parser.parser import Context, Parser
from scurry.sql.syntax.parser.primaries import parse_primary
from scurry.sql.syntax.parser.queries import as_expressions, parse_query_list
from scurry.sql.syntax.span import Span

# Strengths with which operators bind, as Calcite numbers them.
OR, AND, NOT, POSTFIX, COMPARISON, MEMBERSHIP = 22, 24, 26, 28, 30, 32
ADDITION, MULTIPLICATION, SIGN, ACCESS = 40, 60, 80, 100

_BINARY: Final = {
    "OR": OR,
    "AND": AND,
    **dict.fromkeys("= <> != < > <= >=".split(), COMPARISON),
    **dict.fromkeys("OVERLAPS CONTAINS EQUALS PRECEDES SUCCEEDS".split(), COMPARISON),
    **dict.fromkeys("+ -".split(), ADDITION),
    **dict.fromkeys("* / % ||".split(), MULTIPLICATION),
}
_COMPARISONS: Final = frozenset({"=", "<>", "!=", "<", ">", "<=", ">="})
# Keywords that continue an expression: the operators above, and those of several words.
_CONTINUES: Final = frozenset(_BINARY) | frozenset(
    "NOT IN BETWEEN LIKE ILIKE RLIKE SIMILAR IS MEMBER SUBMULTISET IMMEDIATELY MULTISET [ FORMAT".split()
)
_MULTISET: Final = {"UNION": 12, "INTERSECT": 14, "EXCEPT": 12}
_LIKE: Final = frozenset({"LIKE", "ILIKE", "RLIKE", "SIMILAR"})
_TESTS: Final = frozenset({"NULL", "TRUE", "FALSE", "UNKNOWN", "EMPTY", "A", "JSON"})


def parse_operation(p: Parser, context: Context, least: int) -> nodes.Expression:
    """Parse operators that bind more tightly than a strength, with their operands."""
    left = _parse_prefixed(p, context)
    keys = p.keys
    while True:
        key = keys[p.position]
        if key not in _CONTINUES:
            return left
        precedence = _BINARY.get(key)
        if precedence is None or keys[p.position + 1] in ("SOME", "ANY", "ALL"):
            following = _parse_worded(p, left, key, context, least)
            if following is None:
                return left
            left = following
            continue
        if precedence <= least:
            return left
        if not can_begin(p, p.position + 1):
            p.looked_ahead_at = p.position
            return left
        p.position += 1
        check_value(p, context)
        if key == "!=":
            raise p.error_at_last("Bang equal '!=' is not allowed under the current SQL conformance level")
        right = parse_operation(p, Context.SUB_QUERY, precedence)
        left = nodes.BinaryOperation(key, left, right, span=left.span.to(right.span))


def _parse_prefixed(p: Parser, context: Context) -> nodes.Expression:
    start = p.position
    key = p.keys[start]
    if key not in PREFIXES:
        return _parse_accesses(p, parse_primary(p, context), start)
    p.position += 1
    check_value(p, context)
    if key == "NOT":
        return nodes.UnaryOperation("NOT", parse_operation(p, context, NOT), span=p.span_from(start))
    if key in ("+", "-"):
        operand = parse_operation(p, context, SIGN)
        return _signed(p, key, operand, start)
    operand = parse_operation(p, context, ADDITION)
    span = p.span_from(start)
    if not isinstance(operand, nodes.Subquery):
        return nodes.UnaryOperation(key, operand, span=span)
    return nodes.Exists(operand.query, span=span) if key == "EXISTS" else nodes.Unique(operand.query, span=span)


def _signed(p: Parser, sign: str, operand: nodes.Expression, start: int) -> nodes.Expression:
    span = Span(p.tokens.text, p.tokens.starts[start], operand.span.end)
    if not isinstance(operand, nodes.NumericLiteral):
        return nodes.UnaryOperation(sign, operand, span=span)
    text = operand.text
    if sign == "-":
        text = text[1:] if text.startswith("-") else f"-{text}"
    return nodes.NumericLiteral(text, span=span)


def _parse_accesses(p: Parser, operand: nodes.Expression, start: int) -> nodes.Expression:
    keys = p.keys
    while keys[p.position] == "." and keys[p.position + 1] in IDENTIFIER_KEYS:
        p.position += 1
        member = parse_member(p, p.position)
        operand = nodes.FieldAccess(operand, member, span=p.span_from(start))
    return operand


def _parse_worded(p: Parser, left: nodes.Expression, key: str, context: Context, least: int) -> nodes.Expression | None:
    """Parse an operator of words, or one with a syntax of its own, after its left operand.

    Returns:
        The operation; None if what follows is no operator that binds tightly enough.
    """
    if key == "[":
        return _parse_item(p, left)
    if key == "FORMAT":
        if not p.at_all("FORMAT", "JSON"):
            return None
        p.position += 2
        return nodes.UnaryOperation("FORMAT JSON", left, span=p.span_since(left.span))
    if key == "IS":
        return _parse_is(p, left, context, least)
    if key in _COMPARISONS:
        return _parse_quantified(p, left, key, context, least)
    negated = key == "NOT"
    word = p.keys[p.position + 1] if negated else key
    if word == "IN":
        return _parse_in(p, left, negated, context, least)
    if word == "BETWEEN":
        return _parse_between(p, left, negated, context, least)
    if word in _LIKE:
        return _parse_like(p, left, negated, word, context, least)
    return _parse_collection_operation(p, left, negated, word, context, least)


def _parse_item(p: Parser, left: nodes.Expression) -> nodes.Expression:
    p.position += 1
    index = p.expression()
    p.expect("]")
    item: nodes.Expression = nodes.ItemAccess(left, index, span=p.span_since(left.span))
    while p.keys[p.position] == "." and p.keys[p.position + 1] in IDENTIFIER_KEYS:
        p.position += 1
        item = nodes.FieldAccess(item, p.name(), span=p.span_since(left.span))
    return item


def _parse_is(p: Parser, left: nodes.Expression, context: Context, least: int) -> nodes.Expression | None:
    negated = p.keys[p.position + 1] == "NOT"
    after = p.position + (2 if negated else 1)
    test = p.keys[after]
    if test == "DISTINCT":
        if least >= COMPARISON:
            return None
        check_value(p, context)
        p.position = after + 1
        p.expect("FROM")
        right = parse_operation(p, Context.SUB_QUERY, COMPARISON)
        operator = "IS NOT DISTINCT FROM" if negated else "IS DISTINCT FROM"
        return nodes.BinaryOperation(operator, left, right, span=left.span.to(right.span))
    if test not in _TESTS:
        if least >= POSTFIX or p.keys[p.position + 1] != "NOT":
            p.looked_ahead_at = p.position
            return None
        p.position = after
        p.fail()
    if least >= POSTFIX:
        return None
    check_value(p, context)
    p.position = after + 1
    if test == "A":
        p.expect("SET")
        test = "A SET"
    elif test == "JSON":
        test = f"JSON {p.accept_any('VALUE', 'OBJECT', 'ARRAY', 'SCALAR') or 'VALUE'}"
    return nodes.IsTest(left, test, negated, span=p.span_since(left.span))


def _parse_quantified(
    p: Parser, left: nodes.Expression, key: str, context: Context, least: int
) -> nodes.Expression | None:
    if least >= MEMBERSHIP or p.keys[p.position + 2] != "(":
        return None
    check_value(p, context)
    p.position += 1
    if key == "!=":
        raise p.error_at_last("Bang equal '!=' is not allowed under the current SQL conformance level")
    quantifier = "ALL" if p.expect_any("SOME", "ANY", "ALL") == "ALL" else "SOME"
    return nodes.QuantifiedComparison(left, key, quantifier, _parse_list_or_query(p), span=p.span_since(left.span))


def _parse_list_or_query(p: Parser) -> tuple[nodes.Expression, ...] | nodes.Query:
    items = parse_query_list(p, Context.NONCURSOR)
    if len(items) == 1:
        item = items[0]
        if isinstance(item, nodes.Query):
            return item
        if isinstance(item, nodes.Subquery):
            return item.query
    return as_expressions(items)


def _parse_in(
    p: Parser, left: nodes.Expression, negated: bool, context: Context, least: int
) -> nodes.Expression | None:
    if least >= MEMBERSHIP:
        return None
    if not negated and p.keys[p.position + 1] != "(":
        p.looked_ahead_at = p.position
        return None
    check_value(p, context)
    p.position += 1 + negated
    return nodes.In(left, _parse_list_or_query(p), negated, span=p.span_since(left.span))


def _parse_between(
    p: Parser, left: nodes.Expression, negated: bool, context: Context, least: int
) -> nodes.Expression | None:
    if least >= MEMBERSHIP:
        return None
    if not negated and p.keys[p.position + 1] == END:
        p.looked_ahead_at = p.position
        return None
    check_value(p, context)
    p.position += 1 + negated
    symmetric = p.accept_any("SYMMETRIC", "ASYMMETRIC") == "SYMMETRIC"
    low = _parse_low_bound(p)
    high = parse_operation(p, Context.SUB_QUERY, MEMBERSHIP)
    return nodes.Between(left, low, high, negated, symmetric, span=left.span.to(high.span))


def _parse_low_bound(p: Parser) -> nodes.Expression:
    """Parse the low bound of BETWEEN and AND after it; unlike the high one, it may be a disjunction."""
    low = parse_operation(p, Context.SUB_QUERY, AND)
    while p.at("OR") and can_begin(p, p.position + 1):
        p.position += 1
        right = parse_operation(p, Context.SUB_QUERY, AND)
        low = nodes.BinaryOperation("OR", low, right, span=low.span.to(right.span))
    if not (p.at("AND") and can_begin(p, p.position + 1)):
        after = Span(p.tokens.text, low.span.end - 1, low.span.end)
        error = p.error_at("BETWEEN operator has no terminating AND", after)
        raise SqlParserError(str(error), error.line, error.column + 1)
    p.position += 1
    return low


def _parse_like(
    p: Parser, left: nodes.Expression, negated: bool, word: str, context: Context, least: int
) -> nodes.Expression | None:
    after = p.position + 1 + negated
    if least > MEMBERSHIP:
        return None
    if word == "LIKE" and not negated and p.keys[after] in ("ANY", "ALL"):
        p.name_tried_at = p.position
        return None
    operator = word
    if word == "SIMILAR":
        operator = "SIMILAR TO"
        after += 1
    if not negated and word != "SIMILAR" and not can_begin(p, after, 1):
        p.looked_ahead_at = p.position
        return None
    check_value(p, context)
    p.position = after - (word == "SIMILAR")
    if word == "SIMILAR":
        p.expect("TO")
    # Unlike other operators, LIKE takes further ones of its kind to its right.
    pattern = parse_operation(p, Context.SUB_QUERY, MEMBERSHIP - 1)
    escape = None
    if p.at("ESCAPE") and can_begin(p, p.position + 1, 1):
        p.position += 1
        escape = parse_primary(p, Context.SUB_QUERY)
    return nodes.Like(left, pattern, escape, operator, negated, span=left.span.to((escape or pattern).span))


def _parse_collection_operation(
    p: Parser, left: nodes.Expression, negated: bool, word: str, context: Context, least: int
) -> nodes.Expression | None:
    precedence, words, operator = _parse_collection_operator(p, negated, word)
    if not words or precedence <= least or not can_begin(p, p.position + words, 1):
        if precedence > least:
            p.looked_ahead_at = p.position
        return None
    p.position += words
    check_value(p, context)
    right = parse_operation(p, Context.SUB_QUERY, precedence)
    return nodes.BinaryOperation(operator, left, right, span=left.span.to(right.span))


def _parse_collection_operator(p: Parser, negated: bool, word: str) -> tuple[int, int, str]:
    """Return precedence, number of tokens and name of an operator on collections or periods."""
    position = p.position + 1 + negated
    following = p.keys[position]
    if word in ("MEMBER", "SUBMULTISET") and following == "OF" and not (negated and word == "MEMBER"):
        return COMPARISON, 2 + negated, f"{'NOT ' if negated else ''}{word} OF"
    if word == "IMMEDIATELY" and following in ("PRECEDES", "SUCCEEDS") and not negated:
        return COMPARISON, 2, f"IMMEDIATELY {following}"
    if word == "MULTISET" and following in _MULTISET and not negated:
        quantifier = p.keys[position + 1]
        distinct = " DISTINCT" if quantifier == "DISTINCT" else " ALL"
        words = 3 if quantifier in ("ALL", "DISTINCT") else 2
        return _MULTISET[following], words, f"MULTISET {following}{distinct}"
    return COMPARISON, 0, ""
