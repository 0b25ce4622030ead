"""A program whose states have other types goes on with the state of a savepoint or checkpoint, or is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from scurry.common import Row, Types
from scurry.datastream import DataStream, KeyedProcessFunction, StreamExecutionEnvironment
from scurry.datastream.state import ValueStateDescriptor
from support.savepoints.sensor_jobs import Build, Job, refusal
from support.savepoints.sensor_program import RECORDS, TEXT, lines, readings

BEFORE = ValueStateDescriptor("profile", Types.ROW_NAMED(["hits", "last"], [Types.INT(), Types.STRING()]))
AFTER = ValueStateDescriptor(
    "profile", Types.ROW_NAMED(["visits", "level"], [Types.LONG(), Types.STRING()])
).with_migration(renamed={"hits": "visits"}, defaults={"level": "old"})
OTHER = ValueStateDescriptor("profile", Types.STRING())


class Profile(KeyedProcessFunction):
    """Counts in the first field of a row; what the second one is after a change says where the row came from."""

    def __init__(self, descriptor: ValueStateDescriptor) -> None:
        self.descriptor = descriptor

    def open(self, runtime_context: Any) -> None:
        self.profile = runtime_context.get_state(self.descriptor)

    def process_element(self, value: Any, ctx: Any) -> Iterator[str]:
        profile = self.profile.value()
        declared: Any = self.descriptor.type_info
        names = declared.get_field_names()
        count, second = (profile[0] + 1, profile[1]) if profile is not None else (1, "new")
        self.profile.update(Row(**{names[0]: count, names[1]: second}))
        yield f"running {value[0]} {count} {names[0]} {second}"


def profiles(descriptor: ValueStateDescriptor) -> Build:
    def build(env: StreamExecutionEnvironment) -> list[DataStream]:
        keyed = readings(env).key_by(lambda value: value[0], key_type=TEXT)
        return [keyed.process(Profile(descriptor), TEXT).uid("profiles")]

    return build


def counts(job: Job) -> list[int]:
    return sorted(int(line.split()[2]) for line in lines(*job.outputs))


def test_a_row_with_other_fields_goes_on_from_a_savepoint(job: Job) -> None:
    path = job.stop(job.start(profiles(BEFORE)))
    job.finish(job.start(profiles(AFTER), savepoint=path))
    after = [line.split()[3:] for line in lines(job.outputs[1])]
    assert after and all(fields == ["visits", "old"] for fields in after)
    assert counts(job)[-1] == 177 and len(counts(job)) == 3000


def test_a_type_that_does_not_fit_is_refused_before_anything_runs(job: Job) -> None:
    path = job.stop(job.start(profiles(BEFORE)))
    text = refusal(job, job.start(profiles(OTHER), savepoint=path))
    assert "state 'profile' of operator" in text and "profiles" in text and "hits" in text and "STRING" in text
    assert lines(job.outputs[1]) == []


@pytest.mark.spark
def test_a_checkpoint_is_gone_on_with_by_a_changed_program_at_another_parallelism(tmp_path: Any) -> None:
    job = Job("spark", tmp_path)
    place: dict[str, Any] = {"execution__checkpointing__dir": str(tmp_path / "checkpoint")}
    first: Any = job.start(profiles(BEFORE), **place)
    job.wait(first)
    first.stop().result()
    before = len(counts(job))
    assert before < 3000
    second: Any = job.start(profiles(AFTER), parallelism=3, **place)
    job.finish(second)
    assert any("states have changed" in note or "program has changed" in note for note in second.execution.log.notes)
    assert len(counts(job)) == 3000 and counts(job)[-1] == 177
    assert {line.split()[4] for line in lines(job.outputs[1])} == {"old"}
    assert [name.name for name in (tmp_path / "checkpoint").glob("generation-*")] == ["generation-2"]


@pytest.mark.spark
def test_a_job_that_began_with_a_savepoint_goes_on_from_its_newest_checkpoint(tmp_path: Any) -> None:
    job = Job("spark", tmp_path)
    place: dict[str, Any] = {"execution__checkpointing__dir": str(tmp_path / "second")}
    path = job.stop(job.start(profiles(BEFORE)))
    second: Any = job.start(profiles(BEFORE), savepoint=path, held_at=RECORDS * 3 // 4, **place)
    job.wait(second)
    second.stop().result()
    third: Any = job.start(profiles(BEFORE), savepoint=path, **place)
    job.finish(third)
    assert any("resuming from the checkpoint" in note for note in third.execution.log.notes)
    assert len(counts(job)) == 3000 and counts(job)[-1] == 177


def test_state_that_cannot_be_converted_is_not_tried_again(job: Job) -> None:
    def fails(row: Any) -> Any:
        raise ZeroDivisionError("no such visit")

    descriptor = ValueStateDescriptor("profile", AFTER.type_info).with_migration(convert=fails)
    before = Job("local", job.place / "before")
    path = before.stop(before.start(profiles(BEFORE)))
    client: Any = job.start(profiles(descriptor), savepoint=path, execution__checkpointing__interval="100 ms")
    assert "state 'profile' cannot be converted: ZeroDivisionError: no such visit" in refusal(job, client)
    assert [failure.error for failure in client.execution.failures] == ["StateMigrationError"]
