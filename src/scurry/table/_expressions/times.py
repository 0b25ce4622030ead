"""Functions of dates and times."""

from __future__ import annotations

from typing import Any

from scurry.sql.syntax import nodes
from scurry.table._expression.syntax import here, parsed
from scurry.table._expressions.values import call_with
from scurry.table.expression import Expression, TimePointUnit, call_of


def current_date() -> Expression:
    """Return the date of today."""
    return Expression(nodes.replace(parsed("CURRENT_DATE"), span=here()))


def current_time() -> Expression:
    """Return the time of day."""
    return Expression(nodes.replace(parsed("CURRENT_TIME"), span=here()))


def current_timestamp() -> Expression:
    """Return the point of time."""
    return Expression(nodes.replace(parsed("CURRENT_TIMESTAMP"), span=here()))


def local_time() -> Expression:
    """Return the time of day on the session's wall clock."""
    return Expression(nodes.replace(parsed("LOCALTIME"), span=here()))


def local_timestamp() -> Expression:
    """Return date and time on the session's wall clock."""
    return Expression(nodes.replace(parsed("LOCALTIMESTAMP"), span=here()))


def to_date(date_str: Any, format: Any = None) -> Expression:
    """Return the date of a text."""
    return call_with("TO_DATE", date_str, format)


def to_timestamp(timestamp_str: Any, format: Any = None) -> Expression:
    """Return the timestamp of a text."""
    return call_with("TO_TIMESTAMP", timestamp_str, format)


def to_timestamp_ltz(*args: Any) -> Expression:
    """Return the point of time of a number or text."""
    return call_of("TO_TIMESTAMP_LTZ", *args)


def date_format(timestamp: Any, format: Any) -> Expression:
    """Return the text of a timestamp."""
    return call_of("DATE_FORMAT", timestamp, format)


def from_unixtime(unixtime: Any, format: Any = None) -> Expression:
    """Return the text of a number of seconds."""
    return call_with("FROM_UNIXTIME", unixtime, format)


def unix_timestamp(date_str: Any = None, format: Any = None) -> Expression:
    """Return the seconds since 1970, of now or of a text."""
    return call_with("UNIX_TIMESTAMP", date_str, format)


def current_watermark(rowtimeAttribute: Any) -> Expression:
    """Return how far event time has come where the row is; NULL before the first watermark.

    Args:
        rowtimeAttribute: The column of the event time.
    """
    return call_of("CURRENT_WATERMARK", rowtimeAttribute)


def source_watermark() -> Expression:
    """Return the watermark of the source, for `Schema.Builder.watermark`."""
    return call_of("SOURCE_WATERMARK")


def convert_tz(date_str: Any, tz_from: Any, tz_to: Any) -> Expression:
    """Return the text of a time in another time zone.

    Args:
        date_str: The time, as `yyyy-MM-dd HH:mm:ss`.
        tz_from: Its time zone.
        tz_to: The other one.
    """
    return call_of("CONVERT_TZ", date_str, tz_from, tz_to)


def temporal_overlaps(
    left_time_point: Any, left_temporal: Any, right_time_point: Any, right_temporal: Any
) -> Expression:
    """Return whether two stretches of time overlap.

    Args:
        left_time_point: When the first begins.
        left_temporal: When it ends, or how long it is.
        right_time_point: When the second begins.
        right_temporal: When it ends, or how long it is.
    """
    return Expression._sql(
        "(a, b) OVERLAPS (c, d)", a=left_time_point, b=left_temporal, c=right_time_point, d=right_temporal
    )


def timestamp_diff(time_point_unit: TimePointUnit, time_point1: Any, time_point2: Any) -> Expression:
    """Return how many units one point in time is after another.

    Args:
        time_point_unit: The unit.
        time_point1: The one from which is counted.
        time_point2: The other.
    """
    return Expression._sql(f"TIMESTAMPDIFF({time_point_unit.name}, a, b)", a=time_point1, b=time_point2)
