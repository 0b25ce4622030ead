"""Restart strategies decide as Flink's own do: `fixtures/flink/restart` records what those decided."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry.common import Configuration
from scurry.common._config.validation import validate
from scurry.errors import ConfigError
from scurry.graph.settings import JobSettings
from scurry.runtime.driver.restarting import (
    ExponentialDelay,
    FailureRate,
    FixedDelay,
    NoRestart,
    RestartStrategy,
    restart_strategy,
)
from support import TESTS

RECORDED = json.loads((TESTS / "fixtures/flink/restart/strategies.json").read_text())

pauses = st.lists(st.integers(1, 5_000), max_size=30)


class ManualClock:
    def __init__(self) -> None:
        self.now = 1_000_000_000

    def __call__(self) -> int:
        return self.now


def decisions(strategy: RestartStrategy, clock: ManualClock, between: list[int]) -> list[int | None]:
    """What the strategy says of failures that come so many milliseconds after the start or the last restart."""
    found: list[int | None] = []
    for pause in between:
        clock.now += pause
        delay = strategy.failed()
        found.append(delay)
        if delay is None:
            break
        clock.now += delay
    return found


def build(kind: str, arguments: list[Any], clock: ManualClock) -> RestartStrategy:
    if kind == "fixed-delay":
        return FixedDelay(*arguments)
    strategy: Any = FailureRate if kind == "failure-rate" else ExponentialDelay
    return strategy(*arguments, clock)  # type: ignore[no-any-return]


@pytest.mark.parametrize("case", RECORDED["scripts"], ids=lambda case: f"{case['type']}{case['arguments']}")
def test_decides_as_flink_does(case: dict[str, Any]) -> None:
    clock = ManualClock()
    strategy = build(case["type"], case["arguments"], clock)
    expected = [delay if restarts else None for restarts, delay in case["decisions"]]
    assert decisions(strategy, clock, case["pauses"]) == expected


def chosen(configured: dict[str, str], checkpointing: bool) -> str:
    """The strategy as Flink prints it."""
    try:
        validate(Configuration.from_dict(configured))
        interval = 1_000 if checkpointing else None
        strategy = restart_strategy(JobSettings("job", 1, checkpoint_interval_ms=interval, configuration=configured))
    except ConfigError:
        return "refused"
    own = {name.lstrip("_"): value for name, value in vars(strategy).items()}
    if isinstance(strategy, FixedDelay):
        arguments = f"maxNumberRestartAttempts={own['attempts']}, backoffTimeMS={own['delay']}"
    elif isinstance(strategy, FailureRate):
        arguments = (
            f"FailureRateRestartBackoffTimeStrategy(failuresIntervalMS={own['interval']},backoffTimeMS={own['delay']},"
            f"maxFailuresPerInterval={own['latest'].maxlen - 1}"
        )
    elif isinstance(strategy, ExponentialDelay):
        arguments = (
            f"initialBackoffMS={own['initial']}, maxBackoffMS={own['longest']}, "
            f"backoffMultiplier={float(own['multiplier'])}, resetBackoffThresholdMS={own['reset_threshold']}, "
            f"jitterFactor={own['jitter']}, attemptsBeforeResetBackoff={own['attempts']}, "
            "currentRestartAttempt=0, nextRestartTimestamp=-2147483648"
        )
    else:
        assert isinstance(strategy, NoRestart)
        return "NoRestartBackoffTimeStrategy"
    return f"{type(strategy).__name__}RestartBackoffTimeStrategy({arguments})"


@pytest.mark.parametrize("case", RECORDED["choices"], ids=lambda case: f"{case['settings']}-{case['checkpointing']}")
def test_the_configuration_means_what_it_means_in_flink(case: dict[str, Any]) -> None:
    expected = case["strategy"].split(":")[0] if case["strategy"].startswith("refused") else case["strategy"]
    assert chosen(case["settings"], case["checkpointing"]) == expected


@given(st.integers(0, 10), st.integers(0, 1_000), pauses)
def test_fixed_delay_allows_so_many_restarts_whenever_they_come(attempts: int, delay: int, times: list[int]) -> None:
    found = decisions(FixedDelay(attempts, delay), ManualClock(), times)
    expected: list[int | None] = [delay] * len(times)
    assert found == (expected if len(times) <= attempts else [*expected[:attempts], None])


@given(st.integers(1, 5), st.integers(1, 5_000), st.integers(0, 1_000), pauses)
def test_failure_rate_gives_up_at_the_first_failure_that_is_one_too_many_in_an_interval(
    most: int, interval: int, delay: int, times: list[int]
) -> None:
    clock = ManualClock()
    found = decisions(FailureRate(most, interval, delay, clock), clock, times)
    now = 0
    failures: list[int] = []
    expected: list[int | None] = []
    for pause in times:
        now += pause
        failures.append(now)
        if sum(now - failure <= interval for failure in failures) > most:
            expected.append(None)
            break
        expected.append(delay)
        now += delay
    assert found == expected


@given(
    st.integers(1, 100), st.integers(100, 2_000), st.floats(1.01, 4), st.integers(1, 4_000), st.floats(0, 1), pauses
)  # fmt: skip
def test_exponential_delay_stays_within_its_bounds_and_the_jitter(
    initial: int, longest: int, factor: float, reset: int, jitter: float, times: list[int]
) -> None:
    clock = ManualClock()
    strategy = ExponentialDelay(initial, longest, factor, reset, jitter, 1_000, clock)
    in_a_row = 0
    for number, (pause, delay) in enumerate(zip(times, decisions(strategy, clock, times), strict=True)):
        in_a_row = 0 if number == 0 or pause >= reset else in_a_row + 1
        middle = initial * factor**in_a_row
        assert delay is not None and initial <= delay <= longest
        assert delay <= middle * (1 + jitter) and delay >= min(middle * (1 - jitter) - 1, longest)


def test_exponential_delay_survives_any_number_of_failures() -> None:
    clock = ManualClock()
    strategy = ExponentialDelay(1_000, 60_000, 1.5, 3_600_000, 0.1, (1 << 31) - 1, clock)
    assert decisions(strategy, clock, [1] * 5_000)[-1] == 60_000
