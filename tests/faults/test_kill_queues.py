"""Jobs that read and write queues and are killed, or whose servers are, lose nothing, and keep their guarantee.

`SCURRY_KILLS` says how many kills of each kind (2), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import importlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.faults.failing_sink import fail_after
from support.faults.job_directory import Place
from support.faults.job_processes import GIVE_UP_SECONDS, PROGRAMS, Run
from support.faults.programs.from_queue import KEYS
from support.faults.programs.to_queue import NUMBERS
from support.queues import SYSTEMS, System
from support.servers.debian import Unavailable

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

KILLS = int(os.environ.get("SCURRY_KILLS", "2"))
#: Messages that are put into a queue at a time.
SOME = 200
RUNNERS = ["local", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.nightly])]


@pytest.fixture(
    params=[pytest.param(name, marks=[pytest.mark.nightly] * each.nightly) for name, each in SYSTEMS.items()]
)
def system(request: pytest.FixtureRequest) -> System:
    return SYSTEMS[request.param]


@pytest.fixture
def name(system: System) -> str:
    return next(name for name, each in SYSTEMS.items() if each is system)


@pytest.fixture(scope="module")
def servers() -> Iterator[Callable[[str], Any]]:
    """Returns the server of a class, which is started once."""
    running: dict[str, Any] = {}

    def server_of(path: str) -> Any:
        if path not in running:
            module, _, kind = path.partition(":")
            try:
                running[path] = getattr(importlib.import_module(module), kind)()
            except Unavailable as missing:
                pytest.skip(str(missing))
            running[path].start()
        return running[path]

    yield server_of
    for each in running.values():
        each.stop()


@pytest.fixture
def server(system: System, servers: Callable[[str], Any]) -> Iterator[Any]:
    server = servers(system.server)
    system.clear(server.port)
    yield server
    system.clear(server.port)


def skip_unless_durable(system: System) -> None:
    if not system.is_durable:
        pytest.skip("the server may lose what it has confirmed when it is killed")


class Reading:
    """A job that reads a queue into files."""

    def __init__(self, name: str, system: System, server: Any, runner: str, directory: Path) -> None:
        self.name, self.system, self.server, self.runner = name, system, server, runner
        self.place = Place.new(directory, 1, directory)
        self.put_so_far = 0

    def put(self) -> None:
        numbers = range(self.put_so_far, self.put_so_far + SOME)
        self.system.put(self.server.port, list(map(str, numbers)))
        self.put_so_far += SOME

    def start(self, parallelism: int = 2) -> Run:
        arguments = [self.name, self.server.port, self.place.checkpoints, self.place.output]
        return Run(self.place, ["-p", str(parallelism), "--runner", self.runner], PROGRAMS / "from_queue.py", arguments)

    def lines(self) -> list[list[int]]:
        files = [file for file in self.place.output.rglob("*") if file.is_file() and file.name[0] != "."]
        return [list(map(int, line.split(","))) for file in files for line in file.read_text().splitlines()]

    def wait(self, run: Run, until: Callable[[set[int]], bool]) -> None:
        give_up = time.monotonic() + GIVE_UP_SECONDS
        while not until({number for number, _, _ in self.lines()}):
            assert time.monotonic() < give_up and not run.ends_within(0.05), run.story("not all messages were read")

    def check(self, run: Run) -> None:
        self.wait(run, lambda found: len(found) == self.put_so_far)
        time.sleep(0.5)  # what comes twice comes now
        run.kill()
        found = self.lines()
        if not self.system.reads_once:
            return
        assert sorted(number for number, _, _ in found) == list(range(self.put_so_far))
        for key in range(KEYS):
            counts = sorted(count for _, its_key, count in found if its_key == key)
            assert counts == list(range(1, len(counts) + 1))


@pytest.fixture(params=RUNNERS)
def reading(request: pytest.FixtureRequest, name: str, system: System, server: Any, tmp_path: Path) -> Reading:
    return Reading(name, system, server, request.param, tmp_path)


def test_a_job_that_reads_is_killed(reading: Reading, chance: random.Random) -> None:
    reading.put()
    run = reading.start()
    for kill in range(KILLS):
        before = reading.put_so_far
        reading.put()
        reading.wait(run, lambda found, before=before: len(found) > before // 2)  # type: ignore[misc]
        time.sleep(chance.uniform(0, 0.3))
        run.kill()
        print(f"kill {kill + 1} at {len(reading.lines())} of {reading.put_so_far}")
        run = reading.start(parallelism=chance.randint(1, 3))
    reading.check(run)


def test_the_server_of_a_job_that_reads_is_killed(reading: Reading, chance: random.Random) -> None:
    skip_unless_durable(reading.system)
    reading.put()
    run = reading.start()
    for kill in range(max(1, KILLS // 2)):
        reading.wait(run, lambda found: len(found) > 0)
        reading.put()
        time.sleep(chance.uniform(0, 0.2))
        reading.server.kill()
        time.sleep(chance.uniform(0, 0.5))
        reading.server.start()
        print(f"kill {kill + 1} of the server at {len(reading.lines())} of {reading.put_so_far}")
    reading.put()
    reading.check(run)


class Writing:
    """A job that writes numbers into a queue."""

    def __init__(self, name: str, system: System, server: Any, runner: str, directory: Path) -> None:
        self.name, self.system, self.server, self.runner = name, system, server, runner
        self.place = Place.new(directory, 1, directory)
        system.put(server.port, [])

    def start(self, parallelism: int = 2) -> Run:
        arguments = [self.name, self.server.port, self.place.checkpoints, self.place.fuse]
        return Run(self.place, ["-p", str(parallelism), "--runner", self.runner], PROGRAMS / "to_queue.py", arguments)

    def wait_for_batches(self, run: Run, count: int) -> bool:
        """Wait until it has committed so many batches more; whether it still runs then."""
        wanted, give_up = len(self.place.batches()) + count, time.monotonic() + GIVE_UP_SECONDS
        while len(self.place.batches()) < wanted:
            if run.ends_within(0.05):
                return False
            assert time.monotonic() < give_up, run.story("it does not commit")
        return True

    def check(self) -> None:
        found = Counter(map(int, self.system.taken(self.server.port)))
        assert found.keys() == set(range(NUMBERS))
        if self.system.writes_once:
            assert [number for number, count in found.items() if count > 1] == []


@pytest.fixture(params=RUNNERS)
def writing(request: pytest.FixtureRequest, name: str, system: System, server: Any, tmp_path: Path) -> Writing:
    return Writing(name, system, server, request.param, tmp_path)


def test_a_job_that_writes_is_killed(writing: Writing, chance: random.Random) -> None:
    run = writing.start()
    for kill in range(KILLS):
        if not writing.wait_for_batches(run, 2):
            break
        time.sleep(chance.uniform(0, 0.2))
        run.kill()
        print(f"kill {kill + 1} after {len(writing.place.batches())} batches")
        fail_after(writing.place.fuse, chance.randrange(1, 4), "kill")  # the next one dies between two commits
        run = writing.start(parallelism=chance.randint(1, 3))
        assert run.ends_within(GIVE_UP_SECONDS)
        assert run.process.returncode in (0, -signal.SIGKILL), run.story("it was not killed")
        run.kill()
        writing.place.fuse.unlink(missing_ok=True)
        run = writing.start(parallelism=chance.randint(1, 3))
    run.finish()
    writing.check()


def test_the_server_of_a_job_that_writes_is_killed(writing: Writing, chance: random.Random) -> None:
    skip_unless_durable(writing.system)
    run = writing.start()
    for _ in range(max(1, KILLS // 2)):
        if not writing.wait_for_batches(run, 2):
            break
        writing.server.kill()
        time.sleep(chance.uniform(0, 0.5))
        writing.server.start()
    run.finish()
    writing.check()
