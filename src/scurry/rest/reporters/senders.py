"""The reporters: Prometheus on a port and through a push gateway, StatsD, OpenTelemetry."""

# Without the clients of these systems: samples exist already, with Flink's names, and clients keep values of their own.
from __future__ import annotations

import json
import re
import secrets
import socket
import threading
import time
import urllib.request
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote

from scurry.common._config.rest import SCOPE_JOB, SCOPE_OPERATOR
from scurry.common.redaction import without_secrets
from scurry.rest.job import ServedJob
from scurry.rest.metrics import CONTENT_TYPE, JOB, Sample, prometheus_text, samples
from scurry.rest.plan_json import vertex_id, vertices
from scurry.rest.reporters.contract import Reporter, ReporterOptions


class PrometheusReporter(Reporter):
    """Listen for Prometheus; the first free port of `port` is taken."""

    KEYS = ("port", "host")

    def __init__(self, options: ReporterOptions) -> None:
        super().__init__(options)
        host, ports = options.text("host", "127.0.0.1"), options.ports("port", "9249")
        for port in ports:
            try:
                self._server = _Server((host, port), _Handler)
                return
            except OSError as error:
                reason = error.strerror
        raise options.wrong("port", f"none of the ports can be used on {host}: {reason}")

    @property
    def port(self) -> int:
        """The port that was taken."""
        return self._server.server_address[1]

    def open(self, job: ServedJob) -> None:
        """Begin to answer."""
        self._server.job = job
        threading.Thread(target=self._server.serve_forever, name="scurry-prometheus", daemon=True).start()

    def report(self, job: ServedJob) -> None:
        """Do nothing: Prometheus asks."""

    def close(self) -> None:
        """Stop answering."""
        if self._server.job is not None:
            self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    job: ServedJob | None = None


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 10

    def do_GET(self) -> None:  # noqa: N802 - the name that the base class calls
        assert self.server.job is not None
        content = prometheus_text(self.server.job).encode()
        self.send_response(200)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing per request."""


class PushGatewayReporter(Reporter):
    """Replace the metrics of a group at the gateway; the group is the job's, deleted at its end."""

    KEYS = ("hostUrl", "jobName", "randomJobNameSuffix", "deleteOnShutdown", "groupingKey")

    def __init__(self, options: ReporterOptions) -> None:
        super().__init__(options)
        url = options.text("hostUrl")
        if not url.startswith(("http://", "https://")):
            raise options.wrong("hostUrl", "expected an address such as http://localhost:9091")
        job = options.text("jobName", "")
        if options.boolean("randomJobNameSuffix", True):
            job += secrets.token_hex(8)
        if not job:
            raise options.wrong("jobName", "it is required if randomJobNameSuffix is false")
        group = [("job", job)]
        for pair in filter(None, options.text("groupingKey", "").split(";")):
            key, equals, value = pair.partition("=")
            if not (equals and key and value):
                raise options.wrong("groupingKey", "expected pairs such as k1=v1;k2=v2")
            group.append((key, value))
        self._url = f"{url.rstrip('/')}/metrics/" + "/".join(f"{quote(k, '')}/{quote(v, '')}" for k, v in group)
        self._deletes = options.boolean("deleteOnShutdown", True)
        self._sent = False

    def report(self, job: ServedJob) -> None:
        """Replace all metrics of the group."""
        self._send("PUT", prometheus_text(job).encode())
        self._sent = True

    def close(self) -> None:
        """Delete the group, if it is configured so."""
        if self._deletes and self._sent:
            self._send("DELETE", None)

    def _send(self, method: str, content: bytes | None) -> None:
        headers = {"Content-Type": CONTENT_TYPE}
        request = urllib.request.Request(self._url, content, headers, method=method)
        urllib.request.urlopen(request, timeout=10).close()


class StatsDReporter(Reporter):
    """Send each metric as a gauge in a datagram of its own, named by Flink's scope formats."""

    KEYS = ("host", "port")

    def __init__(self, options: ReporterOptions) -> None:
        super().__init__(options)
        host, (port, *_) = options.text("host"), options.ports("port", "8125")
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        except OSError as error:
            raise options.wrong("host", str(error.strerror)) from None
        self._socket, self._address = socket.socket(family, kind, protocol), address
        formats = (options.all.get(option.key, option.default) for option in (SCOPE_JOB, SCOPE_OPERATOR))
        self._job_format, self._operator_format = formats
        self._host = socket.gethostname().partition(".")[0]

    def report(self, job: ServedJob) -> None:
        """Send all metrics."""
        labels = job.plan.labels()
        names = {vertex_id(vertex.uid): without_secrets(labels[vertex.id]) for vertex in vertices(job.plan)}
        for sample in samples(job):
            name = self._named(sample, names)
            if sample.value < 0:  # a sign would mean a change
                self._socket.sendto(f"{name}:0|g".encode(), self._address)
            self._socket.sendto(f"{name}:{sample.value}|g".encode(), self._address)

    def close(self) -> None:
        self._socket.close()

    def _named(self, sample: Sample, operators: Mapping[str, str]) -> str:
        known = {"host": self._host, "tm_id": "scurry", **sample.variables}
        if (number := known.get("operator_id")) is not None:
            # Metrics of one name overwrite each other, and the formats need not contain the id.
            known["operator_name"] = operators[number]
        parts = str(self._job_format if sample.scope == JOB else self._operator_format).split(".")
        # Metrics of a whole operator have no subtask.
        filled = [re.sub(r"<(\w+)>", lambda found: _plain(known.get(found[1], "")), part) for part in parts]
        return ".".join([*filter(None, filled), *map(_plain, sample.path)])


def _plain(text: str) -> str:
    return re.sub(r"[.:|@\s]", "-", text)


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
