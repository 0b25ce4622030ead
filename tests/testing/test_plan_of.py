"""Tests look at what a program declares without running it."""

from __future__ import annotations

import pytest

from scurry.common import Configuration
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.errors import ArgumentTypeError, TopologyError
from scurry.testing import job_plan_of, plan_of


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment()


@pytest.fixture
def doubled(env: StreamExecutionEnvironment) -> DataStream[int]:
    numbers = env.from_collection([1, 2]).name("numbers")
    return numbers.map(lambda number: number * 2).name("doubled").uid("d").set_parallelism(3)


def test_the_plan_of_a_stream_has_what_the_program_declared(doubled: DataStream[int]) -> None:
    plan = plan_of(doubled)
    assert (plan.name, plan.uid, plan.parallelism) == ("doubled", "d", 3)
    assert plan.inputs[0].name == "numbers"


def test_a_sink_has_one_too(doubled: DataStream[int]) -> None:
    assert plan_of(doubled.print().name("out")).inputs == (plan_of(doubled),)


def test_anything_else_has_none() -> None:
    with pytest.raises(ArgumentTypeError, match="takes a DataStream or DataStreamSink, not a str"):
        plan_of("doubled")  # type: ignore[arg-type]


def test_the_plan_of_a_job_is_that_of_execute_which_still_runs_it(capsys: pytest.CaptureFixture[str]) -> None:
    env = StreamExecutionEnvironment(Configuration.from_dict({"scurry.runner": "local"}))
    env.set_parallelism(1)
    env.from_collection([1, 2]).map(lambda number: number * 2).name("doubled").print()
    plan = job_plan_of(env, "doubling")
    assert plan.settings.job_name == "doubling"
    assert "doubled" in plan.describe()
    env.execute("doubling")
    assert capsys.readouterr().out.splitlines() == ["2", "4"]


def test_it_reports_what_execute_would(env: StreamExecutionEnvironment) -> None:
    numbers = env.from_collection([1])
    numbers.map(str).uid("same").print()
    numbers.map(abs).uid("same").print()
    with pytest.raises(TopologyError, match="same"):
        job_plan_of(env)
