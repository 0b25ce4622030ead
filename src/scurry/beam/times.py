"""Beam's times, in microseconds, and scurry's, in milliseconds."""

from __future__ import annotations

from typing import Any

from apache_beam.utils.timestamp import MAX_TIMESTAMP, MIN_TIMESTAMP, Timestamp

from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME


def beams_watermark(watermark: int) -> Any:
    """Return Beam's watermark: elements may still have that time. Those of scurry's have all come."""
    if watermark == MAX_TIME:
        return MAX_TIMESTAMP
    micros = (watermark + 1) * 1000
    return MIN_TIMESTAMP if micros <= MIN_TIMESTAMP.micros else Timestamp(micros=min(micros, MAX_TIMESTAMP.micros))


def scurrys_watermark(time: Any) -> int:
    """Return the first of scurry's watermarks at which Beam's has reached a time: a timer of that time fires."""
    if time >= MAX_TIMESTAMP:
        return MAX_TIME
    millis: int = -(-time.micros // 1000) - 1
    return max(millis, MIN_TIME)
