"""Send metrics to StatsD."""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping

from scurry.common._config.metrics import SCOPE_JOB, SCOPE_OPERATOR
from scurry.common.redaction import without_secrets
from scurry.rest.job import ServedJob
from scurry.rest.metrics.samples import JOB, Sample, samples
from scurry.rest.plan_json import vertex_id, vertices
from scurry.rest.reporters.contract import Reporter, ReporterOptions


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
        """Close the socket."""
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
