"""Time and timers as process functions see them."""

from __future__ import annotations

from abc import ABC, abstractmethod

__all__ = ["TimerService"]


class TimerService(ABC):
    """Read time and set timers for the current key; the context of a process function provides it.

    All times are milliseconds since the epoch. A timer fires once per (key, time), even if it is set twice.
    Mirrors Flink's `TimerService`.
    """

    @abstractmethod
    def current_processing_time(self) -> int:
        """Return the wall clock."""

    @abstractmethod
    def current_watermark(self) -> int:
        """Return the current watermark, -9223372036854775808 before the first."""

    @abstractmethod
    def register_processing_time_timer(self, timestamp: int) -> None:
        """Call `on_timer` once the wall clock has reached `timestamp`."""

    @abstractmethod
    def register_event_time_timer(self, timestamp: int) -> None:
        """Call `on_timer` once the watermark has reached `timestamp`."""

    @abstractmethod
    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Delete the processing-time timer at `timestamp`, if there is one."""

    @abstractmethod
    def delete_event_time_timer(self, timestamp: int) -> None:
        """Delete the event-time timer at `timestamp`, if there is one."""
