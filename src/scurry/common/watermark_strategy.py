"""Watermark strategies: timestamps from records, watermarks from timestamps."""

from __future__ import annotations

import abc
import dataclasses
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias

from scurry._dataclasses import dataclass
from scurry.common._api import ApiObject
from scurry.common.pickling import of_functions
from scurry.common.time import TimeAmount, to_millis

__all__ = [
    "MAX_TIMESTAMP",
    "MIN_TIMESTAMP",
    "AscendingTimestampsWatermarks",
    "BoundedOutOfOrdernessWatermarks",
    "IngestionTimeAssigner",
    "IngestionTimeWatermarks",
    "NoWatermarks",
    "TimestampAssigner",
    "Watermark",
    "WatermarkAlignment",
    "WatermarkGenerator",
    "WatermarkOutput",
    "WatermarkStrategy",
]

MIN_TIMESTAMP = -(1 << 63)
"""The timestamp of a record that has none, and the watermark before the first; Flink's `Long.MIN_VALUE`."""

MAX_TIMESTAMP = (1 << 63) - 1
"""The watermark at the end of input; Flink's `Long.MAX_VALUE`."""

_DEFAULT_ALIGNMENT_INTERVAL_MS = 1000


@dataclass(frozen=True, slots=True, order=True)
class Watermark:
    """The statement that no record with this timestamp or a lower one will come.

    Attributes:
        timestamp: Milliseconds since the epoch.
    """

    timestamp: int


class WatermarkOutput(Protocol):
    """The output of a `WatermarkGenerator`."""

    def emit_watermark(self, watermark: Watermark | int) -> None:
        """Emit a watermark, given as such or in milliseconds; one that is not higher than the last is ignored."""

    def mark_idle(self) -> None:
        """Mark the stream as idle, so that the watermark does not wait for it."""

    def mark_active(self) -> None:
        """Mark the stream as active again."""


@of_functions
class WatermarkGenerator(abc.ABC):
    """Generate watermarks from the timestamps it sees; mirrors Flink's interface of that name, which PyFlink lacks."""

    @abc.abstractmethod
    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        """Process a record.

        Args:
            event: The record.
            event_timestamp: Its timestamp in milliseconds.
            output: Receives a watermark that must not wait for the next period.
        """

    @abc.abstractmethod
    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit the current watermark; called every `pipeline.auto-watermark-interval`."""


class BoundedOutOfOrdernessWatermarks(WatermarkGenerator):
    """Stay a fixed time behind the highest timestamp: watermark = highest timestamp - bound - 1."""

    def __init__(self, max_out_of_orderness: TimeAmount) -> None:
        """Start without a watermark.

        Args:
            max_out_of_orderness: How far records may be out of order; an int is milliseconds.
        """
        self._bound_ms = _not_negative("max_out_of_orderness", max_out_of_orderness)
        self._max_timestamp = MIN_TIMESTAMP

    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        """Remember the highest timestamp."""
        if event_timestamp > self._max_timestamp:
            self._max_timestamp = event_timestamp

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit the watermark, once there was a record."""
        if self._max_timestamp > MIN_TIMESTAMP:
            output.emit_watermark(Watermark(max(self._max_timestamp - self._bound_ms - 1, MIN_TIMESTAMP)))


class AscendingTimestampsWatermarks(BoundedOutOfOrdernessWatermarks):
    """Follow timestamps that only rise: watermark = highest timestamp - 1."""

    def __init__(self) -> None:
        """Start without a watermark."""
        super().__init__(0)


class NoWatermarks(WatermarkGenerator):
    """Emit nothing, for programs on processing time."""

    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        """Do nothing."""

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Do nothing."""


@of_functions
class TimestampAssigner(abc.ABC):
    """Find the timestamp of a record."""

    @abc.abstractmethod
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """Return the timestamp of a record.

        Args:
            value: The record.
            record_timestamp: The timestamp it has so far in milliseconds, `MIN_TIMESTAMP` if none.

        Returns:
            Milliseconds since the epoch.
        """


class IngestionTimeAssigner(TimestampAssigner):
    """Assign to each record the wall clock when it is read; mirrors Flink's class of that name, which PyFlink lacks.

    The clock is that of the worker that reads. If a micro-batch is replayed, its records get new timestamps.
    """

    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """Return the wall clock in milliseconds since the epoch, never less than at the call before."""
        self._latest = max(getattr(self, "_latest", MIN_TIMESTAMP), _wall_clock_ms())
        return self._latest


class IngestionTimeWatermarks(WatermarkGenerator):
    """Follow the wall clock, also while there are no records: watermark = now - 1."""

    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        """Do nothing: the clock alone counts."""

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit the watermark."""
        output.emit_watermark(Watermark(_wall_clock_ms() - 1))


def _wall_clock_ms() -> int:
    return time.time_ns() // 1_000_000


AnyTimestampAssigner: TypeAlias = TimestampAssigner | Callable[[Any, int], int]


class WatermarkAlignment(NamedTuple):
    """The watermark alignment of sources: those of one group wait for each other.

    Attributes:
        group: Name of the group.
        drift_ms: How far a source may be ahead of the slowest one, in milliseconds.
        interval_ms: How often their watermarks are compared, in milliseconds.
    """

    group: str
    drift_ms: int
    interval_ms: int


