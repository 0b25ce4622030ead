"""The canonical text of queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from scurry.sql.nodes import (
    CurrentRow,
    ExplicitTable,
    Following,
    FrameBound,
    GroupBy,
    Hint,
    HintOption,
    Identifier,
    Node,
    NumericLiteral,
    OrderBy,
    OrderItem,
    Preceding,
    Query,
    Select,
    SelectItem,
    SetOperation,
    UnboundedPreceding,
    Values,
    WindowFrame,
    WindowSpecification,
    With,
)
from scurry.sql.unparse.expressions import expression, expressions
from scurry.sql.unparse.text import IN_LIST, Precedence, identifier, names, needs_parentheses, quoted, string

__all__ = ["hints", "nested_query", "order_items", "query", "window"]


def precedence(node: Query) -> Precedence:
    """Return how tightly a query holds together."""
    if isinstance(node, SetOperation):
        own = 14 if node.operator == "INTERSECT" else 12
        return own, own + 1
    if isinstance(node, OrderBy):
        return 0, 1
    return 2, 3


def query(node: Query, left: int = 0, right: int = 0) -> str:
    """Return the text of a query that stands where queries stand: a SELECT needs no parentheses there.

    Args:
        node: The query.
        left: How tightly the operator before it binds.
        right: How tightly the operator after it binds.
    """
    if not isinstance(node, Select) and needs_parentheses(precedence(node), left, right):
        return f"({_QUERIES[type(node)](node, 0, 0)})"
    return _QUERIES[type(node)](node, left, right)


def nested_query(node: Query, left: int, right: int) -> str:
    """Return the text of a query within an expression or in FROM: a SELECT stands in parentheses there."""
    if isinstance(node, Select):
        return f"({_select(node, 0, 0)})"
    return query(node, left, right)


def _select(node: Select, left: int, right: int) -> str:
    words = "SELECT"
    if node.hints:
        words += f"\n{hints(node.hints)}\n"
    words += "" if words.endswith("\n") else " "
    words += "STREAM " if node.stream else ""
    words += f"{node.quantifier} " if node.quantifier else ""
    parts = [words + ", ".join(map(_item, node.items))]
    if node.from_ is not None:
        from scurry.sql.unparse.tables import table

        parts.append(f"FROM {table(node.from_, 15, 16)}")
    if node.where is not None:
        parts.append(f"WHERE {expression(node.where)}")
    if node.group_by is not None:
        parts.append(_group_by(node.group_by))
    if node.having is not None:
        parts.append(f"HAVING {expression(node.having)}")
    if node.windows:
        windows = [f"{identifier(each.name)} AS {window(each.window)}" for each in node.windows]
        parts.append("WINDOW " + ",\n".join(windows))
    if node.qualify is not None:
        parts.append(f"QUALIFY {expression(node.qualify)}")
    return "\n".join(parts)


def _item(node: SelectItem) -> str:
    if node.alias is None:
        return expression(node.expression, *IN_LIST)
    return f"{expression(node.expression, 2, 20)} AS {identifier(node.alias)}"


def _group_by(node: GroupBy) -> str:
    distinct = "DISTINCT " if node.quantifier == "DISTINCT" else ""
    items = []
    for item in node.items:
        text = expression(item, *IN_LIST)
        items.append("()" if text == "ROW()" else text)
    return f"GROUP BY {distinct}{', '.join(items)}"


def _set_operation(node: SetOperation, left: int, right: int) -> str:
    """Return the text of a chain of set operations: without recursion along the left, which may be long."""
    texts: list[str] = []
    current: Query = node
    bound = right
    while isinstance(current, SetOperation):
        own = precedence(current)
        if texts and needs_parentheses(own, left, bound):
            break
        operator = f"{current.operator} ALL" if current.all else current.operator
        texts += [query(current.right, own[1], bound), operator]
        bound = own[0]
        current = current.left
    texts.append(query(current, left, bound))
    return "\n".join(reversed(texts))


def _values(node: Values, left: int, right: int) -> str:
    return "VALUES " + ",\n".join([expression(row, *IN_LIST) for row in node.rows])


def _explicit_table(node: ExplicitTable, left: int, right: int) -> str:
    return f"TABLE {identifier(node.name)}"


def _order_by(node: OrderBy, left: int, right: int) -> str:
    parts = [query(node.query, 0, 1)]
    if node.items:
        parts.append(f"ORDER BY {order_items(node.items)}")
    if node.offset is not None:
        parts.append(f"OFFSET {expression(node.offset)} ROWS")
    if node.fetch is not None:
        parts.append(f"FETCH NEXT {expression(node.fetch)} ROWS ONLY")
    return "\n".join(parts)


def _with(node: With, left: int, right: int) -> str:
    tables = []
    for each in node.tables:
        columns = f" {names(each.columns)}" if each.columns else ""
        tables.append(f"{identifier(each.name)}{columns} AS ({query(each.query)})")
    body = query(node.query, 10, 10)
    return f"WITH {'RECURSIVE ' if node.recursive else ''}{', '.join(tables)} {body}"


def order_items(items: tuple[OrderItem, ...]) -> str:
    """Return the text of keys of ORDER BY."""
    return ", ".join(map(_order_item, items))


def _order_item(item: OrderItem) -> str:
    around = (20, 21) if item.descending else (18, 19) if item.nulls else IN_LIST
    text = expression(item.expression, *around)
    if item.descending:
        text += " DESC"
    return f"{text} NULLS {item.nulls}" if item.nulls else text


def window(node: WindowSpecification) -> str:
    """Return the text of a window, with its parentheses."""
    parts = []
    if node.base is not None:
        parts.append(identifier(node.base))
    if node.partition_by:
        parts.append(f"PARTITION BY {expressions(node.partition_by)}")
    if node.order_by:
        parts.append(f"ORDER BY {order_items(node.order_by)}")
    if node.frame is not None:
        parts.append(_frame(node.frame))
    if not node.allow_partial:
        parts.append("DISALLOW PARTIAL")
    return f"({' '.join(parts)})"


def _frame(node: WindowFrame) -> str:
    if node.upper is None:
        return f"{node.units} {_bound(node.lower)}"
    return f"{node.units} BETWEEN {_bound(node.lower)} AND {_bound(node.upper)}"


def _bound(node: FrameBound) -> str:
    if isinstance(node, CurrentRow):
        return "CURRENT ROW"
    if isinstance(node, Preceding):
        return f"{expression(node.distance, 20, 21)} PRECEDING"
    if isinstance(node, Following):
        return f"{expression(node.distance, 20, 21)} FOLLOWING"
    return "UNBOUNDED PRECEDING" if isinstance(node, UnboundedPreceding) else "UNBOUNDED FOLLOWING"


def hints(nodes: tuple[Hint, ...]) -> str:
    """Return the text of hints, with the comment they stand in."""
    return f"/*+ {', '.join(map(_hint, nodes))} */"


def _hint(node: Hint) -> str:
    options = f"({', '.join(map(_option, node.options))})" if node.options else ""
    return quoted(node.name) + options


def _option(node: HintOption) -> str:
    value = node.value
    if isinstance(value, Identifier):
        return identifier(value)
    text = value.text if isinstance(value, NumericLiteral) else string(value.value)
    if node.key is None:
        return text
    return f"{string(node.key) if node.key_is_string else quoted(node.key)} = {text}"


_QUERIES: Final[dict[type[Node], Callable[[Any, int, int], str]]] = {
    Select: _select,
    SetOperation: _set_operation,
    Values: _values,
    ExplicitTable: _explicit_table,
    OrderBy: _order_by,
    With: _with,
}
