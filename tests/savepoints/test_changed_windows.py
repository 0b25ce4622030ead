"""Windows of a changed program go on with those that an earlier one has kept, in parts of the state or not."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Time
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.datastream.window import EventTimeTrigger, SlidingEventTimeWindows
from support.runtime.divided_state import dividing_early
from support.savepoints.sensor_jobs import Job
from support.savepoints.sensor_program import TEXT, SumOfWindow, readings


def program(change: Any) -> Any:
    def build(env: StreamExecutionEnvironment) -> list[DataStream]:
        keyed = readings(env).key_by(lambda value: value[0], key_type=TEXT)
        windows = change(keyed.window(SlidingEventTimeWindows.of(Time.seconds(8), Time.seconds(1))))
        return [windows.process(SumOfWindow(), TEXT).uid("windows")]

    return build


CHANGES: dict[str, Any] = {
    "none": lambda windows: windows,
    "trigger": lambda windows: windows.trigger(EventTimeTrigger.create()),
}


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    job = Job("local", tmp_path_factory.mktemp("right"))
    return job.finish(job.start(program(CHANGES["none"])))


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_program_fires_the_windows_that_are_open(
    change: str, before: bool, after: bool, tmp_path: Path, right: list[str]
) -> None:
    job = Job("local", tmp_path)
    with dividing_early(per_part=16) if before else nullcontext():
        path = job.stop(job.start(program(CHANGES["none"])), kind="window")
    with dividing_early(per_part=16) if after else nullcontext():
        assert job.finish(job.start(program(CHANGES[change]), savepoint=path, parallelism=3)) == right
