"""Points of time in the session's time zone: columns of UTC and of wall clocks, as integers."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np

from scurry.common._epoch import EPOCH

Integers = np.ndarray[Any, np.dtype[np.int64]]

_OFFSET: Final = re.compile(r"(?:GMT|UTC|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")
_FIRST, _LAST = -62_135_596_800 + 86_400, 253_402_300_799 - 86_400
#: `GMT+8`, `GMT+08`, `GMT+0830`, `GMT+08:30`: the offsets that Java's two classes of time zones understand alike.
_SESSION_OFFSET: Final = re.compile(r"GMT[+-](\d{1,2}|\d\d:?[0-5]\d)")
_FARTHEST: Final = timedelta(hours=18)
#: Names of the tz database that Java does not have, or has for another zone.
_NOT_OF_JAVA: Final = {"EST", "Factory", "HST", "MST", "ROC", "UT", "Z", "localtime", "posixrules"}
#: Changes of offsets since 1970 happen at quarters of hours; before, at any second.
_BLOCK = 900


@lru_cache(maxsize=1024)
def zone(name: str) -> tzinfo:
    """Return the time zone of a name or of an offset as `GMT+02:00`.

    Raises:
        ValueError: The zone does not exist.
    """
    found = _OFFSET.fullmatch(name)
    if found is not None:
        sign, hours, minutes, seconds = found.groups()
        offset = timedelta(hours=int(hours), minutes=int(minutes or 0), seconds=int(seconds or 0))
        return timezone(-offset if sign == "-" else offset)
    if name in ("UTC", "GMT", "UT", "Z", "Zulu", "Etc/UTC"):
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError) as error:
        raise ValueError(f"Unknown time-zone ID: {name}") from error


def check_session_zone(name: str) -> None:
    """Check a value of `table.local-time-zone`: a name of the tz database, or an offset as `GMT+02:00`.

    Raises:
        ValueError: Flink refuses it; the text is Flink's.
    """
    if _SESSION_OFFSET.fullmatch(name):
        is_valid = abs(zone(name).utcoffset(None) or timedelta()) <= _FARTHEST
    else:
        is_valid = name not in _NOT_OF_JAVA and not name.startswith(("posix/", "right/")) and _is_of_tz_database(name)
    if not is_valid:
        raise ValueError(
            "Invalid time zone. The value should be a Time Zone Database (TZDB) ID such as 'America/Los_Angeles' to "
            "include daylight saving time. Fixed offsets are supported using GMT notation such as 'GMT-03:00' or "
            "'GMT+03:00'. Or use 'UTC' without time zone and daylight saving time."
        )


def _is_of_tz_database(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        return False
    return True


def offset_at(second: int, time_zone: tzinfo) -> int:
    """Return how many seconds the wall clock is ahead of UTC at a second of UTC."""
    moment = (EPOCH + timedelta(seconds=min(max(second, _FIRST), _LAST))).replace(tzinfo=UTC)
    return _seconds(moment.astimezone(time_zone).utcoffset())


def offset_of_local(second: int, time_zone: tzinfo, later: bool = False) -> int:
    """Return the offset of a wall clock; where clocks skip it, the offset before.

    Args:
        second: The wall clock, in seconds since 1970.
        later: Whether of two offsets, where clocks are put back, the later one is returned.
    """
    wall = (EPOCH + timedelta(seconds=min(max(second, _FIRST), _LAST))).replace(tzinfo=time_zone)
    before, after = _seconds(wall.utcoffset()), _seconds(wall.replace(fold=1).utcoffset())
    # Clocks are put back where the offset becomes smaller.
    return after if later and after < before else before


@lru_cache(maxsize=1024)
def standard_offset(time_zone: tzinfo) -> int:
    """Return the offset of a time zone without daylight saving, by its last rule."""
    last = datetime.max.replace(month=1, day=2, tzinfo=time_zone)
    return _seconds(last.utcoffset()) - _seconds(last.dst() or timedelta())


def _seconds(offset: timedelta | None) -> int:
    assert offset is not None
    return offset // timedelta(seconds=1)


def utc_to_local(values: Integers, units_per_second: int, time_zone: str) -> Integers:
    """Return the wall clocks of points of time."""
    return _shifted(values, units_per_second, time_zone, offset_at, 1)


def local_to_utc(values: Integers, units_per_second: int, time_zone: str) -> Integers:
    """Return the points of time of wall clocks; one that is skipped is as much later as the clock is put forward."""
    return _shifted(values, units_per_second, time_zone, offset_of_local, -1)


def _shifted(
    values: Integers, units_per_second: int, name: str, offset_of: Callable[[int, tzinfo], int], sign: int
) -> Integers:
    time_zone = zone(name)
    if time_zone is UTC or not len(values):
        return values
    seconds = values // units_per_second
    blocks = np.where(seconds >= 0, seconds // _BLOCK * _BLOCK, seconds)
    distinct, places = np.unique(blocks, return_inverse=True)
    offsets = np.fromiter((offset_of(int(each), time_zone) for each in distinct), np.int64, len(distinct))
    shifted: Integers = values + sign * offsets[places] * units_per_second
    return shifted
