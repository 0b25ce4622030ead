"""RollingPolicy: when a part file is complete and the next one begins."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RollingPolicy"]


@dataclass(frozen=True)
class RollingPolicy:
    """Every part file ends with its micro-batch, which is a checkpoint; these limits may end it earlier.

    Attributes:
        part_size: Bytes a file may hold before a further record goes to the next one; None for no limit.
        rollover_interval_ms: Milliseconds a file may be open; None for no limit.
        inactivity_interval_ms: Milliseconds a file may be open without a new record; None for no limit.
    """

    part_size: int | None = None
    rollover_interval_ms: int | None = None
    inactivity_interval_ms: int | None = None

    def full(self, size: int) -> bool:
        """Whether a file of this many bytes takes no further record."""
        return self.part_size is not None and size > self.part_size

    def old(self, opened_ms: int, written_ms: int, now_ms: int) -> bool:
        """Whether a file opened and last written at these times (milliseconds) takes no further record now."""
        too_long_open = self.rollover_interval_ms is not None and now_ms - opened_ms >= self.rollover_interval_ms
        return too_long_open or (
            self.inactivity_interval_ms is not None and now_ms - written_ms >= self.inactivity_interval_ms
        )
