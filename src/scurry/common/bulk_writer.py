"""The contract of bulk writers, which write whole files of a format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, BinaryIO, ClassVar

__all__ = ["BulkWriter", "BulkWriterFactory"]


class BulkWriter(ABC):
    """Writes records to one file."""

    @abstractmethod
    def write(self, values: list[Any]) -> None:
        """Add records."""

    @abstractmethod
    def finish(self) -> None:
        """Write what is buffered and what ends the file; the stream stays open."""


class BulkWriterFactory(ABC):
    """Makes the writers of a bulk format, one per file: Flink's `BulkWriter.Factory`. Picklable.

    Attributes:
        concatenable: Files of the format, one after another, are a file of the format.
    """

    concatenable: ClassVar[bool] = False

    @abstractmethod
    def create(self, stream: BinaryIO) -> BulkWriter:
        """Return a writer to an open stream."""
