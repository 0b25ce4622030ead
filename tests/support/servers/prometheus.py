"""Prometheus, which takes Remote Write."""

from __future__ import annotations

import json
import time
import urllib.parse
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from support.servers.debian import program
from support.servers.process import ServerProcess


class PrometheusServer(ServerProcess):
    """Prometheus that scrapes nothing, and keeps what is written to it."""

    def prepare(self) -> None:
        self._program = program("prometheus", "prometheus")
        (self.directory / "prometheus.yml").write_text("global:\n  scrape_interval: 1h\n")

    def command(self) -> Sequence[str | Path]:
        here = self.directory
        files = [f"--config.file={here}/prometheus.yml", f"--storage.tsdb.path={here}/data"]
        return [
            self._program,
            *files,
            f"--web.listen-address=127.0.0.1:{self.port}",
            "--web.enable-remote-write-receiver",
        ]

    def is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    @property
    def url(self) -> str:
        """Where series are written."""
        return f"http://127.0.0.1:{self.port}/api/v1/write"

    def samples(self, query: str) -> dict[str, list[tuple[float, float]]]:
        """Return time and value of the samples of each series of the last hour, by its labels."""
        parameters = urllib.parse.urlencode({"query": f"{query}[1h]", "time": time.time()})
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/query?{parameters}") as answer:
            found: Any = json.load(answer)["data"]["result"]
        series = {}
        for each in found:
            labels = ",".join(f"{key}={value}" for key, value in sorted(each["metric"].items()) if key != "__name__")
            series[labels] = [(float(at), float(value)) for at, value in each["values"]]
        return series
