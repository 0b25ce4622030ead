"""Base classes of the nodes of the syntax tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeVar

from scurry.sql.syntax.nodes.meta import NodeType, field
from scurry.sql.syntax.span import NO_SPAN, Span


class Node(metaclass=NodeType):
    """A part of a statement: frozen, with its fields as constructor arguments, as of a dataclass.

    Two nodes are equal if their content is, wherever they stand.

    Attributes:
        span: Where the node stands in the text.
    """

    span: Span = field(default=NO_SPAN, kw_only=True, compare=False)

    def _content(self) -> tuple[Any, ...]:
        return tuple(getattr(self, each.name) for each in type(self).node_fields if each.compare)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._content()))

    def __repr__(self) -> str:
        shown = [each for each in type(self).node_fields if each.compare and getattr(self, each.name) != each.default]
        return f"{type(self).__name__}({', '.join(f'{each.name}={getattr(self, each.name)!r}' for each in shown)})"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} is frozen; use scurry.sql.syntax.nodes.replace")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} is frozen")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), {each.name: getattr(self, each.name) for each in type(self).node_fields})


class Expression(Node):
    """A part of a statement that has a value."""


class TableExpression(Node):
    """A table reference of FROM."""


class Statement(Node):
    """A statement."""


class Query(Statement):
    """A statement that has rows as its result, and may be a part of other statements."""


N = TypeVar("N", bound=Node)


def _restore(made: type[N], values: dict[str, Any]) -> N:
    return made(**values)


def replace(node: N, **changes: Any) -> N:
    """Return a node like another one, with some of its fields changed.

    Args:
        changes: The new values by the names of the fields.

    Returns:
        The new node.
    """
    values = {each.name: getattr(node, each.name) for each in type(node).node_fields}
    return type(node)(**(values | changes))


def transform(node: N, change: Callable[[Node], Node]) -> N:
    """Return a node after a function has changed everything below it, and then itself.

    Args:
        change: Returns what replaces a node.
    """
    changed = {}
    for each in type(node).node_fields:
        value = getattr(node, each.name)
        found = _transformed(value, change)
        if found is not value:
            changed[each.name] = found
    return change(replace(node, **changed) if changed else node)  # type: ignore[return-value]


def _transformed(value: object, change: Callable[[Node], Node]) -> object:
    if isinstance(value, Node):
        return transform(value, change)
    if isinstance(value, tuple):
        found = tuple(_transformed(each, change) for each in value)
        return found if any(one is not other for one, other in zip(found, value, strict=True)) else value
    return value


def substitute(node: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    """Return an expression with parts replaced, from the outside in.

    Args:
        change: Returns what to put in place of a part, None to look into it.
    """
    found = change(node)
    if found is not None:
        return found
    changes: dict[str, Any] = {}
    for each in type(node).node_fields:
        value = getattr(node, each.name)
        if isinstance(value, Expression):
            changes[each.name] = substitute(value, change)
        elif isinstance(value, tuple):
            changes[each.name] = tuple(substitute(one, change) if isinstance(one, Expression) else one for one in value)
    return replace(node, **changes)


def children(node: Node) -> Iterator[Node]:
    """Iterate over the nodes directly below a node, in the order of its fields."""
    for each in type(node).node_fields:
        yield from _nodes_in(getattr(node, each.name))


def _nodes_in(value: object) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for element in value:
            yield from _nodes_in(element)


def walk(node: Node) -> Iterator[Node]:
    """Iterate over a node and everything below it, each node before its children."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(list(children(current))))
