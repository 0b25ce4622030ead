"""The canonical text of sort keys and windows."""

from __future__ import annotations

from scurry.sql.syntax import nodes
from scurry.sql.syntax.unparse.dispatch import IN_LIST, identifier, write, write_list


def order_items(items: tuple[nodes.OrderItem, ...]) -> str:
    """Return the text of keys of ORDER BY."""
    return ", ".join(map(_order_item, items))


def _order_item(item: nodes.OrderItem) -> str:
    around = (20, 21) if item.descending else (18, 19) if item.nulls else IN_LIST
    text = write(item.expression, *around)
    if item.descending:
        text += " DESC"
    return f"{text} NULLS {item.nulls}" if item.nulls else text


def window(node: nodes.WindowSpecification) -> str:
    """Return the text of a window, with its parentheses."""
    parts = []
    if node.base is not None:
        parts.append(identifier(node.base))
    if node.partition_by:
        parts.append(f"PARTITION BY {write_list(node.partition_by)}")
    if node.order_by:
        parts.append(f"ORDER BY {order_items(node.order_by)}")
    if node.frame is not None:
        parts.append(_frame(node.frame))
    if not node.allow_partial:
        parts.append("DISALLOW PARTIAL")
    return f"({' '.join(parts)})"


def _frame(node: nodes.WindowFrame) -> str:
    if node.upper is None:
        return f"{node.units} {_bound(node.lower)}"
    return f"{node.units} BETWEEN {_bound(node.lower)} AND {_bound(node.upper)}"


def _bound(node: nodes.FrameBound) -> str:
    if isinstance(node, nodes.CurrentRow):
        return "CURRENT ROW"
    if isinstance(node, nodes.Preceding):
        return f"{write(node.distance, 20, 21)} PRECEDING"
    if isinstance(node, nodes.Following):
        return f"{write(node.distance, 20, 21)} FOLLOWING"
    return "UNBOUNDED PRECEDING" if isinstance(node, nodes.UnboundedPreceding) else "UNBOUNDED FOLLOWING"
