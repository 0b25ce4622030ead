"""In-process jobs with a checkpoint directory: whenever they die, the next start goes on where they were."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.common.job_status import JobStatus
from scurry.connectors.files.writing.committer import FileCommitter
from scurry.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from scurry.datastream.connectors import DataGeneratorSource
from scurry.datastream.connectors.number_seq import NumberSequenceSource
from scurry.errors import (
    CheckpointMismatchError,
    JobError,
)
from scurry.runtime.checkpoint.storage import force_to_disk
from scurry.runtime.local.checkpoints import LocalCheckpoints
from scurry.runtime.local.database import CheckpointDatabase
from support.faults.job_directory import FILES, Place, Results, write_readings
from support.faults.programs.windows_and_counts import build, environment, write
from support.held_source import HeldSource, hold_at

LINES = 60


class DiedError(Exception):
    """The job was told to die here."""


def run(place: Place, program: Callable[..., Any] = build, settings: dict[str, str] | None = None) -> Any:
    """Starts the job, or starts it again."""
    configured = {"scurry.runner": "local", "scurry.batch.max-bytes": "1000", **(settings or {})}
    env = environment(str(place.checkpoints), configured)
    program(env, str(place.readings), str(place.output))
    return env.execute("windows and counts")


@pytest.fixture(scope="module")
def readings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_readings(tmp_path_factory.mktemp("readings"), LINES)


@pytest.fixture(scope="module")
def expected(readings: Path, tmp_path_factory: pytest.TempPathFactory) -> Results:
    place = Place.new(tmp_path_factory.mktemp("undisturbed"), 0, readings)
    run(place)
    results = place.results()
    assert len(results["counts"]) == FILES * LINES and results["totals"]
    return results


@pytest.fixture
def place(readings: Path, tmp_path: Path) -> Place:
    return Place.new(tmp_path, 1, readings)


def die_at(monkeypatch: pytest.MonkeyPatch, owner: type, method: str, calls: int, *, done: bool) -> None:
    """Lets the job die at a call after so many others, before or after it has done its work."""
    original, left = getattr(owner, method), [calls]

    def dying(self: Any, *args: Any, **kwargs: Any) -> Any:
        left[0] -= 1
        if left[0] < 0 and not done:
            raise DiedError
        result = original(self, *args, **kwargs)
        if left[0] < 0:
            raise DiedError
        return result

    monkeypatch.setattr(owner, method, dying)


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    ("owner", "method", "calls"),
    [
        (LocalCheckpoints, "save", 1),
        (LocalCheckpoints, "committed", 1),
        (FileCommitter, "commit", 3),
        (FileCommitter, "commit", 4),
        (FileCommitter, "commit", 5),
    ],
    ids=["the checkpoint", "the note of the commit", "the first sink", "the second sink", "the third sink"],
)
def test_every_record_is_written_once_though_each_start_dies_at_a_step_of_its_second_batch(
    owner: type, method: str, calls: int, done: bool, place: Place, expected: Results
) -> None:
    deaths = 0
    while True:
        with pytest.MonkeyPatch.context() as patch:
            die_at(patch, owner, method, calls, done=done)
            try:
                run(place)
                break
            except JobError as error:
                assert "DiedError" in str(error)
                deaths += 1
    assert deaths > 3
    assert place.results() == expected


def test_a_restart_in_the_same_process_commits_what_its_sinks_had_not(
    place: Place, expected: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails = [False, False, False, False, True, False, False, True]
    original = FileCommitter.commit

    def commit(self: Any, batch_id: int, committables: Any) -> None:
        if fails and fails.pop(0):
            raise ConnectionError("told to fail")
        original(self, batch_id, committables)

    monkeypatch.setattr(FileCommitter, "commit", commit)
    strategy = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "2",
                "restart-strategy.fixed-delay.delay": "1 ms"}  # fmt: skip
    result = run(place, settings=strategy)
    assert place.results() == expected
    assert result.get_metrics()["readings.numRecordsOut"] == FILES * LINES  # counted once each


def test_a_finished_job_that_is_started_again_ends_at_once(
    place: Place, expected: Results, capfd: pytest.CaptureFixture[str]
) -> None:
    run(place)
    run(place)
    assert place.results() == expected


def die_in_the_middle(place: Place) -> None:
    with pytest.MonkeyPatch.context() as patch:
        die_at(patch, LocalCheckpoints, "save", 3, done=True)
        with pytest.raises(JobError):
            run(place)


@pytest.mark.parametrize("parallelism", [1, 3, 8])
def test_it_goes_on_with_another_parallelism(parallelism: int, place: Place, expected: Results) -> None:
    die_in_the_middle(place)

    def wider(env: StreamExecutionEnvironment, source: str, output: str) -> None:
        env.set_parallelism(parallelism)
        build(env, source, output)

    run(place, wider)
    assert place.results()["counts"] == expected["counts"]


def test_a_death_while_state_is_moved_to_another_parallelism_loses_nothing(
    place: Place, expected: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scurry.runtime.savepoint.restore.Restore.batches.__defaults__", (1, 1))  # one group per batch

    def as_wide_as(parallelism: int) -> Callable[..., Any]:
        def program(env: StreamExecutionEnvironment, source: str, output: str) -> None:
            env.set_parallelism(parallelism)
            build(env, source, output)

        return program

    die_in_the_middle(place)
    for number, parallelism in enumerate([1, 1, 3, 3]):
        with pytest.MonkeyPatch.context() as patch:
            die_at(patch, LocalCheckpoints, "save", number % 2, done=True)
            with pytest.raises(JobError):
                run(place, as_wide_as(parallelism))
    run(place, as_wide_as(3))
    assert place.results()["counts"] == expected["counts"]
    assert not list(place.checkpoints.glob("origin-*"))


def test_the_rest_of_a_sink_that_the_program_no_longer_has_is_not_dropped(place: Place, expected: Results) -> None:
    with pytest.MonkeyPatch.context() as patch:
        die_at(patch, FileCommitter, "commit", 3, done=False)
        with pytest.raises(JobError):
            run(place)

    def without_sinks(env: StreamExecutionEnvironment, *args: str) -> None:
        write(env.from_collection(["x"], Types.STRING()), f"{args[1]}/other")

    with pytest.raises(JobError, match="has state of|holds state of|the program has no such sinks"):
        run(place, without_sinks)
    run(place)
    assert place.results() == expected


def test_the_interval_of_checkpoints_is_kept(tmp_path: Path) -> None:
    settings = {"scurry.runner": "local", "execution.checkpointing.dir": str(tmp_path / "ck"),
                "execution.checkpointing.interval": "300 ms"}  # fmt: skip
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    numbers = DataGeneratorSource(lambda index: index, 100, 100, Types.LONG())  # a second's worth
    env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").print()
    client = env.execute_async()
    client.get_job_execution_result().result()
    began = [one.trigger_timestamp_ms for one in client.checkpoints()]  # type: ignore[attr-defined]
    # A busy machine delays single ones, and the next is due when it would have been.
    assert 1 < len(began) <= (began[-1] - began[0]) / 300 + 2


def test_it_is_rescaled_while_it_runs(tmp_path: Path) -> None:
    settings = {"scurry.runner": "local", "execution.checkpointing.dir": str(tmp_path / "ck"),
                "parallelism.default": "2"}  # fmt: skip
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    hold = tmp_path / "hold"
    hold_at(hold, 0)
    numbers = HeldSource(hold, lambda index: index, 200, Types.LONG())
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers")
    sums = stream.key_by(lambda number: number % 5, Types.LONG()).reduce(lambda a, b: a + b)
    write(sums.map(str, Types.STRING()), str(tmp_path / "out"))
    client: Any = env.execute_async()
    for index, parallelism in ((50, 3), (100, 1), (150, 4)):
        before = len(client.checkpoints())
        hold_at(hold, index)
        while len(client.checkpoints()) <= before:
            assert client.get_job_status().result() == JobStatus.RUNNING
        client.rescale(parallelism).result()
    hold.unlink()
    client.get_job_execution_result().result()
    written = [int(line) for file in (tmp_path / "out").rglob("part-*") for line in file.read_text().splitlines()]
    last = {key: sum(range(key, 200, 5)) for key in range(5)}
    assert len(written) == 200 and set(last.values()) <= set(written)
    assert sorted(path.name for path in (tmp_path / "ck").iterdir()) == [".lock", "checkpoint.db", "committed"]


def job_in(directory: Path | str) -> StreamExecutionEnvironment:
    """A job that ends at once."""
    configured = {"scurry.runner": "local", "execution.checkpointing.dir": str(directory)}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(configured))
    env.from_source(NumberSequenceSource(1, 3), WatermarkStrategy.no_watermarks(), "numbers").print()
    return env


class TestDirectories:
    def test_a_second_job_is_refused(self, tmp_path: Path) -> None:
        env = StreamExecutionEnvironment.get_execution_environment(
            Configuration.from_dict({"scurry.runner": "local", "execution.checkpointing.dir": str(tmp_path)})
        )
        numbers = DataGeneratorSource(lambda index: index, 10**9, 100, Types.LONG())
        env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").print()
        client = env.execute_async()
        try:
            while not client.checkpoints():  # type: ignore[attr-defined]
                assert client.get_job_status().result() == JobStatus.RUNNING
            with pytest.raises(JobError, match="is in use by process") as caught:
                job_in(tmp_path).execute()
            assert "CheckpointLockedError" in str(caught.value)
            assert "each job of a program needs an execution.checkpointing.dir of its own" in str(caught.value)
        finally:
            client.cancel().result()

    def test_that_another_program_has_finished_does_not_end_a_job(self, tmp_path: Path) -> None:
        job_in(tmp_path).execute()
        configured = {"scurry.runner": "local", "execution.checkpointing.dir": str(tmp_path)}
        env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(configured))
        env.from_collection(["a", "b"]).print()
        with pytest.raises(JobError, match=r"of another job, which has finished: .*no longer has the source") as caught:
            env.execute()
        cure = f"env.get_checkpoint_config().set_checkpoint_storage_dir('{tmp_path}-2')"
        assert "hint: each job of a program needs an execution.checkpointing.dir of its own" in str(caught.value)
        assert cure in str(caught.value)
        env.get_checkpoint_config().set_checkpoint_storage_dir(f"{tmp_path}-2")
        env.from_collection(["a", "b"]).print()
        env.execute()

    def test_one_of_spark_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "scurry.json").write_text(json.dumps({"version": 3}))
        with pytest.raises(
            JobError, match=r"was written by the runner on Spark.*--runner spark.*--from-savepoint"
        ) as e:
            job_in(tmp_path).execute()
        assert "CheckpointMismatchError" in str(e.value)
        assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "scurry.json"]

    def test_spark_refuses_one_of_this_process(self, tmp_path: Path) -> None:
        from scurry.runtime.checkpoint.storage import LocalStorage
        from scurry.spark.checkpoint.generations import CheckpointDirectory

        job_in(tmp_path).execute()
        with pytest.raises(CheckpointMismatchError, match=r"written by the in-process runner.*--runner local"):
            CheckpointDirectory(str(tmp_path), LocalStorage(str(tmp_path)))

    def test_one_that_others_can_write_to_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "ck").mkdir()
        (tmp_path / "ck").chmod(0o777)
        with pytest.raises(JobError, match="others can write to it") as caught:
            job_in(tmp_path / "ck").execute()
        assert "SavepointTrustError" in str(caught.value)
        assert not list((tmp_path / "ck").iterdir())

    def test_a_remote_one_is_refused(self) -> None:
        with pytest.raises(JobError, match="keeps checkpoints on a local disk") as caught:
            job_in("s3://bucket/checkpoints").execute()
        assert "ConfigError" in str(caught.value)

    def test_a_file_uri_is_a_local_disk(self, tmp_path: Path) -> None:
        env = job_in(tmp_path)
        env.get_checkpoint_config().set_checkpoint_storage_dir(f"file://{tmp_path}/ck")
        env.execute()
        assert (tmp_path / "ck" / "checkpoint.db").exists()

    def test_batch_leaves_it_alone(self, tmp_path: Path) -> None:
        env = job_in(tmp_path / "ck")
        env.set_runtime_mode(RuntimeExecutionMode.BATCH)
        env.execute()
        assert not (tmp_path / "ck").exists()

    @pytest.mark.parametrize("lost", ["checkpoint.db", "checkpoint.db-wal"])
    def test_a_job_whose_last_checkpoint_is_lost_does_not_start_as_if_it_had_not_been(
        self, lost: str, place: Place
    ) -> None:
        """Its sinks know batches by their ids: they would take other records for those they have."""
        killed = Place.new(place.root, 2, place.readings)

        def close(self: CheckpointDatabase) -> None:
            shutil.copytree(place.checkpoints, killed.checkpoints)  # as a kill leaves it
            self._connection.close()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(CheckpointDatabase, "close", close)
            die_in_the_middle(place)
        (killed.checkpoints / lost).unlink()
        with pytest.raises(JobError, match="is missing or older than|is damaged") as caught:
            run(killed)
        assert "CheckpointCorruptedError" in str(caught.value)

    def test_any_damaged_file_is_noticed_or_does_not_matter(self, place: Place, expected: Results) -> None:
        die_in_the_middle(place)
        whole, chance = (place.checkpoints / "checkpoint.db").read_bytes(), random.Random(2)
        for _ in range(6):
            damaged = bytearray(whole)
            start = chance.randrange(len(whole))
            damaged[start : start + 100] = bytes(len(damaged[start : start + 100]))
            (place.checkpoints / "checkpoint.db").write_bytes(damaged)
            try:
                run(place)
                break
            except JobError as error:
                assert "CheckpointCorruptedError" in str(error)
        else:
            (place.checkpoints / "checkpoint.db").write_bytes(whole)
            run(place)
        assert place.results() == expected

    def test_cancelling_deletes_it_if_told_so(self, tmp_path: Path) -> None:
        retention = "execution.checkpointing.externalized-checkpoint-retention"
        settings = {"scurry.runner": "local", "execution.checkpointing.dir": str(tmp_path),
                    retention: "DELETE_ON_CANCELLATION"}  # fmt: skip
        env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
        numbers = DataGeneratorSource(lambda index: index, 10**9, 100, Types.LONG())
        env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").print()
        client = env.execute_async()
        while not client.checkpoints():  # type: ignore[attr-defined]
            assert client.get_job_status().result() == JobStatus.RUNNING
        client.cancel().result()
        client.get_job_execution_result().exception()
        assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_a_directory_that_cannot_be_listed_is_not_taken_for_forced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "entries").mkdir()
    scandir = os.scandir

    def failing(path: str = ".") -> Any:
        if path.endswith("entries"):
            raise OSError("the disk does not answer")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", failing)
    with pytest.raises(OSError, match="does not answer"):
        force_to_disk(str(tmp_path))
