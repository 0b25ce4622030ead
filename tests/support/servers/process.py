"""A server as a process below a temporary directory: started, killed and started again with its ports and its data."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

START_SECONDS = 300

#: Waits until its input ends, which it does with the tests, however those end; then kills the group of a server. The
#: death signal of Linux is lost where a server changes its user.
WATCH = 'cat > /dev/null; kill -s KILL -- "-$0" 2> /dev/null'


class ServerProcess:
    """A server on loopback; subclasses name its command. `with Server() as server:` starts and ends it.

    Attributes:
        directory: Where its data and its log are; deleted with it.
        ports: The free ports that it was given; the first one answers once it has started.
    """

    #: How many ports it takes.
    needs_ports = 1

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix=f"scurry-{type(self).__name__.lower()}-"))
        self.directory.chmod(0o755)
        self.ports = free_ports(self.needs_ports)
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher: subprocess.Popen[bytes] | None = None
        try:
            self.prepare()
        except BaseException:
            shutil.rmtree(self.directory, ignore_errors=True)
            raise
        directory_of(self.port).unlink(missing_ok=True)
        directory_of(self.port).symlink_to(self.directory)

    @property
    def port(self) -> int:
        """The port that answers."""
        return self.ports[0]

    def prepare(self) -> None:
        """Write settings and make the data directory, once."""

    def command(self) -> Sequence[str | Path]:
        """Return what starts it; it stays in the foreground."""
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        """Return its environment variables."""
        return dict(os.environ)

    def is_ready(self) -> bool:
        """Return whether it answers requests; called until it does."""
        return answers(self.port)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start it, or start it again, and wait until it answers."""
        with open(self.directory / "server.log", "ab") as log:
            self._process = subprocess.Popen(
                [str(each) for each in self.command()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.directory,
                env=self.environment(),
                start_new_session=True,
            )
        watch = ["sh", "-c", WATCH, str(self._process.pid)]
        self._watcher = subprocess.Popen(watch, stdin=subprocess.PIPE, start_new_session=True)
        self.wait_until(self.is_ready)

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition; if the server ends before, the end of its log is the error."""
        assert self._process is not None
        give_up = time.monotonic() + START_SECONDS
        while not condition():
            if self._process.poll() is not None or time.monotonic() > give_up:
                log = (self.directory / "server.log").read_text(errors="replace")
                raise RuntimeError(f"{type(self).__name__} does not start:\n{log[-4000:]}")
            time.sleep(0.1)

    def kill(self) -> None:
        """SIGKILL to it and its processes; `start` brings it back with its data."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        if self._watcher is not None:
            assert self._watcher.stdin is not None
            self._watcher.stdin.close()
            self._watcher.wait()
            self._watcher = None

    def stop(self) -> None:
        """End it for good."""
        self.kill()
        directory_of(self.port).unlink(missing_ok=True)
        shutil.rmtree(self.directory, ignore_errors=True)


def directory_of(port: int) -> Path:
    """Return the directory of the server at a port, for other processes."""
    return Path(tempfile.gettempdir()) / f"scurry-server-{port}"


def free_ports(count: int) -> list[int]:
    """Return ports of loopback that are free, none of those that clients get.

    A client that tries a dead server again and again would otherwise be given the server's own port, and keep it.
    """
    sockets: list[socket.socket] = []
    while len(sockets) < count:
        each = socket.socket()
        try:
            each.bind(("127.0.0.1", random.randrange(15_000, 32_000)))
        except OSError:
            each.close()
        else:
            sockets.append(each)
    ports: list[int] = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def answers(port: int) -> bool:
    """Return whether something listens on a port of loopback."""
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True
