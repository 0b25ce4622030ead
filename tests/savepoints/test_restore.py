"""A job that is stopped with a savepoint goes on from it: as it was, changed, elsewhere, on more or fewer subtasks."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Types
from scurry.connectors.files.writing.committer import FileCommitter
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.errors import JobError, SavepointError, StateNotFoundError, TopologyError
from scurry.runtime.local.streaming import LocalEngine
from scurry.runtime.savepoint.reading import complete_savepoint, open_savepoint
from support.savepoints.sensor_jobs import Job, refusal
from support.savepoints.sensor_program import (
    READING,
    RECORDS,
    everything,
    goes_on,
    lines,
    only_running,
    reading,
    readings,
    running,
    windows,
)

RESTARTS: dict[str, Any] = {"restart_strategy__type": "fixed-delay", "restart_strategy__fixed_delay__delay": "10 ms"}

# ---------------------------------------------------------------- the same program


def test_goes_on_at_other_parallelisms(job: Job, undisturbed: list[str]) -> None:
    first = job.stop(job.start(everything, parallelism=2))
    second = job.start(goes_on, parallelism=4, savepoint=first)
    assert len(lines(*job.outputs)) < len(undisturbed)
    assert job.finish(second) == undisturbed


def test_goes_on_twice_at_parallelism_2_then_4_then_1(local: Job, undisturbed: list[str]) -> None:
    first = local.stop(local.start(everything, parallelism=2))
    second = local.stop(local.start(everything, parallelism=4, savepoint=first, held_at=RECORDS * 3 // 4))
    assert local.finish(local.start(everything, parallelism=1, savepoint=second)) == undisturbed


def test_goes_on_from_a_copy_elsewhere(local: Job, undisturbed: list[str]) -> None:
    path = local.stop(local.start(everything))
    moved = local.place / "another machine" / "a copy"
    shutil.move(path, moved)
    shutil.rmtree(local.place / "checkpoint-1", ignore_errors=True)
    assert local.finish(local.start(goes_on, savepoint=str(moved))) == undisturbed


def test_a_job_goes_on_while_a_savepoint_is_taken(job: Job, undisturbed: list[str], tmp_path: Path) -> None:
    client = job.start(everything)
    job.wait(client)
    path = client.trigger_savepoint(str(tmp_path / "savepoints")).result()
    assert job.finish(client) == undisturbed
    # what the job wrote after its savepoint is written again by one that starts from it
    client = job.start(goes_on, savepoint=path)
    assert sorted(set(job.finish(client))) == sorted(set(undisturbed))
    assert 0 < len(lines(job.outputs[1])) < len(undisturbed)


def test_a_drained_job_fires_everything_and_goes_on_with_what_comes_next(job: Job, undisturbed: list[str]) -> None:
    path = job.stop(job.start(everything), drain=True)
    seen = len(lines(job.outputs[0], kind="running"))
    (_, last, _) = reading(seen - 1)
    starts = {int(line.split()[2]) for line in lines(job.outputs[0], kind="window sensor")}
    assert max(starts) >= last // 1000 * 1000 - 1000  # windows that nothing but the drain could have closed
    found = job.finish(job.start(goes_on, savepoint=path))
    assert [line for line in found if line.startswith("running")] == [
        line for line in undisturbed if line.startswith("running")
    ]
    assert open_savepoint(path).metadata.drained


def test_starting_again_on_the_same_directory_goes_on_instead_of_starting_over(tmp_path: Path) -> None:
    job = Job("local", tmp_path)
    path = job.stop(job.start(everything))
    metadata = open_savepoint(path).metadata
    assert metadata.sources["readings"].position["next"] == len(lines(job.outputs[0], kind="running"))
    assert set(metadata.operators) == {"running", "windows", "totals", "alarms"}
    assert {entry.uid for entry in open_savepoint(path).entries(kinds=["page"])} >= {"running", "windows", "alarms"}
    assert {entry.uid for entry in open_savepoint(path).entries(kinds=["broadcast"])} == {"alarms"}


def fail_once(monkeypatch: pytest.MonkeyPatch, place: type, name: str) -> None:
    """Let a method fail at its first call."""
    method, failures = getattr(place, name), [OSError("the disk is gone")]

    def failing(self: Any, *args: Any) -> Any:
        if failures:
            raise failures.pop()
        return method(self, *args)

    monkeypatch.setattr(place, name, failing)


@pytest.mark.parametrize(("place", "name"), [(FileCommitter, "finish"), (LocalEngine, "stop")])
def test_a_job_that_fails_behind_its_last_savepoint_goes_on_and_says_that_it_was_not_stopped(
    local: Job, undisturbed: list[str], monkeypatch: pytest.MonkeyPatch, place: type, name: str
) -> None:
    client = local.start(everything, **RESTARTS)
    local.wait(client)
    fail_once(monkeypatch, place, name)
    with pytest.raises(JobError, match=r"a savepoint was written to .*, but the job did not end with it: .*disk is go"):
        client.stop_with_savepoint(False, str(local.place / "savepoints")).result()
    assert local.finish(client) == undisturbed


@pytest.mark.parametrize(("place", "name"), [(FileCommitter, "finish"), (LocalEngine, "stop")])
def test_a_job_that_fails_behind_its_last_savepoint_without_restarts_says_so(
    local: Job, monkeypatch: pytest.MonkeyPatch, place: type, name: str
) -> None:
    client = local.start(everything)
    local.wait(client)
    fail_once(monkeypatch, place, name)
    with pytest.raises(JobError, match="but the job did not end with it"):
        client.stop_with_savepoint(False, str(local.place / "savepoints")).result()
    with pytest.raises(JobError, match="the disk is gone"):
        client.get_job_execution_result().result()


# ---------------------------------------------------------------- changed programs


def test_operators_may_be_added_and_reordered(local: Job, undisturbed: list[str]) -> None:
    path = local.stop(local.start(only_running))

    def reordered(env: StreamExecutionEnvironment) -> list[DataStream]:
        env.from_collection([1], Types.INT()).uid("something new").map(lambda value: value + 1).print()
        stream = readings(env).map(lambda value: value, output_type=READING)
        summed = windows(stream)
        return [summed, running(stream)]

    found = local.finish(local.start(reordered, savepoint=path))
    kinds = ("running", "sum", "timer")
    assert [line for line in found if line.startswith(kinds)] == [
        line for line in undisturbed if line.startswith(kinds)
    ]
    assert any(line.startswith("window") for line in found)


def test_an_operator_that_is_gone_is_refused_by_name(local: Job) -> None:
    path = local.stop(local.start(everything))
    text = refusal(local, local.start(only_running, savepoint=path))
    assert "operator 'windows' (Window" in text and "--allow-non-restored-state" in text
    assert "source 'rules'" in text


def test_an_operator_that_is_gone_is_dropped_if_that_is_allowed(local: Job, undisturbed: list[str]) -> None:
    path = local.stop(local.start(everything))
    allowed: dict[str, Any] = {"execution__state_recovery__ignore_unclaimed_state": "true"}
    found = local.finish(local.start(only_running, savepoint=path, **allowed))
    assert [line for line in found if line.startswith("running")] == [
        line for line in undisturbed if line.startswith("running")
    ]


def test_a_changed_function_goes_on_with_the_old_state(local: Job) -> None:
    path = local.stop(local.start(only_running))

    def shouting(env: StreamExecutionEnvironment) -> list[DataStream]:
        return [running(readings(env)).map(str.upper, output_type=Types.STRING())]

    before = len(lines(local.outputs[0], kind="running"))
    local.finish(local.start(shouting, savepoint=path))
    after = lines(local.outputs[1], kind="RUNNING")
    assert len(after) == RECORDS - before
    last = {line.split()[1]: int(line.split()[2]) for line in sorted(after, key=lambda line: int(line.split()[2]))}
    assert sum(last.values()) == RECORDS


def test_an_operator_of_another_kind_is_refused(local: Job) -> None:
    path = local.stop(local.start(only_running))

    def other(env: StreamExecutionEnvironment) -> list[DataStream]:
        return [windows(readings(env)).uid("running")]

    text = refusal(local, local.start(other, savepoint=path))
    assert "operator 'running'" in text and "is a Window" in text and "KeyedProcess" in text


def test_a_source_of_another_kind_is_refused(local: Job) -> None:
    path = local.stop(local.start(only_running))

    def other(env: StreamExecutionEnvironment) -> list[DataStream]:
        return [running(env.from_collection([reading(0)], READING).uid("readings"))]

    text = refusal(local, local.start(other, savepoint=path))
    assert "source 'readings'" in text and "HeldSource" in text and "another uid" in text


def test_another_source_begins_at_its_beginning(local: Job) -> None:
    path = local.stop(local.start(only_running))

    def other(env: StreamExecutionEnvironment) -> list[DataStream]:
        return [running(readings(env, records=10, uid="others"))]

    allowed: dict[str, Any] = {"execution__state_recovery__ignore_unclaimed_state": "true"}
    local.finish(local.start(other, savepoint=path, **allowed))
    counts = [int(line.split()[2]) for line in lines(local.outputs[1], kind="running")]
    assert len(counts) == 10 and min(counts) > RECORDS // 10 // 17


# ---------------------------------------------------------------- key groups


def test_the_number_of_key_groups_comes_with_the_state(local: Job, undisturbed: list[str]) -> None:
    path = local.stop(local.start(everything, pipeline__max_parallelism="200"))
    assert local.finish(local.start(goes_on, parallelism=3, savepoint=path)) == undisturbed


def test_another_number_of_key_groups_is_refused(local: Job) -> None:
    path = local.stop(local.start(only_running))
    text = refusal(local, local.start(only_running, savepoint=path, pipeline__max_parallelism="64"))
    assert "max parallelism 128" in text and "64" in text


# ---------------------------------------------------------------- what is no savepoint


def test_a_path_without_a_savepoint_is_refused(local: Job, tmp_path: Path) -> None:
    assert "is no savepoint" in refusal(local, local.start(only_running, savepoint=str(tmp_path / "nowhere")))


def test_an_unfinished_savepoint_is_refused(local: Job) -> None:
    path = local.stop(local.start(only_running))
    for name in ("manifest.json", "metadata.json"):  # in the opposite order of writing
        (Path(path) / name).unlink()
        assert "was never completed" in refusal(local, local.start(only_running, savepoint=path))


def test_a_savepoint_of_another_version_is_refused(local: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(local.stop(local.start(only_running)))
    monkeypatch.setattr("scurry.runtime.savepoint.reading.VERSION", 99)
    complete_savepoint(str(path), open_savepoint(str(path)).metadata)
    assert "format version 99" in refusal(local, local.start(only_running, savepoint=str(path)))


def test_damaged_entries_are_refused(local: Job) -> None:
    path = local.stop(local.start(only_running))
    (file,) = Path(path).glob("entries/kind=page/*.parquet")
    file.write_bytes(file.read_bytes()[:100])
    text = refusal(local, local.start(only_running, savepoint=path))
    assert "kind=page/part-0.parquet: 100 bytes long instead of" in text


def test_a_savepoint_names_the_batch_after_which_it_was_taken(job: Job) -> None:
    client: Any = job.start(only_running)
    path = job.stop(client)
    assert open_savepoint(path).metadata.batch_id == client.checkpoints()[-1].checkpoint_id


def test_a_savepoint_needs_a_place(local: Job) -> None:
    client = local.start(only_running)
    with pytest.raises(SavepointError, match="state.savepoints.dir"):
        client.trigger_savepoint()
    client.cancel().result()


@pytest.mark.parametrize("key", ["execution.checkpointing.savepoint-dir", "state.savepoints.dir"])
def test_the_place_may_be_configured_by_each_of_its_names(local: Job, tmp_path: Path, key: str) -> None:
    place: dict[str, Any] = {key: str(tmp_path / "saved")}
    client = local.start(lambda env: [running(readings(env))], **place)
    local.wait(client)
    assert client.trigger_savepoint().result().startswith(str(tmp_path / "saved"))
    client.cancel().result()


def test_a_job_that_is_over_takes_no_savepoint(local: Job, tmp_path: Path) -> None:
    client = local.start(lambda env: [running(readings(env, 10))])
    local.finish(client)
    with pytest.raises(JobError, match="has finished"):
        client.trigger_savepoint(str(tmp_path)).result()


# ---------------------------------------------------------------- rescaling and queries


def test_a_running_job_is_rescaled(job: Job, undisturbed: list[str]) -> None:
    client: Any = job.start(everything)
    job.wait(client)
    client.rescale(3).result()
    assert client.execution.plan.settings.parallelism == 3
    assert len(lines(job.outputs[0], kind="running")) < RECORDS
    assert job.finish(client) == undisturbed


def test_a_parallelism_that_the_program_cannot_have_is_refused_and_the_job_goes_on(local: Job) -> None:
    def pinned(env: StreamExecutionEnvironment) -> list[DataStream]:
        numbers = readings(env).map(lambda value: value, output_type=READING).set_parallelism(2)
        return [running(numbers.forward().map(lambda value: value, output_type=READING))]

    client: Any = local.start(pinned, parallelism=2)
    local.wait(client)
    with pytest.raises(TopologyError, match="forward"):
        client.rescale(3)
    local.finish(client)
    assert len(lines(local.outputs[0], kind="running")) == RECORDS


def test_the_state_of_a_key_is_read_from_the_running_job(job: Job) -> None:
    client: Any = job.start(only_running)
    while len(lines(job.outputs[0], kind="running")) < RECORDS // 4:
        time.sleep(0.02)
    before = [int(line.split()[2]) for line in lines(job.outputs[0], kind="running sensor-3 ")]
    count = client.query_state("running", "count", "sensor-3").result()
    assert max(before) <= count <= RECORDS
    assert client.query_state("running", "count", "no such sensor").result() is None
    with pytest.raises(StateNotFoundError, match="'count', 'sum'"):
        client.query_state("running", "cuont", "sensor-3").result()
    with pytest.raises(StateNotFoundError, match="'running'"):
        client.query_state("runing", "count", "sensor-3")
    client.cancel().result()


def test_100_questions_at_once_cost_a_micro_batch_or_two(job: Job) -> None:
    client: Any = job.start(only_running)
    while len(lines(job.outputs[0], kind="running")) < RECORDS // 4:
        time.sleep(0.02)
    before = client.execution.totals.batches
    asked = [client.query_state("running", "count", f"sensor-{n % 5}") for n in range(100)]
    assert all(question.result() > 0 for question in asked)
    batches = client.execution.totals.batches - before
    client.cancel().result()
    assert job.runner == "local" or batches <= 4
