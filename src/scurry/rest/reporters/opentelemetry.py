"""Send metrics to an OpenTelemetry collector: OTLP over HTTP in its JSON encoding, which needs no other package."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Mapping
from typing import Any

from scurry.rest.job import ServedJob
from scurry.rest.metrics.samples import samples
from scurry.rest.reporters.contract import Reporter, ReporterOptions


class OpenTelemetryReporter(Reporter):
    """Send all metrics as gauges, named `flink.` and their scope, with Flink's variables as attributes."""

    KEYS = ("exporter.endpoint", "exporter.protocol", "service.name", "service.version")

    def __init__(self, options: ReporterOptions) -> None:
        super().__init__(options)
        if options.text("exporter.protocol", "gRPC").upper() != "HTTP":
            raise options.wrong(
                "exporter.protocol",
                "gRPC is not supported: set it to HTTP, and exporter.endpoint to the collector's "
                "address for HTTP, such as http://localhost:4318/v1/metrics",
            )
        self._endpoint = options.text("exporter.endpoint")
        if not self._endpoint.startswith(("http://", "https://")):
            raise options.wrong("exporter.endpoint", "expected an address such as http://localhost:4318/v1/metrics")
        resource = {key: options.text(key, "") for key in ("service.name", "service.version")}
        self._resource = _attributes({key: value for key, value in resource.items() if value})

    def report(self, job: ServedJob) -> None:
        """Send all metrics."""
        now = str(time.time_ns())
        by_name: dict[str, list[Any]] = {}
        for scope, metric, variables, value, _ in samples(job):
            point = {"timeUnixNano": now, "asDouble": value, "attributes": _attributes(variables)}
            by_name.setdefault(".".join(("flink", *scope, metric)), []).append(point)
        metrics = [{"name": name, "gauge": {"dataPoints": points}} for name, points in by_name.items()]
        scoped = [{"scope": {"name": "scurry"}, "metrics": metrics}]
        body = {"resourceMetrics": [{"resource": {"attributes": self._resource}, "scopeMetrics": scoped}]}
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._endpoint, json.dumps(body).encode(), headers, method="POST")
        urllib.request.urlopen(request, timeout=10).close()


def _attributes(values: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]
