"""Dates and times from texts and as texts: DATE_FORMAT, TO_DATE, TO_TIMESTAMP, UNIX_TIMESTAMP, CONVERT_TZ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, tzinfo
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from scurry.errors import EvaluationError
from scurry.sql.functions.casts.parsing import parse_date, parse_timestamp
from scurry.sql.functions.casts.texts import iso_text
from scurry.sql.functions.definition import CallSite, Column, Kernel, ScalarFunction, Signature, SignatureError
from scurry.sql.functions.java_time import Moment, format_moment, parse_jdbc, parse_leniently, parse_moment, tokens
from scurry.sql.functions.kernels import by_value, value_kernel
from scurry.sql.functions.scalar.clocks import clock_of
from scurry.sql.functions.signatures import always, refuse, signature
from scurry.sql.functions.time_zones import offset_at, offset_of_local, standard_offset, zone
from scurry.sql.types import DataType, LocalZonedTimestampType, NullType, TimestampType
from scurry.sql.types.arrow import arrow_type, units_per_second
from scurry.sql.types.families import BIGINT, CHARACTER, DATE, INTEGER, NUMERIC, STRING, TIMESTAMP

_DEFAULT: Final = "yyyy-MM-dd HH:mm:ss"
_ISO_PLACES: Final = {
    ("y", 4): (0, 4),
    ("M", 2): (5, 7),
    ("d", 2): (8, 10),
    ("H", 2): (11, 13),
    ("m", 2): (14, 16),
    ("s", 2): (17, 19),
}
#: Days of the date that is left of the smallest BIGINT of milliseconds, which says that a text is no date.
_NOT_A_DATE: Final = 1_278_983
_NOT_PARSED: Final = -(2**63)
#: Milliseconds of 0000-01-01 and of 9999-12-31 23:59:59.999.
_FIRST, _LAST = -62_167_219_200_000, 253_402_300_799_999
#: Before this second (1900-01-01 UTC), `java.util.TimeZone` has the standard offset of today.
_FIRST_CHANGE: Final = -2_208_988_800


def _local_seconds(parsed: tuple[Moment, int | None], time_zone: tzinfo) -> int:
    """Return the seconds since 1970 UTC of a wall clock that has a zone of its own, or is in a time zone."""
    moment, offset = parsed
    if offset is None:
        offset = offset_of_local(moment.seconds, time_zone, later=True)
        if moment.seconds - offset < _FIRST_CHANGE:
            offset = standard_offset(time_zone)
    return moment.seconds - offset


def _in_zone(seconds: int, time_zone: tzinfo, nanoseconds: int = 0) -> Moment:
    offset = standard_offset(time_zone) if seconds < _FIRST_CHANGE else offset_at(seconds, time_zone)
    return Moment(seconds + offset, nanoseconds)


def _infer_date_format(site: CallSite) -> Signature:
    fits = len(site.arguments) == 2 and isinstance(site.types[0], (*TIMESTAMP, *CHARACTER, NullType))
    if not fits or not isinstance(site.types[1], (*CHARACTER, NullType)):
        raise refuse(site, "'DATE_FORMAT(<TIMESTAMP>, <CHARACTER>)'\n'DATE_FORMAT(<CHARACTER>, <CHARACTER>)'")
    return Signature(site.types, STRING)


def _bind_date_format(site: CallSite, result_type: DataType) -> Kernel:
    given, time_zone = site.types[0], zone(site.session.time_zone)
    if not isinstance(given, TIMESTAMP):
        return value_kernel(_reformatted, result_type)
    units = units_per_second(given)
    scale = 10**9 // units

    def date_format(value: int, pattern: str) -> str:
        seconds, fraction = divmod(value, units)
        if isinstance(given, LocalZonedTimestampType):
            seconds += offset_at(seconds, time_zone)
        return format_moment(Moment(seconds, fraction * scale), pattern)

    by_value = value_kernel(date_format, result_type)
    places = _iso_places(site.arguments[1].value, given.precision) if site.arguments[1].is_literal else None
    if places is None:
        return by_value
    days_only = all(isinstance(part, str) or part[1] <= len("2020-02-29") for part in places)

    def kernel(columns: Sequence[Column], rows: int) -> Column:
        iso = iso_text(columns[0], given, site.session.time_zone, days_only)
        if iso is None:
            return by_value(columns, rows)
        parts = [pa.scalar(part) if isinstance(part, str) else pc.utf8_slice_codeunits(iso, *part) for part in places]
        return pc.binary_join_element_wise(*parts, "")

    return kernel


def _iso_places(pattern: str | None, precision: int) -> list[str | tuple[int, int]] | None:
    """Return the parts of a pattern as texts, or as places in `2020-02-29T13:14:15.678`; None if it has others."""
    found: list[str | tuple[int, int]] = []
    for token in () if pattern is None else tokens(pattern):
        if isinstance(token, str):
            found.append(token)
        elif token in _ISO_PLACES:
            found.append(_ISO_PLACES[token])
        elif token[0] == "S" and 0 < token[1] <= precision:
            found.append((20, 20 + token[1]))
        else:
            return None
    return found if any(isinstance(part, tuple) for part in found) else None


def _reformatted(text: str, pattern: str) -> str | None:
    parsed = parse_leniently(text, _DEFAULT)
    # The pattern is checked also where there is nothing to show.
    shown = format_moment(Moment(0) if parsed is None else parsed[0], pattern, simple=True)
    return None if parsed is None else shown


def to_date(text: str, pattern: str | None = None) -> int | None:
    """TO_DATE: the date that a text is; if it is none NULL, or with a pattern a date of Flink's that means nothing."""
    if pattern is None:
        return parse_date(text)
    parsed = parse_leniently(text, pattern)
    return _NOT_A_DATE if parsed is None else parsed[0].days


