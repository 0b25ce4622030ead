"""A program of streams and tables with state in each part, killed while it writes into a topic: every row once.

`SCURRY_KILLS` says how many kills (2, at night 20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from support.faults.job_directory import Place
from support.faults.job_processes import Run
from support.faults.sql_inserts import NUMBERS, goes_on, write_numbers
from support.kafka.broker import Kafka
from support.kafka.killed_job import count

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]
PROGRAM = Path(__file__).parent.parent / "support" / "kafka" / "programs" / "streams_and_tables.py"
GROUPS = 8


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.nightly)])
def test_streams_and_tables_into_a_topic(kills: int, kafka: Kafka, tmp_path: Path) -> None:
    chance = random.Random(int(os.environ.get("SCURRY_SEED", str(random.SystemRandom().randrange(10**6)))))
    numbers = write_numbers(tmp_path / "numbers")
    killed = number = 0
    while killed < count("SCURRY_KILLS", kills):
        number += 1
        place, topic = Place.new(tmp_path, number, numbers), kafka.topic(2)
        start = starting(place, [numbers, place.checkpoints, kafka.address, topic, f"job-{number}"])
        run = start()
        while killed < count("SCURRY_KILLS", kills):
            if not goes_on(run, lambda place: len(place.batches())) or run.ends_within(chance.uniform(0, 0.5)):
                break
            run.kill()
            killed += 1
            print(f"job {number}: kill {killed} after {len(place.batches())} batches", flush=True)
            run = start()
        run.finish()
        check([json.loads(value) for value in kafka.read(topic)])


def starting(place: Place, arguments: list[object]) -> Callable[[], Run]:
    return lambda: Run(place, program=PROGRAM, arguments=arguments)


def check(found: list[dict[str, int]]) -> None:
    """Each group was counted from 1, by every part of the program, and no count is missing or there twice."""
    expected = [
        (group, number, number * (number + 1) // 2, number)
        for group in range(GROUPS)
        for number in range(1, len(NUMBERS[group::GROUPS]) + 1)
    ]
    assert sorted((row["k"], row["c"], row["s"], row["u"]) for row in found) == expected
