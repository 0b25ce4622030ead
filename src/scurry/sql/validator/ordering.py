"""Keys of ORDER BY."""

from __future__ import annotations

from scurry.sql.plan.expressions import Expression
from scurry.sql.plan.windows import OrderKey
from scurry.sql.syntax import nodes
from scurry.sql.validator.failures import invalid


def order_key(item: nodes.OrderItem, expression: Expression) -> OrderKey:
    """Return the sort key of an item of ORDER BY; NULL is the least value unless something else is said."""
    nulls_first = item.nulls == "FIRST" if item.nulls else not item.descending
    return OrderKey(expression, item.descending, nulls_first)


def ordinal(expression: nodes.Expression, width: int) -> int | None:
    """Return the place of the column that a number in ORDER BY means, None if it is no number.

    Raises:
        ValidationError: There is no column of that number.
    """
    if not isinstance(expression, nodes.NumericLiteral) or not expression.is_integer:
        return None
    place = int(expression.text)
    if not 1 <= place <= width:
        raise invalid(expression.span, "Ordinal out of range")
    return place - 1
