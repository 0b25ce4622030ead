"""Calls: names of functions, arguments, the clauses after them, and windows."""

from __future__ import annotations

from typing import Final, NamedTuple

from scurry.sql.syntax import nodes
from scurry.sql.syntax.keywords import RESERVED_FUNCTION_NAMES, STANDARD_FUNCTIONS
from scurry.sql.syntax.lexer import IDENTIFIER_KEYS
from scurry.sql.syntax.parser.lists import parse_expressions, parse_order_by, parse_order_item, parse_order_items
from scurry.sql.syntax.parser.parser import Context, Parser
from scurry.sql.syntax.parser.queries import parse_query_or_expression

# Group windows as Calcite writes them.
_GROUP_WINDOWS: Final = {"$TUMBLE": "TUMBLE", "$HOP": "HOP", "$SESSION": "SESSION"}


class AfterCall(NamedTuple):
    """The clauses after the parentheses of a call."""

    null_treatment: str | None = None
    within_distinct: tuple[nodes.Expression, ...] = ()
    within_group: tuple[nodes.OrderItem, ...] = ()
    filter: nodes.Expression | None = None
    over: nodes.Identifier | nodes.WindowSpecification | None = None


NOTHING: Final = AfterCall()
_AFTER_CALL: Final = frozenset({"IGNORE", "RESPECT", "WITHIN", "FILTER", "OVER"})


def parse_function_name(p: Parser) -> nodes.Identifier:
    """Parse the name of a function, which may be a reserved word."""
    key = p.keys[p.position]
    if key in RESERVED_FUNCTION_NAMES:
        p.position += 1
        span = p.span_of(p.position - 1)
        name = key if key in STANDARD_FUNCTIONS else span.source
        return nodes.Identifier((name,), quoted=(False,), part_spans=(span,), span=span)
    return standard(p.compound_name())


def standard(name: nodes.Identifier) -> nodes.Identifier:
    """Return the name of a function: in upper case, if it is a standard function's and not quoted."""
    if len(name.names) > 1 or name.quoted[0]:
        return name
    upper = name.names[0].upper()
    upper = _GROUP_WINDOWS.get(upper, upper)
    return nodes.replace(name, names=(upper,)) if upper in STANDARD_FUNCTIONS else name


def parse_call(p: Parser) -> nodes.Call:
    start = p.position
    p.accept("SPECIFIC")
    return parse_call_of(p, parse_function_name(p), start)


def parse_call_of(p: Parser, name: nodes.Identifier, start: int) -> nodes.Call:
    """Parse a call after the name of its function, which begins at a position."""
    quantifier, arguments = parse_arguments(p)
    call_span = p.span_from(start)
    after = parse_after_call(p)
    return nodes.Call(
        name,
        arguments,
        quantifier,
        null_treatment=after.null_treatment,
        within_distinct=after.within_distinct,
        within_group=after.within_group,
        filter=after.filter,
        over=after.over,
        call_span=call_span,
        span=call_span if after is NOTHING else p.span_from(start),
    )


def parse_member(p: Parser, start: int) -> nodes.Expression:
    """Parse a name or a call after a dot."""
    name = p.name()
    if not p.at("("):
        return name
    quantifier, arguments = parse_arguments(p)
    span = p.span_from(start)
    return nodes.Call(name, arguments, quantifier, call_span=span, span=span)


def parse_arguments(p: Parser) -> tuple[str | None, tuple[nodes.Expression, ...]]:
    """Parse DISTINCT or ALL, if it is there, and the arguments of a call, in parentheses."""
    p.expect("(")
    if p.accept(")"):
        return None, ()
    if p.accept("*"):
        star = nodes.Star(span=p.span_of(p.position - 1))
        p.expect(")")
        return None, (star,)
    quantifier = p.accept_any("DISTINCT", "ALL")
    items = [parse_argument(p, Context.NONCURSOR)]
    while p.accept(","):
        items.append(parse_argument(p, Context.SUB_QUERY))
    p.expect(")")
    return quantifier, tuple(items)


def parse_argument(p: Parser, context: Context) -> nodes.Expression:
    start = p.position
    keys = p.keys
    key = keys[start]
    if keys[start + 1] == "=>" and key in IDENTIFIER_KEYS:
        name = p.name()
        p.position += 1
        return nodes.NamedArgument(name, _parse_value_of_argument(p, context), span=p.span_from(start))
    return _parse_value_of_argument(p, context)


def _parse_value_of_argument(p: Parser, context: Context) -> nodes.Expression:
    start = p.position
    key = p.keys[start]
    if key == "DEFAULT":
        p.position += 1
        return nodes.Default(span=p.span_of(start))
    if key == "DESCRIPTOR" and p.keys[start + 1] == "(":
        p.position += 1
        columns = () if p.accept_all("(", ")") else p.parenthesized_list(Parser.compound_name)
        return nodes.Descriptor(columns, span=p.span_from(start))
    if key == "MODEL" and p.keys[start + 1] in IDENTIFIER_KEYS:
        p.position += 1
        return nodes.ModelArgument(p.compound_name(), span=p.span_from(start))
    if key == "TABLE":
        p.position += 1
        name = p.compound_name()
        return _parse_partitioning(p, nodes.TableReference(name, span=name.span), start)
    written = _parse_written_argument(p)
    if written is not None:
        return written
    if not context.takes_query:
        value: nodes.Expression | nodes.Query = p.expression(context)
    else:
        value = parse_query_or_expression(p, context)
    if isinstance(value, nodes.Query):
        return nodes.Subquery(value, span=value.span)
    if isinstance(value, nodes.Subquery):
        query = value.query
        if isinstance(query, nodes.ExplicitTable):
            return _parse_partitioning(p, nodes.TableReference(query.name, span=query.name.span), start)
        if context.takes_query and p.keys[p.position] in ("PARTITION", "ORDER"):
            return _parse_partitioning(p, query, start)
    return value


