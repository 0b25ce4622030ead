"""A driver that dies under a supervisor comes back by itself, and goes on from its newest checkpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.faults.endless_job import EndlessJob, Readings
from support.faults.job_processes import environment
from support.faults.standalone_cluster import wait_until
from support.faults.supervisor import Supervisor

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]


@pytest.mark.in_turn
def test_a_killed_driver_goes_on_from_its_checkpoint_also_if_it_is_started_with_a_savepoint(tmp_path: Path) -> None:
    readings = Readings(tmp_path / "in")
    readings.write(2)
    before = EndlessJob(tmp_path / "before", readings).start("--runner", "local", "-p", "2")
    before.counts_all()
    savepoint = before.suspend()
    (tmp_path / "job").mkdir()
    (tmp_path / "before" / "out").rename(tmp_path / "job" / "out")

    job = EndlessJob(tmp_path / "job", readings)
    # with checkpointing enabled, a job that fails is restarted in its process for as long as that can help
    options = {"execution.state-recovery.path": savepoint, "execution.checkpointing.interval": "100 ms"}
    configured = [option for key, value in options.items() for option in ("-D", f"{key}={value}")]
    command = job.command("--master", "local[2]", "-p", "2", *configured)
    job.run = supervisor = Supervisor(command, tmp_path / "log", environment())
    try:
        for kill in (supervisor.kill_driver, supervisor.kill_jvm):
            starts = supervisor.starts
            readings.write(2)
            job.counts_all()
            kill()
            wait_until(lambda starts=starts: supervisor.starts > starts, "the driver is started again")  # type: ignore[misc]
        readings.write(1)
        job.counts_all()
        found = job.drain()
    finally:
        supervisor.kill()
    assert supervisor.starts == 3
    log = (tmp_path / "log").read_text()
    assert log.count("starting from the savepoint") == 1
    assert log.count("resuming from the checkpoint") == 2
    assert log.count("error: Job 'endless' failed.\nSparkLostError: Spark's JVM on the driver has ended") == 1

    undisturbed = EndlessJob(tmp_path / "undisturbed", readings).start("--runner", "local", "-p", "2")
    undisturbed.counts_all()
    assert found == undisturbed.drain()
