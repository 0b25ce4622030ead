"""Interval types, and the resolutions they are made of."""

from __future__ import annotations

from enum import Enum
from typing import Any

from scurry.errors import ArgumentError
from scurry.sql.types.logical_type import AtomicType


class Resolution:
    """A unit of time with its number of digits."""

    class IntervalUnit(Enum):
        """The units."""

        SECOND = 0
        MINUTE = 1
        HOUR = 2
        DAY = 3
        MONTH = 4
        YEAR = 5

    def __init__(self, unit: IntervalUnit, precision: int = -1) -> None:
        """Create a resolution.

        Args:
            unit: The unit.
            precision: Digits of years or days, or after the second; -1 where the unit has none.
        """
        self._unit = unit
        self._precision = precision

    @property
    def unit(self) -> IntervalUnit:
        """The unit."""
        return self._unit

    @property
    def precision(self) -> int:
        """The number of digits."""
        return self._precision

    def __str__(self) -> str:
        """Return unit and precision."""
        return f"{self._unit}({self._precision})"


class YearMonthIntervalType(AtomicType):
    """An interval of years, of years and months, or of months."""

    class YearMonthResolution:
        """The resolutions."""

        YEAR = 1
        MONTH = 2
        YEAR_TO_MONTH = 3

    DEFAULT_PRECISION = 2

    def __init__(self, resolution: int, precision: int = DEFAULT_PRECISION, nullable: bool = True) -> None:
        """Create the type.

        Args:
            resolution: One of `YearMonthResolution`.
            precision: Digits of the years, 1 to 4.
            nullable: Whether values may be None.
        """
        super().__init__(nullable)
        _within("year precision", precision, 1, 4)
        self._resolution = resolution
        self._precision = precision

    @property
    def resolution(self) -> int:
        """One of `YearMonthResolution`."""
        return self._resolution

    @property
    def precision(self) -> int:
        """Digits of the years."""
        return self._precision

    def _summary(self) -> str:
        name = _resolution_name(YearMonthIntervalType.YearMonthResolution, self._resolution)
        return f"INTERVAL {name.replace('YEAR', f'YEAR({self._precision})')}"


class DayTimeIntervalType(AtomicType):
    """An interval of days to seconds, or of a part of these."""

    class DayTimeResolution:
        """The resolutions."""

        DAY = 1
        DAY_TO_HOUR = 2
        DAY_TO_MINUTE = 3
        DAY_TO_SECOND = 4
        HOUR = 5
        HOUR_TO_MINUTE = 6
        HOUR_TO_SECOND = 7
        MINUTE = 8
        MINUTE_TO_SECOND = 9
        SECOND = 10

    DEFAULT_DAY_PRECISION = 2
    DEFAULT_FRACTIONAL_PRECISION = 6

    def __init__(
        self,
        resolution: int,
        day_precision: int = DEFAULT_DAY_PRECISION,
        fractional_precision: int = DEFAULT_FRACTIONAL_PRECISION,
        nullable: bool = True,
    ) -> None:
        """Create the type.

        Args:
            resolution: One of `DayTimeResolution`.
            day_precision: Digits of the days, 1 to 6.
            fractional_precision: Digits after the second, 0 to 9.
            nullable: Whether values may be None.
        """
        super().__init__(nullable)
        _within("day precision", day_precision, 1, 6)
        _within("fractional precision", fractional_precision, 0, 9)
        self._resolution = resolution
        self._day_precision = day_precision
        self._fractional_precision = fractional_precision

    @property
    def resolution(self) -> int:
        """One of `DayTimeResolution`."""
        return self._resolution

    @property
    def day_precision(self) -> int:
        """Digits of the days."""
        return self._day_precision

    @property
    def fractional_precision(self) -> int:
        """Digits after the second."""
        return self._fractional_precision

    def _summary(self) -> str:
        name = _resolution_name(DayTimeIntervalType.DayTimeResolution, self._resolution)
        shown = name.replace("SECOND", f"SECOND({self._fractional_precision})")
        return f"INTERVAL {shown.replace('DAY', f'DAY({self._day_precision})')}"


def _resolution_name(resolutions: type, number: int) -> str:
    found = next(name for name, value in vars(resolutions).items() if value == number and name.isupper())
    return found.replace("_", " ")


def interval_unit(data_type: YearMonthIntervalType | DayTimeIntervalType) -> int:
    """Return how many months or milliseconds the smallest unit of an interval has."""
    if isinstance(data_type, YearMonthIntervalType):
        return 12 if data_type.resolution == YearMonthIntervalType.YearMonthResolution.YEAR else 1
    name = _resolution_name(DayTimeIntervalType.DayTimeResolution, data_type.resolution)
    return {"DAY": 86_400_000, "HOUR": 3_600_000, "MINUTE": 60_000, "SECOND": 1000}[name.rpartition(" ")[2]]


def spans_units(data_type: YearMonthIntervalType | DayTimeIntervalType) -> bool:
    """Return whether an interval is of several units, as YEAR TO MONTH."""
    months = isinstance(data_type, YearMonthIntervalType)
    kind = YearMonthIntervalType.YearMonthResolution if months else DayTimeIntervalType.DayTimeResolution
    return " TO " in _resolution_name(kind, data_type.resolution)


def _within(what: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise ArgumentError(f"the {what} of an interval is {least} to {most}, got {value}")


def interval_type(upper: Resolution, lower: Resolution | None) -> DayTimeIntervalType | YearMonthIntervalType:
    """Return the interval type from one resolution to another.

    Raises:
        ArgumentError: SQL has no such interval.
    """
    name = upper.unit.name if lower is None else f"{upper.unit.name}_TO_{lower.unit.name}"
    year_month = getattr(YearMonthIntervalType.YearMonthResolution, name, None)
    if year_month is not None:
        has_years = upper.unit is Resolution.IntervalUnit.YEAR
        return YearMonthIntervalType(
            year_month, upper.precision if has_years else YearMonthIntervalType.DEFAULT_PRECISION
        )
    day_time = getattr(DayTimeIntervalType.DayTimeResolution, name, None)
    if day_time is None:
        raise ArgumentError(f"there is no interval {name.replace('_', ' ')}; the second unit must be smaller")
    precisions: dict[str, Any] = {}
    if upper.unit is Resolution.IntervalUnit.DAY:
        precisions["day_precision"] = upper.precision
    smallest = upper if lower is None else lower
    if smallest.unit is Resolution.IntervalUnit.SECOND:
        precisions["fractional_precision"] = smallest.precision
    return DayTimeIntervalType(day_time, **precisions)
