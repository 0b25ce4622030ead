"""JSON functions."""

from __future__ import annotations

from collections.abc import Callable

from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser.calls import parse_within_group
from scurry.sql.syntax.parser.lists import parse_order_by
from scurry.sql.syntax.parser.parser import Context, Parser
from scurry.sql.syntax.parser.types import parse_data_type


def parse_json_function(p: Parser) -> nodes.Expression:
    """Parse a JSON function, whose name is the next token; a parenthesis follows."""
    start = p.position
    key = p.keys[start]
    p.position += 2
    if key == "JSON_OBJECT":
        return _parse_object(p, start)
    if key == "JSON_ARRAY":
        return _parse_array(p, start)
    if key == "JSON_OBJECTAGG":
        return _parse_object_aggregate(p, start)
    if key == "JSON_ARRAYAGG":
        return _parse_array_aggregate(p, start)
    context = p.expression(Context.NON_QUERY)
    p.expect(",")
    path = p.expression(Context.NON_QUERY)
    _parse_passing(p)
    if key == "JSON_EXISTS":
        return _parse_exists(p, context, path, start)
    returning = parse_data_type(p) if p.accept("RETURNING") else None
    if key == "JSON_VALUE":
        on_empty, on_error = _parse_behaviors(p, _parse_value_behavior)
        p.expect(")")
        return nodes.JsonValue(context, path, returning, on_empty, on_error, span=p.span_from(start))
    return _parse_query(p, context, path, returning, start)


def _parse_passing(p: Parser) -> None:
    """Go past PASSING, which Flink parses and ignores."""
    if p.accept("PASSING"):
        p.comma_list(_parse_passed)


def _parse_passed(p: Parser) -> None:
    p.expression(Context.NON_QUERY)
    p.expect("AS")
    p.name()


def _parse_exists(p: Parser, context: nodes.Expression, path: nodes.Expression, start: int) -> nodes.Expression:
    on_error = None
    key = p.accept_any("TRUE", "FALSE", "UNKNOWN", "ERROR")
    if key is not None:
        on_error = nodes.JsonBehavior(key, span=p.span_of(p.position - 1))
        p.expect("ON", "ERROR")
    p.expect(")")
    return nodes.JsonExists(context, path, on_error, span=p.span_from(start))


def _parse_query(
    p: Parser, context: nodes.Expression, path: nodes.Expression, returning: nodes.TypeSpec | None, start: int
) -> nodes.Expression:
    wrapper = _parse_wrapper(p)
    on_empty, on_error = _parse_behaviors(p, _parse_query_behavior)
    p.expect(")")
    null = nodes.JsonBehavior("NULL")
    return nodes.JsonQuery(
        context, path, returning, wrapper, on_empty or null, on_error or null, span=p.span_from(start)
    )


def _parse_wrapper(p: Parser) -> str:
    if p.accept("WITHOUT"):
        wrapper = "WITHOUT ARRAY"
    elif p.accept("WITH"):
        kind = p.accept_any("CONDITIONAL", "UNCONDITIONAL") or "UNCONDITIONAL"
        wrapper = f"WITH {kind} ARRAY"
    else:
        return "WITHOUT ARRAY"
    p.accept("ARRAY")
    p.expect("WRAPPER")
    return wrapper


def _parse_behaviors(
    p: Parser, parse: Callable[[Parser], nodes.JsonBehavior]
) -> tuple[nodes.JsonBehavior | None, nodes.JsonBehavior | None]:
    """Parse the behaviours ON EMPTY and ON ERROR."""
    found: dict[str, nodes.JsonBehavior] = {}
    while p.keys[p.position] in ("NULL", "ERROR", "DEFAULT", "EMPTY"):
        behavior = parse(p)
        p.expect("ON")
        found[p.expect_any("EMPTY", "ERROR")] = behavior
    return found.get("EMPTY"), found.get("ERROR")


def _parse_value_behavior(p: Parser) -> nodes.JsonBehavior:
    start = p.position
    key = p.expect_any("NULL", "ERROR", "DEFAULT")
    default = p.expression(Context.NON_QUERY) if key == "DEFAULT" else None
    return nodes.JsonBehavior(key, default, span=p.span_from(start))


def _parse_query_behavior(p: Parser) -> nodes.JsonBehavior:
    start = p.position
    key = p.expect_any("NULL", "ERROR", "EMPTY")
    if key == "EMPTY":
        key = f"EMPTY {p.expect_any('ARRAY', 'OBJECT')}"
    return nodes.JsonBehavior(key, span=p.span_from(start))


def _parse_entry(p: Parser) -> nodes.JsonEntry:
    start = p.position
    keyword = p.at("KEY") and p.keys[p.position + 1] not in (":", "VALUE", ".", "(")
    if keyword:
        p.position += 1
    key = p.expression(Context.NON_QUERY)
    if p.accept(":"):
        if keyword:
            raise p.error_at_last("Illegal use of ':' in a KEY VALUE pair")
    else:
        p.expect("VALUE")
    value = p.expression(Context.NON_QUERY)
    return nodes.JsonEntry(key, value, span=p.span_from(start))


def _at_null_clause(p: Parser) -> bool:
    return p.at_all("NULL", "ON", "NULL") or p.at_all("ABSENT", "ON", "NULL")


def _parse_null_clause(p: Parser, absent: bool) -> bool:
    """Parse NULL ON NULL or ABSENT ON NULL, and return whether NULL values are left out."""
    key = p.accept_any("NULL", "ABSENT")
    if key is None:
        return absent
    p.expect("ON", "NULL")
    return key == "ABSENT"


def _parse_object(p: Parser, start: int) -> nodes.Expression:
    entries: tuple[nodes.JsonEntry, ...] = ()
    if not p.at(")") and not _at_null_clause(p):
        entries = p.comma_list(_parse_entry)
    absent = _parse_null_clause(p, False)
    p.expect(")")
    return nodes.JsonObject(entries, absent, span=p.span_from(start))


def _parse_array(p: Parser, start: int) -> nodes.Expression:
    values: tuple[nodes.Expression, ...] = ()
    if not p.at(")") and not _at_null_clause(p):
        values = p.comma_list(lambda p: p.expression(Context.NON_QUERY))
    absent = _parse_null_clause(p, True)
    p.expect(")")
    return nodes.JsonArray(values, absent, span=p.span_from(start))


def _parse_object_aggregate(p: Parser, start: int) -> nodes.Expression:
    entry = _parse_entry(p)
    absent = _parse_null_clause(p, False)
    p.expect(")")
    span = p.span_from(start)
    return nodes.JsonObjectAggregate(entry, absent, call_span=span, span=span)


def _parse_array_aggregate(p: Parser, start: int) -> nodes.Expression:
    value = p.expression(Context.NON_QUERY)
    order = parse_order_by(p) if p.at("ORDER") else ()
    absent = _parse_null_clause(p, True)
    p.expect(")")
    call_span = p.span_from(start)
    if p.at("WITHIN") and order:
        raise p.error_at_last(
            "Including both WITHIN GROUP(...) and inside ORDER BY in a single JSON_ARRAYAGG call is not allowed"
        )
    group = parse_within_group(p) or order
    return nodes.JsonArrayAggregate(value, absent, within_group=group, call_span=call_span, span=p.span_from(start))
