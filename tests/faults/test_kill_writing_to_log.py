"""Inserts into topics of a log that are killed leave every row once, and readers see whole micro-batches only.

`SCURRY_KILLS` says how many kills (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from scurry.datastream.connectors.log import FileLog
from support.faults.job_directory import Place
from support.faults.sql_inserts import NUMBERS, kill_often, script, write_numbers

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]


def tables(place: Place) -> Mapping[str, str]:
    return {
        name: f") WITH ('connector' = 'log', 'path' = '{place.output}', 'topic' = '{name}', 'format' = 'json', "
        f"'num.partitions' = '{partitions}', 'segment.bytes' = '20000', 'sink.delivery-guarantee' = 'exactly-once')"
        for name, partitions in (("narrow", 1), ("wide", 3))
    }


def check(place: Place) -> None:
    log = FileLog(str(place.output))
    for name in ("narrow", "wide"):
        found = [json.loads(record.value or b"") for record in log.read(name)]
        assert sorted((row["n"], row["p"]) for row in found) == [(number, f"p{number % 2}") for number in NUMBERS]
    assert not list(place.output.glob("staged/*/*")), "files of failed attempts are left"


def size(place: Place) -> int:
    """Return what the log's next commit changes, in the midst of the job's."""
    catalog = place.output / "catalog"
    return catalog.stat().st_mtime_ns if catalog.exists() else 0


@pytest.mark.parametrize("runner", ["local", pytest.param("spark", marks=pytest.mark.nightly)])
def test_inserts_into_a_log(runner: str, chance: random.Random, faults: int, tmp_path: Path) -> None:
    numbers = write_numbers(tmp_path / "numbers")
    kill_often(
        lambda number: Place.new(tmp_path, number, numbers),
        lambda place: script(place, tables(place)),
        check,
        faults,
        chance,
        first_sign=size,
        runner=runner,
    )
