"""A job that writes numbers into a database exactly once, and is killed, or whose server is."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from typing import Any

from support.faults.failing_sink import fail_after
from support.faults.job_directory import Place
from support.faults.job_processes import GIVE_UP_SECONDS, PROGRAMS, Run
from support.faults.programs.to_database import KEYS, NUMBERS, PER_SECOND

KILLS = int(os.environ.get("SCURRY_KILLS", "20"))
SERVER_KILLS = min(3, KILLS)
#: After a start has committed something it lives for less than this, so that the input lasts for all kills.
PAUSE_SECONDS = NUMBERS / PER_SECOND / KILLS / 2
ENDED = "the input has ended too early"
PROGRAM = PROGRAMS / "to_database.py"
#: The table; statements insert into all of its columns.
CREATE = "CREATE TABLE target (number integer, its_key integer, count integer, text text)"
SELECT = "SELECT number, its_key, count FROM target ORDER BY number, count"


class DatabaseJob:
    """The job and what it has written."""

    def __init__(
        self, place: Place, server: Any, login: tuple[str, str], query: Callable[[str], list[Any]], runner: str
    ) -> None:
        """Describe the job.

        Args:
            place: Its directory.
            server: The server, which is killed.
            login: The URL and the user; the password is in SCURRY_TEST_PASSWORD.
            query: Returns the rows of a query.
            runner: The runner.
        """
        self.place = place
        self.server = server
        self.login = login
        self.query = query
        self.runner = runner

    def start(self, parallelism: int = 2) -> Run:
        """Starts it, or starts it again where it committed last."""
        arguments = [self.place.checkpoints, *self.login, self.place.fuse]
        return Run(self.place, ["-p", str(parallelism), "--runner", self.runner], PROGRAM, arguments)

    def rows(self) -> list[tuple[int, int, int]]:
        return self.query(SELECT)

    def wait_for_some_more(self, run: Run) -> None:
        """Until it is well past its first batch, which holds a record or two."""
        rows = len(self.rows()) + 200
        give_up = time.monotonic() + GIVE_UP_SECONDS
        while len(self.rows()) <= rows and not run.ends_within(0.05):
            assert time.monotonic() < give_up, self.place.log.read_text()[-4000:]

    def check(self) -> None:
        """Every number is there once, with the count that its key had come to."""
        found = self.rows()
        assert [number for number, _, _ in found] == list(range(NUMBERS))
        for key in range(KEYS):
            counts = sorted(count for _, its_key, count in found if its_key == key)
            assert counts == list(range(1, len(counts) + 1))

    def survives_kills_at_random_moments(self, chance: random.Random) -> None:
        """Kill it, and start it again with another parallelism."""
        run = self.start()
        for kill in range(KILLS):
            self.wait_for_some_more(run)
            assert not run.ends_within(chance.uniform(0, PAUSE_SECONDS)), run.story(ENDED)
            run.kill()
            print(f"kill {kill + 1} at {len(self.rows())} rows")
            run = self.start(parallelism=chance.randint(1, 3))
        run.finish()
        self.check()

    def survives_kills_between_the_commits(self, chance: random.Random) -> None:
        """Kill it when the database has committed, and the engine has not."""
        for kill in range(KILLS):
            fail_after(self.place.fuse, chance.randrange(6), "kill")
            run = self.start()
            assert run.ends_within(GIVE_UP_SECONDS)
            if run.process.returncode == 0:
                assert kill >= KILLS / 2, ENDED
                break
            assert run.process.returncode == -signal.SIGKILL, self.place.log.read_text()[-4000:]
            run.kill()  # what the driver has left behind
            print(f"kill {kill + 1} at {len(self.rows())} rows, after {len(self.place.batches())} batches")
        self.place.fuse.unlink(missing_ok=True)
        self.start().finish()
        self.check()

    def survives_kills_of_the_server(self, chance: random.Random) -> None:
        """Kill the server, and start it again within a second."""
        run = self.start()
        for kill in range(SERVER_KILLS):
            self.wait_for_some_more(run)
            if run.ends_within(chance.uniform(0, PAUSE_SECONDS)):  # what came while the server was away is one batch
                assert kill, ENDED
                break
            self.server.kill()
            time.sleep(chance.uniform(0, 1))
            self.server.start()
            print(f"kill {kill + 1} of the server at {len(self.rows())} rows")
        run.finish()
        self.check()
