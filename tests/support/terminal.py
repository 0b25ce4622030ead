"""A terminal of a program: what is typed, and what it shows."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from pathlib import Path

__all__ = ["Terminal"]

_CONTROL = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[()][A-Z0-9]|[=>78])")


class Terminal:
    """A program on a pseudo-terminal of 100 columns and 30 lines."""

    def __init__(self, command: list[str], directory: Path, environment: dict[str, str]) -> None:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self._process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, cwd=directory, start_new_session=True,
            env={**environment, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"},
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0) and None,
        )  # fmt: skip
        os.close(slave)
        self._master = master
        self._raw = ""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(120)
        os.close(self._master)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def until(self, expected: str, seconds: float = 30) -> str:
        """Return what is shown up to a text, once it is shown; the next call begins after it."""
        end = time.monotonic() + seconds
        while expected not in (shown := _CONTROL.sub("", self._raw).replace("\r", "")):
            assert time.monotonic() < end, f"{expected!r} is not in:\n{shown}"
            ready, _, _ = select.select([self._master], [], [], 0.1)
            if ready:
                try:
                    self._raw += os.read(self._master, 65536).decode(errors="replace")
                except OSError:  # the program has ended
                    assert expected in _CONTROL.sub("", self._raw).replace("\r", ""), self._raw
        before, _, rest = shown.partition(expected)
        self._raw = rest
        return before

    def exit_status(self) -> int:
        """Wait until the program has ended."""
        end = time.monotonic() + 120
        while self._process.poll() is None and time.monotonic() < end:
            ready, _, _ = select.select([self._master], [], [], 0.1)
            if ready:
                try:
                    os.read(self._master, 65536)
                except OSError:
                    break
        return self._process.wait(120)
