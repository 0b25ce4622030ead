"""Figures over subtasks and checkpoints, as Flink computes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor

from fastapi import HTTPException


def summary(values: Sequence[int]) -> dict[str, float]:
    """Return the statistics of checkpoints; all are 0 if there are no values."""
    return _statistics(values, {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "p999": 99.9})


def aggregated(values: Sequence[int]) -> dict[str, float]:
    """Return the statistics of the subtasks of a vertex, in whole numbers."""
    percentiles = {"median": 50, "p25": 25, "p75": 75, "p95": 95}
    return {"sum": sum(values), **{name: int(value) for name, value in _statistics(values, percentiles).items()}}


def skew(values: Sequence[float]) -> float:
    """Return the mean deviation of values from their average, in percent of that, 100 at most."""
    average = sum(values) / len(values)
    deviation = sum(abs(value - average) for value in values) / len(values)
    return min(100.0, 100 * deviation / average) if average else 0.0


def _statistics(values: Sequence[int], percentiles: Mapping[str, float]) -> dict[str, float]:
    ordered = sorted(values) or [0]
    return {
        "min": ordered[0],
        "max": ordered[-1],
        "avg": sum(ordered) // len(ordered),
        **{name: _percentile(ordered, percent) for name, percent in percentiles.items()},
    }


def _percentile(ordered: Sequence[int], percent: float) -> float:
    """Return a percentile between the two values next to it, as the library does that Flink uses."""
    position = percent / 100 * (len(ordered) + 1)
    if position < 1 or position >= len(ordered):
        return float(ordered[0 if position < 1 else -1])
    before = floor(position)
    return ordered[before - 1] + (position - before) * (ordered[before] - ordered[before - 1])


def aggregations(values: Sequence[float], wanted: str | None = None) -> dict[str, float]:
    """Return the aggregations of Flink's metrics.

    Args:
        values: At least one value.
        wanted: Comma-separated names of aggregations; all if not given.

    Raises:
        HTTPException: There is no such aggregation.
    """
    every = {
        "min": min(values),
        "max": max(values),
        "avg": sum(values) / len(values),
        "sum": sum(values),
        "skew": skew(values),
    }
    if wanted is None:
        return every
    names = [name.strip().lower() for name in wanted.split(",")]
    if unknown := [name for name in names if name not in every]:
        raise HTTPException(400, f"no aggregation {unknown[0]!r}: there are {', '.join(every)}")
    return {name: every[name] for name in names}
