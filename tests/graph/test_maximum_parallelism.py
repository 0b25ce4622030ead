"""A parallelism above the maximum is refused, wherever the two are set."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.common import Configuration
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import TopologyError
from scurry.table import EnvironmentSettings, TableEnvironment
from scurry.testing import job_plan_of


def environment(**settings: str) -> StreamExecutionEnvironment:
    given = {key.replace("__", ".").replace("_", "-"): value for key, value in settings.items()}
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(given))


def program(env: StreamExecutionEnvironment) -> Any:
    return env.from_collection([1]).map(lambda value: value).name("doubled")


def test_of_the_environment() -> None:
    env = environment()
    env.set_max_parallelism(2)
    env.set_parallelism(4)
    program(env).print()
    with pytest.raises(TopologyError, match=r"parallelism 4.*maximum parallelism is 2.*pipeline\.max-parallelism"):
        job_plan_of(env)


def test_of_the_configuration() -> None:
    env = environment(pipeline__max_parallelism="2", parallelism__default="3")
    program(env).print()
    with pytest.raises(TopologyError, match="parallelism 3"):
        job_plan_of(env)


def test_of_an_operator_names_it_and_its_line() -> None:
    env = environment(parallelism__default="2")
    program(env).set_max_parallelism(1).print()
    with pytest.raises(TopologyError, match=r"'doubled' \(.*test_maximum_parallelism\.py:\d+.*set_max_parallelism"):
        job_plan_of(env)


def test_of_an_operator_with_its_own_parallelism() -> None:
    env = environment(pipeline__max_parallelism="2", parallelism__default="1")
    program(env).set_parallelism(3).print()
    with pytest.raises(TopologyError, match="parallelism 3"):
        job_plan_of(env)


def test_the_maximum_of_an_operator_counts_before_that_of_the_job() -> None:
    env = environment(pipeline__max_parallelism="2", parallelism__default="1")
    program(env).set_parallelism(3).set_max_parallelism(4).print()
    job_plan_of(env)


def test_the_maximum_itself_is_allowed() -> None:
    env = environment(pipeline__max_parallelism="2", parallelism__default="2")
    program(env).print()
    job_plan_of(env)


def test_a_rescale_above_it_is_refused() -> None:
    env = environment(parallelism__default="2")
    program(env).set_max_parallelism(2).print()
    plan = job_plan_of(env)
    assert plan.rebuild is not None
    import dataclasses

    with pytest.raises(TopologyError, match="parallelism 3"):
        plan.rebuild(dataclasses.replace(plan.settings, parallelism=3))


def test_of_a_statement() -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for key, value in {"scurry.runner": "local", "parallelism.default": "4", "pipeline.max-parallelism": "2"}.items():
        env.get_config().set(key, value)
    env.execute_sql("CREATE TABLE t (n INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1')")
    with pytest.raises(TopologyError, match="parallelism 4"):
        list(env.execute_sql("SELECT * FROM t").collect())
