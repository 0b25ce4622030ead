from __future__ import annotations

from datetime import timedelta

import pytest

from scurry.common import Configuration, RestartStrategies, RestartStrategyConfiguration
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import ArgumentTypeError
from scurry.runtime.driver.restarting import restart_strategy
from scurry.testing import job_plan_of


def strategy_of(env: StreamExecutionEnvironment) -> str:
    env.from_collection([1]).print()
    return str(restart_strategy(job_plan_of(env).settings))


@pytest.mark.parametrize(
    ("strategy", "runtime"),
    [
        (RestartStrategies.no_restart(), "none"),
        (RestartStrategies.fixed_delay_restart(3, 1500), "fixed-delay (attempts 3, delay 1500 ms)"),
        (RestartStrategies.fixed_delay_restart(3, timedelta(seconds=2)), "fixed-delay (attempts 3, delay 2000 ms)"),
        (
            RestartStrategies.failure_rate_restart(2, 60_000, 500),
            "failure-rate (max-failures-per-interval 2, interval 60000 ms, delay 500 ms)",
        ),
    ],
)
def test_the_job_gets_the_strategy(strategy: RestartStrategyConfiguration, runtime: str) -> None:
    env = StreamExecutionEnvironment()
    env.set_restart_strategy(strategy)
    assert strategy_of(env) == runtime


def test_a_strategy_takes_the_place_of_the_configured_one() -> None:
    configured = {"restart-strategy": "fixed-delay", "restart-strategy.fixed-delay.attempts": "9"}
    env = StreamExecutionEnvironment(Configuration.from_dict(configured))
    env.set_restart_strategy(RestartStrategies.no_restart())
    assert strategy_of(env) == "none"


def test_falling_back_is_what_holds_if_nothing_is_set() -> None:
    env = StreamExecutionEnvironment(Configuration.from_dict({"restart-strategy.type": "fixed-delay"}))
    env.set_restart_strategy(RestartStrategies.fall_back_restart())
    assert strategy_of(env) == strategy_of(StreamExecutionEnvironment())


def test_strategies_tell_what_they_were_given() -> None:
    fixed = RestartStrategies.fixed_delay_restart(3, 1500)
    assert fixed.get_restart_attempts() == 3
    assert fixed.get_delay_between_attempts_interval() == timedelta(milliseconds=1500)
    rate = RestartStrategies.failure_rate_restart(2, timedelta(minutes=1), 500)
    assert (rate.get_max_failure_rate(), rate.get_failure_interval()) == (2, timedelta(minutes=1))


def test_only_strategies_are_accepted() -> None:
    with pytest.raises(ArgumentTypeError, match="made by RestartStrategies"):
        StreamExecutionEnvironment().set_restart_strategy("none")  # type: ignore[arg-type]
