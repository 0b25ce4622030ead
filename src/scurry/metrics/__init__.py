"""Metrics that user functions register through `RuntimeContext.get_metrics_group()`."""

from __future__ import annotations

from scurry.metrics.metricbase import Counter, Distribution, Meter, Metric, MetricGroup
from scurry.metrics.results import DistributionResult, MeterResult

__all__ = ["Counter", "Distribution", "DistributionResult", "Meter", "MeterResult", "Metric", "MetricGroup"]
