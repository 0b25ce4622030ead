"""Readings for `programs/count_per_window.py`, and its runs, which can be killed."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from support.faults.job_directory import Place
from support.faults.job_processes import GIVE_UP_SECONDS, Run
from support.kafka.broker import Kafka

PROGRAM = Path(__file__).parent / "programs" / "count_per_window.py"
PARTITIONS, KEYS = 3, 7
#: milliseconds between two readings of a partition
STEP = 10


class Readings:
    """Readings in a topic, which is filled bit by bit, and what the program should make of all of them."""

    def __init__(self, kafka: Kafka, per_partition: int) -> None:
        self.topic = kafka.topic(PARTITIONS)
        self.per_partition = per_partition
        self._kafka = kafka
        self._numbers = random.Random(1)
        self._written = 0
        self._counts: Counter[tuple[str, int]] = Counter()

    @property
    def ends(self) -> str:
        return ",".join(f"{partition}:{self.per_partition}" for partition in range(PARTITIONS))

    @property
    def now(self) -> int:
        """The time of the next reading."""
        return 1000 + self._written * STEP

    def write(self, number: int) -> list[str]:
        """Adds so many to every partition, and returns them."""
        number = min(number, self.per_partition - self._written)
        times = [self.now + step * STEP for step in range(number)]
        self._written += number
        every = []
        for partition in range(PARTITIONS):
            values = [f"{at},key-{self._numbers.randrange(KEYS)}" for at in times]
            for value in values:
                at, _, key = value.partition(",")
                self._counts[key, int(at) // 1000 * 1000] += 1
            self._kafka.write(self.topic, values, partition, first_timestamp=times[0] if times else 0, step=STEP)
            every += values
        return sorted(every, key=lambda value: int(value.partition(",")[0]))

    def write_the_rest(self) -> None:
        self.write(self.per_partition)

    @property
    def expected(self) -> list[str]:
        return sorted(f"{key},{start},{count}" for (key, start), count in self._counts.items())


@dataclass
class KilledJob:
    """The job and what it has written.

    Attributes:
        place: Where its checkpoints are.
        arguments: Of the program.
        options: Of `scurry run`.
        program: The program.
    """

    place: Place
    arguments: list[str]
    options: list[str]
    program: Path = PROGRAM

    def start(self) -> Run:
        """Starts it, or starts it again where it committed last."""
        return Run(self.place, self.options, self.program, self.arguments)

    def goes_on_for(self, run: Run, batches: int, seconds: float) -> bool:
        """Waits until so many more batches are committed, and a moment longer; False if the job ends before."""
        target, give_up = len(self.place.batches()) + batches, time.monotonic() + GIVE_UP_SECONDS
        while len(self.place.batches()) < target:
            assert time.monotonic() < give_up, self.place.log.read_text()[-4000:]
            if run.ends_within(0.02):
                return False
        return not run.ends_within(seconds)


def count(name: str, otherwise: int) -> int:
    """How many of something the environment asks for."""
    return int(os.environ.get(name, otherwise))
