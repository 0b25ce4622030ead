"""MessageScan: the messages of a system, which streams decode with a schema and tables with a format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from scurry.connectors.source import BatchLimits, Enumerator


class MessageScan(ABC):
    """The messages that are read of a system; picklable. How a message looks is up to the system."""

    @property
    @abstractmethod
    def ends(self) -> bool:
        """Return whether reading ends."""

    @abstractmethod
    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return the assigner of ranges of messages, whose works are lists of ranges."""

    @abstractmethod
    def messages(self, part: Any) -> Iterator[Sequence[Any]]:
        """Yield the messages of a range, in blocks; runs in a task.

        Args:
            part: One of the ranges that the enumerator assigned, or one of `parts()`.
        """

    @abstractmethod
    def parts(self) -> list[Any]:
        """Return the ranges of all messages that there are now, up to the end of reading, for BATCH."""
