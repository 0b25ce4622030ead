"""Windows of tables: group windows (`Tumble`, `Slide`, `Session`) and OVER windows (`Over`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Generic, TypeVar

from scurry._dataclasses import dataclass
from scurry.common._api import ApiObject
from scurry.errors import ArgumentTypeError
from scurry.table._operations.fields import expression
from scurry.table.expression import Expression

__all__ = [
    "GroupWindow",
    "Over",
    "OverWindow",
    "OverWindowPartitioned",
    "OverWindowPartitionedOrdered",
    "OverWindowPartitionedOrderedPreceding",
    "Session",
    "SessionWithGap",
    "SessionWithGapOnTime",
    "Slide",
    "SlideWithSize",
    "SlideWithSizeAndSlide",
    "SlideWithSizeAndSlideOnTime",
    "Tumble",
    "TumbleWithSize",
    "TumbleWithSizeOnTime",
]


@dataclass(frozen=True)
class _GroupWindow:
    """The parts of a group window.

    Attributes:
        kind: TUMBLE, HOP or SESSION, as SQL calls them.
        size: The length of the windows, or the gap between sessions.
        slide: The distance between the starts of windows of HOP.
        time: The column of time.
    """

    kind: str
    size: Expression
    slide: Expression | None = None
    time: Expression | None = None


class GroupWindow(ApiObject):
    """A window with a name, for `Table.window`."""

    def __init__(self, window: Any, alias: str) -> None:
        self._window = window
        self._alias = alias


class _Windowed(ApiObject):
    """A window that is not complete."""

    def __init__(self, window: _GroupWindow) -> None:
        self._window = window


class _OnTime(_Windowed):
    """A window that lacks only its name."""

    def alias(self, alias: str) -> GroupWindow:
        """Name the window, for `group_by` and `select`.

        Args:
            alias: The name.
        """
        return GroupWindow(self._window, alias)


_Timed = TypeVar("_Timed", bound=_OnTime)


class _Untimed(_Windowed, Generic[_Timed]):
    """A window without a column of time."""

    _timed: type[_Timed]

    def on(self, time_field: Expression) -> _Timed:
        """Set the column of time.

        Args:
            time_field: The column: event time or processing time in STREAMING, any timestamp in BATCH.
        """
        return self._timed(replace(self._window, time=expression(time_field)))


class TumbleWithSizeOnTime(_OnTime):
    """Tumbling windows without a name."""


class TumbleWithSize(_Untimed[TumbleWithSizeOnTime]):
    """Tumbling windows without a column of time."""

    _timed = TumbleWithSizeOnTime


def _interval(length: Any) -> Any:
    if isinstance(length, str):
        raise ArgumentTypeError(
            f"the length of a window must be an expression, got {length!r}: write lit(10).minutes or row_interval(10)"
        )
    return expression(length)


class Tumble(ApiObject):
    """Windows of one length, one after the other.

    Example:
        ```python
        table.window(Tumble.over(lit(10).minutes).on(col("ts")).alias("w"))
            .group_by(col("w"), col("user"))
            .select(col("user"), col("w").start, col("amount").sum)
        ```
    """

    @classmethod
    def over(cls, size: Expression) -> TumbleWithSize:
        """Begin with the length.

        Args:
            size: An interval of time, such as `lit(10).minutes`, or `row_interval(100)`.
        """
        return TumbleWithSize(_GroupWindow("TUMBLE", _interval(size)))


class SlideWithSizeAndSlideOnTime(_OnTime):
    """Sliding windows without a name."""


class SlideWithSizeAndSlide(_Untimed[SlideWithSizeAndSlideOnTime]):
    """Sliding windows without a column of time."""

    _timed = SlideWithSizeAndSlideOnTime


class SlideWithSize(_Windowed):
    """Sliding windows without a distance."""

    def every(self, slide: Expression) -> SlideWithSizeAndSlide:
        """Set the distance between the starts of two windows.

        Args:
            slide: An interval of time, or of rows if the length is one.
        """
        return SlideWithSizeAndSlide(replace(self._window, slide=_interval(slide)))


class Slide(ApiObject):
    """Windows of one length whose starts have one distance, so that they may overlap.

    Example:
        ```python
        Slide.over(lit(10).minutes).every(lit(5).minutes).on(col("ts")).alias("w")
        ```
    """

    @classmethod
    def over(cls, size: Expression) -> SlideWithSize:
        """Begin with the length.

        Args:
            size: An interval of time, such as `lit(10).minutes`, or `row_interval(100)`.
        """
        return SlideWithSize(_GroupWindow("HOP", _interval(size)))


class SessionWithGapOnTime(_OnTime):
    """Sessions without a name."""


class SessionWithGap(_Untimed[SessionWithGapOnTime]):
    """Sessions without a column of time."""

    _timed = SessionWithGapOnTime


class Session(ApiObject):
    """Windows that end when there is no row for some time.

    Example:
        ```python
        Session.with_gap(lit(10).minutes).on(col("ts")).alias("w")
        ```
    """

    @classmethod
    def with_gap(cls, gap: Expression) -> SessionWithGap:
        """Begin with the time without a row.

        Args:
            gap: An interval of time, such as `lit(10).minutes`.
        """
        return SessionWithGap(_GroupWindow("SESSION", _interval(gap)))


# ------------------------------------------------------------------ windows of rows


@dataclass(frozen=True)
class _OverWindow:
    """The parts of an OVER window; bounds that are None are Flink's defaults."""

    partition_by: tuple[Expression, ...] = ()
    order_by: Expression | None = None
    preceding: Expression | None = None
    following: Expression | None = None


