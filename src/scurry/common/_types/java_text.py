"""The text Java's `toString` gives for a value, and the order in which a Java `HashMap` lists its keys."""

from __future__ import annotations

import datetime
import decimal
import posixpath
import re
import struct
from collections.abc import Iterable, Mapping

from scurry.common._epoch import EPOCH_DAY
from scurry.common._type_variables import V
from scurry.common.time import Instant

_DAYS_IN_400_YEARS = 146_097


def boolean(value: bool) -> str:
    """Return `true` or `false`."""
    return "true" if value else "false"


def big_decimal(value: decimal.Decimal) -> str:
    """Return the text of a BigDecimal; Python has the same rules."""
    return str(value)


def instant(value: Instant) -> str:
    """Return for example `1970-01-01T00:00:00.005Z`."""
    days, second = divmod(value.seconds, 86_400)
    era, day = divmod(days + EPOCH_DAY - 1, _DAYS_IN_400_YEARS)
    date = datetime.date.fromordinal(day + 1)
    year = date.year + 400 * era
    year_text = f"{year:04d}" if 0 <= year <= 9999 else f"{year:+05d}"
    fraction = ""
    if value.nanos:
        fraction = f".{value.nanos:09d}"
        while fraction.endswith("000"):
            fraction = fraction[:-3]
    clock = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
    return f"{year_text}-{date.month:02d}-{date.day:02d}T{clock}{fraction}Z"


def time_of_day(value: datetime.time) -> str:
    """Return the text of a `java.sql.Time`, in whole seconds."""
    return value.strftime("%H:%M:%S")


def timestamp(value: datetime.datetime) -> str:
    """Return the text of a `java.sql.Timestamp`, with at least one digit after the second."""
    fraction = f"{value.microsecond:06d}".rstrip("0") or "0"
    return f"{value.replace(microsecond=0, tzinfo=None)}.{fraction}"


def byte_array(value: bytes) -> str:
    """Return the text of signed bytes, e.g. `[97, -1]`."""
    return sequence(str(b - 256 if b > 127 else b) for b in value)


def sequence(elements: Iterable[str]) -> str:
    """Return the text of a list or array, e.g. `[1, 2]`."""
    return f"[{', '.join(elements)}]"


# --- hash codes


def hash_of_string(value: str) -> int:
    """Return `String.hashCode`, which is computed over UTF-16 units."""
    units = value.encode("utf-16-le", "surrogatepass")
    code = 0
    for unit in struct.unpack(f"<{len(units) // 2}H", units):
        code = (31 * code + unit) & 0xFFFFFFFF
    return code


def hash_of_string_data(value: str) -> int:
    """Return `StringData.hashCode` of Flink's tables: Murmur3 of the bytes, whose last ones are taken one by one."""
    data, code = value.encode(), 42
    aligned = len(data) & ~3
    words = [
        *struct.unpack(f"<{aligned // 4}I", data[:aligned]),
        *struct.unpack(f"{len(data) - aligned}b", data[aligned:]),
    ]
    for word in words:
        code ^= _rotated(word * 0xCC9E2D51, 15) * 0x1B873593 & 0xFFFFFFFF
        code = (_rotated(code, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    code ^= len(data)
    code = ((code ^ (code >> 16)) * 0x85EBCA6B) & 0xFFFFFFFF
    code = ((code ^ (code >> 13)) * 0xC2B2AE35) & 0xFFFFFFFF
    return code ^ (code >> 16)


def _rotated(word: int, bits: int) -> int:
    word &= 0xFFFFFFFF
    return ((word << bits) | (word >> (32 - bits))) & 0xFFFFFFFF


def hash_of_long(value: int) -> int:
    """Return `Long.hashCode`."""
    return (value ^ (value >> 32)) & 0xFFFFFFFF


def hash_of_double(value: float) -> int:
    """Return `Double.hashCode`."""
    return hash_of_long(struct.unpack(">q", struct.pack(">d", value))[0])


def hash_of_float(value: float) -> int:
    """Return `Float.hashCode`."""
    code: int = struct.unpack(">I", struct.pack(">f", value))[0]
    return code


def hash_of_boolean(value: bool) -> int:
    """Return `Boolean.hashCode`."""
    return 1231 if value else 1237


def hash_of_tuple(codes: Iterable[int]) -> int:
    """Return the hash code of a Flink tuple from those of its fields."""
    code = 0
    for field in codes:
        code = (31 * code + field) & 0xFFFFFFFF
    return code


def hash_map_order(codes: list[int], slots: int = 1) -> list[int]:
    """Return the positions of keys with these hash codes in the iteration order of a `HashMap` of only these keys.

    Args:
        codes: The hash codes.
        slots: The slots that it had at first; Java's default is 16.
    """
    while slots * 0.75 < len(codes):
        slots *= 2
    buckets = [(code ^ (code >> 16)) & (slots - 1) for code in codes]
    return sorted(range(len(codes)), key=buckets.__getitem__)


def in_hash_map_order(entries: Mapping[str, V]) -> dict[str, V]:
    """Return entries in the iteration order of a `HashMap` of only these."""
    names = list(entries)
    places = hash_map_order([*map(hash_of_string, names)], slots=16)
    return {names[place]: entries[names[place]] for place in places}


def local_time(value: datetime.date | datetime.time) -> str:
    """Return the text of a `LocalDate`, `LocalTime` or `LocalDateTime`, without seconds if they are 0: `03:00`."""
    if not isinstance(value, datetime.time | datetime.datetime):
        return value.isoformat()
    if value.microsecond:
        return value.isoformat(timespec="microseconds" if value.microsecond % 1000 else "milliseconds")
    return value.isoformat(timespec="seconds" if value.second else "minutes")


def path(text: str) -> str:
    """Return a path or URI as Flink's `Path` shows it: `file:///a//b/` is `file:/a/b`.

    Raises:
        ValueError: It is empty.
    """
    if not text.strip():
        raise ValueError("a path must not be empty")
    parts = re.fullmatch(r"(?:([A-Za-z][\w+.-]+):)?(?://([^/]*))?(.*)", text, re.DOTALL)
    assert parts is not None
    scheme, authority, rest = parts.groups()
    if rest:
        rest = posixpath.normpath(re.sub("/+", "/", rest))
    return (f"{scheme}:" if scheme else "") + (f"//{authority}" if authority else "") + rest
