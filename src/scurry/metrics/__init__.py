"""Metrics that user functions register through `RuntimeContext.get_metrics_group()`."""

from __future__ import annotations

from scurry.metrics.metricbase import Counter, Distribution, Meter, Metric, MetricGroup

__all__ = ["Counter", "Distribution", "Meter", "Metric", "MetricGroup"]