class OverWindow(ApiObject):
    """A window of rows with a name, for `Table.over_window`."""

    def __init__(self, window: Any, alias: str) -> None:
        self._window = window
        self._alias = alias


class OverWindowPartitionedOrderedPreceding(ApiObject):
    """A window of rows with its first row."""

    def __init__(self, window: _OverWindow) -> None:
        self._window = window

    def alias(self, alias: str) -> OverWindow:
        """Name the window, for `Expression.over`.

        Args:
            alias: The name.
        """
        return OverWindow(self._window, alias)

    def following(self, following: Expression) -> OverWindowPartitionedOrderedPreceding:
        """Set the last row.

        Args:
            following: `CURRENT_ROW` or `CURRENT_RANGE`.
        """
        window = self._window
        return OverWindowPartitionedOrderedPreceding(
            _OverWindow(window.partition_by, window.order_by, window.preceding, expression(following))
        )


class OverWindowPartitionedOrdered(ApiObject):
    """A window of rows with its order."""

    def __init__(self, window: _OverWindow) -> None:
        self._window = window

    def alias(self, alias: str) -> OverWindow:
        """Name the window, which begins with the first row, for `Expression.over`.

        Args:
            alias: The name.
        """
        return OverWindow(self._window, alias)

    def preceding(self, preceding: Expression) -> OverWindowPartitionedOrderedPreceding:
        """Set the first row.

        Args:
            preceding: `UNBOUNDED_ROW`, `UNBOUNDED_RANGE`, `row_interval(n)` or an interval of time.
        """
        window = self._window
        return OverWindowPartitionedOrderedPreceding(
            _OverWindow(window.partition_by, window.order_by, expression(preceding))
        )


class OverWindowPartitioned(ApiObject):
    """A window of rows with the keys it is for."""

    def __init__(self, window: _OverWindow) -> None:
        self._window = window

    def order_by(self, order_by: Expression) -> OverWindowPartitionedOrdered:
        """Set the order of the rows.

        Args:
            order_by: The column: event time or processing time in STREAMING.
        """
        return OverWindowPartitionedOrdered(_OverWindow(self._window.partition_by, expression(order_by)))


class Over(ApiObject):
    """Windows of the rows around each row.

    Example:
        ```python
        table.over_window(
            Over.partition_by(col("user")).order_by(col("ts")).preceding(lit(1).hours).alias("w")
        ).select(col("user"), col("amount").sum.over(col("w")))
        ```
    """

    @classmethod
    def order_by(cls, order_by: Expression) -> OverWindowPartitionedOrdered:
        """Begin with the order of the rows.

        Args:
            order_by: The column: event time or processing time in STREAMING.
        """
        return OverWindowPartitionedOrdered(_OverWindow((), expression(order_by)))

    @classmethod
    def partition_by(cls, *partition_by: Expression) -> OverWindowPartitioned:
        """Begin with keys: each row's window has the rows of its keys.

        Args:
            *partition_by: The keys.
        """
        return OverWindowPartitioned(_OverWindow(tuple(map(expression, partition_by))))
