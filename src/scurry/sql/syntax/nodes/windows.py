"""Sort keys and windows of aggregates."""

from __future__ import annotations

from scurry.sql.syntax.nodes.base import Expression, Node
from scurry.sql.syntax.nodes.expressions import Identifier


class OrderItem(Node):
    """A key of ORDER BY.

    Attributes:
        descending: Whether DESC was written.
        nulls: ``FIRST`` or ``LAST``, if NULLS was written.
    """

    expression: Expression
    descending: bool = False
    nulls: str | None = None


class FrameBound(Node):
    """An end of a frame."""


class CurrentRow(FrameBound):
    """``CURRENT ROW``."""


class UnboundedPreceding(FrameBound):
    """``UNBOUNDED PRECEDING``."""


class UnboundedFollowing(FrameBound):
    """``UNBOUNDED FOLLOWING``."""


class Preceding(FrameBound):
    """``distance PRECEDING``."""

    distance: Expression


class Following(FrameBound):
    """``distance FOLLOWING``."""

    distance: Expression


class WindowFrame(Node):
    """``ROWS BETWEEN lower AND upper``, or ``ROWS lower``.

    Attributes:
        units: ``ROWS`` or ``RANGE``.
        lower: The first row.
        upper: The last row; None if only the first was written.
        exclude: ``CURRENT ROW``, ``GROUP`` or ``TIES``, if EXCLUDE was written.
    """

    units: str
    lower: FrameBound
    upper: FrameBound | None = None
    exclude: str | None = None


class WindowSpecification(Node):
    """A window specification of OVER or WINDOW, in parentheses.

    Attributes:
        base: Name of the window that this one refines.
        partition_by: Keys of PARTITION BY.
        order_by: Keys of ORDER BY.
        allow_partial: Whether there is no ``DISALLOW PARTIAL``.
    """

    base: Identifier | None = None
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[OrderItem, ...] = ()
    frame: WindowFrame | None = None
    allow_partial: bool = True


class WindowDefinition(Node):
    """``name AS (window)`` in WINDOW."""

    name: Identifier
    window: WindowSpecification
