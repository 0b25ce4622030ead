"""The canonical text of queries."""

from __future__ import annotations

from typing import Final

from scurry.sql.syntax.nodes import (
    ExplicitTable,
    GroupBy,
    Hint,
    HintOption,
    Identifier,
    Node,
    NumericLiteral,
    OrderBy,
    Query,
    Select,
    SelectItem,
    SetOperation,
    Values,
    With,
)
from scurry.sql.syntax.unparse.dispatch import (
    ATOM,
    IN_LIST,
    Precedence,
    Writer,
    identifier,
    names,
    needs_parentheses,
    quoted,
    string,
    write,
)
from scurry.sql.syntax.unparse.windows import order_items, window


def precedence(node: Query) -> Precedence:
    """Return how tightly a query holds together."""
    if isinstance(node, SetOperation):
        own = 14 if node.operator == "INTERSECT" else 12
        return own, own + 1
    if isinstance(node, OrderBy):
        return 0, 1
    # The node around a SELECT writes its parentheses: see `nested_query`.
    return ATOM if isinstance(node, Select) else (2, 3)


def _select(node: Select, left: int, right: int) -> str:
    words = "SELECT"
    if node.hints:
        words += f"\n{hints(node.hints)}\n"
    words += "" if words.endswith("\n") else " "
    words += "STREAM " if node.stream else ""
    words += f"{node.quantifier} " if node.quantifier else ""
    parts = [words + ", ".join(map(_item, node.items))]
    if node.from_ is not None:
        parts.append(f"FROM {write(node.from_, 15, 16)}")
    if node.where is not None:
        parts.append(f"WHERE {write(node.where)}")
    if node.group_by is not None:
        parts.append(_group_by(node.group_by))
    if node.having is not None:
        parts.append(f"HAVING {write(node.having)}")
    if node.windows:
        windows = [f"{identifier(each.name)} AS {window(each.window)}" for each in node.windows]
        parts.append("WINDOW " + ",\n".join(windows))
    if node.qualify is not None:
        parts.append(f"QUALIFY {write(node.qualify)}")
    return "\n".join(parts)


def _item(node: SelectItem) -> str:
    if node.alias is None:
        return write(node.expression, *IN_LIST)
    return f"{write(node.expression, 2, 20)} AS {identifier(node.alias)}"


def _group_by(node: GroupBy) -> str:
    distinct = "DISTINCT " if node.quantifier == "DISTINCT" else ""
    items = []
    for item in node.items:
        text = write(item, *IN_LIST)
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
        texts += [write(current.right, own[1], bound), operator]
        bound = own[0]
        current = current.left
    texts.append(write(current, left, bound))
    return "\n".join(reversed(texts))


def _values(node: Values, left: int, right: int) -> str:
    return "VALUES " + ",\n".join([write(row, *IN_LIST) for row in node.rows])


def _explicit_table(node: ExplicitTable, left: int, right: int) -> str:
    return f"TABLE {identifier(node.name)}"


def _order_by(node: OrderBy, left: int, right: int) -> str:
    parts = [write(node.query, 0, 1)]
    if node.items:
        parts.append(f"ORDER BY {order_items(node.items)}")
    if node.offset is not None:
        parts.append(f"OFFSET {write(node.offset)} ROWS")
    if node.fetch is not None:
        parts.append(f"FETCH NEXT {write(node.fetch)} ROWS ONLY")
    return "\n".join(parts)


def _with(node: With, left: int, right: int) -> str:
    tables = []
    for each in node.tables:
        columns = f" {names(each.columns)}" if each.columns else ""
        tables.append(f"{identifier(each.name)}{columns} AS ({write(each.query)})")
    body = write(node.query, 10, 10)
    return f"WITH {'RECURSIVE ' if node.recursive else ''}{', '.join(tables)} {body}"


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


QUERIES: Final[dict[type[Node], Writer]] = {
    Select: _select,
    SetOperation: _set_operation,
    Values: _values,
    ExplicitTable: _explicit_table,
    OrderBy: _order_by,
    With: _with,
}
