from __future__ import annotations

import pytest

from scurry.datastream import AsyncRetryStrategy
from scurry.datastream.async_retry_predicates import (
    empty_result_predicate,
    exception_type_predicate,
    has_exception_predicate,
)
from scurry.datastream.async_retry_strategies import NO_RETRY_STRATEGY
from scurry.errors import ArgumentError


def test_fixed_delay_retries_a_few_times() -> None:
    strategy = AsyncRetryStrategy.fixed_delay(2, 50, empty_result_predicate, has_exception_predicate)
    assert [strategy.can_retry(attempt) for attempt in (1, 2, 3)] == [True, True, False]
    assert strategy.get_backoff_time_millis(2) == 50
    assert strategy.get_retry_predicate().result_predicate() is empty_result_predicate
    assert strategy.get_retry_predicate().exception_predicate() is has_exception_predicate


def test_exponential_backoff_grows_to_its_limit_whatever_other_calls_do() -> None:
    strategy = AsyncRetryStrategy.exponential_backoff(9, 10, 65, 2.0, None, None)
    assert [strategy.get_backoff_time_millis(attempt) for attempt in (3, 1, 2, 4, 9)] == [40, 10, 20, 65, 65]


def test_no_restart_never_retries() -> None:
    assert AsyncRetryStrategy.no_restart() is NO_RETRY_STRATEGY
    assert not NO_RETRY_STRATEGY.can_retry(1)


def test_numbers_must_be_positive() -> None:
    with pytest.raises(ArgumentError, match="max_attempts should be greater than zero"):
        AsyncRetryStrategy.fixed_delay(0, 50, None, None)
    with pytest.raises(ArgumentError, match="multiplier should be greater than zero"):
        AsyncRetryStrategy.exponential_backoff(1, 1, 1, 0, None, None)


def test_predicates() -> None:
    assert [empty_result_predicate(result) for result in (None, [], [0])] == [True, True, False]
    assert [has_exception_predicate(error) for error in (None, ValueError())] == [False, True]
    assert exception_type_predicate(KeyError(), LookupError)
