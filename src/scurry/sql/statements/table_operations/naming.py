"""Names of derived columns, as in Flink's Table API."""

from __future__ import annotations

from collections.abc import Callable

from scurry.sql.syntax import nodes


class Names:
    """Gives names to the columns of one operation.

    A column has the name of its alias or column. An aggregate is `EXPR$0`, `EXPR$1` in the order in which different
    ones occur, a conversion of a column `a-STRING`, a field of one `a$field`, anything else `_c0` by its place.
    """

    def __init__(self, is_numbered: Callable[[nodes.Expression], bool]) -> None:
        self.is_numbered = is_numbered
        self._numbered: dict[nodes.Expression, str] = {}
        self._place = 0

    def name(self, node: nodes.Expression, alias: str | None) -> str:
        """Return the name of the next column."""
        self._collect(node)
        found = alias or self._own_name(node)
        name = found or self.by_place
        self._place += 1
        return name

    @property
    def by_place(self) -> str:
        """The name of the next column if nothing else gives it one."""
        return f"_c{self._place}"

    @property
    def numbered(self) -> list[str]:
        """The names of aggregates and properties so far."""
        return list(self._numbered.values())

    def _collect(self, node: nodes.Node) -> None:
        if isinstance(node, nodes.Query):
            return
        if isinstance(node, nodes.Expression) and self.is_numbered(node):
            self._numbered.setdefault(node, f"EXPR${len(self._numbered)}")
            return
        for child in nodes.children(node):
            self._collect(child)

    def _own_name(self, node: nodes.Node) -> str | None:
        """Return the name that follows from an expression, None if none does."""
        if isinstance(node, nodes.Expression) and node in self._numbered:
            return self._numbered[node]
        if isinstance(node, nodes.Identifier):
            return node.last
        if isinstance(node, nodes.Cast) and not node.is_try:
            inner = None if isinstance(node.operand, nodes.Cast) else self._own_name(node.operand)
            return None if inner is None else f"{inner}-{_type_text(node)}"
        if isinstance(node, nodes.FieldAccess) and isinstance(node.field, nodes.Identifier):
            inner = self._own_name(node.operand)
            return None if inner is None else f"{inner}${node.field.last}"
        if isinstance(node, nodes.Call) and node.name.last == "FIELD":
            inner = self._own_name(node.arguments[0])
            place = node.arguments[1]
            return None if inner is None or not isinstance(place, nodes.NumericLiteral) else f"{inner}$_{place.text}"
        return None


def _type_text(cast: nodes.Cast) -> str:
    from scurry.sql.validator import data_type

    return data_type(cast.type).as_summary_string()
