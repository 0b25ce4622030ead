"""spark-submit starts a job on a standalone Spark: from here, and in the cluster, which starts its driver again.

What `scurry run` hands on to it, it has.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from support import TESTS
from support.faults.endless_job import PYTHONPATH, EndlessJob, Readings
from support.faults.job_processes import environment, kill
from support.faults.standalone_cluster import Cluster, Daemon, wait_until

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

SPARK = Path(pyspark.__file__).parent
(ANY_JAR,) = (SPARK / "jars").glob("spark-tags_*.jar")
DRIVER = TESTS.parent / "examples" / "deploy" / "driver.py"
SMALL = {"spark.executor.memory": "512m", "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"}


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[tuple[Cluster, list[Daemon]]]:
    """A cluster of two workers: one for the driver, one for an executor."""
    with Cluster(tmp_path, PYTHONPATH=PYTHONPATH) as cluster:
        yield cluster, [cluster.add_worker(), cluster.add_worker()]


def submit(cluster: Cluster, *options: str) -> list[str]:
    """A command of spark-submit, up to the program."""
    settings = {"spark.pyspark.python": sys.executable, **SMALL}
    configured = [option for key, value in settings.items() for option in ("--conf", f"{key}={value}")]
    return [str(SPARK / "bin" / "spark-submit"), "--master", cluster.url, *configured, *options]


def scurry_run(cluster: Cluster, job: EndlessJob) -> list[str]:
    """What follows `scurry` in the command of a job."""
    settings = [option for key, value in SMALL.items() for option in ("-D", f"{key}={value}")]
    command = job.command("--master", cluster.url, *settings)
    return command[command.index("run") :]


class SubmittedDriver:
    """The driver of a job in a cluster, whose worker starts it again.

    Attributes:
        log: What it has printed.
    """

    def __init__(self, workers: list[Daemon], place: Path) -> None:
        self._workers = workers
        wait_until(lambda: self.pids("DriverWrapper"), "a worker has started the driver")
        (self.log,) = place.glob("worker-*/driver-*/stderr")

    def pids(self, words: str) -> list[int]:
        """The processes of the workers whose command has these words in it."""
        return [each.pid for worker in self._workers for each in worker.members() if words in each.command]

    @property
    def returncode(self) -> int | None:
        """0 once a worker says that the driver has ended well."""
        logs = [worker.log.read_text() for worker in self._workers]
        return 0 if any("exited successfully" in log for log in logs) else None

    def kill(self) -> None:
        """Nothing: the workers, which it is part of, are killed."""


@pytest.mark.in_turn
def test_a_job_submitted_from_here_ends_as_one_without_spark_submit(
    tmp_path: Path, workers: tuple[Cluster, list[Daemon]]
) -> None:
    readings = Readings(tmp_path / "in")
    readings.write(2)
    job = EndlessJob(tmp_path / "job", readings)
    job.run = Daemon([*submit(workers[0], str(DRIVER)), *scurry_run(workers[0], job)], tmp_path / "log", environment())
    try:
        job.counts_all()
        found = job.drain()
    finally:
        job.run.kill()
    assert found == undisturbed(tmp_path, readings)


@pytest.mark.nightly
def test_a_driver_in_the_cluster_that_is_killed_is_started_again_and_goes_on(
    tmp_path: Path, workers: tuple[Cluster, list[Daemon]]
) -> None:
    readings = Readings(tmp_path / "in")
    readings.write(2)
    job = EndlessJob(tmp_path / "job", readings)
    python_runner = ["--deploy-mode", "cluster", "--supervise", "--class", "org.apache.spark.deploy.PythonRunner"]
    command = submit(workers[0], *python_runner, ANY_JAR.as_uri(), str(DRIVER), "")
    subprocess.run([*command, *scurry_run(workers[0], job)], env=os.environ, timeout=120, check=True)
    job.run = driver = SubmittedDriver(workers[1], tmp_path)
    job.counts_all()
    (before,) = driver.pids("DriverWrapper")
    kill(before)
    readings.write(1)
    job.counts_all()
    assert driver.pids("DriverWrapper") not in ([], [before])
    assert job.drain() == undisturbed(tmp_path, readings)


def undisturbed(place: Path, readings: Readings) -> dict[str, list[str]]:
    """The results of the same readings in one process."""
    job = EndlessJob(place / "undisturbed", readings).start("--runner", "local", "-p", "2")
    job.counts_all()
    return job.drain()


def test_principal_and_keytab_reach_what_logs_in_before_spark_starts(tmp_path: Path) -> None:
    kerberos = {"spark.kerberos.principal": "scurry@EXAMPLE.COM", "spark.kerberos.keytab": str(tmp_path / "no.keytab")}
    options = [option for key, value in kerberos.items() for option in ("-D", f"{key}={value}")]
    program = TESTS.parent / "examples" / "word_count.py"
    command = [sys.executable, "-m", "scurry", "run", "--master", "local[1]", *options, str(program)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
    assert f"Keytab file: {tmp_path / 'no.keytab'} does not exist" in done.stderr
    assert done.returncode == 1
