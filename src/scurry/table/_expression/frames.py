"""Windows of rows that `over` describes where it is called: keys, an order, and a frame."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from scurry._dataclasses import dataclass
from scurry.errors import ArgumentError, ArgumentTypeError, ConfigError
from scurry.sql.syntax import nodes
from scurry.sql.values.literals import interval_text
from scurry.table._expression.syntax import here, parsed


@dataclass(frozen=True)
class Bound:
    """A bound of a frame.

    Attributes:
        kind: UNBOUNDED, UNBOUNDED_PRECEDING, UNBOUNDED_FOLLOWING, CURRENT_ROW, PRECEDING or FOLLOWING.
        distance: The rows or the time between it and the current row.
        before: Whether it is before the current row; None if it is both.
    """

    kind: str
    distance: int | str | datetime.timedelta | None = None
    before: bool | None = None

    def __repr__(self) -> str:
        """Return the bound as programs write it."""
        return self.kind if self.distance is None else f"{self.kind.lower()}({self.distance!r})"


#: All rows of the partition up to the current one.
UNBOUNDED = Bound("UNBOUNDED")
#: The current row, as a bound of a frame.
CURRENT_ROW = Bound("CURRENT_ROW")


def checked_distance(value: Any) -> int | str | datetime.timedelta:
    """Return the distance of a bound from the current row.

    Raises:
        TypeError: It is neither a number of rows nor a time.
        ValueError: It is not positive.
    """
    if isinstance(value, bool):
        raise ArgumentTypeError("row interval must not be bool")
    if not isinstance(value, int | str | datetime.timedelta):
        raise ArgumentTypeError(f"a bound is a number of rows, a timedelta or a duration, got {type(value).__name__}")
    if isinstance(value, int) and value <= 0:
        raise ArgumentError("row interval must be larger than 0")
    return value


def window_of(order_by: Any, partition_by: Any, rows: Any, range: Any, as_node: Callable[[Any], Any]) -> Any:
    """Return a window.

    Args:
        order_by: The column or expression of the order.
        partition_by: The columns or expressions of the keys, or None.
        rows: The frame in rows, or None.
        range: The frame in time, or None.
        as_node: Returns the syntax tree of a column or expression; None for something else.

    Raises:
        TypeError: An argument is something else.
        ValueError: The frame makes no sense.
    """
    order = as_node(order_by)
    if order is None:
        raise ArgumentTypeError("order_by must be a column name or Expression")
    keys = partition_by if isinstance(partition_by, list | tuple) else [] if partition_by is None else [partition_by]
    if partition_by is not None and not keys:
        raise ArgumentTypeError("partition_by must not be empty")
    found = [as_node(each) for each in keys]
    if None in found:
        raise ArgumentTypeError("partition_by must be a column name, Expression, or a list of them")
    if rows is not None and range is not None:
        raise ArgumentError("rows and range are mutually exclusive")
    frame = None
    if rows is not None:
        frame = _frame("ROWS", rows, as_node)
    elif range is not None:
        frame = _frame("RANGE", range, as_node)
    item = nodes.OrderItem(order, bool(getattr(order_by, "_descending", False)))
    return nodes.WindowSpecification(None, tuple(found), (item,), frame)


def _frame(units: str, given: Any, as_node: Callable[[Any], Any]) -> nodes.WindowFrame:
    if isinstance(given, tuple):
        if len(given) != 2:
            raise ArgumentError("frame tuple must contain exactly two-element bounds")
        lower, upper = (_bound(units, each, as_node) for each in given)
        if lower.before is False:
            raise ArgumentError("invalid lower bound direction")
        if upper.before is True:
            raise ArgumentError("invalid upper bound direction")
    else:
        lower, upper = _bound(units, given, as_node), CURRENT_ROW
    return nodes.WindowFrame(units, _node(units, lower), _node(units, upper))


def _bound(units: str, given: Any, as_node: Callable[[Any], Any]) -> Bound:
    if isinstance(given, Bound):
        return given
    node = None if isinstance(given, str) else as_node(given)
    if isinstance(node, nodes.Identifier):
        name = str(node)
        raise ArgumentTypeError(
            f"Use pyflink.dataframe.{name} for DataFrame OVER frame bounds, not pyflink.table.expressions.{name}"
        )
    if units == "ROWS" and not isinstance(given, int):
        raise ArgumentTypeError(f"rows must be a number of rows or bounds, got {type(given).__name__}")
    return Bound("PRECEDING", checked_distance(given), before=True)


def _node(units: str, bound: Bound) -> nodes.FrameBound:
    if bound.kind == "CURRENT_ROW":
        return nodes.CurrentRow()
    if bound.kind == "UNBOUNDED_FOLLOWING":
        return nodes.UnboundedFollowing()
    if bound.distance is None:
        return nodes.UnboundedPreceding()
    distance = _distance(units, bound.distance)
    return nodes.Preceding(distance) if bound.before else nodes.Following(distance)


def _distance(units: str, given: int | str | datetime.timedelta) -> nodes.Expression:
    from scurry.common.config_options import parse_duration

    if units == "ROWS":
        if not isinstance(given, int):
            raise ArgumentTypeError(f"a frame of rows has a number of rows, got {given!r}")
        return nodes.replace(parsed(str(given)), span=here())
    if isinstance(given, datetime.timedelta):
        return parsed(interval_text(given // datetime.timedelta(milliseconds=1)))
    try:
        return parsed(interval_text(parse_duration(str(given))))
    except (ConfigError, ValueError):
        raise ArgumentError("range must be a valid duration string") from None
