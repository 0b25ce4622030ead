"""Answer Prometheus on a port without a token, as Flink's reporter does."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from scurry.rest.job import ServedJob
from scurry.rest.metrics.prometheus_text import CONTENT_TYPE, prometheus_text
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
