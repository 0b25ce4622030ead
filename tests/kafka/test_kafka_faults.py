"""Topic -> windows -> topic, exactly once, whoever is killed: the job, or the broker.

`SCURRY_KILLS` says how many kills of the job (3), `SCURRY_BROKER_KILLS` how many of the broker (1); `SCURRY_SEED`
repeats a run.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from real_kafka import Kafka

import scurry

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

PROGRAM = Path(__file__).parent / "programs" / "count_per_window.py"
KILLS = int(os.environ.get("SCURRY_KILLS", "3"))
BROKER_KILLS = int(os.environ.get("SCURRY_BROKER_KILLS", "1"))
SEED = int(os.environ.get("SCURRY_SEED", str(random.SystemRandom().randrange(10**6))))
GIVE_UP_SECONDS = 240
PARTITIONS, RECORDS, KEYS = 3, 30_000, 7


class Input:
    """A topic of readings, and what the program should make of them."""

    def __init__(self, kafka: Kafka) -> None:
        self.topic = kafka.topic(PARTITIONS)
        numbers = random.Random(1)
        counts: Counter[tuple[str, int]] = Counter()
        for partition in range(PARTITIONS):
            keys = [f"key-{numbers.randrange(KEYS)}" for _ in range(RECORDS // PARTITIONS)]
            kafka.write(self.topic, keys, partition, first_timestamp=1000)
            counts.update((key, (1000 + number) // 1000 * 1000) for number, key in enumerate(keys))
        self.expected = sorted(f"{key},{start},{count}" for (key, start), count in counts.items())


class Run:
    """One start of the program, in a session of its own: driver, JVM and workers."""

    def __init__(self, kafka: Kafka, source: str, target: str, place: Path) -> None:
        self._commits = place / "checkpoints" / "generation-1" / "spark" / "commits"
        self._log = place / "log"
        with open(self._log, "a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "scurry", "run", "-Dscurry.progress=plain", str(PROGRAM), kafka.address,
                 source, target, str(place / "checkpoints")],
                env={**os.environ, "PYTHONPATH": str(Path(scurry.__file__).parents[1])}, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    def batches(self) -> int:
        """Micro-batches committed so far, by earlier runs too."""
        return sum(1 for name in os.listdir(self._commits) if name.isdigit()) if self._commits.is_dir() else 0

    def goes_on_for(self, batches: int, seconds: float) -> bool:
        """Waits until so many more batches are committed, and a moment longer; False if the job ends before."""
        target, give_up = self.batches() + batches, time.monotonic() + GIVE_UP_SECONDS
        while self.batches() < target:
            assert time.monotonic() < give_up, self._log.read_text()[-4000:]
            if self.process.poll() is not None:
                return False
            time.sleep(0.02)
        time.sleep(seconds)
        return self.process.poll() is None

    def kill(self) -> None:
        """SIGKILL to every process, until none is left; workers have process groups of their own."""
        while members := list(self._members()):
            for pid in members:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            time.sleep(0.02)
        self.process.wait()

    def _members(self) -> Iterator[int]:
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                state, _, _, session = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[:4]
            except OSError:
                continue
            if int(session) == self.process.pid and state != "Z":
                yield int(pid)

    def finish(self) -> None:
        try:
            self.process.wait(GIVE_UP_SECONDS)
        finally:
            self.kill()
        assert self.process.returncode == 0, self._log.read_text()[-4000:]


def test_a_killed_job_goes_on_and_every_window_is_there_once(kafka: Kafka, tmp_path: Path) -> None:
    print(f"\nSCURRY_SEED={SEED}")
    source, target, chance = Input(kafka), kafka.topic(2), random.Random(SEED)
    kills, run = 0, Run(kafka, source.topic, target, tmp_path)
    while kills < KILLS:
        if run.goes_on_for(chance.randrange(1, 4), chance.uniform(0, 0.5)):
            run.kill()
            kills += 1
            print(f"kill {kills} after {run.batches()} batches")
            run = Run(kafka, source.topic, target, tmp_path)
        else:  # it was through before it was time: on with another job
            run.finish()
            assert kafka.read(target) == source.expected
            target, tmp_path = kafka.topic(2), tmp_path / "next"
            tmp_path.mkdir()
            run = Run(kafka, source.topic, target, tmp_path)
    run.finish()
    assert kafka.read(target) == source.expected


def test_a_killed_broker_comes_back_and_the_job_has_waited_for_it(kafka: Kafka, tmp_path: Path) -> None:
    print(f"\nSCURRY_SEED={SEED}")
    source, target, chance = Input(kafka), kafka.topic(2), random.Random(SEED)
    run = Run(kafka, source.topic, target, tmp_path)
    for kill in range(BROKER_KILLS):
        assert run.goes_on_for(chance.randrange(1, 4), chance.uniform(0, 0.5))
        kafka.broker.kill()
        print(f"kill {kill + 1} of the broker after {run.batches()} batches")
        time.sleep(chance.uniform(0, 3))
        kafka.broker.start()
    run.finish()
    assert kafka.read(target) == source.expected
