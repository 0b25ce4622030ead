"""A job that writes to a store by key and is killed, or whose store is."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from support.faults.job_directory import Place
from support.faults.job_processes import GIVE_UP_SECONDS, PROGRAMS, Run
from support.faults.programs.to_store import NUMBERS, PER_SECOND, expected

KILLS = int(os.environ.get("SCURRY_KILLS", "20"))
#: A start lives for less than this after it has written something, so that the input lasts for all kills.
PAUSE_SECONDS = min(3.0, NUMBERS / PER_SECOND / KILLS)

Rows = Mapping[int, tuple[int, int]]


class StoreJob:
    """The job and what it has written."""

    def __init__(
        self, directory: Path, options: Mapping[str, str], rows: Callable[[], Rows], runner: str = "local"
    ) -> None:
        """Describe the job.

        Args:
            directory: Of its files.
            options: Of its table.
            rows: Returns what the store has: the count and the sum of each key.
            runner: `local` or `spark`.
        """
        self.place = Place.new(directory, 1, directory)
        self._options, self._rows, self._runner = dict(options), rows, runner

    def start(self) -> Run:
        """Start it, or start it again where it committed last."""
        arguments = [self.place.checkpoints, json.dumps(self._options)]
        return Run(self.place, ["--runner", self._runner], PROGRAMS / "to_store.py", arguments)

    def _count(self) -> int:
        return sum(count for count, _ in self._rows().values())

    def wait_for_some_more(self, run: Run) -> None:
        """Wait until it has written some more."""
        before, give_up = self._count(), time.monotonic() + GIVE_UP_SECONDS
        while self._count() < min(before + 50, NUMBERS) and not run.ends_within(0.05):
            assert time.monotonic() < give_up, self.place.log.read_text()[-4000:]

    def kill_at_random_moments(self, chance: random.Random) -> None:
        """Kill and start it again, until its input has ended; check what it has written."""
        run = self.start()
        for kill in range(KILLS):
            self.wait_for_some_more(run)
            if run.ends_within(chance.uniform(0, PAUSE_SECONDS)):
                break
            run.kill()
            print(f"kill {kill + 1} at {self._count()} numbers")
            run = self.start()
        self.finish(run)

    def kill_the_server(
        self, chance: random.Random, kill: Callable[[], None], start: Callable[[], None], kills: int
    ) -> None:
        """Kill and start the store; start the job again when it gives up; check what it has written."""
        run = self.start()
        for number in range(kills):
            self.wait_for_some_more(run)
            if run.ends_within(chance.uniform(0, PAUSE_SECONDS)):
                break
            kill()
            print(f"kill {number + 1} of the server")
            time.sleep(chance.uniform(0, 1))
            start()
            if run.ends_within(0) and run.process.returncode:
                run = self.start()
        give_up = time.monotonic() + GIVE_UP_SECONDS
        while not run.ends_within(GIVE_UP_SECONDS) or run.process.returncode:
            assert time.monotonic() < give_up, run.story("it does not end well")
            run = self.start()
        self.check()

    def finish(self, run: Run) -> None:
        """Wait for its end, and check what it has written."""
        run.finish()
        self.check()

    def check(self) -> None:
        """Every key has the count and the sum of all its numbers."""
        assert dict(self._rows()) == expected()
