"""A job that writes to a store by key and is killed, or whose store is."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from support.faults.job_directory import Place
from support.faults.job_processes import GIVE_UP_SECONDS, PROGRAMS, SPARK, Run
from support.faults.programs.to_store import NUMBERS, PER_SECOND, expected

KILLS = int(os.environ.get("SCURRY_KILLS", "20"))
#: A start lives for less than this after it has written something, so that the input lasts for all kills.
PAUSE_SECONDS = NUMBERS / PER_SECOND / KILLS / 2

Rows = Mapping[int, tuple[int, int]]


class StoreJob:
    """The job and what it has written."""

    def __init__(
        self,
        directory: Path,
        options: Mapping[str, str],
        rows: Callable[[], Rows],
        runner: str = "local",
        written: str = "sums",
    ) -> None:
        """Describe the job.

        Args:
            directory: Of its files.
            options: Of its table.
            rows: Returns what the store has: the count and the sum of each key.
            runner: `local` or `spark`.
            written: `sums` by key, or `numbers` for a store that only takes rows.
        """
        self.place = Place.new(directory, 1, directory)
        self._options, self._rows, self._runner, self._written = dict(options), rows, runner, written

    def start(self) -> Run:
        """Start it, or start it again where it committed last."""
        arguments = [self.place.checkpoints, json.dumps(self._options), self._written]
        options = SPARK if self._runner == "spark" else ["--runner", self._runner]
        return Run(self.place, options, PROGRAMS / "to_store.py", arguments)

    def _count(self) -> int:
        return sum(count for count, _ in self._rows().values())

    def wait_for_some_more(self, run: Run) -> None:
        """Wait until it has written some more."""
        before, give_up = self._count(), time.monotonic() + GIVE_UP_SECONDS
        while self._count() < min(before + 50, NUMBERS) and not run.ends_within(0.05):
            assert time.monotonic() < give_up, self.place.log.read_text()[-4000:]

    def kill_at_random_moments(self, chance: random.Random) -> None:
        """Kill and start it again, until its input has ended; check what it has written.

        On Spark every third kill is one of a worker alone, which the job does not notice.
        """
        run, begin, kills = self.start(), time.monotonic(), 0
        for number in range(KILLS):
            self.wait_for_some_more(run)
            assert not run.ends_within(chance.uniform(0, PAUSE_SECONDS)), run.story("the input has ended too early")
            one = number % 3 == 2 and run.kill_a_worker(chance)
            if not one:
                run.kill()
            kills += 1
            print(f"kill {kills} {'of a worker' if one else 'of all'} at {self._count()} numbers", flush=True)
            run = run if one else self.start()
        self.finish(run)
        print(f"{self._options['connector']} on {self._runner}: {kills} kills in {time.monotonic() - begin:.0f} s")

    def kill_the_server(
        self, chance: random.Random, kill: Callable[[], None], start: Callable[[], None], kills: int
    ) -> None:
        """Kill and start the store; start the job again when it gives up; check what it has written."""
        run, begin, killed = self.start(), time.monotonic(), 0
        for _ in range(kills):
            self.wait_for_some_more(run)
            if run.ends_within(chance.uniform(0, PAUSE_SECONDS)):
                break
            kill()
            killed += 1
            print(f"kill {killed} of the server at {time.monotonic() - begin:.0f} s", flush=True)
            time.sleep(chance.uniform(0, 1))
            start()
            if run.ends_within(0) and run.process.returncode:
                run = self.start()
        give_up = time.monotonic() + GIVE_UP_SECONDS
        while not run.ends_within(GIVE_UP_SECONDS) or run.process.returncode:
            assert time.monotonic() < give_up, run.story("it does not end well")
            run = self.start()
        self.check()
        seconds = time.monotonic() - begin
        print(f"{self._options['connector']} on {self._runner}: {killed} kills of the server in {seconds:.0f} s")
        assert killed, "the input has ended too early"

    def finish(self, run: Run) -> None:
        """Wait for its end, and check what it has written."""
        run.finish()
        self.check()

    def check(self) -> None:
        """Every key has the count and the sum of all its numbers."""
        assert dict(self._rows()) == expected()
