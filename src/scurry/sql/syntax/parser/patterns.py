"""MATCH_RECOGNIZE, PIVOT and UNPIVOT."""

from __future__ import annotations

from scurry.sql.syntax import nodes
from scurry.sql.syntax.lexer import IDENTIFIER_KEYS
from scurry.sql.syntax.parser.calls import parse_call
from scurry.sql.syntax.parser.lists import parse_expressions, parse_order_by
from scurry.sql.syntax.parser.literals import at_integer, parse_interval
from scurry.sql.syntax.parser.parser import Context, Parser
from scurry.sql.syntax.parser.queries import parse_values_row


def parse_match_recognize(p: Parser, table: nodes.TableExpression) -> nodes.TableExpression:
    """Parse MATCH_RECOGNIZE after its input."""
    start = p.position
    p.position += 1
    p.expect("(")
    partition: tuple[nodes.Expression, ...] = ()
    if p.accept("PARTITION"):
        p.expect("BY")
        partition = parse_expressions(p, Context.NON_QUERY)
    order: tuple[nodes.OrderItem, ...] = parse_order_by(p) if p.at("ORDER") else ()
    measures = p.comma_list(_parse_measure) if p.accept("MEASURES") else ()
    rows = _parse_rows_per_match(p)
    after = _parse_after_match(p)
    p.expect("PATTERN", "(")
    first_row = p.accept("^")
    pattern = _parse_pattern(p)
    last_row = p.accept("$")
    p.expect(")")
    within = parse_interval(p, expressions=False) if p.accept("WITHIN") else None
    subsets = p.comma_list(_parse_subset) if p.accept("SUBSET") else ()
    p.expect("DEFINE")
    definitions = p.comma_list(_parse_definition)
    p.expect(")")
    return nodes.MatchRecognize(
        table,
        pattern,
        definitions,
        partition,
        order,
        measures,
        rows,
        after,
        first_row,
        last_row,
        within,
        subsets,
        span=p.span_from(start),
    )


def _parse_measure(p: Parser) -> nodes.Measure:
    start = p.position
    value = p.expression(Context.NON_QUERY)
    p.expect("AS")
    return nodes.Measure(value, p.name(), span=p.span_from(start))


def _parse_rows_per_match(p: Parser) -> str | None:
    if p.accept("ONE"):
        p.expect("ROW", "PER", "MATCH")
        return "ONE ROW PER MATCH"
    if p.accept("ALL"):
        p.expect("ROWS", "PER", "MATCH")
        return "ALL ROWS PER MATCH"
    return None


def _parse_after_match(p: Parser) -> nodes.SkipAfterMatch | None:
    start = p.position
    if not p.accept("AFTER"):
        return None
    p.expect("MATCH", "SKIP")
    if p.expect_any("TO", "PAST") == "PAST":
        p.expect("LAST", "ROW")
        return nodes.SkipAfterMatch("PAST LAST ROW", span=p.span_from(start))
    if p.accept_all("NEXT", "ROW"):
        return nodes.SkipAfterMatch("TO NEXT ROW", span=p.span_from(start))
    names_follow = p.keys[p.position + 1] in IDENTIFIER_KEYS
    if p.keys[p.position] in ("FIRST", "LAST") and not names_follow:
        p.name_tried_at = p.position + 1
    to = p.accept_any("FIRST", "LAST") if names_follow else None
    return nodes.SkipAfterMatch(f"TO {to or 'LAST'}", p.name(), span=p.span_from(start))


def _parse_pattern(p: Parser) -> nodes.Pattern:
    start = p.position
    left = _parse_pattern_term(p)
    while p.accept("|"):
        left = nodes.PatternAlternation(left, _parse_pattern_term(p), span=p.span_from(start))
    return left


def _parse_pattern_term(p: Parser) -> nodes.Pattern:
    start = p.position
    left = _parse_pattern_factor(p)
    while _at_pattern_primary(p):
        left = nodes.PatternConcatenation(left, _parse_pattern_factor(p), span=p.span_from(start))
    return left


def _at_pattern_primary(p: Parser) -> bool:
    key = p.keys[p.position]
    return key in IDENTIFIER_KEYS or key in ("(", "{", "PERMUTE")


