"""Bucket assigners, which choose the directory of a record's file below the base path."""

from __future__ import annotations

import datetime
import re
import zoneinfo
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.pickling import of_functions
from scurry.errors import ArgumentError, UnsupportedError


@dataclass(frozen=True)
class BucketContext:
    """The times that belong to a record: Flink's `BucketAssigner.Context`."""

    processing_time_ms: int
    timestamp_ms: int | None

    def current_processing_time(self) -> int:
        """Return the wall clock, in milliseconds."""
        return self.processing_time_ms

    def timestamp(self) -> int | None:
        """Return the record's timestamp in milliseconds, None if it has none."""
        return self.timestamp_ms


@of_functions
class BucketAssigner(ABC):
    """Choose the bucket of a record, a directory below the base path.

    Custom assigners override `get_bucket_id` and must be picklable.
    """

    @staticmethod
    def base_path_bucket_assigner() -> BucketAssigner:
        """Return the assigner that puts all files into the base path itself."""
        return BasePathBuckets()

    @staticmethod
    def date_time_bucket_assigner(format_str: str = "yyyy-MM-dd--HH", timezone_id: str | None = None) -> BucketAssigner:
        """Return the assigner that names buckets by the wall clock.

        Args:
            format_str: A pattern of Java's DateTimeFormatter.
            timezone_id: A zone such as Europe/Berlin, UTC or GMT-08:00; None for the machine's.

        Raises:
            UnsupportedError: A pattern letter or the zone is unknown.
        """
        return DateTimeBuckets(format_str, timezone_id)

    @abstractmethod
    def get_bucket_id(self, element: Any, context: BucketContext) -> str:
        """Return the directory of a record, relative to the base path; levels are separated by `/`."""

    def assign(self, values: list[Any], timestamps: list[int] | None, now_ms: int) -> Iterable[tuple[str, list[Any]]]:
        """Return the records of each bucket, in their original order.

        Args:
            values: The records.
            timestamps: Their timestamps in milliseconds, None if they have none.
            now_ms: The wall-clock time in milliseconds.

        Raises:
            ArgumentError: A directory is outside the base path.
        """
        buckets: dict[str, list[Any]] = {}
        for index, value in enumerate(values):
            timestamp = None if timestamps is None else timestamps[index]
            bucket = self.get_bucket_id(value, BucketContext(now_ms, timestamp))
            if bucket not in buckets:
                buckets[_checked(bucket)] = []
            buckets[bucket].append(value)
        return buckets.items()


def _checked(bucket: str) -> str:
    if not isinstance(bucket, str) or bucket.startswith("/") or ".." in bucket.split("/"):
        raise ArgumentError(
            f"get_bucket_id returned {bucket!r}: a bucket is the text of a directory below the base path, such as "
            "'country=de/2026-03-04'"
        )
    return bucket


class _WallClockBuckets(BucketAssigner):
    """Assign all records written at the same time to one bucket."""

    @abstractmethod
    def bucket(self, now_ms: int) -> str:
        """Return the directory for records written at this time (milliseconds)."""

    def get_bucket_id(self, element: Any, context: BucketContext) -> str:
        """Return the directory for this time."""
        return self.bucket(context.processing_time_ms)

    def assign(self, values: list[Any], timestamps: list[int] | None, now_ms: int) -> Iterable[tuple[str, list[Any]]]:
        """Return all records in this time's directory."""
        return ((self.bucket(now_ms), values),)


@dataclass(frozen=True)
class BasePathBuckets(_WallClockBuckets):
    """Put all files into the base path itself."""

    def bucket(self, now_ms: int) -> str:
        """Return the bucket of the base path."""
        return ""


@dataclass(frozen=True)
class DateTimeBuckets(_WallClockBuckets):
    """Assign buckets by the wall-clock time of writing; with the default pattern, one per hour.

    Attributes:
        pattern: A pattern of Java's DateTimeFormatter, with the letters y u M d H h m s S a E D and quoted text.
        timezone: A zone such as Europe/Berlin, UTC or GMT-08:00; None for the machine's.
    """

    pattern: str = "yyyy-MM-dd--HH"
    timezone: str | None = None

    def __post_init__(self) -> None:
        """Check the pattern and the zone.

        Raises:
            UnsupportedError: A pattern letter or the zone is unknown.
        """
        self.bucket(0)

    def bucket(self, now_ms: int) -> str:
        """Return the formatted time."""
        moment = datetime.datetime.fromtimestamp(now_ms / 1000, datetime.UTC).astimezone(_zone(self.timezone))
        return date_time_text(self.pattern, moment)


def date_time_text(pattern: str, moment: datetime.datetime) -> str:
    """Return a time in the form of a pattern of Java's DateTimeFormatter, of the letters y u M d H h m s S a E D.

    Raises:
        UnsupportedError: It has another letter.
    """
    return "".join(_part(token, moment) for token in _TOKEN.findall(pattern))


_TOKEN = re.compile(r"'(?:[^']|'')*'|" + "|".join(f"{c}+" for c in "yuMdHhmsSaED") + r"|[^']")
_OFFSET = re.compile(r"(?:GMT|UTC|UT)?([+-])(\d{1,2})(?::?(\d{2}))?")
#: short zone names that Java knows in addition to the time zone database
_SHORT_ZONES = {"PST": "America/Los_Angeles", "CST": "America/Chicago", "JST": "Asia/Tokyo", "IST": "Asia/Kolkata"}

_NUMBERS: dict[str, Callable[[datetime.datetime], int]] = {
    "y": lambda t: t.year,
    "u": lambda t: t.year,
    "M": lambda t: t.month,
    "d": lambda t: t.day,
    "H": lambda t: t.hour,
    "h": lambda t: (t.hour - 1) % 12 + 1,
    "m": lambda t: t.minute,
    "s": lambda t: t.second,
    "D": lambda t: t.timetuple().tm_yday,
}
_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
#: numbers of pattern letters for the short and the full name
_SHORT, _FULL = 3, 4


def _part(token: str, moment: datetime.datetime) -> str:
    letter, count = token[0], len(token)
    if letter == "'":
        return token[1:-1].replace("''", "'") or "'"
    if letter in "yu" and count == 2:
        return f"{moment.year % 100:02d}"
    if letter == "M" and count >= _SHORT:
        name = _MONTHS[moment.month - 1]
        return name if count == _FULL else name[:3]
    if letter in _NUMBERS:
        return str(_NUMBERS[letter](moment)).zfill(count)
    if letter == "S":
        return f"{moment.microsecond:06d}".ljust(count, "0")[:count]
    if letter == "a":
        return "AM" if moment.hour < 12 else "PM"
    if letter == "E":
        name = _DAYS[moment.weekday()]
        return name if count == _FULL else name[:3]
    if letter.isalpha():
        raise UnsupportedError(
            f"letter {letter!r} in a date-time pattern; use y u M d H h m s S a E D, or quote it: '{letter}'"
        )
    return token


def _zone(name: str | None) -> datetime.tzinfo | None:
    if name is None:
        return None
    if offset := _OFFSET.fullmatch(name):
        sign, hours, minutes = offset.groups()
        amount = datetime.timedelta(hours=int(hours), minutes=int(minutes or 0))
        return datetime.timezone(-amount if sign == "-" else amount)
    try:
        return zoneinfo.ZoneInfo(_SHORT_ZONES.get(name, name))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        raise UnsupportedError(f"unknown time zone {name!r}; use a name such as Europe/Berlin or GMT+02:00") from None
