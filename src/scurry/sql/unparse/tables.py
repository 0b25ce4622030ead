"""The canonical text of what stands in FROM."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from scurry.sql.nodes import (
    Alias,
    DerivedTable,
    Join,
    MatchRecognize,
    Node,
    Pattern,
    PatternAlternation,
    PatternConcatenation,
    PatternExclusion,
    PatternPermutation,
    PatternQuantifier,
    PatternVariable,
    Pivot,
    PivotItem,
    Select,
    Snapshot,
    TableExpression,
    TableFunction,
    TableReference,
    TableSample,
    Unnest,
    Unpivot,
)
from scurry.sql.unparse.expressions import expression, expressions
from scurry.sql.unparse.functions import call_text, function_name
from scurry.sql.unparse.literals import nullable_type
from scurry.sql.unparse.queries import hints, nested_query, order_items, query
from scurry.sql.unparse.text import identifier, names, needs_parentheses

__all__ = ["table"]


def table(node: TableExpression, left: int, right: int, lines: bool = True) -> str:
    """Return the text of a table in FROM.

    Args:
        node: The table.
        left: How tightly the operator before it binds.
        right: How tightly the operator after it binds.
        lines: Whether a join begins a line, which it does not in parentheses.
    """
    if isinstance(node, Join):
        own = 16 if node.kind == "COMMA" else 18
        if needs_parentheses((own, own + 1), left, right):
            return f"({_join(node, 0, 0, lines=False)})"
        return _join(node, left, right, lines)
    return _TABLES[type(node)](node, left, right)


def _join(node: Join, left: int, right: int, lines: bool) -> str:
    """Return the text of a chain of joins: without recursion along the left, which may be long."""
    parts: list[str] = []
    current: TableExpression = node
    bound = right
    break_ = "\n" if lines else " "
    while isinstance(current, Join):
        own = 16 if current.kind == "COMMA" else 18
        if parts and needs_parentheses((own, own + 1), left, bound):
            break
        parts.append(_joined(current, own, bound, break_))
        bound = own
        current = current.left
    parts.append(table(current, left, bound, lines))
    return "".join(reversed(parts))


def _joined(node: Join, own: int, right: int, break_: str) -> str:
    """Return the text of a join without its left table."""
    other = table(node.right, own + 1, right)
    if node.kind == "COMMA":
        return f",{break_}{other}"
    text = f"{break_}{'NATURAL ' if node.natural else ''}{node.kind} JOIN {other}"
    if node.condition is not None:
        return f"{text} ON {expression(node.condition)}"
    return f"{text} USING {names(node.using)}" if node.using else text


def _reference(node: TableReference, left: int, right: int) -> str:
    text = identifier(node.name)
    if node.hints:
        text += f"\n{hints(node.hints)}"
    if node.extend:
        columns = ", ".join([f"{identifier(name)} {nullable_type(spec)}" for name, spec in node.extend])
        text += f" EXTEND ({columns})"
    return text


def _snapshot(node: Snapshot, left: int, right: int) -> str:
    return f"{table(node.table, left, right)} FOR SYSTEM_TIME AS OF {expression(node.period)}"


def _sample(node: TableSample, left: int, right: int) -> str:
    text = f"{table(node.table, left, 20)} TABLESAMPLE {node.method}({expression(node.argument)})"
    return text if node.repeatable is None else f"{text} REPEATABLE({expression(node.repeatable)})"


def _alias(node: Alias, left: int, right: int) -> str:
    columns = f" {names(node.columns)}" if node.columns else ""
    return f"{table(node.table, left, 20)} AS {identifier(node.name)}{columns}"


def _derived(node: DerivedTable, left: int, right: int) -> str:
    if not node.lateral:
        return nested_query(node.query, left, right)
    if isinstance(node.query, Select):
        return f"LATERAL {nested_query(node.query, 0, 0)}"
    return f"LATERAL({query(node.query)})"


def _function(node: TableFunction, left: int, right: int) -> str:
    text = f"{'LATERAL ' if node.lateral else ''}TABLE({call_text(node.call, function_name(node.call.name))})"
    return f"{text}\n{hints(node.hints)}" if node.hints else text


def _unnest(node: Unnest, left: int, right: int) -> str:
    return f"UNNEST({expressions(node.collections, (0, 0))}){' WITH ORDINALITY' if node.with_ordinality else ''}"


def _pivot_item(item: PivotItem) -> str:
    values = expressions(item.values)
    text = values if len(item.values) == 1 else f"({values})"
    if item.row:
        return f"{text} AS ({expressions(item.row)})"
    return text if item.alias is None else f"{text} AS {identifier(item.alias)}"


def _pivot(node: Pivot, left: int, right: int) -> str:
    columns = identifier(node.columns[0]) if len(node.columns) == 1 else names(node.columns)
    values = ", ".join(map(_pivot_item, node.values))
    aggregates = ", ".join(map(_pivot_item, node.aggregates))
    return f"{table(node.table, left, 20)} PIVOT ({aggregates} FOR {columns} IN ({values}))"


def _unpivot(node: Unpivot, left: int, right: int) -> str:
    measures = identifier(node.measures[0]) if len(node.measures) == 1 else names(node.measures)
    axes = identifier(node.axes[0]) if len(node.axes) == 1 else names(node.axes)
    items = ", ".join(map(_pivot_item, node.items))
    nulls = "INCLUDE" if node.include_nulls else "EXCLUDE"
    return f"{table(node.table, left, 20)} UNPIVOT {nulls} NULLS ({measures} FOR {axes} IN ({items}))"


def _match_recognize(node: MatchRecognize, left: int, right: int) -> str:
    parts = [f"{table(node.table, left, 20)} MATCH_RECOGNIZE("]
    if node.partition_by:
        parts.append(f"PARTITION BY {expressions(node.partition_by)}")
    if node.order_by:
        parts.append(f"ORDER BY {order_items(node.order_by)}")
    if node.measures:
        measures = [f"{expression(each.expression, 0, 20)} AS {identifier(each.name)}" for each in node.measures]
        parts.append(f"MEASURES {', '.join(measures)}")
    if node.rows_per_match is not None:
        parts.append(node.rows_per_match)
    if node.after_match is not None:
        variable = node.after_match.variable
        parts.append(f"AFTER MATCH SKIP {node.after_match.to}{'' if variable is None else f' {identifier(variable)}'}")
    first = "^ " if node.starts_at_first_row else ""
    last = " $" if node.ends_at_last_row else ""
    within = "" if node.within is None else f" WITHIN {expression(node.within)}"
    parts.append(f"PATTERN ({first}{pattern(node.pattern, 0, 0)}{last}){within}")
    if node.subsets:
        subsets = [f"{identifier(each.name)} = {names(each.variables)}" for each in node.subsets]
        parts.append(f"SUBSET {', '.join(subsets)}")
    definitions = [f"{identifier(each.variable)} AS {expression(each.condition)}" for each in node.definitions]
    parts.append(f"DEFINE {', '.join(definitions)})")
    return "\n".join(parts)


def pattern(node: Pattern, left: int, right: int) -> str:
    """Return the text of a row pattern.

    Args:
        node: The pattern.
        left: How tightly the operator before it binds.
        right: How tightly the operator after it binds.
    """
    if isinstance(node, PatternVariable):
        return identifier(node.name)
    if isinstance(node, PatternPermutation):
        return f"PERMUTE ({', '.join([pattern(each, 0, 0) for each in node.operands])})"
    if isinstance(node, PatternExclusion):
        return f"{{- {pattern(node.operand, 0, 0)} -}}"
    if isinstance(node, PatternQuantifier):
        return f"{pattern(node.operand, 90, 91)} {_quantifier(node)}"
    assert isinstance(node, PatternAlternation | PatternConcatenation), node
    own, operator = (70, " | ") if isinstance(node, PatternAlternation) else (80, " ")
    if needs_parentheses((own, own + 1), left, right):
        return f"({pattern(node, 0, 0)})"
    return f"{pattern(node.left, left, own)}{operator}{pattern(node.right, own + 1, right)}"


def _quantifier(node: PatternQuantifier) -> str:
    reluctant = " ?" if node.reluctant else ""
    short = {(0, -1): "*", (1, -1): "+", (0, 1): "?"}.get((node.low, node.high))
    if short is not None:
        return short + reluctant
    if node.low == node.high:
        return f"{{ {node.low} }}{reluctant}"
    low = "" if node.low < 0 else str(node.low)
    high = " }" if node.high < 0 else f" {node.high} }}"
    return f"{{ {low},{high}{reluctant}"


_TABLES: Final[dict[type[Node], Callable[[Any, int, int], str]]] = {
    TableReference: _reference,
    Snapshot: _snapshot,
    TableSample: _sample,
    Alias: _alias,
    DerivedTable: _derived,
    TableFunction: _function,
    Unnest: _unnest,
    Pivot: _pivot,
    Unpivot: _unpivot,
    MatchRecognize: _match_recognize,
}
