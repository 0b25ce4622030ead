"""The log says what happened to a job, and who asked for it."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Types
from scurry.common.job_client import REQUESTER
from scurry.connectors.datagen import DataGeneratorSource
from scurry.datastream import OutputTag, RuntimeExecutionMode, StreamExecutionEnvironment
from scurry.errors import ConfigError, JobError
from scurry.graph.plan import JobPlan
from scurry.graph.settings import JobSettings
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.source_coordinator import SourceCoordinator
from scurry.runtime.progress import ProgressDisplay


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, "scurry")
    return caplog


def environment(**settings: str) -> StreamExecutionEnvironment:
    keys = {key.replace("__", "-").replace("_", "."): value for key, value in settings.items()}
    configuration = Configuration.from_dict({"scurry.runner": "local", "parallelism.default": "2", **keys})
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_runtime_mode(RuntimeExecutionMode.STREAMING)
    return env


def fail(value: int) -> int:
    raise ValueError("amqp://joe:xzy7w@host is gone")


@pytest.fixture
def endless() -> Iterator[Any]:
    """A job that counts for ever, once it has begun."""
    env = environment()
    numbers = env.from_source(DataGeneratorSource(int, records_per_second=500), None, "numbers")
    numbers.key_by(lambda n: n % 4, Types.LONG()).reduce(lambda a, b: a + b).filter(lambda _: False).print()
    client: Any = env.execute_async("endless")
    while not client.execution.totals.batches:
        time.sleep(0.01)
    yield client
    client.cancel().result()


def events(logged: pytest.LogCaptureFixture) -> dict[str, logging.LogRecord]:
    return {vars(record)["event"]: record for record in logged.records if record.name.startswith("scurry.")}


def test_a_job_starts_and_finishes(logged: pytest.LogCaptureFixture) -> None:
    env = environment()
    env.from_collection([1, 2, 3]).filter(lambda _: False).print()
    env.execute("orders")
    found = events(logged)
    assert found["started"].getMessage().startswith("orders: started: STREAMING in this process, parallelism 2, id ")
    assert found["finished"].getMessage().startswith("orders: finished after ")
    assert found["finished"].getMessage().endswith("3 records in, 0 out")
    assert {record.name for record in found.values()} == {"scurry.job"}


def test_it_is_silent_unless_the_program_wants_to_know(capfd: pytest.CaptureFixture[str]) -> None:
    env = environment(restart__strategy_type="none")
    env.from_collection([1]).map(fail).print()
    with pytest.raises(JobError):
        env.execute("orders")
    assert capfd.readouterr().err == ""


def test_restarts_and_failures_have_their_reason(logged: pytest.LogCaptureFixture) -> None:
    env = environment(restart__strategy_type="fixed-delay", restart__strategy_fixed__delay_delay="1 ms")
    env.from_collection([1]).map(fail).print()
    with pytest.raises(JobError):
        env.execute("orders")
    restarted, failed = events(logged)["restarted"], events(logged)["failed"]
    assert (restarted.levelname, failed.levelname) == ("WARNING", "ERROR")
    assert restarted.getMessage().startswith("orders: failed, restart 1 in 0.001 s (fixed-delay")
    for record in (restarted, failed):
        assert "ValueError: amqp://joe:******@host is gone" in record.getMessage()


def test_savepoints_have_path_size_and_duration(endless: Any, logged: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    path = endless.trigger_savepoint(str(tmp_path)).result()
    begun, taken = (events(logged)[f"savepoint {what}"] for what in ("begun", "taken"))
    assert begun.getMessage() == f"endless: taking the savepoint {path}, requested by the program"
    size = sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())
    assert taken.getMessage().startswith(f"endless: savepoint taken: {path} ({size / 1000:.0f} kB in ")
    assert taken.name == "scurry.savepoint"


def test_rescaling_is_logged_and_the_time_of_the_job_goes_on(endless: Any, logged: pytest.LogCaptureFixture) -> None:
    started = endless.execution.started
    endless.rescale(3).result()
    batches = endless.execution.totals.batches
    while endless.execution.totals.batches == batches:
        time.sleep(0.01)
    assert events(logged)["rescaled"].getMessage().startswith("endless: rescaled from 2 to 3 subtasks in ")
    assert endless.execution.started == started


def test_who_stopped_a_job_is_in_log_and_summary(endless: Any, logged: pytest.LogCaptureFixture) -> None:
    token = REQUESTER.set("a REST client at 127.0.0.1")
    endless.cancel().result()
    REQUESTER.reset(token)
    endless.cancel()  # too late to have been the one
    assert (
        "cancelling at the next end of a batch, requested by a REST client" in events(logged)["cancelling"].getMessage()
    )
    assert "canceled by a REST client at 127.0.0.1 after" in events(logged)["canceled"].getMessage()
    assert "endless: stopped by a REST client at 127.0.0.1 after" in ProgressDisplay(endless.execution).summary()


def test_dead_letters_are_logged_once_a_minute(logged: pytest.LogCaptureFixture) -> None:
    env = environment(scurry_batch_max__records="5")
    stream = env.from_collection(list(range(20)), Types.LONG()).map(fail, Types.LONG()).name("check")
    stream = stream.with_dead_letters(OutputTag("dead"))
    stream.print()
    env.execute("orders")
    (record,) = (record for record in logged.records if vars(record)["event"] == "dead letters")
    assert record.levelname == "WARNING" and "of 'check' so far" in record.getMessage()


def test_a_slow_micro_batch_is_logged_once_a_minute(logged: pytest.LogCaptureFixture) -> None:
    coordinator = SourceCoordinator(JobExecution(JobPlan(JobSettings("orders", 1))), ())
    for seconds in (29, 31, 32):
        coordinator.batch_took(seconds)
    (record,) = logged.records
    assert record.getMessage().startswith("orders: a micro-batch took 31 s, where 5 s are aimed at")


class TestFile:
    def test_everything_is_appended_to_it(self, tmp_path: Path) -> None:
        file = tmp_path / "jobs.log"
        for name in ("orders", "flights"):
            env = environment(scurry_log_file=str(file))
            env.from_collection([1]).filter(lambda _: False).print()
            env.execute(name)
        lines = file.read_text().splitlines()
        told = [line.split(" ", 2)[2].split(":")[:3] for line in lines]
        assert [[part.split()[0] for part in one] for one in told] == [
            ["INFO", name, event] for name in ("orders", "flights") for event in ("started", "finished")
        ]

    def test_a_full_one_is_renamed_and_few_of_those_are_kept(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("scurry.runtime.driver.job_log.LOG_BYTES", 100)
        monkeypatch.setattr("scurry.runtime.driver.job_log.EARLIER_LOGS", 2)
        for name in ("a", "b", "c"):
            env = environment(scurry_log_file=str(tmp_path / "jobs.log"))
            env.from_collection([1]).filter(lambda _: False).print()
            env.execute(name)
        assert sorted(file.name for file in tmp_path.iterdir()) == ["jobs.log", "jobs.log.1", "jobs.log.2"]
        assert "c: finished" in (tmp_path / "jobs.log").read_text()

    def test_one_that_cannot_be_written_is_an_error_before_the_job_starts(self, tmp_path: Path) -> None:
        env = environment(scurry_log_file=str(tmp_path / "nowhere" / "jobs.log"))
        env.from_collection([1]).print()
        with pytest.raises(ConfigError, match=r"scurry\.log\.file = .* cannot be written: No such file"):
            env.execute()