@dataclass(frozen=True, slots=True, eq=False)
class WatermarkStrategy(ApiObject):
    """Assignment of timestamps and watermarks; create one with a factory method and refine it with `with_*`.

    Each `with_*` returns another strategy. As in PyFlink, the first `with_timestamp_assigner` also sets the assigner on
    the strategy it is called on, because programs may ignore the result; nothing else changes a strategy.

    Attributes:
        generator_supplier: Makes the generator of one source split or task.
        max_out_of_orderness_ms: The bound in milliseconds if the generator is one of scurry's bounded ones, else None.
        timestamp_assigner: Finds the timestamps: a `TimestampAssigner`, or a function of the record and its timestamp
            so far. None keeps the timestamps records have, for example from Kafka.
        idle_timeout_ms: After how many milliseconds without records a split counts as idle; None for never.
        alignment: The alignment group, or None.
    """

    generator_supplier: Callable[[], WatermarkGenerator]
    max_out_of_orderness_ms: int | None = None
    timestamp_assigner: AnyTimestampAssigner | None = None
    idle_timeout_ms: int | None = None
    alignment: WatermarkAlignment | None = None

    @staticmethod
    def for_monotonous_timestamps() -> WatermarkStrategy:
        """Return the strategy for timestamps that only rise within a split."""
        return WatermarkStrategy(AscendingTimestampsWatermarks, max_out_of_orderness_ms=0)

    @staticmethod
    def for_bounded_out_of_orderness(max_out_of_orderness: TimeAmount) -> WatermarkStrategy:
        """Return the strategy for timestamps that are out of order by no more than a bound.

        Args:
            max_out_of_orderness: The bound: Duration, timedelta, or int milliseconds.

        Raises:
            ValueError: The bound is negative.
        """
        bound_ms = _not_negative("max_out_of_orderness", max_out_of_orderness)
        return WatermarkStrategy(_BoundedSupplier(bound_ms), max_out_of_orderness_ms=bound_ms)

    @staticmethod
    def for_ingestion_time() -> WatermarkStrategy:
        """Return the strategy of ingestion time: records get the wall clock when they are read, watermarks follow it.

        Event-time windows then need no times in the records, and fire while a source is idle. scurry's own; Flink had
        it as a time characteristic. A record that is read again after a failure gets a new time. The clocks of workers
        should agree: a record is late by as much as the clock of its worker is behind.
        """
        return WatermarkStrategy(IngestionTimeWatermarks, timestamp_assigner=IngestionTimeAssigner())

    @staticmethod
    def no_watermarks() -> WatermarkStrategy:
        """Return the strategy that emits no watermarks before the end of input."""
        return WatermarkStrategy(NoWatermarks)

    @staticmethod
    def for_generator(supplier: Callable[[], WatermarkGenerator]) -> WatermarkStrategy:
        """Return a strategy with a custom generator. Flink's Java API has it; PyFlink does not.

        Args:
            supplier: Called for a new generator for each split or task, for example the class itself. It must pickle.
        """
        return WatermarkStrategy(supplier)

    def with_timestamp_assigner(self, timestamp_assigner: AnyTimestampAssigner) -> WatermarkStrategy:
        """Return this strategy with timestamps taken from the records.

        Args:
            timestamp_assigner: A `TimestampAssigner`, or a function `(value, record_timestamp) -> milliseconds`.

        Raises:
            TypeError: It is neither.
        """
        if not isinstance(timestamp_assigner, TimestampAssigner) and not callable(timestamp_assigner):
            raise TypeError(
                f"{timestamp_assigner!r} assigns no timestamps; pass a TimestampAssigner or a function "
                "(value, record_timestamp) -> milliseconds"
            )
        if self.timestamp_assigner is None:
            object.__setattr__(self, "timestamp_assigner", timestamp_assigner)
        return dataclasses.replace(self, timestamp_assigner=timestamp_assigner)

    def with_idleness(self, idle_timeout: TimeAmount) -> WatermarkStrategy:
        """Return this strategy with an idle timeout: splits without records for that long count as idle.

        Args:
            idle_timeout: The time without records, above 0: Duration, timedelta, or int milliseconds.

        Raises:
            ValueError: It is not above 0.
        """
        timeout_ms = _not_negative("idle_timeout", idle_timeout)
        if timeout_ms == 0:
            raise ValueError("idle_timeout must be above 0 ms")
        return dataclasses.replace(self, idle_timeout_ms=timeout_ms)

    def with_watermark_alignment(
        self,
        watermark_group: str,
        max_allowed_watermark_drift: TimeAmount,
        update_interval: TimeAmount | None = None,
    ) -> WatermarkStrategy:
        """Return this strategy with sources that wait for the slowest of their group.

        Args:
            watermark_group: Name of the group; may span sources.
            max_allowed_watermark_drift: How far a source may be ahead: Duration, timedelta, or int milliseconds.
            update_interval: How often Flink compares; here it is before every micro-batch.
        """
        interval = _DEFAULT_ALIGNMENT_INTERVAL_MS if update_interval is None else update_interval
        alignment = WatermarkAlignment(
            watermark_group,
            _not_negative("max_allowed_watermark_drift", max_allowed_watermark_drift),
            _not_negative("update_interval", interval),
        )
        return dataclasses.replace(self, alignment=alignment)

    @property
    def generates_watermarks(self) -> bool:
        """Return whether the strategy emits watermarks."""
        return self.generator_supplier is not NoWatermarks

    def create_generator(self) -> WatermarkGenerator:
        """Return a new generator, for one split or task."""
        return self.generator_supplier()


@dataclass(frozen=True, slots=True)
class _BoundedSupplier:
    bound_ms: int

    def __call__(self) -> WatermarkGenerator:
        return BoundedOutOfOrdernessWatermarks(self.bound_ms)


def _not_negative(name: str, amount: TimeAmount) -> int:
    millis = to_millis(amount)
    if millis < 0:
        raise ValueError(f"{name} must not be negative: {millis} ms")
    return millis
