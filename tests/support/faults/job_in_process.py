"""The job in this process, on one Spark session, started again and again."""

from __future__ import annotations

import os
import time
from concurrent.futures import TimeoutError as StillRunning
from typing import Any

from scurry.errors import JobCancelledError
from scurry.runtime.driver.client import RunningJob
from support.faults.failing_sink import FailingSink
from support.faults.job_directory import Place
from support.faults.programs.windows_and_counts import build, environment

GIVE_UP_SECONDS = 300

SETTINGS = {
    # tasks are repeated, as on a cluster; on a local master they are not unless it is told how often they may fail
    "spark.master": f"local[{(os.cpu_count() or 1) + 3},8]",
    # snapshots of state every few batches, so that there are some to damage
    "spark.sql.streaming.stateStore.maintenanceInterval": "1s",
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "3",
    "scurry.batch.max-bytes": "9000",
}


class Attempt:
    """One start of the job; its counts have `state_bytes` of state for each sensor."""

    def __init__(
        self, place: Place, settings: dict[str, str] | None = None, parallelism: int = 2, state_bytes: int = 0
    ) -> None:
        env = environment(str(place.checkpoints), SETTINGS | (settings or {}))
        env.set_parallelism(parallelism)
        counts = build(env, str(place.readings), str(place.output), state_bytes)
        counts.sink_to(FailingSink(str(place.fuse)))
        client = env.execute_async("windows and counts")
        assert isinstance(client, RunningJob)
        self.client = client

    @property
    def batches(self) -> int:
        """Batches it has committed."""
        return self.client.execution.totals.batches

    @property
    def notes(self) -> list[str]:
        """What it told the user."""
        return list(self.client.execution.log.notes)

    def ends_within(self, seconds: float) -> bool:
        try:
            self.client._future.exception(seconds)
        except StillRunning:
            return False
        return True

    def error(self) -> BaseException | None:
        """Waits for the end; what made the job fail, None if nothing did or it was cancelled."""
        assert self.ends_within(GIVE_UP_SECONDS), "the job neither ends nor fails"
        error = self.client._future.exception()
        return None if isinstance(error, JobCancelledError) else error

    def wait_for(self, batches: int) -> bool:
        """Waits until it has committed so many batches; False if it ended before."""
        give_up = time.monotonic() + GIVE_UP_SECONDS
        while self.batches < batches:
            assert time.monotonic() < give_up, "the job does not get on"
            if self.ends_within(0.01):
                return False
        return not self.client._future.done()

    def cancel(self) -> None:
        """Stops it between two batches."""
        self.client.cancel().result()

    def crash(self) -> None:
        """Stops it in the midst of a batch."""
        while not self.ends_within(0.02):
            spark_context().cancelAllJobs()


def spark_context() -> Any:
    """The context of the session all attempts share."""
    from pyspark import SparkContext

    return SparkContext._active_spark_context
