"""The present time: CURRENT_TIMESTAMP, CURRENT_DATE, PROCTIME, CURRENT_WATERMARK and their like."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

import pyarrow as pa

from scurry.errors import EvaluationError, UnsupportedError
from scurry.sql.functions.definition import (
    CallSite,
    Column,
    EvaluationContext,
    Kernel,
    ScalarFunction,
    Signature,
    SignatureError,
)
from scurry.sql.functions.signatures import always, signature
from scurry.sql.functions.time_zones import offset_at, zone
from scurry.sql.types import DataType, LocalZonedTimestampType, TimeAttribute, TimestampType, TimeType
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.families import DATE, TIMESTAMP

_DAY: Final = 86_400_000


def clock_of(session: EvaluationContext) -> Callable[[], int]:
    """Return the function that returns the milliseconds since 1970: in a BATCH query always those of its start."""
    start = session.query_start
    if start is None:
        return lambda: time.time_ns() // 1_000_000
    return lambda: start


def _local(session: EvaluationContext) -> Callable[[], int]:
    clock, time_zone = clock_of(session), zone(session.time_zone)

    def local() -> int:
        now = clock()
        return now + offset_at(now // 1000, time_zone) * 1000

    return local


def _bind(
    clock_for: Callable[[EvaluationContext], Callable[[], int]], convert: Callable[[int], int] = int
) -> Callable[..., Kernel]:
    def bind(site: CallSite, result_type: DataType) -> Kernel:
        clock, kind = clock_for(site.session), arrow_type(result_type)
        plain = pa.int64() if kind.bit_width == 64 else pa.int32()
        return lambda columns, rows: pa.array([convert(clock())], plain).view(kind)[0]

    return bind


def _function(name: str, data_type: DataType, bind: Callable[..., Kernel], *aliases: str) -> ScalarFunction:
    infer = signature([], always(data_type.not_null()))
    return ScalarFunction(name, infer, bind, aliases=aliases, is_deterministic=False)


_INSTANT: Final = LocalZonedTimestampType(3)
_PROCTIME: Final = _INSTANT.as_time_attribute(TimeAttribute.PROCTIME)


def _always_now(session: EvaluationContext) -> Callable[[], int]:
    return lambda: time.time_ns() // 1_000_000


def _infer_watermark(site: CallSite) -> Signature:
    given = site.types[0] if len(site.arguments) == 1 else None
    if given is None:
        raise SignatureError("CURRENT_WATERMARK() must be called with a single rowtime attribute argument.")
    shown = given.as_summary_string()
    if not isinstance(given, TIMESTAMP):
        raise SignatureError(
            "CURRENT_WATERMARK() must be called with a single rowtime attribute argument, but "
            f"'{shown}' cannot be a time attribute."
        )
    if given.time_attribute is not TimeAttribute.ROWTIME:
        raise SignatureError(f"The argument of CURRENT_WATERMARK() must be a rowtime attribute, but was '{shown}'.")
    return Signature(site.types, given.as_time_attribute(None).nullable())


def _bind_watermark(site: CallSite, result_type: DataType) -> Kernel:
    watermark, kind = site.session.watermark, arrow_type(result_type)
    if watermark is None:
        if site.session.is_streaming:
            raise UnsupportedError(
                "in STREAMING only SELECT lists and WHERE clauses know CURRENT_WATERMARK; compute it in a subquery"
            )
        return lambda columns, rows: pa.scalar(None, kind)

    def current(columns: Sequence[Column], rows: int) -> Column:
        return pa.scalar(watermark(), pa.timestamp("ms")).cast(kind)

    return current


def _bind_source_watermark(site: CallSite, result_type: DataType) -> Kernel:
    raise EvaluationError(
        "SOURCE_WATERMARK() is a declarative marker function and doesn't have concrete runtime implementation. It can "
        "only be used as a single expression in a WATERMARK FOR clause in the CREATE TABLE DDL."
    )


FUNCTIONS = (
    ScalarFunction("CURRENT_WATERMARK", _infer_watermark, _bind_watermark, is_deterministic=False),
    ScalarFunction("SOURCE_WATERMARK", signature([], always(_INSTANT)), _bind_source_watermark, is_deterministic=False),
    _function("CURRENT_TIMESTAMP", _INSTANT, _bind(clock_of), "NOW"),
    _function("CURRENT_ROW_TIMESTAMP", _INSTANT, _bind(_always_now)),
    _function("PROCTIME", _PROCTIME, _bind(_always_now)),
    _function("LOCALTIMESTAMP", TimestampType(3), _bind(_local)),
    _function("CURRENT_DATE", DATE, _bind(_local, lambda now: now // _DAY)),
    _function("LOCALTIME", TimeType(0), _bind(_local, lambda now: now % _DAY // 1000 * 1000), "CURRENT_TIME"),
)
