"""Functions of dates and times, and intervals made of numbers."""

from __future__ import annotations

from typing import Any, Self

from scurry.errors import ValidationError
from scurry.sql.syntax import nodes
from scurry.sql.types import DateType, TimestampType, TimeType
from scurry.sql.values.literals import interval_text
from scurry.table._expression.operators import Operators
from scurry.table._expression.syntax import here, parsed
from scurry.table._expression.units import TimeIntervalUnit

_SECOND = 1000
_DAY = 24 * 60 * 60 * _SECOND


class Times(Operators):
    """Functions of dates and times, and intervals made of numbers."""

    @property
    def to_date(self) -> Self:
        """Return a text as a date."""
        return self.cast(DateType())

    @property
    def to_time(self) -> Self:
        """Return a text as a time of day."""
        return self.cast(TimeType(0))

    @property
    def to_timestamp(self) -> Self:
        """Return a text as date and time."""
        return self.cast(TimestampType(3))

    def extract(self, time_interval_unit: TimeIntervalUnit) -> Self:
        """Return a part of a date or time as a number.

        Args:
            time_interval_unit: The part.
        """
        return self._sql(f"EXTRACT({time_interval_unit.name} FROM x)", x=self)

    def floor(self, time_interval_unit: TimeIntervalUnit | None = None) -> Self:
        """Return the greatest whole number, or the last full unit of time, that is not greater.

        Args:
            time_interval_unit: The unit of a time; None for numbers.
        """
        return self._rounded("FLOOR", time_interval_unit)

    def ceil(self, time_interval_unit: TimeIntervalUnit | None = None) -> Self:
        """Return the smallest whole number, or the first full unit of time, that is not smaller.

        Args:
            time_interval_unit: The unit of a time; None for numbers.
        """
        return self._rounded("CEIL", time_interval_unit)

    def _rounded(self, function: str, unit: TimeIntervalUnit | None) -> Self:
        return self._call(function) if unit is None else self._sql(f"{function}(x TO {unit.name})", x=self)

    # ------------------------------------------------------------------ intervals

    @property
    def year(self) -> Self:
        """Return an interval of so many years."""
        return self._interval_of_months(12)

    @property
    def quarter(self) -> Self:
        """Return an interval of so many quarters."""
        return self._interval_of_months(3)

    @property
    def month(self) -> Self:
        """Return an interval of so many months."""
        return self._interval_of_months(1)

    @property
    def week(self) -> Self:
        """Return an interval of so many weeks."""
        return self._interval(7 * _DAY)

    @property
    def day(self) -> Self:
        """Return an interval of so many days."""
        return self._interval(_DAY)

    @property
    def hour(self) -> Self:
        """Return an interval of so many hours."""
        return self._interval(60 * 60 * _SECOND)

    @property
    def minute(self) -> Self:
        """Return an interval of so many minutes."""
        return self._interval(60 * _SECOND)

    @property
    def second(self) -> Self:
        """Return an interval of so many seconds."""
        return self._interval(_SECOND)

    @property
    def milli(self) -> Self:
        """Return an interval of so many milliseconds."""
        return self._interval(1)

    years, quarters, months, weeks = year, quarter, month, week
    days, hours, minutes, seconds, millis = day, hour, minute, second, milli

    def _interval(self, milliseconds: int) -> Self:
        count = self._whole("day-time interval")
        return type(self)(nodes.replace(parsed(interval_text(count * milliseconds)), span=here()))

    def _interval_of_months(self, months: int) -> Self:
        count = self._whole("year-month interval") * months
        text = f"INTERVAL {'-' if count < 0 else ''}'{abs(count)}' MONTH(10)"
        return type(self)(nodes.replace(parsed(text), span=here()))

    def _whole(self, what: str) -> int:
        """Return a number without its fraction, which Flink ignores."""
        node: Any = self._node
        negative = isinstance(node, nodes.Call) and node.name.names == ("NEGATE",)
        if negative:
            node = node.arguments[0]
        if not isinstance(node, nodes.NumericLiteral):
            raise ValidationError(f"Invalid constant for {what}: {self}")
        return int(-node.value if negative else node.value)
