"""The metrics of a job in Prometheus's text format, with the names and labels of Flink's reporter."""

from __future__ import annotations

import re
from collections.abc import Mapping

from scurry.rest.job import ServedJob
from scurry.rest.samples import samples

__all__ = ["CONTENT_TYPE", "prometheus_text"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def prometheus_text(job: ServedJob) -> str:
    """Return all metrics of a job; all are gauges, as in Flink, whose counters may go down."""
    by_name: dict[str, list[tuple[Mapping[str, str], float]]] = {}
    for scope, metric, labels, value in samples(job):
        name = re.sub(r"[^a-zA-Z0-9:_]", "_", "_".join(("flink", *scope, metric)))
        by_name.setdefault(name, []).append((labels, value))
    lines = []
    for name, values in sorted(by_name.items()):
        lines.append(f"# TYPE {name} gauge\n")
        for labels, value in values:
            shown = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
            lines.append(f"{name}{{{shown}}} {value}\n")
    return "".join(lines)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
