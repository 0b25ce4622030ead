"""Aggregates over the rows around each row, in columns of DataFrames."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.sql.syntax import nodes
from scurry.table._operations.replacing import replaced
from scurry.table.expression import Expression


def with_windows(columns: Sequence[Expression]) -> list[Expression]:
    """Return columns in which `over("ts")` is over the rows up to each one, in the order of the column `ts`.

    Windows of a DataFrame have no aliases, which `over` with one argument names for tables.
    """
    return [each._with_node(replaced(each._node, _windowed)) for each in columns]


def _windowed(node: nodes.Expression) -> nodes.Expression | None:
    if not isinstance(node, nodes.FunctionCall) or not isinstance(node.over, nodes.Identifier) or node.over.span.text:
        return None
    order = nodes.OrderItem(node.over, False)
    return nodes.replace(node, over=nodes.WindowSpecification(None, (), (order,), None))
