"""Functions over windows: their partitions, orders and frames."""

from __future__ import annotations

from dataclasses import replace

from scurry._dataclasses import dataclass
from scurry.sql.plan.expressions import AggregateCall, Expression
from scurry.sql.types import DataType


@dataclass(frozen=True)
class OrderKey:
    """An expression to sort by.

    Attributes:
        descending: Whether the greatest value comes first.
        nulls_first: Whether NULL comes first.
    """

    expression: Expression
    descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True)
class FrameBound:
    """An end of a frame.

    Attributes:
        kind: UNBOUNDED PRECEDING, PRECEDING, CURRENT ROW, FOLLOWING or UNBOUNDED FOLLOWING.
        distance: How far from the current row, for PRECEDING and FOLLOWING.
    """

    kind: str
    distance: Expression | None = None


@dataclass(frozen=True)
class Frame:
    """The rows around the current one that a function sees.

    Attributes:
        units: ROWS counts rows, RANGE compares the value sorted by.
        lower: Where the frame begins.
        upper: Where it ends.
    """

    units: str
    lower: FrameBound
    upper: FrameBound


@dataclass(frozen=True)
class WindowCall(Expression):
    """An aggregate over the rows around each row.

    Attributes:
        partition_by: What is equal in all rows that it sees.
        order_by: The order of those rows.
        frame: Which of them it sees.
    """

    call: AggregateCall
    partition_by: tuple[Expression, ...]
    order_by: tuple[OrderKey, ...]
    frame: Frame
    type: DataType


def streaming_frame(call: WindowCall) -> Frame:
    """Return the frame that a call has in STREAMING, where the number of a row counts rows."""
    return replace(call.frame, units="ROWS") if call.call.function == "ROW_NUMBER" else call.frame
