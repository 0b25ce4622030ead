"""Send metrics to Prometheus's push gateway."""

from __future__ import annotations

import secrets
import urllib.request
from urllib.parse import quote

from scurry.rest.job import ServedJob
from scurry.rest.metrics.prometheus_text import CONTENT_TYPE, prometheus_text
from scurry.rest.reporters.contract import Reporter, ReporterOptions


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
