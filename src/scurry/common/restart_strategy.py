"""Restart strategies as objects, for programs for Flink 1; `_config.restart` has the equivalent keys."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import timedelta

from scurry._dataclasses import dataclass
from scurry.common._api import ApiObject
from scurry.common._config import fault_tolerance as options
from scurry.common.time import TimeAmount, to_millis

__all__ = ["RestartStrategies", "RestartStrategyConfiguration"]


class RestartStrategyConfiguration(ABC):
    """A restart strategy, for `StreamExecutionEnvironment.set_restart_strategy`."""

    @abstractmethod
    def get_description(self) -> str:
        """Return the strategy in words."""

    @abstractmethod
    def to_dict(self) -> dict[str, str]:
        """Return the equivalent configuration."""


class RestartStrategies(ApiObject):
    """Create restart strategies (Flink's `RestartStrategies`)."""

    @dataclass(frozen=True)
    class NoRestartStrategyConfiguration(RestartStrategyConfiguration):
        """Never restart a failed job."""

        def get_description(self) -> str:
            """Return the strategy in words."""
            return "Restart deactivated."

        def to_dict(self) -> dict[str, str]:
            """Return the equivalent configuration."""
            return {options.RESTART_STRATEGY.key: "none"}

    @dataclass(frozen=True)
    class FallbackRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The strategy that applies if a program sets none."""

        def get_description(self) -> str:
            """Return the strategy in words."""
            return "Cluster level default restart strategy"

        def to_dict(self) -> dict[str, str]:
            """Return the equivalent configuration, which is none."""
            return {}

    @dataclass(frozen=True)
    class FixedDelayRestartStrategyConfiguration(RestartStrategyConfiguration):
        """Restart a limited number of times, each after the same delay (int: ms)."""

        restart_attempts: int
        delay_between_attempts_interval: TimeAmount

        def get_restart_attempts(self) -> int:
            """Return the number of restarts."""
            return self.restart_attempts

        def get_delay_between_attempts_interval(self) -> timedelta:
            """Return the time before each restart."""
            return timedelta(milliseconds=to_millis(self.delay_between_attempts_interval))

        def get_description(self) -> str:
            """Return the strategy in words."""
            delay = to_millis(self.delay_between_attempts_interval)
            return f"Restart with fixed delay ({delay} ms). #{self.restart_attempts} restart attempts."

        def to_dict(self) -> dict[str, str]:
            """Return the equivalent configuration."""
            return {
                options.RESTART_STRATEGY.key: "fixed-delay",
                options.FIXED_DELAY_ATTEMPTS.key: str(self.restart_attempts),
                options.FIXED_DELAY.key: f"{to_millis(self.delay_between_attempts_interval)} ms",
            }

    @dataclass(frozen=True)
    class FailureRateRestartStrategyConfiguration(RestartStrategyConfiguration):
        """Restart after the same delay (int: ms) unless an interval (int: ms) has too many failures."""

        max_failure_rate: int
        failure_interval: TimeAmount
        delay_between_attempts_interval: TimeAmount

        def get_max_failure_rate(self) -> int:
            """Return the maximum number of failures in an interval after which the job is restarted."""
            return self.max_failure_rate

        def get_failure_interval(self) -> timedelta:
            """Return the length of the interval."""
            return timedelta(milliseconds=to_millis(self.failure_interval))

        def get_delay_between_attempts_interval(self) -> timedelta:
            """Return the time before each restart."""
            return timedelta(milliseconds=to_millis(self.delay_between_attempts_interval))

        def get_description(self) -> str:
            """Return the strategy in words."""
            return (
                f"Failure rate restart with maximum of {self.max_failure_rate} failures within interval "
                f"{to_millis(self.failure_interval)} ms and fixed delay "
                f"{to_millis(self.delay_between_attempts_interval)} ms."
            )

        def to_dict(self) -> dict[str, str]:
            """Return the equivalent configuration."""
            return {
                options.RESTART_STRATEGY.key: "failure-rate",
                options.FAILURE_RATE_MAX_FAILURES.key: str(self.max_failure_rate),
                options.FAILURE_RATE_INTERVAL.key: f"{to_millis(self.failure_interval)} ms",
                options.FAILURE_RATE_DELAY.key: f"{to_millis(self.delay_between_attempts_interval)} ms",
            }

    @staticmethod
    def no_restart() -> RestartStrategies.NoRestartStrategyConfiguration:
        """Return the strategy that never restarts a failed job."""
        return RestartStrategies.NoRestartStrategyConfiguration()

    @staticmethod
    def fall_back_restart() -> RestartStrategies.FallbackRestartStrategyConfiguration:
        """Return the strategy that applies if a program sets none."""
        return RestartStrategies.FallbackRestartStrategyConfiguration()

    @staticmethod
    def fixed_delay_restart(
        restart_attempts: int, delay_between_attempts: TimeAmount
    ) -> RestartStrategies.FixedDelayRestartStrategyConfiguration:
        """Return the strategy of a number of restarts with the same time (int: ms) before each."""
        return RestartStrategies.FixedDelayRestartStrategyConfiguration(restart_attempts, delay_between_attempts)

    @staticmethod
    def failure_rate_restart(
        failure_rate: int, failure_interval: TimeAmount, delay_interval: TimeAmount
    ) -> RestartStrategies.FailureRateRestartStrategyConfiguration:
        """Return the strategy that restarts a job unless it fails too often.

        Args:
            failure_rate: Maximum number of failures in an interval after which the job is restarted.
            failure_interval: Length of the interval (int: ms).
            delay_interval: Time before each restart (int: ms).
        """
        return RestartStrategies.FailureRateRestartStrategyConfiguration(failure_rate, failure_interval, delay_interval)
