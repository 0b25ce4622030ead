"""The scenarios that run on are killed while they work, asked from outside, and end with what they would have anyway.

`SCURRY_KILLS` says how many kills of each (20), `SCURRY_SEED` repeats a run. In one process, without Java.
"""

from __future__ import annotations

import itertools
import random
import runpy
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scurry.rest.client import RemoteProcess
from scurry.rest.registry import registered_jobs
from support import TESTS
from support.faults.job_directory import Place
from support.faults.job_processes import Run
from support.faults.standalone_cluster import wait_until

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

SCENARIOS = TESTS.parent / "examples" / "scenarios"
OPTIONS = ["--runner", "local", "--parallelism", "1", "-D", "scurry.rest=on"]
FILES = runpy.run_path(str(SCENARIOS / "live_files.py"))
add: Callable[..., None] = FILES["add"]
written: Callable[[Path], list[str]] = FILES["written"]
CHANCE = random.Random(1)


class Scenario(Run):
    """A scenario that runs in a process of its own, and its endpoint."""

    def __init__(self, place: Place, program: str) -> None:
        super().__init__(place, OPTIONS, SCENARIOS / program, [place.output])

    def ask(self, path: str, **query: Any) -> Any:
        """Ask the endpoint about the job; None while it does not answer."""
        for job in registered_jobs():
            if job.pid == self.process.pid:
                return RemoteProcess(job.url, job.token).request("GET", f"/jobs/{job.id}{path}", **query)
        return None

    def records_read(self, source: str) -> int:
        details = self.ask("")
        vertices = details["vertices"] if details else []
        return sum(each["metrics"]["write-records"] for each in vertices if each["name"] == source)


@dataclass(frozen=True)
class Case:
    """A scenario and what it is fed.

    Attributes:
        program: The file.
        before: What has to be read before the records, by directory.
        records: What comes file by file, while the job is killed.
        source: The directory of the records.
        results: What is there in the end.
        expected: What has to be.
        state: Uid, name and key of a state, and its value in the end.
    """

    program: str
    before: dict[str, list[str]]
    records: list[str]
    source: str
    results: Callable[[Path], Any]
    expected: Any
    state: tuple[str, str, str, Any] | None = None


def lines_of(directory: str) -> Callable[[Path], Any]:
    return lambda place: written(place / directory)


def running(pairs: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    totals: Counter[str] = Counter()
    found = []
    for name, amount in pairs:
        totals[name] += amount
        found.append((name, totals[name]))
    return found


PAYMENTS = [(f"card {CHANCE.randrange(5)}", CHANCE.randrange(1, 20)) for _ in range(400)]
SPENT = running(PAYMENTS)
ALERTS = sorted(f"{card}: limit, spent {spent} of 300" for card, spent in SPENT if spent > 300)

ORDERS = [f"order,o{number},{number * 1000}" for number in range(200)]
PAID = [f"payment,o{number},{200_000 + number}" for number in range(0, 200, 2)]
LATER = ["order,later,9000000"]
MESSAGES = sorted(
    [f"o{number} is paid" for number in range(0, 200, 2)]
    + [f"remind {'ann' if number == 1 else 'bob'} of o{number}" for number in range(1, 200, 2)]
)

CLICKS = [f"user {number // 2},{'tea' if number % 2 else 'cup'}" for number in range(200)]
RECOMMENDATIONS = sorted(
    line for times in range(1, 101) for line in (f"with tea: cup ({times})", f"with cup: tea ({times})")
)

VISITS = [CHANCE.choice(["ann", "bob"]) for _ in range(1500)]
COUNTS = sorted(f"{name} {count}" for name, count in running([(name, 1) for name in VISITS]))

NUMBERS = list(map(str, range(1, 1501)))

SALES = [(f"item {CHANCE.randrange(6)}", CHANCE.randrange(2)) for _ in range(60)]
BOARD = sorted((item, total) for item, total in dict(running(SALES)).items() if total < 10)

UNUSUAL = [f"card {number % 3},{900 + number if number % 10 == 0 else 10}" for number in range(300)]
FRAUDS = sorted(
    f"card {number % 3}: {900 + number} is {(900 + number) / 10:.0f} times the usual 10" for number in range(0, 300, 10)
)


def board(place: Path) -> Any:
    try:
        with sqlite3.connect(place / "board.db") as database:
            return database.execute("SELECT item, price FROM revenue ORDER BY item").fetchall()
    except sqlite3.OperationalError:  # the job has not made it yet
        return None


CASES = [
    Case("fraud_rules.py", {"rules": ["limit,300"]}, [f"{card},{amount}" for card, amount in PAYMENTS], "payments",
         lines_of("alerts"), ALERTS, ("detector", "spent", "card 1", dict(SPENT)["card 1"])),
    Case("event_driven.py", {}, ORDERS + PAID + LATER, "events", lines_of("messages"), MESSAGES,
         ("reminders", "open", '"later"', "bob")),
    Case("recommendation.py", {"catalogue": ["tea", "cup"]}, CLICKS, "clicks", lines_of("recommendations"),
         RECOMMENDATIONS, ("recommend", "together", '"tea"', {"cup": 100})),
    Case("catching_up.py", {}, VISITS, "visits", lines_of("counts"), COUNTS,
         ("count", "count", '"ann"', VISITS.count("ann"))),
    Case("load_spike.py", {}, NUMBERS, "payments", lines_of("counted"), sorted(NUMBERS),
         ("total", "total", "0", sum(map(int, NUMBERS)))),
    Case("revenue_ticker.py", {}, [f"{item},{price}" for item, price in SALES], "orders", board, BOARD),
    Case("fraud_bootstrap.py", {"history": [f"card {number},10" for number in range(3) for _ in range(20)]},
         UNUSUAL, "payments", lines_of("alerts"), FRAUDS, ("usual", "paid", '"card 0"', [110, 1100])),
]  # fmt: skip
#: Read to their end before the job starts that is killed.
HISTORY = "history"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.program.removesuffix(".py"))
def test_a_scenario_that_is_killed_ends_with_the_same_results(
    case: Case, chance: random.Random, faults: int, tmp_path: Path
) -> None:
    place = Place.new(tmp_path, 1, tmp_path)
    for directory, content in case.before.items():
        add(place.output / directory, *content)
    run = Scenario(place, case.program)
    for directory in case.before:
        if directory != HISTORY:
            wait_until(lambda name=directory: run.records_read(name), f"{directory} are known")  # type: ignore[misc]
    cuts = [part * len(case.records) // (faults + 1) for part in range(faults + 2)]
    for part, (start, end) in enumerate(itertools.pairwise(cuts)):
        add(place.output / case.source, *case.records[start:end])
        if part < faults:
            run.ends_within(chance.uniform(0.0, 1.5))
            run.kill()
            run = Scenario(place, case.program)
    wait_until(lambda: case.results(place.output) == case.expected, "all results are there", 60)
    if case.state is not None:
        uid, name, key, value = case.state
        assert run.ask(f"/state/{uid}/{name}", key=key)["value"] == value
    run.kill()
