"""A job without a thread of its own: whoever has its steps takes them, and waits between them."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from scurry.common import Configuration, Types
from scurry.common.job_status import JobStatus
from scurry.datastream import StreamExecutionEnvironment
from scurry.runtime.clock import Clock
from scurry.runtime.driver.client import RunningJob
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.steps import Steps
from scurry.runtime.local.runner import LocalRunner
from scurry.testing import job_plan_of

THREE_TIMES = {
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "3",
    "restart-strategy.fixed-delay.delay": "1 h",
}


class StillClock(Clock):
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def wall(self) -> float:
        return self.now

    def wall_ms(self) -> int:
        return int(self.now * 1000)


def started(
    settings: dict[str, str], clock: Clock | None = None, failures: list[Path] | None = None
) -> tuple[RunningJob, Steps[None]]:
    def checked(number: int) -> int:
        for path in failures or ():
            if path.exists():
                path.unlink()
                raise ValueError(path.name)
        return number

    configuration = Configuration.from_dict({"parallelism.default": "2", "scurry.runner": "local", **settings})
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    numbers = env.from_collection(list(range(10)), Types.INT())
    numbers.map(checked, Types.INT()).key_by(lambda n: n % 3).reduce(max).print()
    job, taken = JobExecution(job_plan_of(env, "numbers"), clock=clock), list[Steps[None]]()
    client = RunningJob(job, LocalRunner(threads=False), taken.append)
    return client, taken[0]


def run(steps: Steps[None], clock: StillClock | None = None) -> list[float]:
    waits = []
    for wait in steps:
        waits.append(wait.seconds)
        if clock is not None:
            clock.now += wait.seconds
    return waits


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_nothing_happens_before_the_first_step_and_no_step_needs_a_thread(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []
    monkeypatch.setattr(threading.Thread, "start", threads.append)
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("a step has slept"))
    client, steps = started({"execution.runtime-mode": mode})
    assert client.execution.totals.batches == 0
    run(steps)
    assert client.get_job_status().result() == JobStatus.FINISHED
    assert not threads
    assert client.execution.totals.records_in == 10


def test_a_step_submits_one_batch_at_most() -> None:
    client, steps = started({"scurry.batch.max-records": "1"})
    committed = [client.execution.totals.batches for _ in steps]
    assert committed[-1] >= 5
    assert all(after - before <= 1 for before, after in zip(committed, committed[1:], strict=False))


def test_who_takes_the_steps_waits_for_restarts_on_the_clock_of_the_job(tmp_path: Path) -> None:
    failures, clock = [tmp_path / "first", tmp_path / "second"], StillClock()
    for failure in failures:
        failure.touch()
    client, steps = started(THREE_TIMES, clock, failures)
    started_at = time.monotonic()
    waits = run(steps, clock)
    assert [seconds for seconds in waits if seconds > 1] == [3600.0, 3600.0]
    assert time.monotonic() - started_at < 60
    assert client.get_job_status().result() == JobStatus.FINISHED
    assert [failure.timestamp_ms for failure in client.execution.failures] == [1_000_000, 4_600_000]


def test_a_job_that_waits_for_a_restart_ends_when_it_is_cancelled(tmp_path: Path) -> None:
    (tmp_path / "once").touch()
    client, steps = started(THREE_TIMES, StillClock(), [tmp_path / "once"])
    for wait in steps:
        if wait.seconds > 1:
            client.cancel()
    assert client.get_job_status().result() == JobStatus.CANCELED


def test_requests_are_answered_between_steps(tmp_path: Path) -> None:
    client, steps = started({"scurry.batch.max-records": "2", "state.savepoints.dir": str(tmp_path)})
    next(steps)
    asked = client.trigger_savepoint()
    next(steps)
    assert Path(asked.result()).is_dir()
    rescaled = client.rescale(1)
    run(steps)
    assert rescaled.result() is None
    assert client.execution.plan.settings.parallelism == 1


def test_closing_the_steps_releases_the_checkpoint_directory(tmp_path: Path) -> None:
    settings = {"execution.checkpointing.dir": str(tmp_path), "scurry.batch.max-records": "2"}
    _, steps = started(settings)
    next(steps)
    next(steps)
    steps.close()
    client, steps = started(settings)
    run(steps)
    assert client.get_job_status().result() == JobStatus.FINISHED
    assert client.execution.restored_checkpoints == 1
