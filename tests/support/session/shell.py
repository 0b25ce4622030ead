"""A user's shell with sessions of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import scurry

SOURCE = str(Path(scurry.__file__).parent.parent)


def wait_for(condition: Callable[[], Any], seconds: float = 300) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.3)
    return found


class Shell:
    """A user's shell, with sessions of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = {
            **os.environ, "PYTHONPATH": SOURCE, "XDG_RUNTIME_DIR": str(home), "XDG_STATE_HOME": str(home / "state"),
        }  # fmt: skip
        self.processes: list[subprocess.Popen[bytes]] = []

    def scurry(self, *arguments: str) -> str:
        """The output of a command that succeeds."""
        command = [sys.executable, "-m", "scurry", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=self.environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def start(self, *options: str) -> tuple[subprocess.Popen[bytes], str]:
        """A started session and its URL."""
        command = [sys.executable, "-m", "scurry", "session", "start", *options]
        said = self.home / f"session-{len(self.processes)}"
        with open(said, "wb") as out:
            process = subprocess.Popen(command, stdout=out, stderr=out, env=self.environment)
        self.processes.append(process)
        found = wait_for(lambda: re.search(r"session \S+ at (\S+?)[;\n]", said.read_text()))
        return process, found[1]

    def states(self) -> dict[str, str]:
        """Job id -> state of what runs."""
        return {one["jid"]: one["state"] for one in json.loads(self.scurry("list", "--json"))}

    def output(self, job: str) -> str:
        file = self.home / "state" / "scurry" / "sessions" / "default" / "jobs" / f"{job}.log"
        return file.read_text() if file.exists() else ""

    def counts(self, job: str) -> list[int]:
        """What a counting job has printed."""
        return [
            int(line.rpartition(" ")[2]) for line in self.output(job).splitlines() if re.fullmatch(r"(\d+> )?\d+", line)
        ]

    def over(self) -> dict[str, str]:
        """Job id -> final state."""
        return {one["jid"]: one["state"] for one in json.loads(self.scurry("history", "--json"))}

    def kill(self) -> None:
        """Ends what is left."""
        for process in self.processes:
            process.kill()
            process.wait()
