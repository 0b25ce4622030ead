"""The contract of what file sinks write."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, BinaryIO

from scurry.common.typeinfo import TypeInformation

__all__ = ["PartFormat", "PartWriter"]


class PartFormat(ABC):
    """How records become the content of part files. Picklable."""

    @property
    @abstractmethod
    def concatenable(self) -> bool:
        """Whether files of the format, one after another, are a file of the format."""

    @abstractmethod
    def open(self, stream: BinaryIO, input_type: TypeInformation | None) -> PartWriter:
        """Return a writer to a new file."""


class PartWriter(ABC):
    """Writes the content of one part file."""

    @abstractmethod
    def write(self, values: list[Any], full: Callable[[int], bool]) -> int:
        """Write records until the file is full; return how many were written.

        Args:
            values: The records.
            full: Whether a file of that many bytes takes no further record.
        """

    def finish(self) -> None:
        """Write what is still to be written; the stream stays open."""
        return
