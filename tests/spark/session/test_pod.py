"""The container image's entry point: what Spark on Kubernetes starts in its pods, and `scurry`."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from scurry.spark.session.pod import driver, executor
from support import TESTS
from support.faults.job_processes import environment
from support.faults.standalone_cluster import Cluster, Daemon, listens, wait_until

SPARK_HOME = str(Path(pyspark.__file__).parent)
#: What Spark sets in an executor's pod.
POD = {
    "SPARK_DRIVER_URL": "spark://CoarseGrainedScheduler@flights:7078",
    "SPARK_EXECUTOR_ID": "1",
    "SPARK_EXECUTOR_CORES": "2",
    "SPARK_EXECUTOR_MEMORY": "512m",
    "SPARK_APPLICATION_ID": "spark-1",
    "SPARK_EXECUTOR_POD_IP": "127.0.0.1",
    "SPARK_RESOURCE_PROFILE_ID": "0",
    "SPARK_EXECUTOR_POD_NAME": "flights-exec-1",
}
#: Some of what Spark opens of Java for itself, as options of the pod.
OPENED = ["--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
          "--add-opens=java.base/java.lang=ALL-UNNAMED", "-Dio.netty.tryReflectionSetAccessible=true"]  # fmt: skip
ENTRY = [sys.executable, "-m", "scurry.spark.session.pod"]


def test_an_executor_has_what_its_pod_says_in_the_order_of_its_options() -> None:
    options = {f"SPARK_JAVA_OPT_{number}": f"-Dn={number}" for number in (10, 2, 0)}
    java, *command = executor({**POD, **options, "SPARK_HOME": "/spark", "JAVA_HOME": "/java"})
    assert java == "/java/bin/java"
    assert command[:5] == ["-Dn=0", "-Dn=2", "-Dn=10", "-Xms512m", "-Xmx512m"]
    assert command[command.index("-cp") + 1] == "/spark/jars/*"
    given = dict(zip(command[-14::2], command[-13::2], strict=True))
    assert given["--driver-url"] == POD["SPARK_DRIVER_URL"] and given["--cores"] == "2"


def test_settings_of_the_pod_precede_the_classes_of_spark() -> None:
    places = {"SPARK_CONF_DIR": "/conf", "SPARK_EXTRA_CLASSPATH": "/more/*"}
    command = executor({**POD, **places, "SPARK_HOME": "/spark", "JAVA_HOME": "/java"})
    assert command[command.index("-cp") + 1] == "/conf:/spark/jars/*:/more/*"


def test_a_driver_is_what_spark_submit_starts_at_the_address_of_its_pod() -> None:
    command = driver({"SPARK_HOME": "/spark", "SPARK_DRIVER_BIND_ADDRESS": "10.0.0.7"}, ["--class", "Main", "run"])
    assert command[:3] == ["/spark/bin/spark-submit", "--deploy-mode", "client"]
    assert command[3:] == ["--conf", "spark.driver.bindAddress=10.0.0.7", "--class", "Main", "run"]


def test_everything_else_is_a_command_of_scurry() -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run([*ENTRY, "--help"], capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert done.returncode == 0
    assert "Usage: scurry" in done.stdout


@pytest.mark.spark
@pytest.mark.nightly
def test_a_job_runs_on_an_executor_that_was_started_as_in_a_pod(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {"spark.driver.host": "127.0.0.1", "spark.driver.port": str(port)}
    options = [option for key, value in settings.items() for option in ("-D", f"{key}={value}")]
    program = TESTS.parent / "examples" / "word_count.py"
    with Cluster(tmp_path) as cluster:  # without workers: no other executor comes
        command = [sys.executable, "-m", "scurry", "run", "--master", cluster.url, *options, str(program)]
        job = Daemon(command, tmp_path / "job", environment())
        started: list[Daemon] = []
        try:
            wait_until(lambda: listens(port), "the driver listens", while_runs=job)
            pod = {**POD, "SPARK_DRIVER_URL": f"spark://CoarseGrainedScheduler@127.0.0.1:{port}"}
            pod |= {f"SPARK_JAVA_OPT_{number}": option for number, option in enumerate(OPENED)}
            started.append(Daemon([*ENTRY, "executor"], tmp_path / "pod", {**environment(), **pod}))
            wait_until(lambda: job.returncode is not None, "the job ends", while_runs=started[0])
        finally:
            for each in (job, *started):
                each.kill()
    assert job.returncode == 0, job.log.read_text()
