"""A reactive job on a standalone Spark whose workers come and go: its parallelism follows, its results stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.cases import sample
from support.faults.endless_job import LINES, PYTHONPATH, SENSORS, EndlessJob, Readings
from support.faults.standalone_cluster import REACTIVE, Cluster, Daemon

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]


@pytest.mark.in_turn
def test_the_parallelism_follows_the_workers_and_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    readings = Readings(tmp_path / "in")
    job = EndlessJob(tmp_path / "job", readings)
    with Cluster(tmp_path, PYTHONPATH=PYTHONPATH) as cluster:
        cluster.add_worker()
        try:
            readings.write(2)
            job.start("--master", cluster.url, *REACTIVE).reaches(1)
            for leave in sample((Daemon.terminate, Daemon.kill), 2):
                second = cluster.add_worker()
                job.counts_all()
                readings.write(1)
                job.reaches(2)
                job.counts_all()
                leave(second)
                readings.write(1)
                job.reaches(1)
            readings.write(1)
            job.counts_all()
            found = job.drain()
        finally:
            if job.run is not None:
                job.run.kill()
    undisturbed = EndlessJob(tmp_path / "undisturbed", readings).start("--runner", "local", "-p", "2")
    undisturbed.counts_all()
    assert found == undisturbed.drain()
    assert len(found["counts"]) == readings.files * LINES and len(found["sums"]) > readings.files * SENSORS