def _parse_written_argument(p: Parser) -> nodes.Expression | None:
    """Parse a partitioned table or a model in parentheses: Flink writes them so, but does not read them."""
    start = p.position
    if not p.at("(") or p.keys[start + 1] not in ("TABLE", "MODEL"):
        return None
    if p.keys[start + 2] not in IDENTIFIER_KEYS:
        return None
    p.position += 2
    name = p.compound_name()
    written: nodes.Expression | None = None
    if p.keys[start + 1] == "MODEL":
        written = nodes.ModelArgument(name, span=p.span_from(start + 1))
    elif p.keys[p.position] in ("PARTITION", "ORDER"):
        written = _parse_partitioning(p, nodes.TableReference(name, span=name.span), start + 1)
    if written is None or not p.accept(")"):
        p.position = start
        return None
    return written


def _parse_partitioning(p: Parser, table: nodes.TableReference | nodes.Query, start: int) -> nodes.TableArgument:
    partition: tuple[nodes.Expression, ...] | None = None
    order: tuple[nodes.OrderItem, ...] = ()
    if p.accept("PARTITION"):
        p.expect("BY")
        partition = p.names() if p.at("(") else (p.name(),)
    if p.accept("ORDER"):
        p.expect("BY")
        if p.accept("("):
            order = parse_order_items(p)
            p.expect(")")
        else:
            order = (parse_order_item(p),)
    return nodes.TableArgument(table, partition, order, span=p.span_from(start))


def parse_after_call(p: Parser) -> AfterCall:
    """Parse the clauses after the parentheses of a call."""
    if p.keys[p.position] not in _AFTER_CALL:
        return NOTHING
    null_treatment = parse_null_treatment(p)
    distinct: tuple[nodes.Expression, ...] = ()
    if p.accept_all("WITHIN", "DISTINCT"):
        distinct = p.parenthesized_list(Parser.expression)
    group = parse_within_group(p)
    condition = None
    if p.accept("FILTER"):
        p.expect("(", "WHERE")
        condition = p.expression()
        p.expect(")")
    return AfterCall(null_treatment, distinct, group, condition, parse_over(p))


def parse_null_treatment(p: Parser) -> str | None:
    key = p.keys[p.position]
    if key in ("IGNORE", "RESPECT") and p.keys[p.position + 1] == "NULLS":
        p.position += 2
        return f"{key} NULLS"
    return None


def parse_within_group(p: Parser) -> tuple[nodes.OrderItem, ...]:
    """Parse WITHIN GROUP, if there is one."""
    if not p.accept("WITHIN"):
        return ()
    p.expect("GROUP", "(")
    items = parse_order_by(p)
    p.expect(")")
    return items


def parse_over(p: Parser) -> nodes.Identifier | nodes.WindowSpecification | None:
    """Parse OVER, if there is one."""
    if not p.accept("OVER"):
        return None
    return _parse_window_specification(p) if p.at("(") else p.name()


def parse_window_definitions(p: Parser) -> tuple[nodes.WindowDefinition, ...]:
    """Parse WINDOW, if there is one."""
    if not p.accept("WINDOW"):
        return ()
    definitions = [_parse_window_definition(p)]
    while p.at(",") and p.keys[p.position + 1] in IDENTIFIER_KEYS:
        p.position += 1
        definitions.append(_parse_window_definition(p))
    return tuple(definitions)


def _parse_window_definition(p: Parser) -> nodes.WindowDefinition:
    start = p.position
    name = p.name()
    p.expect("AS")
    return nodes.WindowDefinition(name, _parse_window_specification(p), span=p.span_from(start))


def _parse_window_specification(p: Parser) -> nodes.WindowSpecification:
    start = p.position
    p.expect("(")
    base: nodes.Identifier | None = p.name() if p.at_name() else None
    partition: tuple[nodes.Expression, ...] = ()
    if p.accept("PARTITION"):
        p.expect("BY")
        partition = parse_expressions(p, Context.NON_QUERY)
    order: tuple[nodes.OrderItem, ...] = parse_order_by(p) if p.at("ORDER") else ()
    frame = _parse_frame(p)
    partial = p.accept_any("ALLOW", "DISALLOW")
    if partial is not None:
        p.expect("PARTIAL")
    p.expect(")")
    return nodes.WindowSpecification(base, partition, order, frame, partial != "DISALLOW", span=p.span_from(start))


def _parse_frame(p: Parser) -> nodes.WindowFrame | None:
    start = p.position
    units = p.accept_any("ROWS", "RANGE")
    if units is None:
        return None
    upper = None
    if p.accept("BETWEEN"):
        lower = _parse_bound(p)
        p.expect("AND")
        upper = _parse_bound(p)
    else:
        lower = _parse_bound(p)
    return nodes.WindowFrame(units, lower, upper, span=p.span_from(start))


def _parse_bound(p: Parser) -> nodes.FrameBound:
    start = p.position
    if p.accept_all("CURRENT", "ROW"):
        return nodes.CurrentRow(span=p.span_from(start))
    if p.at("UNBOUNDED") and p.keys[start + 1] in ("PRECEDING", "FOLLOWING"):
        p.position += 2
        span = p.span_from(start)
        before = p.keys[start + 1] == "PRECEDING"
        return nodes.UnboundedPreceding(span=span) if before else nodes.UnboundedFollowing(span=span)
    distance = p.expression(Context.NON_QUERY)
    before = p.expect_any("PRECEDING", "FOLLOWING") == "PRECEDING"
    span = p.span_from(start)
    return nodes.Preceding(distance, span=span) if before else nodes.Following(distance, span=span)
