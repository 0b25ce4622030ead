"""Operands of expressions of MEASURES and DEFINE, and the positions that Flink reports for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from scurry.sql.syntax import nodes
from scurry.sql.syntax.span import Span, line_and_column


def merged_span(node: nodes.Expression) -> Span:
    """Return the position that Flink reports for an expression of MEASURES or DEFINE, which it has rewritten."""
    return merged(node).span if _has_operands(node) else _Merged(node.span.text, 0, node.span.end)


class _Merged(Span):
    """The position of a call that Flink has rewritten: from nowhere to the end of its last operand."""

    __slots__ = ()

    def describe(self) -> str:
        line, column = line_and_column(self.text, max(self.end - 1, 0))
        return f"From line 0, column 0 to line {line}, column {column}"


def merged(node: nodes.Expression) -> nodes.Expression:
    """Return an expression whose calls stand where Flink says that they do."""
    if not _has_operands(node):
        return node
    changed = rebuilt(node, merged)
    parts = [each for each in nodes.children(changed) if isinstance(each, nodes.TypeSpec)]
    ends = [each.span.end for each in (*operands_of(changed), *parts) if each.span.text]
    # A list of values keeps its place.
    if not ends or isinstance(changed, nodes.In):
        return changed
    span = _Merged(node.span.text, 0, max(ends))
    if isinstance(changed, nodes.FunctionCall):
        return nodes.replace(changed, span=span, call_span=span)
    return nodes.replace(changed, span=span)


def _has_operands(node: nodes.Expression) -> bool:
    return not isinstance(node, nodes.Identifier | nodes.Literal | nodes.Star) and any(True for _ in operands_of(node))


def rebuilt(node: nodes.Expression, replacement: Callable[[nodes.Expression], nodes.Expression]) -> nodes.Expression:
    changes: dict[str, Any] = {}
    for each in type(node).node_fields:
        value = getattr(node, each.name)
        new = value
        if _is_operand(node, each.name, value):
            new = replacement(value)
        elif isinstance(value, tuple):
            new = tuple(replacement(one) if _is_operand(node, each.name, one) else one for one in value)
        if new is not value and new != () or isinstance(value, nodes.Node):
            changes[each.name] = new
    return nodes.replace(node, **changes) if changes else node


def _is_operand(node: nodes.Node, name: str, value: object) -> bool:
    if name == "name" and isinstance(node, nodes.Call):
        return False
    return isinstance(value, nodes.Expression) and not isinstance(value, nodes.TypeSpec)


def operands_of(node: nodes.Node) -> Iterator[nodes.Expression]:
    for each in type(node).node_fields:
        value = getattr(node, each.name)
        for one in value if isinstance(value, tuple) else (value,):
            if _is_operand(node, each.name, one):
                yield one
            elif isinstance(one, nodes.JsonEntry):
                yield from (one.key, one.value)


def walk(node: nodes.Expression) -> Iterator[nodes.Expression]:
    yield node
    for each in operands_of(node):
        yield from walk(each)
