"""Tables that STREAMING reads as text: with the operators that make watermarks, and drop rows before updates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from scurry.sql.plan.expressions import InputReference
from scurry.sql.plan.nodes import Plan, Project, Scan
from scurry.sql.planner.explain.expressions import expression_text

__all__ = ["NO_TABLES", "Reading", "read_texts"]


@dataclass(frozen=True)
class Reading:
    """How tables are read.

    Attributes:
        watermark: Returns a row-wise plan over a table that computes time and watermark; None if it has none.
        written: Returns the same plan as it is written.
        drops_before: Says whether the rows before updates, which a table has, are dropped where it is read.
    """

    watermark: Callable[[Scan], Plan | None]
    written: Callable[[Scan], Plan | None]
    drops_before: Callable[[Scan], bool]


NO_TABLES = Reading(lambda scan: None, lambda scan: None, lambda scan: False)


def read_texts(
    scan: Scan, reading: Reading, scan_text: Callable[[Scan], str], calc_text: Callable[[Project], str]
) -> tuple[list[str], list[str]]:
    """Return the operators that read a table, the last one first: those behind the drop of rows, and the others.

    Args:
        scan: The scan.
        reading: How tables are read.
        scan_text: Returns a scan as text.
        calc_text: Returns a projection as text.
    """
    times, dropped = reading.watermark(scan), reading.drops_before(scan)
    before = [scan_text(scan)]
    if isinstance(times, Project):
        below = times.input
        names, (time, watermark) = below.schema.names, times.expressions
        assert isinstance(time, InputReference), "the watermark and the time itself are computed of the time's column"
        assigner = f"WatermarkAssigner(rowtime=[{names[time.index]}], watermark=[{expression_text(watermark, names)}])"
        computed = [calc_text(below)] if isinstance(below, Project) else []
        before = [assigner, *computed, scan_text(_with_columns_of(scan, times))]
    return (["DropUpdateBefore()"], before) if dropped else ([], before)


def _with_columns_of(scan: Scan, times: Plan) -> Scan:
    """Return the scan of a table with the columns of which time and watermark are computed as well."""
    while not isinstance(times, Scan):
        (times,) = times.inputs
    return replace(scan, columns=tuple(dict.fromkeys((*scan.columns, *times.columns))))
