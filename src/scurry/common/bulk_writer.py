"""Base classes of bulk writers, which write whole files of a format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, BinaryIO, ClassVar

from scurry.common.pickling import of_functions

__all__ = ["BulkWriter", "BulkWriterFactory"]


@of_functions
class BulkWriter(ABC):
    """Write records to one file."""

    @abstractmethod
    def write(self, values: list[Any]) -> None:
        """Add records."""

    @abstractmethod
    def finish(self) -> None:
        """Write buffered records and the end of the file, but leave the stream open."""


@of_functions
class BulkWriterFactory(ABC):
    """Create the writers of a bulk format, one per file (Flink's `BulkWriter.Factory`). Picklable.

    Attributes:
        concatenable: Whether files of the format, one after another, are a file of the format.
    """

    concatenable: ClassVar[bool] = False

    @abstractmethod
    def create(self, stream: BinaryIO) -> BulkWriter:
        """Return a writer to an open stream."""
