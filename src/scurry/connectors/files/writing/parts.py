"""Part files: the contract of their formats, when they are full, and those that wait for their commit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, BinaryIO

from scurry._dataclasses import dataclass
from scurry.common.time import TimeAmount, to_millis
from scurry.common.typeinfo import TypeInformation


class PartFormat(ABC):
    """Write records to part files. Picklable."""

    @property
    @abstractmethod
    def concatenable(self) -> bool:
        """Return whether concatenated files of the format are a file of the format."""

    @abstractmethod
    def open(self, stream: BinaryIO, input_type: TypeInformation | None) -> PartWriter:
        """Return a writer to a new file."""


class PartWriter(ABC):
    """Write the content of one part file."""

    @abstractmethod
    def write(self, values: list[Any], full: Callable[[int], bool]) -> int:
        """Write records until the file is full; return how many were written.

        Args:
            values: The records.
            full: Returns whether a file of this many bytes takes no further record.
        """

    def finish(self) -> None:
        """Write the buffered records and the end of the file; the stream stays open."""
        return


@dataclass(frozen=True)
class PartFile:
    """A written file that waits for its final name: its current and its final path."""

    staged: str
    target: str


@dataclass(frozen=True)
class RollingPolicy:
    """Limits that end a part file before its micro-batch, which is a checkpoint, ends.

    Attributes:
        part_size: Bytes after which the next record goes to the next file; None for no limit.
        rollover_interval_ms: Milliseconds a file may be open; None for no limit.
        inactivity_interval_ms: Milliseconds a file may be open without a new record; None for no limit.
    """

    @staticmethod
    def default_rolling_policy(
        part_size: int = 128 * 1024 * 1024,
        rollover_interval: TimeAmount = 60_000,
        inactivity_interval: TimeAmount = 60_000,
    ) -> RollingPolicy:
        """Return the policy that also ends large and old files.

        Args:
            part_size: Size limit in bytes.
            rollover_interval: How long a file may be open, in milliseconds or as an amount of time.
            inactivity_interval: How long a file may wait for a record, in milliseconds or as an amount of time.
        """
        return RollingPolicy(part_size, to_millis(rollover_interval), to_millis(inactivity_interval))

    @staticmethod
    def on_checkpoint_rolling_policy() -> RollingPolicy:
        """Return the policy that ends files only with their micro-batch."""
        return RollingPolicy()

    part_size: int | None = None
    rollover_interval_ms: int | None = None
    inactivity_interval_ms: int | None = None

    def full(self, size: int) -> bool:
        """Return whether a file of this many bytes takes no further record."""
        return self.part_size is not None and size > self.part_size

    def old(self, opened_ms: int, written_ms: int, now_ms: int) -> bool:
        """Return whether a file opened and last written at these times (milliseconds) takes no further record."""
        too_long_open = self.rollover_interval_ms is not None and now_ms - opened_ms >= self.rollover_interval_ms
        return too_long_open or (
            self.inactivity_interval_ms is not None and now_ms - written_ms >= self.inactivity_interval_ms
        )
