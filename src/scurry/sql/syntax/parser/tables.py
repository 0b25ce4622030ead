"""Table references of FROM, and hints."""

from __future__ import annotations

from typing import Final, NoReturn

from scurry.sql.syntax import nodes
from scurry.sql.syntax.lexer import IDENTIFIER_KEYS, STRING
from scurry.sql.syntax.parser.calls import parse_arguments, parse_function_name, standard
from scurry.sql.syntax.parser.literals import (
    NUMBERS,
    parse_literal_text,
    parse_number,
    parse_signed_number,
    parse_string_literal,
)
from scurry.sql.syntax.parser.parser import Context, Parser
from scurry.sql.syntax.parser.patterns import parse_match_recognize, parse_pivot, parse_unpivot
from scurry.sql.syntax.parser.queries import (
    as_expressions,
    as_query,
    parse_order_and_limits,
    parse_query,
    parse_query_list,
    parse_set_operations,
)
from scurry.sql.syntax.parser.types import parse_nullable_type

_JOINS: Final = frozenset({"JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "OUTER"})
_CONTINUES_QUERY: Final = frozenset({"UNION", "INTERSECT", "EXCEPT", "MINUS", "ORDER", "LIMIT", "OFFSET", "FETCH"})


def parse_hints(p: Parser) -> tuple[nodes.Hint, ...]:
    """Parse ``/*+ ... */``, if there is one."""
    if not p.accept("/*+"):
        return ()
    hints = p.comma_list(_parse_hint)
    p.expect("*/")
    return hints


def _parse_hint(p: Parser) -> nodes.Hint:
    start = p.position
    name = p.name().last
    options: tuple[nodes.HintOption, ...] = ()
    if p.accept("("):
        if not p.at(")"):
            options = _parse_hint_options(p)
        p.expect(")")
    return nodes.Hint(name, options, span=p.span_from(start))


def _parse_hint_options(p: Parser) -> tuple[nodes.HintOption, ...]:
    key, following = p.keys[p.position], p.keys[p.position + 1]
    if following == "=" and (key == STRING or key in IDENTIFIER_KEYS):
        return p.comma_list(_parse_key_value)
    if key in IDENTIFIER_KEYS:
        return p.comma_list(_parse_name_option)
    return p.comma_list(_parse_literal_option)


def _parse_key_value(p: Parser) -> nodes.HintOption:
    start = p.position
    is_string = p.keys[start] == STRING
    key = parse_literal_text(p) if is_string else p.name().last
    p.expect("=")
    value = parse_string_literal(p)
    assert isinstance(value, nodes.StringLiteral)
    return nodes.HintOption(value, key, is_string, span=p.span_from(start))


def _parse_name_option(p: Parser) -> nodes.HintOption:
    name = p.name()
    return nodes.HintOption(name, span=name.span)


def _parse_literal_option(p: Parser) -> nodes.HintOption:
    start = p.position
    if p.keys[start] in NUMBERS or p.keys[start] in ("+", "-"):
        return nodes.HintOption(parse_signed_number(p), span=p.span_from(start))
    value = parse_string_literal(p)
    assert isinstance(value, nodes.StringLiteral)
    return nodes.HintOption(value, span=p.span_from(start))


def parse_from(p: Parser) -> nodes.TableExpression:
    table = _parse_joined_table(p)
    while p.at(",") and _can_begin_table(p, p.position + 1):
        p.position += 1
        right = _parse_joined_table(p)
        table = nodes.Join("COMMA", table, right, span=table.span.to(right.span))
    if p.at(","):
        p.looked_ahead_at = p.position
    return table


def _parse_joined_table(p: Parser) -> nodes.TableExpression:
    table = parse_table(p)
    while p.keys[p.position] in _JOINS and _at_join(p):
        table = _parse_join(p, table)
    return table


def _at_join(p: Parser) -> bool:
    """Return whether a join begins here, which two tokens tell."""
    key, following = p.keys[p.position], p.keys[p.position + 1]
    if key == "NATURAL":
        found = following in _JOINS and following not in ("NATURAL", "OUTER")
    elif key == "JOIN":
        found = _can_begin_table(p, p.position + 1)
    elif key in ("CROSS", "OUTER"):
        found = following == "APPLY" or key == "CROSS"
    else:
        after = p.keys[p.position + 2]
        found = following == "JOIN" or (following == "OUTER" and key != "INNER" and after == "JOIN")
    if not found:
        p.looked_ahead_at = p.position
    return found


def _can_begin_table(p: Parser, position: int) -> bool:
    key = p.keys[position]
    return key in IDENTIFIER_KEYS or key in ("(", "LATERAL", "UNNEST", "TABLE")


def _parse_join(p: Parser, left: nodes.TableExpression) -> nodes.TableExpression:
    natural = p.accept("NATURAL")
    kind = p.keys[p.position]
    if p.keys[p.position + 1] == "APPLY":
        return _parse_apply(p)
    if kind == "JOIN":
        kind = "INNER"
    else:
        p.position += 1
        if kind in ("LEFT", "RIGHT", "FULL"):
            p.accept("OUTER")
    join_at = p.position
    p.expect("JOIN")
    right = parse_table(p)
    condition = None
    using: tuple[nodes.Identifier, ...] = ()
    if p.accept("ON"):
        condition = p.expression()
    elif p.accept("USING"):
        using = p.names()
    p.join_at = join_at
    span = p.span_since(left.span)
    return nodes.Join(kind, left, right, natural, condition, using, span=span)


def _parse_apply(p: Parser) -> nodes.TableExpression:
    p.position += 2
    parse_table(p)
    raise p.error_at_last("APPLY operator is not allowed under the current SQL conformance level")


def parse_table(p: Parser) -> nodes.TableExpression:
    """Parse a table, a query in parentheses, or a table function, with its clauses."""
    start = p.position
    key = p.keys[start]
    following = p.keys[start + 1]
    if key in IDENTIFIER_KEYS and key not in ("LATERAL", "UNNEST"):
        table = _parse_named_table(p)
    elif (key == "(" and following != ")") or (key == "LATERAL" and following == "("):
        lateral = p.accept("LATERAL")
        table = _parse_parenthesized_table(p, lateral)
        table = parse_match_recognize(p, table) if p.at("MATCH_RECOGNIZE") else table
    elif (key == "UNNEST" and following == "(") or (key == "LATERAL" and following == "UNNEST"):
        table = _parse_unnest(p)
    elif key == "TABLE" or key == "LATERAL":
        table = _parse_table_function(p)
    else:
        _fail_at_table(p)
    if p.at("PIVOT") and following != "=":
        table = parse_pivot(p, table)
    if p.at("UNPIVOT"):
        table = parse_unpivot(p, table)
    table = _parse_alias(p, table)
    if p.at("MATCH_RECOGNIZE") and isinstance(table, nodes.Alias) and not table.columns:
        table = parse_match_recognize(p, table)
        table = _parse_alias(p, table)
    return _parse_sample(p, table) if p.at("TABLESAMPLE") else table


def _fail_at_table(p: Parser) -> NoReturn:
    """Say that no table begins here."""
    p.name_tried_at = p.position
    if p.keys[p.position] in ("(", "UNNEST"):
        p.looked_ahead_at = p.position
    p.fail()


def _parse_named_table(p: Parser) -> nodes.TableExpression:
    start = p.position
    name = p.compound_name()
    if p.at("("):
        return _parse_implicit_function(p, name, start)
    hints = parse_hints(p)
    extend = parse_extension(p)
    table: nodes.TableExpression = nodes.TableReference(name, hints, extend, span=p.span_from(start))
    if p.accept("FOR"):
        p.expect("SYSTEM_TIME", "AS", "OF")
        period = p.expression(Context.NON_QUERY)
        table = nodes.Snapshot(table, period, span=p.span_from(start))
    if p.at("MATCH_RECOGNIZE"):
        table = parse_match_recognize(p, table)
    return table


def parse_extension(p: Parser) -> tuple[tuple[nodes.Identifier, nodes.TypeSpec], ...]:
    """Parse EXTEND, if it is there."""
    return p.parenthesized_list(_parse_extension_column) if p.accept("EXTEND") else ()


def _parse_extension_column(p: Parser) -> tuple[nodes.Identifier, nodes.TypeSpec]:
    return p.compound_name(), parse_nullable_type(p)


def _parse_implicit_function(p: Parser, name: nodes.Identifier, start: int) -> nodes.TableExpression:
    quantifier, arguments = parse_arguments(p)
    span = p.span_from(start)
    call = nodes.Call(standard(name), arguments, quantifier, call_span=span, span=span)
    return nodes.TableFunction(call, hints=parse_hints(p), span=p.span_from(start))


def _parse_parenthesized_table(p: Parser, lateral: bool) -> nodes.TableExpression:
    start = p.position
    p.expect("(")
    p.join_at = -1
    if p.keys[p.position] in ("SELECT", "VALUES", "WITH") or _at_explicit_table(p):
        query = parse_query(p)
        p.expect(")")
        return nodes.DerivedTable(query, lateral, span=p.span_from(start))
    inner = p.position
    table = _parse_joined_table(p)
    if isinstance(table, nodes.DerivedTable) and p.keys[p.position] in _CONTINUES_QUERY:
        subquery = nodes.Subquery(table.query, span=table.span)
        value = parse_order_and_limits(p, parse_set_operations(p, subquery, Context.QUERY), inner)
        table = nodes.DerivedTable(as_query(p, value))
    elif not isinstance(table, nodes.Join | nodes.DerivedTable):
        if not (p.at(")") or p.at_name() or p.at("AS")):
            p.fail()
        raise p.error_at("Expected query or join", p.span_of(inner))
    p.expect(")")
    if isinstance(table, nodes.DerivedTable):
        return nodes.DerivedTable(table.query, lateral, span=p.span_from(start))
    return nodes.replace(table, span=p.span_from(start))


def _at_explicit_table(p: Parser) -> bool:
    return p.at("TABLE") and p.keys[p.position + 1] in IDENTIFIER_KEYS


def _parse_unnest(p: Parser) -> nodes.TableExpression:
    start = p.position
    lateral = p.accept("LATERAL")
    p.position += 1
    values = as_expressions(parse_query_list(p, Context.SUB_QUERY))
    ordinality = p.accept("WITH")
    if ordinality:
        p.expect("ORDINALITY")
    return nodes.Unnest(values, ordinality, lateral, span=p.span_from(start))


def _parse_table_function(p: Parser) -> nodes.TableExpression:
    start = p.position
    lateral = p.accept("LATERAL")
    p.expect("TABLE", "(")
    p.accept("SPECIFIC")
    inner = p.position
    name = parse_function_name(p)
    quantifier, arguments = parse_arguments(p)
    span = p.span_from(inner)
    call = nodes.Call(name, arguments, quantifier, call_span=span, span=span)
    p.expect(")")
    hints = parse_hints(p)
    return nodes.TableFunction(call, lateral, hints, span=p.span_from(start))


def _parse_alias(p: Parser, table: nodes.TableExpression) -> nodes.TableExpression:
    explicit = p.accept("AS")
    p.name_tried_at = p.position
    if not explicit and p.keys[p.position] not in IDENTIFIER_KEYS:
        return table
    name = p.name()
    columns = p.names() if p.at("(") else ()
    if isinstance(table, nodes.Join):
        raise p.error_at("Join expression encountered in illegal context", p.span_of(p.join_at))
    return nodes.Alias(table, name, columns, span=p.span_since(table.span))


def _parse_sample(p: Parser, table: nodes.TableExpression) -> nodes.TableExpression:
    p.position += 1
    method = p.expect_any("SUBSTITUTE", "BERNOULLI", "SYSTEM")
    p.expect("(")
    argument: nodes.Expression
    repeatable = None
    if method == "SUBSTITUTE":
        argument = parse_string_literal(p)
        assert isinstance(argument, nodes.StringLiteral)
        p.expect(")")
    else:
        argument = parse_number(p)
        p.expect(")")
        if p.accept("REPEATABLE"):
            p.expect("(")
            repeatable = parse_signed_number(p)
            p.expect(")")
        if argument.value > 100:
            raise p.error_at_last("TABLESAMPLE percentage must be between 0 and 100, inclusive")
    span = p.span_since(table.span)
    return nodes.TableSample(table, method, argument, repeatable, span=span)
