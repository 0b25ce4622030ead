"""The contract of formats that file sinks write, and of the files that wait for their commit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

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
