"""A standalone Spark on this machine whose workers come and go: each has one core, hence one task slot."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyspark

from scurry.spark.session.java import ensure_java
from support.faults.job_processes import Process, kill, processes

SPARK = Path(pyspark.__file__).parent
GIVE_UP_SECONDS = 180
_DEPLOY = "org.apache.spark.deploy"
_SCHEDULER = "jobmanager.adaptive-scheduler"
_SETTINGS = {
    "scheduler-mode": "reactive",
    f"{_SCHEDULER}.submission.resource-stabilization-timeout": "1 s",
    f"{_SCHEDULER}.executing.resource-stabilization-timeout": "1 s",
    f"{_SCHEDULER}.executing.cooldown-after-rescaling": "1 s",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
}
#: options of `scurry run` for a job that follows the workers of a cluster
REACTIVE = [option for key, value in _SETTINGS.items() for option in ("-D", f"{key}={value}")]


class Daemon:
    """A process in a session of its own, which everything it starts belongs to."""

    def __init__(self, command: list[str], log: Path, environment: dict[str, str]) -> None:
        self.log = log
        with open(log, "a") as out:
            self.process = subprocess.Popen(command, env=environment, stdout=out, stderr=out, start_new_session=True,
                                            cwd=log.parent)  # fmt: skip

    @property
    def returncode(self) -> int | None:
        """The exit status, None while the process runs."""
        return self.process.poll()

    def terminate(self) -> None:
        """SIGTERM, as a node that is drained gets; then whatever is left goes, too."""
        self.process.terminate()
        try:
            self.process.wait(GIVE_UP_SECONDS)
        finally:
            self.kill()

    def kill(self) -> None:
        """SIGKILL to every process of the session, until none is left: what others see of a machine that is gone."""
        while members := list(self.members()):
            for process in members:
                kill(process.pid)
            time.sleep(0.02)
        self.process.wait()

    def members(self) -> Iterator[Process]:
        """The processes of the session."""
        return processes(self.process.pid)


class Cluster:
    """A master, and workers as they are added; at the end of a `with` block nothing of it is left.

    Args:
        place: Directory for logs and for what workers write.
        clean: Whether daemons and executors have no variables of this process but where programs are.
        host: Address of the master.
        **environment: Environment variables of the daemons and of the executors, besides those of this process.
    """

    def __init__(self, place: Path, clean: bool = False, host: str = "127.0.0.1", **environment: str) -> None:
        ensure_java()
        self._place, self._host = place, host
        kept = ("PATH", "JAVA_HOME") if clean else tuple(os.environ)
        inherited = {key: os.environ[key] for key in kept if key in os.environ}
        self._environment = {**inherited, "SPARK_HOME": str(SPARK), "SPARK_DAEMON_MEMORY": "256m",
                             "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
                             **environment}  # fmt: skip
        self._daemons: list[Daemon] = []
        self._port = free_port()
        self.url = f"spark://{host}:{self._port}"

    def __enter__(self) -> Cluster:
        try:
            self._start("master", self._host, [], "master.Master", "--port", str(self._port), "--webui-port", "0")
            wait_until(lambda: listens(self._port, self._host), "the master listens")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: Any) -> None:
        for daemon in reversed(self._daemons):
            daemon.kill()

    def add_worker(self, host: str = "", within: Sequence[str] = ()) -> Daemon:
        """Starts a worker with one core; it registers with the master a few seconds later.

        Args:
            host: Its address; the master's if empty.
            within: A command that runs it on that host.
        """
        name = f"worker-{len(self._daemons)}"
        return self._start(name, host or self._host, within, "worker.Worker", "--cores", "1", "--memory", "1g",
                           "--webui-port", "0", "--work-dir", str(self._place / name), self.url)  # fmt: skip

    def _start(self, name: str, host: str, within: Sequence[str], main: str, *arguments: str) -> Daemon:
        command = [*within, str(SPARK / "bin" / "spark-class"), f"{_DEPLOY}.{main}", "--host", host, *arguments]
        daemon = Daemon(command, self._place / f"{name}.log", {"SPARK_LOCAL_IP": host, **self._environment})
        self._daemons.append(daemon)
        return daemon


def wait_until(
    condition: Callable[[], object], what: str, seconds: float = GIVE_UP_SECONDS, *, while_runs: Any = None
) -> None:
    """Waits for something, and fails if it takes too long or if the run that should bring it about has ended."""
    give_up = time.monotonic() + seconds
    while not condition():
        ended = while_runs is not None and while_runs.returncode is not None
        if ended or time.monotonic() > give_up:
            log = f"\n{while_runs.log.read_text()[-4000:]}" if while_runs is not None else ""
            raise AssertionError(f"{'ended' if ended else f'{seconds:.0f} s have passed'} before {what}{log}")
        time.sleep(0.1)


def listens(port: int, host: str = "127.0.0.1") -> bool:
    with socket.socket() as client:
        return client.connect_ex((host, port)) == 0


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port: int = server.getsockname()[1]
        return port