def _parse_pattern_factor(p: Parser) -> nodes.Pattern:
    start = p.position
    operand = _parse_pattern_primary(p)
    key = p.accept_any("*", "+", "?")
    if key is not None:
        low, high = {"*": (0, -1), "+": (1, -1), "?": (0, 1)}[key]
    elif p.at("{") and p.keys[p.position + 1] != "-":
        p.position += 1
        low, high = _parse_repetitions(p)
    elif p.at_all("{", "-"):
        exclusion = _parse_pattern_primary(p)
        return nodes.PatternConcatenation(operand, exclusion, span=p.span_from(start))
    else:
        return operand
    reluctant = p.accept("?") and low != high
    return nodes.PatternQuantifier(operand, low, high, reluctant, span=p.span_from(start))


def _parse_repetitions(p: Parser) -> tuple[int, int]:
    if p.accept(","):
        low, high = -1, p.unsigned_integer()
    else:
        low = high = p.unsigned_integer()
        if p.accept(","):
            high = p.unsigned_integer() if at_integer(p) else -1
    p.expect("}")
    return low, high


def _parse_pattern_primary(p: Parser) -> nodes.Pattern:
    start = p.position
    if p.accept("("):
        pattern = _parse_pattern(p)
        p.expect(")")
        return pattern
    if p.accept("{"):
        p.expect("-")
        pattern = _parse_pattern(p)
        p.expect("-", "}")
        return nodes.PatternExclusion(pattern, span=p.span_from(start))
    if p.accept("PERMUTE"):
        operands = p.parenthesized_list(_parse_pattern)
        return nodes.PatternPermutation(operands, span=p.span_from(start))
    name = p.name()
    return nodes.PatternVariable(name, span=name.span)


def _parse_subset(p: Parser) -> nodes.PatternSubset:
    start = p.position
    name = p.name()
    p.expect("=")
    return nodes.PatternSubset(name, p.names(), span=p.span_from(start))


def _parse_definition(p: Parser) -> nodes.PatternDefinition:
    start = p.position
    name = p.name()
    p.expect("AS")
    return nodes.PatternDefinition(name, p.expression(), span=p.span_from(start))


def parse_pivot(p: Parser, table: nodes.TableExpression) -> nodes.TableExpression:
    """Parse PIVOT after its input."""
    p.position += 1
    p.expect("(")
    aggregates = p.comma_list(_parse_pivot_aggregate)
    p.expect("FOR")
    columns = p.names() if p.at("(") else (p.name(),)
    p.expect("IN")
    values: tuple[nodes.PivotItem, ...] = ()
    p.expect("(")
    if not p.at(")"):
        values = p.comma_list(_parse_pivot_value)
    p.expect(")", ")")
    span = p.span_since(table.span)
    return nodes.Pivot(table, aggregates, columns, values, span=span)


def _parse_pivot_aggregate(p: Parser) -> nodes.PivotItem:
    start = p.position
    call = parse_call(p)
    return nodes.PivotItem((call,), p.alias(), span=p.span_from(start))


def _parse_pivot_value(p: Parser) -> nodes.PivotItem:
    start = p.position
    row = parse_values_row(p)
    return nodes.PivotItem(row.values, p.alias(), span=p.span_from(start))


def parse_unpivot(p: Parser, table: nodes.TableExpression) -> nodes.TableExpression:
    """Parse UNPIVOT after its input."""
    p.position += 1
    nulls = p.accept_any("INCLUDE", "EXCLUDE")
    if nulls is not None:
        p.expect("NULLS")
    p.expect("(")
    measures = p.names() if p.at("(") else (p.name(),)
    p.expect("FOR")
    axes = p.names() if p.at("(") else (p.name(),)
    p.expect("IN", "(")
    items = p.comma_list(_parse_unpivot_item)
    p.expect(")", ")")
    span = p.span_since(table.span)
    return nodes.Unpivot(table, measures, axes, items, nulls == "INCLUDE", span=span)


def _parse_unpivot_item(p: Parser) -> nodes.PivotItem:
    start = p.position
    columns = p.names() if p.at("(") else (p.name(),)
    values = parse_values_row(p).values if p.accept("AS") else ()
    return nodes.PivotItem(columns, None, values, span=p.span_from(start))
