"""The canonical text of expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.unparse.dispatch import (
    ATOM,
    IN_LIST,
    NONE,
    Precedence,
    Writer,
    identifier,
    needs_parentheses,
    nested_query,
    write,
    write_list,
)
from scurry.sql.syntax.unparse.literals import literal, qualifier

_BINARY: Final = {
    "OR": 22,
    "AND": 24,
    **dict.fromkeys(("+", "-"), 40),
    **dict.fromkeys(("*", "/", "%", "||"), 60),
    **dict.fromkeys((f"MULTISET {name} {scope}" for name in ("UNION", "EXCEPT") for scope in ("ALL", "DISTINCT")), 12),
    **dict.fromkeys(("MULTISET INTERSECT ALL", "MULTISET INTERSECT DISTINCT"), 14),
}
_LITERALS: Final[tuple[type[nodes.Literal], ...]] = (
    nodes.NumericLiteral,
    nodes.StringLiteral,
    nodes.StringChain,
    nodes.BinaryLiteral,
    nodes.BooleanLiteral,
    nodes.NullLiteral,
    nodes.DateLiteral,
    nodes.TimeLiteral,
    nodes.TimestampLiteral,
    nodes.IntervalLiteral,
)
_COMPARISON: Final = 30
_UNARY: Final = {"NOT": 26, "+": 80, "-": 80, "RUNNING": 80, "FINAL": 80, "EXISTS": 40, "UNIQUE": 40, "FORMAT JSON": 28}


def precedence(node: nodes.Expression) -> Precedence:
    """Return how tightly an expression holds together."""
    if isinstance(node, nodes.BinaryOperation):
        own = _BINARY.get(node.operator, _COMPARISON)
        return own, own + 1
    if isinstance(node, nodes.UnaryOperation):
        own = _UNARY[node.operator]
        return own, own + 1
    if isinstance(node, nodes.Like):
        return 33, 32
    if isinstance(node, nodes.In | nodes.Between | nodes.QuantifiedComparison):
        return 32, 33
    if isinstance(node, nodes.IsTest):
        return 28, 29
    if isinstance(node, nodes.Exists | nodes.Unique):
        return 40, 41
    if isinstance(node, nodes.FieldAccess | nodes.ItemAccess):
        return 100, 101
    if isinstance(node, nodes.IntervalExpression | nodes.NewObject):
        return 0, 1
    if isinstance(node, nodes.MinusDate):
        return 40, 41
    if isinstance(node, nodes.RowConstructor):
        return 201, 200
    if isinstance(node, nodes.GroupingSets):
        return 4, 5
    return ATOM


def _subquery(node: nodes.Subquery, left: int, right: int) -> str:
    return f"({write(node.query)})"


def _binary(node: nodes.BinaryOperation, left: int, right: int) -> str:
    """Return the text of a chain of operations: without recursion along the left, which may be long."""
    rest: list[str] = []
    current: nodes.Expression = node
    bounds: list[tuple[int, int]] = [(left, right)]
    while isinstance(current, nodes.BinaryOperation):
        own = precedence(current)
        outer_left, outer_right = bounds[-1]
        if rest and needs_parentheses(own, outer_left, outer_right):
            break
        rest.append(f" {current.operator} {write(current.right, own[1], outer_right)}")
        bounds.append((outer_left, own[0]))
        current = current.left
    return write(current, *bounds[-1]) + "".join(reversed(rest))


def _unary(node: nodes.UnaryOperation, left: int, right: int) -> str:
    own = precedence(node)
    operand = write(node.operand, *own)
    return f"{operand} {node.operator}" if node.operator == "FORMAT JSON" else f"{node.operator} {operand}"


def _list_or_query(values: tuple[nodes.Expression, ...] | nodes.Query, left: int, right: int) -> str:
    if isinstance(values, nodes.Query):
        return nested_query(values, left, right)
    return f"({write_list(values, (0, 0) if len(values) == 1 else IN_LIST)})"


def _in(node: nodes.In, left: int, right: int) -> str:
    operator = "NOT IN" if node.negated else "IN"
    return f"{write(node.operand, left, 32)} {operator} {_list_or_query(node.values, 33, right)}"


def _quantified(node: nodes.QuantifiedComparison, left: int, right: int) -> str:
    values = _list_or_query(node.values, 33, right)
    return f"{write(node.left, left, 32)} {node.operator} {node.quantifier} {values}"


def _between(node: nodes.Between, left: int, right: int) -> str:
    """Return the text of BETWEEN, whose bounds stand in parentheses where an AND within could be taken for its own."""
    negated = "NOT " if node.negated else ""
    symmetric = "SYMMETRIC" if node.symmetric else "ASYMMETRIC"
    low = write(node.low, *((100, 100) if _has_and(node.low) else NONE))
    high = write(node.high, *((100, 100) if _has_and(node.high) else (33, 0)))
    return f"{write(node.operand, 32, 32)} {negated}BETWEEN {symmetric} {low} AND {high}"


def _has_and(node: nodes.Expression) -> bool:
    return any(isinstance(each, nodes.BinaryOperation) and each.operator == "AND" for each in nodes.walk(node))


def _like(node: nodes.Like, left: int, right: int) -> str:
    negated = "NOT " if node.negated else ""
    text = f"{write(node.operand, 33, 32)} {negated}{node.operator} {write(node.pattern, 33, 32)}"
    return text if node.escape is None else f"{text} ESCAPE {write(node.escape, 33, 32)}"


def _is(node: nodes.IsTest, left: int, right: int) -> str:
    return f"{write(node.operand, 28, 29)} IS {'NOT ' if node.negated else ''}{node.test}"


def _case(node: nodes.Case, left: int, right: int) -> str:
    branches = [f"WHEN {write(each.condition)} THEN {write(each.result)}" for each in node.branches]
    return f"CASE {' '.join(branches)} ELSE {write(node.default)} END"


def _exists(node: nodes.Exists, left: int, right: int) -> str:
    return f"EXISTS {nested_query(node.query, 40, 41)}"


def _unique(node: nodes.Unique, left: int, right: int) -> str:
    return f"UNIQUE {nested_query(node.query, 40, 41)}"


def _item(node: nodes.ItemAccess, left: int, right: int) -> str:
    return f"{write(node.collection, left, 0)}[{write(node.index)}]"


def _field(node: nodes.FieldAccess, left: int, right: int) -> str:
    return f"{write(node.operand, left, 0)}.{write(node.field)}"


def _row(node: nodes.RowConstructor, left: int, right: int) -> str:
    return f"ROW({write_list(node.values, NONE)})"


def _collection(name: str) -> Callable[[Any, int, int], str]:
    return lambda node, left, right: f"{name}[{write_list(node.values)}]"


def _from_query(node: nodes.CollectionFromQuery, left: int, right: int) -> str:
    if node.kind == "CURSOR":
        return f"CURSOR({nested_query(node.query)})"
    return f"{node.kind} ({nested_query(node.query)})"


def _star(node: nodes.Star, left: int, right: int) -> str:
    return "*" if node.qualifier is None else f"{identifier(node.qualifier)}.*"


def _interval(node: nodes.IntervalExpression, left: int, right: int) -> str:
    return f"INTERVAL {write(node.operand, 0, 1)} {qualifier(node.qualifier)}"


def _minus_date(node: nodes.MinusDate, left: int, right: int) -> str:
    return f"({write(node.left, 40, 41)} - {write(node.right, 40, 41)}) {qualifier(node.qualifier)}"


def _jdbc(node: nodes.JdbcFunction, left: int, right: int) -> str:
    return f"{{fn {node.name}({write_list(node.arguments, NONE)}) }}"


def _new(node: nodes.NewObject, left: int, right: int) -> str:
    return f"NEW {write(node.operand, 0, 1)}"


def _next_value(node: nodes.NextValue, left: int, right: int) -> str:
    return f"{'CURRENT' if node.current else 'NEXT'} VALUE FOR {identifier(node.sequence)}"


def _grouping_sets(node: nodes.GroupingSets, left: int, right: int) -> str:
    return f"{node.kind}({', '.join(map(grouping, node.sets))})"


def grouping(node: nodes.Expression) -> str:
    """Return the text of an element of GROUPING SETS: several keys in plain parentheses."""
    if isinstance(node, nodes.RowConstructor) and not node.explicit:
        return f"({write_list(node.values)})"
    return write(node, *IN_LIST)


EXPRESSIONS: Final[dict[type[nodes.Node], Writer]] = {
    **dict.fromkeys(_LITERALS, lambda node, left, right: literal(node)),
    nodes.Subquery: _subquery,
    nodes.BinaryOperation: _binary,
    nodes.UnaryOperation: _unary,
    nodes.In: _in,
    nodes.QuantifiedComparison: _quantified,
    nodes.Between: _between,
    nodes.Like: _like,
    nodes.IsTest: _is,
    nodes.Case: _case,
    nodes.Exists: _exists,
    nodes.Unique: _unique,
    nodes.ItemAccess: _item,
    nodes.FieldAccess: _field,
    nodes.RowConstructor: _row,
    nodes.ArrayConstructor: _collection("ARRAY"),
    nodes.MapConstructor: _collection("MAP"),
    nodes.MultisetConstructor: _collection("MULTISET"),
    nodes.CollectionFromQuery: _from_query,
    nodes.Star: _star,
    nodes.DynamicParameter: lambda node, left, right: "?",
    nodes.Default: lambda node, left, right: "DEFAULT",
    nodes.ContextVariable: lambda node, left, right: node.name,
    nodes.IntervalExpression: _interval,
    nodes.IntervalQualifier: lambda node, left, right: qualifier(node),
    nodes.MinusDate: _minus_date,
    nodes.JdbcFunction: _jdbc,
    nodes.NewObject: _new,
    nodes.NextValue: _next_value,
    nodes.GroupingSets: _grouping_sets,
}
