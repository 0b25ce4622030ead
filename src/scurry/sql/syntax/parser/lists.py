"""Lists of expressions: which tokens begin one more, and the keys of ORDER BY."""

from __future__ import annotations

from typing import Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.keywords import CONTEXT_VARIABLES, RESERVED_FUNCTION_NAMES
from scurry.sql.syntax.lexer import IDENTIFIER_KEYS
from scurry.sql.syntax.parser.literals import NUMBERS, STRINGS, at_zoned_literal
from scurry.sql.syntax.parser.parser import Context, Parser

PREFIXES: Final = frozenset({"+", "-", "NOT", "EXISTS", "UNIQUE"})
# Functions with a syntax of their own: an expression begins with them where a parenthesis follows.
_SPECIAL_FUNCTIONS: Final = frozenset(
    """CAST TRY_CAST SAFE_CAST EXTRACT POSITION CONVERT TRANSLATE OVERLAY FLOOR CEIL CEILING SUBSTRING TRIM TIMESTAMPADD
    TIMESTAMPDIFF DATE_TRUNC TIMESTAMP_TRUNC DATETIME_TRUNC TIME_TRUNC DATE_DIFF DATETIME_DIFF TIMESTAMP_DIFF TIME_DIFF
    CLASSIFIER MATCH_NUMBER FIRST LAST PREV NEXT JSON_EXISTS JSON_VALUE JSON_QUERY JSON_OBJECT JSON_OBJECTAGG JSON_ARRAY
    JSON_ARRAYAGG TUMBLE HOP SESSION PERIOD ROW DATE TIME TIMESTAMP DATETIME IF ARRAY_AGG""".split()
)
_BEGINS: Final = frozenset({*IDENTIFIER_KEYS, *NUMBERS, *STRINGS, *CONTEXT_VARIABLES}) | frozenset(
    "( ? TRUE FALSE UNKNOWN NULL INTERVAL CASE NEW RUNNING FINAL SPECIFIC {FN {D {T {TS CURSOR".split()
)
_QUERY_BEGINS: Final = frozenset({"SELECT", "VALUES", "WITH", "TABLE"})


def can_begin(p: Parser, position: int, depth: int = 2) -> bool:
    """Return whether an expression can begin with the tokens at a position, of which a few are looked at."""
    key = p.keys[position]
    if key in PREFIXES:
        return depth < 2 or can_begin(p, position + 1, depth - 1)
    if key == "(":
        return depth < 2 or p.keys[position + 1] in _QUERY_BEGINS or can_begin(p, position + 1, depth - 1)
    if key in _BEGINS:
        return True
    following = p.keys[position + 1]
    if key in RESERVED_FUNCTION_NAMES or key in _SPECIAL_FUNCTIONS:
        is_typed = following in STRINGS and key in ("DATE", "TIME", "TIMESTAMP")
        return following == "(" or is_typed or at_zoned_literal(p, position)
    if key in ("ARRAY", "MAP", "MULTISET"):
        return following in ("[", "(")
    if key in ("CURRENT", "NEXT"):
        return following == "VALUE"
    return False


def another(p: Parser) -> bool:
    """Go past a comma, if an expression follows it."""
    if not p.at(","):
        return False
    if not can_begin(p, p.position + 1, 1):
        p.looked_ahead_at = p.position
        return False
    p.position += 1
    return True


def check_value(p: Parser, context: Context) -> None:
    """Refuse other expressions where only a query may stand."""
    if context is Context.QUERY:
        raise p.error_at_last("Non-query expression encountered in illegal context")


def parse_expressions(p: Parser, context: Context) -> tuple[nodes.Expression, ...]:
    """Parse expressions separated by commas, up to a comma that no expression follows."""
    items = [p.expression(context)]
    while another(p):
        items.append(p.expression(Context.SUB_QUERY))
    return tuple(items)


def parse_order_items(p: Parser) -> tuple[nodes.OrderItem, ...]:
    items = [parse_order_item(p)]
    while another(p):
        items.append(parse_order_item(p))
    return tuple(items)


def parse_order_item(p: Parser) -> nodes.OrderItem:
    start = p.position
    value = p.expression()
    descending = p.accept_any("ASC", "DESC") == "DESC"
    nulls = None
    if p.accept("NULLS"):
        nulls = p.expect_any("FIRST", "LAST")
    return nodes.OrderItem(value, descending, nulls, span=p.span_from(start))


def parse_order_by(p: Parser) -> tuple[nodes.OrderItem, ...]:
    p.expect("ORDER", "BY")
    return parse_order_items(p)
