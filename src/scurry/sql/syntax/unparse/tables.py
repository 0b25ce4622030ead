"""The canonical text of table references."""

from __future__ import annotations

from typing import Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.unparse.dispatch import (
    ATOM,
    NONE,
    Precedence,
    Writer,
    identifier,
    names,
    needs_parentheses,
    nested_query,
    write,
    write_list,
)
from scurry.sql.syntax.unparse.functions import call, function_name
from scurry.sql.syntax.unparse.literals import nullable_type
from scurry.sql.syntax.unparse.queries import hints
from scurry.sql.syntax.unparse.windows import order_items


def precedence(node: nodes.TableExpression) -> Precedence:
    """Return how tightly a table holds together: joins do, others stand by themselves."""
    if isinstance(node, nodes.Join):
        own = 16 if node.kind == "COMMA" else 18
        return own, own + 1
    return ATOM


def _join(node: nodes.Join, left: int, right: int) -> str:
    """Return the text of a chain of joins: without recursion along the left, which may be long."""
    # In parentheses, which no neighbours tell, a join begins no line.
    break_ = "\n" if (left, right) != NONE else " "
    parts: list[str] = []
    current: nodes.TableExpression = node
    bound = right
    while isinstance(current, nodes.Join):
        own = precedence(current)
        if parts and needs_parentheses(own, left, bound):
            break
        parts.append(_joined(current, own, bound, break_))
        bound = own[0]
        current = current.left
    parts.append(write(current, left, bound))
    return "".join(reversed(parts))


def _joined(node: nodes.Join, own: Precedence, right: int, break_: str) -> str:
    """Return the text of a join without its left table."""
    other = write(node.right, own[1], right)
    if node.kind == "COMMA":
        return f",{break_}{other}"
    text = f"{break_}{'NATURAL ' if node.natural else ''}{node.kind} JOIN {other}"
    if node.condition is not None:
        return f"{text} ON {write(node.condition)}"
    return f"{text} USING {names(node.using)}" if node.using else text


def _reference(node: nodes.TableReference, left: int, right: int) -> str:
    text = identifier(node.name)
    if node.hints:
        text += f"\n{hints(node.hints)}"
    if node.extend:
        columns = ", ".join([f"{identifier(name)} {nullable_type(spec)}" for name, spec in node.extend])
        text += f" EXTEND ({columns})"
    return text


def _snapshot(node: nodes.Snapshot, left: int, right: int) -> str:
    return f"{write(node.table, left, right)} FOR SYSTEM_TIME AS OF {write(node.period)}"


def _sample(node: nodes.TableSample, left: int, right: int) -> str:
    text = f"{write(node.table, left, 20)} TABLESAMPLE {node.method}({write(node.argument)})"
    return text if node.repeatable is None else f"{text} REPEATABLE({write(node.repeatable)})"


def _alias(node: nodes.Alias, left: int, right: int) -> str:
    columns = f" {names(node.columns)}" if node.columns else ""
    return f"{write(node.table, left, 20)} AS {identifier(node.name)}{columns}"


def _derived(node: nodes.DerivedTable, left: int, right: int) -> str:
    if not node.lateral:
        return nested_query(node.query, left, right)
    if isinstance(node.query, nodes.Select):
        return f"LATERAL {nested_query(node.query, 0, 0)}"
    return f"LATERAL({write(node.query)})"


def _function(node: nodes.TableFunction, left: int, right: int) -> str:
    text = f"{'LATERAL ' if node.lateral else ''}TABLE({call(node.call, function_name(node.call.name))})"
    return f"{text}\n{hints(node.hints)}" if node.hints else text


def _unnest(node: nodes.Unnest, left: int, right: int) -> str:
    return f"UNNEST({write_list(node.collections, (0, 0))}){' WITH ORDINALITY' if node.with_ordinality else ''}"


def _pivot_item(item: nodes.PivotItem) -> str:
    values = write_list(item.values)
    text = values if len(item.values) == 1 else f"({values})"
    if item.row:
        return f"{text} AS ({write_list(item.row)})"
    return text if item.alias is None else f"{text} AS {identifier(item.alias)}"


def _pivot(node: nodes.Pivot, left: int, right: int) -> str:
    columns = identifier(node.columns[0]) if len(node.columns) == 1 else names(node.columns)
    values = ", ".join(map(_pivot_item, node.values))
    aggregates = ", ".join(map(_pivot_item, node.aggregates))
    return f"{write(node.table, left, 20)} PIVOT ({aggregates} FOR {columns} IN ({values}))"


