"""Sessions on a standalone cluster whose executors come and go while programs with modules of their own run."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.faults.job_processes import EXECUTOR, kill
from support.faults.standalone_cluster import Cluster, Daemon
from support.session.shell import Shell, wait_for

pytestmark = pytest.mark.spark

SETTINGS = (
    "-D", "spark.executor.memory=512m", "-D", "spark.driver.host=127.0.0.1",
    "-D", "spark.executor.extraJavaOptions=-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
)  # fmt: skip
WITH_MODULE = """
    import helper
    from scurry.datastream import StreamExecutionEnvironment

    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1, 2, 3]).map(helper.named).print()
    env.execute()
"""
ENDLESS = """
    import helper
    from scurry.datastream import StreamExecutionEnvironment
    from scurry.datastream.connectors.datagen import DataGeneratorSource

    env = StreamExecutionEnvironment.get_execution_environment()
    source = DataGeneratorSource(int, records_per_second=5)
    env.from_source(source, None, "numbers").map(helper.number).print()
    env.execute()
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    place = tmp_path_factory.mktemp("cluster")
    with Cluster(place, clean=True, HOME=str(place)) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def worker(cluster: Cluster) -> Daemon:
    return cluster.add_worker()


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    tmp_path.chmod(0o700)
    shell = Shell(tmp_path)
    yield shell
    shell.kill()


def program(directory: Path, name: str, text: str = WITH_MODULE) -> str:
    """A program with a module of its own, which no other program has."""
    (directory / name).mkdir()
    helper = f"def named(value):\n    return f'{name} {{value}}'\n\n\ndef number(value):\n    return value\n"
    (directory / name / "helper.py").write_text(helper)
    (directory / name / f"{name}.py").write_text(textwrap.dedent(text))
    return str(directory / name / f"{name}.py")


def runs(shell: Shell, path: str) -> None:
    name = Path(path).stem
    printed = shell.scurry("run", "--session", "default", "-p", "1", path)
    assert [line for line in printed.splitlines() if line.startswith(name)] == [f"{name} {n}" for n in (1, 2, 3)]


def executors(worker: Daemon) -> list[int]:
    return [process.pid for process in worker.members() if EXECUTOR in process.command]


def kill_executor(worker: Daemon) -> None:
    (pid,) = executors(worker)
    kill(pid)
    wait_for(lambda: (found := executors(worker)) and found != [pid])


@pytest.mark.in_turn
def test_jobs_run_after_an_executor_was_replaced_though_others_have_ended(
    cluster: Cluster, worker: Daemon, shell: Shell, tmp_path: Path
) -> None:
    shell.start("--master", cluster.url, *SETTINGS)
    first, second, third = (program(tmp_path, name) for name in ("first", "second", "third"))
    runs(shell, first)
    runs(shell, second)
    kill_executor(worker)
    runs(shell, third)
    runs(shell, first)
    shell.scurry("session", "stop")


@pytest.mark.nightly
def test_a_running_job_goes_on_on_another_executor_though_another_program_has_ended(
    cluster: Cluster, worker: Daemon, shell: Shell, tmp_path: Path
) -> None:
    shell.start("--master", cluster.url, "-D", "spark.task.cpus=1", *SETTINGS)
    runs(shell, program(tmp_path, "first"))
    job = shell.scurry("run", "--session", "default", "-d", "-p", "1", program(tmp_path, "endless", ENDLESS))
    wait_for(lambda: len(shell.counts(job)) > 5)
    kill_executor(worker)
    before = len(shell.counts(job))
    wait_for(lambda: len(shell.counts(job)) > before + 20)
    shell.scurry("session", "stop")


@pytest.mark.nightly
def test_executors_that_were_given_back_come_again_for_the_next_job(
    cluster: Cluster, worker: Daemon, shell: Shell, tmp_path: Path
) -> None:
    options = {"enabled": "true", "executorIdleTimeout": "2s", "cachedExecutorIdleTimeout": "2s",
               "shuffleTracking.enabled": "true", "shuffleTracking.timeout": "2s"}  # fmt: skip
    breathing = [part for key, value in options.items() for part in ("-D", f"spark.dynamicAllocation.{key}={value}")]
    shell.start("--master", cluster.url, *breathing, *SETTINGS)
    first, second = (program(tmp_path, name) for name in ("first", "second"))
    for path in (first, second, first):
        runs(shell, path)
        wait_for(lambda: not executors(worker))
    shell.scurry("session", "stop")
