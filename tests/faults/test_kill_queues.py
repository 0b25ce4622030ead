"""Jobs that read and write queues and are killed, or whose servers are, lose nothing, and keep their guarantee.

`SCURRY_KILLS` says how many kills of driver and worker (2), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.faults.failing_sink import commits_of, fail_after
from support.faults.job_directory import Place
from support.faults.job_processes import GIVE_UP_SECONDS, PROGRAMS, SPARK, Run
from support.faults.programs.from_queue import KEYS
from support.queues import SYSTEMS, System, running_servers, staging

pytestmark = [
    pytest.mark.in_turn,
    pytest.mark.servers,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

KILLS = int(os.environ.get("SCURRY_KILLS", "2"))
#: Kills of the server.
SERVER_KILLS = 1 if KILLS < 6 else 3
#: Numbers that are written for each kill: at the slow rate a job commits several times before it has written them.
NUMBERS = 1000
SLOW = {"local": 200, "spark": 50}
FAST = 5000
#: Messages that are put into a queue at a time.
SOME = 200
RUNNER_OPTIONS = {"local": ["--runner", "local"], "spark": SPARK}
RUNNERS = ["local", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.nightly])]


@pytest.fixture(
    params=[
        pytest.param(name, marks=[pytest.mark.nightly] * each.nightly + [pytest.mark.in_turn] * each.in_turn)
        for name, each in SYSTEMS.items()
    ]
)
def system(request: pytest.FixtureRequest) -> System:
    return SYSTEMS[request.param]


@pytest.fixture
def name(system: System) -> str:
    return next(name for name, each in SYSTEMS.items() if each is system)


@pytest.fixture(scope="module")
def servers() -> Iterator[Callable[[str], Any]]:
    with running_servers() as server_of:
        yield server_of


@pytest.fixture
def server(system: System, servers: Callable[[str], Any]) -> Iterator[Any]:
    server = servers(system.server)
    system.clear(server.port)
    shutil.rmtree(staging(server.port), ignore_errors=True)
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
        options = ["-p", str(parallelism), *RUNNER_OPTIONS[self.runner]]
        return Run(self.place, options, PROGRAMS / "from_queue.py", arguments)

    def lines(self) -> list[list[int]]:
        files = [file for file in self.place.output.rglob("*") if file.is_file() and file.name[0] != "."]
        return [list(map(int, line.split(","))) for file in files for line in file.read_text().splitlines()]

    def numbers(self) -> set[int]:
        """The numbers that are read, and committed."""
        return {number for number, _, _ in self.lines()}

    def wait(self, run: Run, until: Callable[[set[int]], bool]) -> None:
        give_up = time.monotonic() + GIVE_UP_SECONDS
        while not until(self.numbers()):
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
def reading(request: pytest.FixtureRequest, name: str, system: System, tmp_path: Path) -> Reading:
    if system.source is None:
        pytest.skip("it is only written")
    server = request.getfixturevalue("server")
    return Reading(name, system, server, request.param, tmp_path)


def test_a_job_that_reads_is_killed(reading: Reading, chance: random.Random) -> None:
    reading.put()  # the queue must be there
    run = reading.start()
    for kill in range(KILLS):
        before = len(reading.numbers())
        reading.put()
        reading.wait(run, lambda found, before=before: len(found) > before)  # type: ignore[misc]
        reading.put()  # a start that has committed something dies in the midst of more
        time.sleep(chance.uniform(0, 0.3))
        one = kill % 3 == 2 and run.kill_a_worker(chance)
        if not one:
            run.kill()
        what = "of a worker" if one else "of all"
        print(f"kill {kill + 1} {what} at {len(reading.numbers())} of {reading.put_so_far}", flush=True)
        run = run if one else reading.start(parallelism=chance.randint(1, 3))
    reading.check(run)


def test_the_server_of_a_job_that_reads_is_killed(reading: Reading, chance: random.Random) -> None:
    skip_unless_durable(reading.system)
    reading.put()
    run = reading.start()
    for kill in range(SERVER_KILLS):
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
        self.numbers = NUMBERS
        system.put(server.port, [])

    def start(self, parallelism: int = 2, fast: bool = False) -> Run:
        rate = FAST if fast else SLOW[self.runner]
        arguments = [self.name, self.server.port, self.place.checkpoints, self.place.fuse, self.numbers, rate]
        options = ["-p", str(parallelism), *RUNNER_OPTIONS[self.runner]]
        return Run(self.place, options, PROGRAMS / "to_queue.py", arguments)

    @property
    def commits(self) -> int:
        """How many commits there were, those that were repeated, too."""
        noted = commits_of(self.place.fuse)
        return noted.stat().st_size if noted.exists() else 0

    def wait_for_commits(self, run: Run, count: int) -> None:
        """Wait until it has committed so many batches more."""
        wanted, give_up = self.commits + count, time.monotonic() + GIVE_UP_SECONDS
        while self.commits < wanted:
            assert not run.ends_within(0.05), run.story("it ended before it was killed")
            assert time.monotonic() < give_up, run.story("it does not commit")

    def check(self) -> None:
        found = Counter(map(int, self.system.taken(self.server.port)))
        assert found.keys() == set(range(self.numbers))
        if self.system.writes_once:
            assert [number for number, count in found.items() if count > 1] == []


@pytest.fixture(params=RUNNERS)
def writing(request: pytest.FixtureRequest, name: str, system: System, server: Any, tmp_path: Path) -> Writing:
    return Writing(name, system, server, request.param, tmp_path)


def test_a_job_that_writes_is_killed(writing: Writing, chance: random.Random) -> None:
    writing.numbers = NUMBERS * (KILLS + 1)
    run = writing.start()
    for kill in range(KILLS):
        writing.wait_for_commits(run, 2)
        time.sleep(chance.uniform(0, 0.2))
        if kill % 3 == 2 and run.kill_a_worker(chance):
            print(f"kill of a worker after {writing.commits} commits", flush=True)
            writing.wait_for_commits(run, 1)
        run.kill()
        print(f"kill {kill + 1} after {writing.commits} commits", flush=True)
        fail_after(writing.place.fuse, chance.randrange(1, 4), "kill")  # the next one dies between two commits
        run = writing.start(parallelism=chance.randint(1, 3))
        assert run.ends_within(GIVE_UP_SECONDS)
        assert run.process.returncode in (0, -signal.SIGKILL), run.story("it was not killed")
        run.kill()
        writing.place.fuse.unlink(missing_ok=True)
        run = writing.start(parallelism=chance.randint(1, 3), fast=kill == KILLS - 1)
    run.finish()
    writing.check()


def test_the_server_of_a_job_that_writes_is_killed(writing: Writing, chance: random.Random) -> None:
    skip_unless_durable(writing.system)
    writing.numbers = NUMBERS * (SERVER_KILLS + 1)
    run = writing.start()
    for kill in range(SERVER_KILLS):
        writing.wait_for_commits(run, 2)
        writing.server.kill()
        time.sleep(chance.uniform(0, 0.5))
        writing.server.start()
        print(f"kill {kill + 1} of the server after {writing.commits} commits")
    writing.wait_for_commits(run, 1)
    run.kill()
    writing.start(fast=True).finish()
    writing.check()