def _unpivot(node: nodes.Unpivot, left: int, right: int) -> str:
    measures = identifier(node.measures[0]) if len(node.measures) == 1 else names(node.measures)
    axes = identifier(node.axes[0]) if len(node.axes) == 1 else names(node.axes)
    items = ", ".join(map(_pivot_item, node.items))
    nulls = "INCLUDE" if node.include_nulls else "EXCLUDE"
    return f"{write(node.table, left, 20)} UNPIVOT {nulls} NULLS ({measures} FOR {axes} IN ({items}))"


def _match_recognize(node: nodes.MatchRecognize, left: int, right: int) -> str:
    parts = [f"{write(node.table, left, 20)} MATCH_RECOGNIZE("]
    if node.partition_by:
        parts.append(f"PARTITION BY {write_list(node.partition_by)}")
    if node.order_by:
        parts.append(f"ORDER BY {order_items(node.order_by)}")
    if node.measures:
        measures = [f"{write(each.expression, 0, 20)} AS {identifier(each.name)}" for each in node.measures]
        parts.append(f"MEASURES {', '.join(measures)}")
    if node.rows_per_match is not None:
        parts.append(node.rows_per_match)
    if node.after_match is not None:
        variable = node.after_match.variable
        parts.append(f"AFTER MATCH SKIP {node.after_match.to}{'' if variable is None else f' {identifier(variable)}'}")
    first = "^ " if node.starts_at_first_row else ""
    last = " $" if node.ends_at_last_row else ""
    within = "" if node.within is None else f" WITHIN {write(node.within)}"
    parts.append(f"PATTERN ({first}{pattern(node.pattern, 0, 0)}{last}){within}")
    if node.subsets:
        subsets = [f"{identifier(each.name)} = {names(each.variables)}" for each in node.subsets]
        parts.append(f"SUBSET {', '.join(subsets)}")
    definitions = [f"{identifier(each.variable)} AS {write(each.condition)}" for each in node.definitions]
    parts.append(f"DEFINE {', '.join(definitions)})")
    return "\n".join(parts)


def pattern(node: nodes.Pattern, left: int, right: int) -> str:
    """Return the text of a row pattern.

    Args:
        left: How tightly the operator before it binds.
        right: How tightly the operator after it binds.
    """
    if isinstance(node, nodes.PatternVariable):
        return identifier(node.name)
    if isinstance(node, nodes.PatternPermutation):
        return f"PERMUTE ({', '.join([pattern(each, 0, 0) for each in node.operands])})"
    if isinstance(node, nodes.PatternExclusion):
        return f"{{- {pattern(node.operand, 0, 0)} -}}"
    if isinstance(node, nodes.PatternQuantifier):
        return f"{pattern(node.operand, 90, 91)} {_quantifier(node)}"
    assert isinstance(node, nodes.PatternAlternation | nodes.PatternConcatenation), node
    own, operator = (70, " | ") if isinstance(node, nodes.PatternAlternation) else (80, " ")
    if needs_parentheses((own, own + 1), left, right):
        return f"({pattern(node, 0, 0)})"
    return f"{pattern(node.left, left, own)}{operator}{pattern(node.right, own + 1, right)}"


def _quantifier(node: nodes.PatternQuantifier) -> str:
    reluctant = " ?" if node.reluctant else ""
    short = {(0, -1): "*", (1, -1): "+", (0, 1): "?"}.get((node.low, node.high))
    if short is not None:
        return short + reluctant
    if node.low == node.high:
        return f"{{ {node.low} }}{reluctant}"
    low = "" if node.low < 0 else str(node.low)
    high = " }" if node.high < 0 else f" {node.high} }}"
    return f"{{ {low},{high}{reluctant}"


TABLES: Final[dict[type[nodes.Node], Writer]] = {
    nodes.Join: _join,
    nodes.TableReference: _reference,
    nodes.Snapshot: _snapshot,
    nodes.TableSample: _sample,
    nodes.Alias: _alias,
    nodes.DerivedTable: _derived,
    nodes.TableFunction: _function,
    nodes.Unnest: _unnest,
    nodes.Pivot: _pivot,
    nodes.Unpivot: _unpivot,
    nodes.MatchRecognize: _match_recognize,
}
