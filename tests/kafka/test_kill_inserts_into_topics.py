"""A streaming INSERT of SQL into topics that is killed: every row is there once.

`SCURRY_KILLS` says how many kills (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.faults.job_directory import Place
from support.faults.sql_inserts import NUMBERS, kill_often, script, write_numbers
from support.kafka.broker import Kafka
from support.kafka.killed_job import count

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]


@pytest.mark.parametrize("runner", [pytest.param("spark", marks=pytest.mark.in_turn), "local"])
def test_inserts_into_topics(runner: str, kafka: Kafka, tmp_path: Path) -> None:
    chance = random.Random(int(os.environ.get("SCURRY_SEED", str(random.SystemRandom().randrange(10**6)))))
    numbers = write_numbers(tmp_path / "numbers")
    topics: dict[Path, str] = {}

    def sinks(place: Place) -> Mapping[str, str]:
        topics[place.root] = kafka.topic(2)
        return {
            "topic": f") WITH ('connector' = 'kafka', 'topic' = '{topics[place.root]}', 'format' = 'json', "
            f"'properties.bootstrap.servers' = '{kafka.address}', 'sink.delivery-guarantee' = 'exactly-once', "
            f"'sink.transactional-id-prefix' = '{place.root.name}')"
        }

    def check(place: Place) -> None:
        found = [json.loads(value) for value in kafka.read(topics[place.root])]
        assert sorted((row["n"], row["p"]) for row in found) == [(number, f"p{number % 2}") for number in NUMBERS]

    def program(place: Place) -> Path:
        return script(place, sinks(place))

    kills = count("SCURRY_KILLS", 20)
    kill_often(lambda n: Place.new(tmp_path, n, numbers), program, check, kills, chance, runner=runner)