def _timestamp_of(text: str, pattern: str | None) -> Moment | None:
    try:
        if pattern is not None:
            return parse_moment(text, pattern) or parse_jdbc(text)
        return Moment(*parse_timestamp(text))
    except EvaluationError:
        return None


def _bind_to_timestamp(site: CallSite, result_type: DataType) -> Kernel:
    assert isinstance(result_type, TimestampType)
    units = units_per_second(result_type)

    def to_timestamp(text: str, pattern: str | None = None) -> int | None:
        moment = _timestamp_of(text, pattern)
        return None if moment is None else moment.seconds * units + moment.nanoseconds * units // 10**9

    return value_kernel(to_timestamp, result_type)


def _infer_zoned(site: CallSite) -> Signature:
    """Infer the types of a number with its precision, or of a text with its pattern and zone."""
    types, count = site.types, len(site.arguments)
    if not 1 <= count <= 3:
        raise SignatureError("Invalid input arguments.")
    if isinstance(types[0], (*NUMERIC, NullType)) and count < 3:
        if count == 2 and not isinstance(types[1], (*INTEGER, NullType)):
            raise SignatureError("Invalid input arguments.")
        precision = site.arguments[1].value if count == 2 and site.arguments[1].is_literal else 3
        if precision is not None and not 0 <= precision <= 9:
            raise SignatureError(
                f"The precision value {precision} for function TO_TIMESTAMP_LTZ is out of range [0, 9]."
            )
        return Signature(types, LocalZonedTimestampType(3 if precision is None else max(precision, 3)))
    if not all(isinstance(each, (*CHARACTER, NullType)) for each in types):
        raise SignatureError("Invalid input arguments.")
    if count == 3 and site.arguments[2].is_literal and site.arguments[2].value is not None:
        _checked_zone(site.arguments[2].value)
    return Signature(types, LocalZonedTimestampType(3))


def _checked_zone(name: str) -> None:
    try:
        zone(name)
    except ValueError as error:
        raise SignatureError(f"Invalid timezone for parsing TIMESTAMP_LTZ: {error}") from None


def _bind_zoned(site: CallSite, result_type: DataType) -> Kernel:
    assert isinstance(result_type, LocalZonedTimestampType)
    units = units_per_second(result_type)
    if isinstance(site.types[0], INTEGER) and all(each.is_literal for each in site.arguments[1:]):
        precision = site.arguments[1].value if len(site.arguments) > 1 else 3
        if precision is not None and units < 10**9:
            return _from_integers(precision, result_type)
    if isinstance(site.types[0], NUMERIC):
        return value_kernel(lambda value, precision=3: _from_number(value, precision, units), result_type)

    def from_text(text: str, pattern: str | None = None, time_zone: str = "UTC") -> int | None:
        moment = _zoned_moment(text, pattern)
        if moment is None:
            return None
        try:
            seconds = moment.seconds - offset_of_local(moment.seconds, zone(time_zone))
        except ValueError:
            return None
        return seconds * units + moment.nanoseconds * units // 10**9

    return value_kernel(from_text, result_type)


