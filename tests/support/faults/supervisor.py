"""What systemd (`Restart=on-failure`, `KillMode=control-group`) or Kubernetes do for a driver, as a thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from support.faults.job_processes import kill
from support.faults.standalone_cluster import Daemon


class Supervisor:
    """Runs a command, and again whenever it ends otherwise than with status 0.

    Args:
        command: The command.
        log: Where all runs write what they say.
        environment: Their environment variables.
    """

    def __init__(self, command: list[str], log: Path, environment: dict[str, str]) -> None:
        self.log, self.starts = log, 0
        self.returncode: int | None = None
        self._start: Callable[[], Daemon] = lambda: Daemon(command, log, environment)
        self._over = threading.Event()
        self._main = self._start()
        threading.Thread(target=self._supervise, name="supervisor", daemon=True).start()

    def _supervise(self) -> None:
        while True:
            self.starts += 1
            status = self._main.process.wait()
            self._main.kill()  # nothing of a run outlives its main process
            if status == 0 or self._over.wait(0.1):
                self.returncode = status
                return
            self._main = self._start()

    def kill_driver(self) -> None:
        """SIGKILL to the main process only."""
        kill(self._main.process.pid)

    def kill_jvm(self) -> None:
        """SIGKILL to the JVM of the driver only, as a system does that runs out of memory."""
        mains = ("SparkSubmit", "PythonGatewayServer")  # as spark-submit starts it, and as `scurry run` does
        (jvm,) = (each.pid for each in self._main.members() if any(main in each.command for main in mains))
        kill(jvm)

    def kill(self) -> None:
        """Ends it all."""
        self._over.set()
        self._main.kill()
