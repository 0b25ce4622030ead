"""Spark's dynamic allocation on a standalone cluster: executors go while a job is idle, and return."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from support.faults.endless_job import LINES, PYTHONPATH, SENSORS, EndlessJob, Readings
from support.faults.standalone_cluster import Cluster, free_port, wait_until

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

ALLOCATION = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    # Shuffle files of batches that are done keep their executors for this time.
    "spark.dynamicAllocation.shuffleTracking.timeout": "3s",
    "spark.dynamicAllocation.executorIdleTimeout": "2s",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.ui.enabled": "true",
}
LOADS = 3


class Executors:
    """The executors of a job, as the REST API of its driver lists them."""

    def __init__(self, port: int) -> None:
        self._base = f"http://127.0.0.1:{port}/api/v1/applications"

    def all(self) -> dict[str, bool]:
        """Return whether each executor is active, by its id; those that were removed stay in the list."""
        try:
            (application,) = self._get("")
            listed = self._get(f"/{application['id']}/allexecutors")
        except OSError:
            return {}
        return {each["id"]: each["isActive"] for each in listed if each["id"] != "driver"}

    def active(self) -> set[str]:
        return {name for name, is_active in self.all().items() if is_active}

    def _get(self, path: str) -> Any:
        with urllib.request.urlopen(self._base + path, timeout=10) as answer:
            return json.load(answer)


def test_idle_executors_are_given_back_and_the_results_stay(tmp_path: Path) -> None:
    readings = Readings(tmp_path / "in")
    job, port = EndlessJob(tmp_path / "job", readings), free_port()
    executors = Executors(port)
    options = [option for key, value in ALLOCATION.items() for option in ("-D", f"{key}={value}")]
    with Cluster(tmp_path, PYTHONPATH=PYTHONPATH) as cluster:
        for _ in range(2):
            cluster.add_worker()
        try:
            job.start("--master", cluster.url, "-p", "2", "-D", f"spark.ui.port={port}", *options)
            for _ in range(LOADS):
                earlier = set(executors.all())
                for _ in range(2):
                    readings.write(2)
                    job.counts_all()
                assert executors.active() - earlier, "the new input was read without new executors"
                wait_until(lambda: not executors.active(), "all executors are given back", while_runs=job.run)
            found = job.drain()
        finally:
            if job.run is not None:
                job.run.kill()
    undisturbed = EndlessJob(tmp_path / "undisturbed", readings).start("--runner", "local", "-p", "2")
    undisturbed.counts_all()
    assert found == undisturbed.drain()
    assert len(found["counts"]) == readings.files * LINES and len(found["sums"]) > readings.files * SENSORS
