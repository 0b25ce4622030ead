from __future__ import annotations

import datetime
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry.common import Duration, Instant, Time
from scurry.common.time import to_millis
from scurry.errors import ArgumentError, TimeTypeError


@pytest.mark.parametrize(
    ("amount", "millis"),
    [
        (5, 5),
        (Time.milliseconds(5), 5),
        (Time.seconds(5), 5_000),
        (Time.minutes(5), 300_000),
        (Time.hours(5), 18_000_000),
        (Time.days(1), 86_400_000),
        (Duration.of_nanos(1_999_999), 1),
        (Duration.of_millis(5), 5),
        (Duration.of_seconds(5), 5_000),
        (Duration.of_minutes(5), 300_000),
        (Duration.of_hours(5), 18_000_000),
        (Duration.of_days(1), 86_400_000),
        (datetime.timedelta(seconds=5, microseconds=1999), 5_001),
    ],
)
def test_any_amount_of_time_is_milliseconds(amount: Any, millis: int) -> None:
    assert to_millis(amount) == millis


@pytest.mark.parametrize("amount", [1.5, "5 s", None, True])
def test_other_values_are_no_amount_of_time(amount: Any) -> None:
    with pytest.raises(TimeTypeError, match="Duration.of_seconds"):
        to_millis(amount)


@pytest.mark.parametrize("make", [Time.milliseconds, Time.days, Duration.of_nanos, Duration.of_hours])
@pytest.mark.parametrize("amount", [float("nan"), float("inf"), True, None, "5"])
def test_amounts_are_numbers(make: Any, amount: Any) -> None:
    with pytest.raises(TimeTypeError, match="no amount of time|not an amount of time"):
        make(amount)


def test_fractions_of_seconds_are_whole_milliseconds() -> None:
    assert Time.seconds(2.3) == Time.milliseconds(2300) and type(Time.seconds(2.3).to_milliseconds()) is int
    assert Duration.of_seconds(0.5) == Duration.of_millis(500)


@pytest.mark.parametrize("make", [lambda: Time.milliseconds(1.5), lambda: Duration.of_nanos(0.5)])  # type: ignore[arg-type]
def test_what_is_no_whole_number_of_the_smallest_unit_is_refused(make: Any) -> None:
    with pytest.raises(TimeTypeError, match="pass a whole number"):
        make()


@pytest.mark.parametrize("amount", [2**63, Time.milliseconds(2**63), Duration.of_days(2**60), Time.days(-(2**60))])
def test_amounts_have_64_bits(amount: Any) -> None:
    with pytest.raises(ArgumentError, match="is too long"):
        to_millis(amount)


def test_amounts_compare_by_value() -> None:
    assert Duration.of_millis(5) == Duration.of_nanos(5_000_000) != Duration.of_millis(6)
    assert Time.seconds(1) == Time.milliseconds(1000)
    for amount in (Duration.of_days(1), Time.days(1), Instant(1, 2)):
        assert pickle.loads(pickle.dumps(amount)) == amount and hash(amount) is not None


def test_time_shows_milliseconds() -> None:
    assert str(Time.seconds(5)) == "5000 ms"
    assert Time.seconds(5).to_milliseconds() == 5000


def test_instant_shows_as_in_pyflink() -> None:
    assert repr(Instant(0, 5_000_000)) == "Instant<0, 5000000>"


@given(st.integers(-(2**52), 2**52))
def test_instant_keeps_milliseconds(millis: int) -> None:
    instant = Instant.of_epoch_milli(millis)
    assert instant.to_epoch_milli() == millis
    assert 0 <= instant.nanos < 1_000_000_000