def _from_integers(precision: int, result_type: LocalZonedTimestampType) -> Kernel:
    """Return the kernel for whole numbers of seconds, milliseconds or microseconds."""
    kind, units, given = arrow_type(result_type), units_per_second(result_type), 10**precision
    least, greatest = (_bound(edge, given) for edge in (_FIRST, _LAST))

    def kernel(columns: Sequence[Column], rows: int) -> Column:
        numbers = columns[0].cast(pa.int64())
        lowest, highest = (numbers, numbers) if isinstance(numbers, pa.Scalar) else pc.min_max(numbers).values()
        if lowest.is_valid and not least <= lowest.as_py() <= highest.as_py() <= greatest:
            inside = pc.and_(pc.greater_equal(numbers, least), pc.less_equal(numbers, greatest))
            numbers = pc.if_else(inside, numbers, pa.scalar(None, pa.int64()))
        if units != given:
            numbers = pc.multiply(numbers, units // given)
        return numbers.cast(kind)

    return kernel


def _bound(milliseconds: int, given: int) -> int:
    """Return the same time in other units, as far as 64 bits reach."""
    return max(-(2**63), min(2**63 - 1, milliseconds * given // 1000))


def _zoned_moment(text: str, pattern: str | None) -> Moment | None:
    return Moment(*parse_timestamp(text)) if pattern is None else parse_moment(text, pattern) or parse_jdbc(text)


def _from_number(value: Any, precision: int, units: int) -> int | None:
    if not 0 <= precision <= 9:
        raise EvaluationError(f"Precision for TO_TIMESTAMP_LTZ must be between 0 and 9 but was {precision}.")
    if isinstance(value, float):
        if math.isnan(value):
            return 0  # as Java makes a whole number of it
        if math.isinf(value):
            return None
        found = int(Decimal(repr(value)) * units / 10**precision)
    else:
        found = int(value) * units // 10**precision
    return found if _FIRST * units // 1000 <= found <= _LAST * units // 1000 else None


def _infer_unix_timestamp(site: CallSite) -> Signature:
    if len(site.arguments) > 2 or not all(isinstance(each, (*CHARACTER, NullType)) for each in site.types):
        raise refuse(site, "'UNIX_TIMESTAMP(<CHARACTER>, <CHARACTER>)'")
    return Signature(site.types, BIGINT.with_nullability(site.any_nullable))


def _bind_unix_timestamp(site: CallSite, result_type: DataType) -> Kernel:
    if not site.arguments:
        clock = clock_of(site.session)
        return lambda columns, rows: pa.scalar(clock() // 1000, pa.int64())
    time_zone = zone(site.session.time_zone)

    def unix_timestamp(text: str, pattern: str = _DEFAULT) -> int:
        parsed = parse_leniently(text, pattern)
        if parsed is None:
            return _NOT_PARSED
        seconds = _local_seconds(parsed, time_zone)
        # Milliseconds are cut off towards 1970.
        return seconds + (seconds < 0 and parsed[0].nanoseconds > 0)

    return value_kernel(unix_timestamp, result_type)


def _infer_from_unixtime(site: CallSite) -> Signature:
    shapes = ((*INTEGER, NullType), (*CHARACTER, NullType))
    if not 1 <= len(site.arguments) <= 2 or not all(map(isinstance, site.types, shapes)):
        raise refuse(site, "'FROM_UNIXTIME(<INTEGER>, <CHARACTER>)'")
    return Signature(site.types, STRING)


def _bind_from_unixtime(site: CallSite, result_type: DataType) -> Kernel:
    time_zone = zone(site.session.time_zone)

    def from_unixtime(seconds: int, pattern: str = _DEFAULT) -> str:
        milliseconds = (seconds * 1000 + 2**63) % 2**64 - 2**63  # as many as Java's numbers reach
        return format_moment(_in_zone(milliseconds // 1000, time_zone), pattern, simple=True)

    return value_kernel(from_unixtime, result_type)


def convert_tz(text: str, source: str, target: str) -> str | None:
    """CONVERT_TZ: a wall clock of one time zone as that of another; an unknown zone is GMT."""
    parsed = parse_leniently(text, _DEFAULT)
    if parsed is None:
        return None
    seconds = _local_seconds(parsed, _zone_or_gmt(source))
    return format_moment(_in_zone(seconds, _zone_or_gmt(target)), _DEFAULT, simple=True)


def _zone_or_gmt(name: str) -> tzinfo:
    try:
        return zone(name)
    except ValueError:
        return UTC


_TEXT: Final = (*CHARACTER,)

FUNCTIONS = (
    ScalarFunction("DATE_FORMAT", _infer_date_format, _bind_date_format),
    ScalarFunction("TO_DATE", signature([_TEXT, _TEXT], always(DATE), optional=1), by_value(to_date)),
    ScalarFunction("TO_TIMESTAMP", signature([_TEXT, _TEXT], always(TimestampType(3)), optional=1), _bind_to_timestamp),
    ScalarFunction("TO_TIMESTAMP_LTZ", _infer_zoned, _bind_zoned),
    ScalarFunction("UNIX_TIMESTAMP", _infer_unix_timestamp, _bind_unix_timestamp),
    ScalarFunction("FROM_UNIXTIME", _infer_from_unixtime, _bind_from_unixtime),
    ScalarFunction("CONVERT_TZ", signature([_TEXT, _TEXT, _TEXT], always(STRING)), by_value(convert_tz)),
)
