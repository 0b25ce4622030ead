"""A sink of Prometheus, under the names of Flink's connector; PyFlink has none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from scurry.common._api import ApiObject, made_by
from scurry.connectors.http.requests import Retries
from scurry.connectors.prometheus.series import PrometheusTimeSeries, PrometheusTimeSeriesBuilder, Sample
from scurry.connectors.prometheus.sink import PrometheusSink as _PrometheusSink
from scurry.errors import ArgumentError, ArgumentTypeError

__all__ = [
    "OnErrorBehavior",
    "PrometheusSink",
    "PrometheusSinkBuilder",
    "PrometheusTimeSeries",
    "PrometheusTimeSeriesBuilder",
    "RetryConfiguration",
    "Sample",
    "SinkWriterErrorHandlingBehaviorConfiguration",
]


class OnErrorBehavior(Enum):
    """Behavior for a request that fails: the job fails, or the request is left out."""

    FAIL = "FAIL"
    DISCARD_AND_CONTINUE = "DISCARD_AND_CONTINUE"


class RetryConfiguration(ApiObject):
    """Pauses before a request is repeated, each twice as long as the one before."""

    def __init__(
        self, initial_retry_delay_ms: int = 30, max_retry_delay_ms: int = 5000, max_retry_count: int = 100
    ) -> None:
        """Set the pauses.

        Args:
            initial_retry_delay_ms: Milliseconds before the first repetition.
            max_retry_delay_ms: The longest pause in milliseconds.
            max_retry_count: The number of repetitions.

        Raises:
            ArgumentError: A pause is not positive, or the number negative.
        """
        if initial_retry_delay_ms < 1 or max_retry_delay_ms < initial_retry_delay_ms or max_retry_count < 0:
            raise ArgumentError(
                "a RetryConfiguration has pauses from 1 ms on, the longest not below the first, and a count from 0 on; "
                f"got {initial_retry_delay_ms}, {max_retry_delay_ms} and {max_retry_count}"
            )
        self._retries = Retries(max_retry_count, initial_retry_delay_ms / 1000, 2.0, max_retry_delay_ms / 1000)


class SinkWriterErrorHandlingBehaviorConfiguration(ApiObject):
    """Behaviors for requests that fail."""

    def __init__(
        self,
        on_max_retry_exceeded: OnErrorBehavior = OnErrorBehavior.FAIL,
        on_prometheus_non_retryable_error: OnErrorBehavior = OnErrorBehavior.DISCARD_AND_CONTINUE,
    ) -> None:
        """Set the behavior.

        Args:
            on_max_retry_exceeded: To a request that could not be sent after all repetitions.
            on_prometheus_non_retryable_error: To one that the server refuses for its samples, such as those that are
                older than what it has. Flink always leaves it out; here it may fail the job.
        """
        for given in (on_max_retry_exceeded, on_prometheus_non_retryable_error):
            if not isinstance(given, OnErrorBehavior):
                raise ArgumentTypeError(f"errors are handled by an OnErrorBehavior, got {given!r}")
        self._drops_unsent = on_max_retry_exceeded is OnErrorBehavior.DISCARD_AND_CONTINUE
        self._drops_refused = on_prometheus_non_retryable_error is OnErrorBehavior.DISCARD_AND_CONTINUE


@made_by("builder")
class PrometheusSink(ApiObject, _PrometheusSink):
    """Write series of samples to Prometheus, or a server with its protocol Remote Write 1.0, at least once."""

    @staticmethod
    def builder() -> PrometheusSinkBuilder:
        """Return a builder; the address must be set."""
        return PrometheusSinkBuilder()


class PrometheusSinkBuilder(ApiObject):
    """Builder of a PrometheusSink."""

    def __init__(self) -> None:
        """Begin with the defaults of Flink's connector."""
        self._given: dict[str, Any] = {}

    def set_prometheus_remote_write_url(self, prometheus_remote_write_url: str) -> PrometheusSinkBuilder:
        """Set the address, such as `http://host:9090/api/v1/write`."""
        return self._set("url", prometheus_remote_write_url)

    def set_element_converter(self, element_converter: Callable[[Any], PrometheusTimeSeries]) -> PrometheusSinkBuilder:
        """Set the function that makes a PrometheusTimeSeries of a record; by default records are series."""
        if not callable(element_converter):
            raise ArgumentTypeError(f"set_element_converter takes a function of a record, got {element_converter!r}")
        return self._set("convert", element_converter)

    def set_headers(self, headers: Mapping[str, str]) -> PrometheusSinkBuilder:
        """Set further headers of requests, such as Authorization. scurry's own; Flink has a signer in Java."""
        return self._set("headers", dict(headers))

    def set_max_batch_size_in_samples(self, max_batch_size_in_samples: int) -> PrometheusSinkBuilder:
        """Set the largest number of samples of a request, 500 by default."""
        return self._positive("most_samples", max_batch_size_in_samples)

    def set_max_time_in_buffer_ms(self, max_time_in_buffer_ms: int) -> PrometheusSinkBuilder:
        """Set the milliseconds that a series waits for others; at most until its micro-batch is committed."""
        return self._positive("interval_ms", max_time_in_buffer_ms)

    def set_retry_configuration(self, retry_configuration: RetryConfiguration) -> PrometheusSinkBuilder:
        """Set the pauses before a request is repeated."""
        if not isinstance(retry_configuration, RetryConfiguration):
            raise ArgumentTypeError(f"set_retry_configuration takes a RetryConfiguration, got {retry_configuration!r}")
        return self._set("retries", retry_configuration._retries)

    def set_error_handling_behavior_configuration(
        self, error_handling_behavior_config: SinkWriterErrorHandlingBehaviorConfiguration
    ) -> PrometheusSinkBuilder:
        """Set the behavior for requests that fail."""
        given = error_handling_behavior_config
        if not isinstance(given, SinkWriterErrorHandlingBehaviorConfiguration):
            raise ArgumentTypeError(
                "set_error_handling_behavior_configuration takes a SinkWriterErrorHandlingBehaviorConfiguration, got "
                f"{given!r}"
            )
        self._set("drops_unsent", given._drops_unsent)
        return self._set("drops_refused", given._drops_refused)

    def set_socket_timeout_ms(self, socket_timeout_ms: int) -> PrometheusSinkBuilder:
        """Set the milliseconds in which the server answers, 5000 by default."""
        self._positive("timeout", socket_timeout_ms)
        return self._set("timeout", socket_timeout_ms / 1000)

    def set_http_user_agent(self, http_user_agent: str) -> PrometheusSinkBuilder:
        """Set the header User-Agent."""
        return self._set("user_agent", http_user_agent)

    def _set(self, name: str, value: Any) -> PrometheusSinkBuilder:
        self._given[name] = value
        return self

    def _positive(self, name: str, value: int) -> PrometheusSinkBuilder:
        if value < 1:
            raise ArgumentError(f"PrometheusSink takes numbers from 1 on, got {value}")
        return self._set(name, value)

    def build(self) -> PrometheusSink:
        """Return the sink.

        Raises:
            ArgumentError: The address is missing, or is none.
        """
        if not self._given.get("url"):
            raise ArgumentError("nowhere to write: call set_prometheus_remote_write_url")
        made = PrometheusSink(**self._given)
        made.requests()
        return made
