"""The windows that rows belong to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from scurry.errors import UnsupportedError
from scurry.sql.functions.time_zones import local_to_utc, utc_to_local
from scurry.sql.plan.nodes import WindowTable
from scurry.sql.types import LocalZonedTimestampType
from scurry.sql.types.arrow import arrow_type


def window_columns(plan: WindowTable, batch: pa.RecordBatch, time_zone: str) -> tuple[Any, list[pa.Array]]:
    """Return for each window of each row the row's position, and the columns window_start, window_end and window_time.

    Rows whose time is NULL belong to no window.

    Args:
        plan: The windows.
        batch: The rows.
        time_zone: The session's time zone, to whose wall clock windows over TIMESTAMP_LTZ are aligned.
    """
    time = batch.column(plan.time)
    known = np.flatnonzero(np.asarray(time.is_valid()))
    milliseconds = np.asarray(time.cast(pa.timestamp("ms"), safe=False).cast(pa.int64()).fill_null(0))[known]
    is_local = isinstance(plan.input.schema[plan.time].type, LocalZonedTimestampType)
    if is_local:
        milliseconds = utc_to_local(milliseconds, 1000, time_zone)
    rows, start, end = assigned_windows(plan, milliseconds)
    values = (start, end, local_to_utc(end - 1, 1000, time_zone) if is_local else end - 1)
    columns = [
        pa.array(value).cast(pa.timestamp("ms")).cast(arrow_type(each.type))
        for value, each in zip(values, plan.window_schema, strict=True)
    ]
    return known[rows], columns


def assigned_windows(plan: WindowTable, time: np.ndarray[Any, Any]) -> tuple[Any, Any, Any]:
    """Return positions, starts and ends of the windows that times belong to, in milliseconds."""
    if plan.kind == "TUMBLE":
        start = _start(time, plan.size, plan.offset)
        return np.arange(len(time)), start, start + plan.size
    if plan.kind == "HOP":
        assert plan.slide is not None
        count = -(-plan.size // plan.slide)
        last = _start(time, plan.slide, plan.offset)
        rows = np.repeat(np.arange(len(time)), count)
        start = np.repeat(last, count) - np.tile(np.arange(count), len(time)) * plan.slide
        inside = start + plan.size > time[rows]
        return rows[inside], start[inside], start[inside] + plan.size
    if plan.kind == "CUMULATE":
        assert plan.slide is not None
        start = _start(time, plan.size, plan.offset)
        steps = plan.size // plan.slide
        rows = np.repeat(np.arange(len(time)), steps)
        starts = start[rows]
        end = starts + np.tile(np.arange(1, steps + 1), len(time)) * plan.slide
        inside = end > time[rows]
        return rows[inside], starts[inside], end[inside]
    raise UnsupportedError("Unaligned windows like session are not supported in batch mode yet.")


def _start(time: Any, size: int, offset: int) -> Any:
    return time - (time - offset) % size
