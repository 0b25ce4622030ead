"""The metrics of a job in Prometheus's text format, with the names and labels of Flink's reporter."""

from __future__ import annotations

import re
from collections.abc import Mapping

from scurry.rest.job import ServedJob
from scurry.rest.metrics.samples import samples

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def prometheus_text(job: ServedJob) -> str:
    """Return all metrics of a job; all are gauges, as in Flink, whose counters may go down."""
    by_name: dict[str, list[tuple[Mapping[str, str], float]]] = {}
    for scope, metric, labels, value, _ in samples(job):
        by_name.setdefault(_name("_".join(("flink", *scope, metric)), also=":"), []).append((labels, value))
    lines = []
    for name, values in sorted(by_name.items()):
        lines.append(f"# TYPE {name} gauge\n")
        for labels, value in values:
            shown = ",".join(f'{_name(label)}="{_escaped(text)}"' for label, text in labels.items())
            lines.append(f"{name}{{{shown}}} {value}\n")
    return "".join(lines)


def _name(text: str, also: str = "") -> str:
    return re.sub(f"[^a-zA-Z0-9_{also}]", "_", text)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
