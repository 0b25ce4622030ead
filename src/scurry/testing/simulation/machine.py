"""The simulated machine: its operations, at each of which a fault may be, its clocks, and the log of events."""

from __future__ import annotations

import errno
import hashlib
import os
import random
import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from scurry.runtime.clock import Clock
from scurry.testing.simulation.schedules import Fault

__all__ = ["KilledError", "Machine", "SimulatedError", "running_machine"]

#: Operations that concern files: their faults are errors of the operating system.
_FILES = {"create", "write", "rename", "delete", "list", "listing", "read", "sync"}
#: Kind of a fault -> the operations to which it can happen; other faults can happen to all.
_PLACES = {
    "fail": {*_FILES, "sql", "next", "source", "sink", "commit", "await", "task", "worker"},
    "full": {"create", "write", "sql"},
    "tear": {"write"},
    "old": {"listing"},
    "savepoint": {"step"},
    "rescale": {"step"},
    "stop": {"step"},
    "change": {"step"},
    "second": {"step"},
}
#: The number of latest events that a report shows.
_SHOWN = 60
#: Seconds that an operation takes.
_TICK = 0.001
#: The beginning of the simulated time: 2024-01-01 in seconds.
_BEGIN = 1_704_067_200


class KilledError(BaseException):
    """The simulated process has died."""

    #: what a job notes of it, which nobody reads any more: no traceback has to be written
    failure: ClassVar[_Died]


class _Died:
    error, operator, details = "KilledError", None, ""

    def __str__(self) -> str:
        return "KilledError: "


KilledError.failure = _Died()


class SimulatedError(RuntimeError):
    """An error that a schedule lets a source or a sink raise."""


def _error_of_database(full: bool) -> sqlite3.Error:
    error = sqlite3.OperationalError("database or disk is full" if full else "disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL if full else sqlite3.SQLITE_IOERR
    return error


#: The machine on which simulated sources and sinks run, of which tasks have copies.
_running: list[Machine] = []


def running_machine() -> Machine:
    """Return the machine that runs.

    Raises:
        SimulatedError: None does.
    """
    if not _running:
        raise SimulatedError("simulated sources and sinks only run in a Simulation")
    return _running[-1]


class SimulatedClock(Clock):
    """Clocks that go on with the operations and waits of the machine."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.offset = _BEGIN - 1000.0
        self._turned_at = 0.0

    def turn(self, seconds: float) -> None:
        """Turn the wall clock forward, or back."""
        self._turned_at = max(self._turned_at, self.wall())
        self.offset += seconds

    @property
    def is_behind(self) -> bool:
        """True while the wall clock, turned back, shows less than before: processing time stands."""
        return self.wall() < self._turned_at

    def monotonic(self) -> float:
        return self.now

    def wall(self) -> float:
        return self.now + self.offset

    def wall_ms(self) -> int:
        return int(self.wall() * 1000)


class Machine:
    """A machine with one disk, of which a process may die.

    Args:
        seed: Of what is left to chance.
        faults: Those of the schedule, in the order of their operations.
        root: The directory whose files are simulated.
    """

    def __init__(self, seed: int, faults: Iterable[Fault], root: str) -> None:
        self.chance = random.Random(seed)
        self.clock = SimulatedClock()
        self.root = root
        self.operations = 0
        #: whether the process has died; nothing that it still does has an effect
        self.dead = False
        #: whether the machine has, too, and lost unsynced files
        self.crashed = False
        self.pid = 4000
        #: the faults that wait, and the requests that the next step makes
        self._faults = deque(faults)
        self._waiting: list[Fault] = []
        self.requests: list[Fault] = []
        self.dealt: list[Fault] = []
        #: what lasts outside of the processes: sink -> batch -> what was committed of it
        self.outside: dict[str, dict[int, list[Any]]] = {}
        self._hash = hashlib.sha256()
        self.latest: deque[str] = deque(maxlen=_SHOWN)

    @property
    def digest(self) -> str:
        """The hash of all events so far."""
        return self._hash.hexdigest()

    def note(self, event: str) -> None:
        """Add to the log of events."""
        self._hash.update(event.encode() + b"\n")
        self.latest.append(event)

    def operation(self, kind: str, about: str = "") -> str | None:
        """Count an operation, and let the faults happen that are due.

        Returns:
            `tear` if the process dies after a part of what it writes, `old` if it sees an old listing.

        Raises:
            KilledError: The process dies, or is dead.
            OSError: A file operation fails.
            SimulatedError: A source or sink fails.
        """
        if self.dead:
            raise KilledError
        self.operations += 1
        self.clock.now += _TICK
        self.note(f"{self.operations} {kind} {about.replace(self.root, '')}")
        while self._faults and self._faults[0].at <= self.operations:
            self._waiting.append(self._faults.popleft())
        for fault in list(self._waiting):
            if kind in _PLACES.get(fault.kind, {kind}):
                self._waiting.remove(fault)
                if self._happens(fault, kind, about):
                    return fault.kind
        return None

    def _happens(self, fault: Fault, kind: str, about: str) -> bool:
        self.dealt.append(fault)
        self.note(f"fault {fault.kind} {fault.amount}")
        match fault.kind:
            case "kill" | "crash":
                self.dead, self.crashed = True, fault.kind == "crash"
                raise KilledError
            case "fail" | "full" if kind == "sql":
                raise _error_of_database(fault.kind == "full")
            case "fail" if kind in _FILES:
                raise OSError(errno.EIO, os.strerror(errno.EIO), about)
            case "fail":
                raise SimulatedError(f"the {kind} {about} fails")
            case "full":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), about)
            case "clock":
                self.clock.turn(fault.amount)
            case "tear" | "old":
                return True
            case _:
                self.requests.append(fault)
        return False

    def die(self) -> None:
        """Let the process die now."""
        self.dead = True
        raise KilledError

    def deal_no_more(self) -> None:
        """Drop the faults that are left."""
        self._faults.clear()
        self._waiting.clear()
        self.requests.clear()

    def start_process(self) -> None:
        """Let another process begin."""
        self.dead = self.crashed = False
        self.pid += 1
        self.note(f"process {self.pid}")

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run simulated sources and sinks on this machine while a `with` block runs."""
        _running.append(self)
        try:
            yield
        finally:
            _running.remove(self)

    def passes(self, seconds: float) -> None:
        """Let time pass: so many seconds at most, but all of a long wait."""
        self.clock.now += seconds if seconds > 1 else self.chance.random() * seconds
