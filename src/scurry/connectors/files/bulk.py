"""The contract of bulk writers, which write whole files of a format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, BinaryIO, ClassVar

from scurry.common.types import Row
from scurry.errors import TypeMismatchError

__all__ = ["BulkWriter", "BulkWriterFactory", "values_of"]


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


def values_of(record: Any, names: tuple[str, ...]) -> Sequence[Any]:
    """Return the values of a row, tuple, list or dict in the order of the columns.

    Raises:
        TypeMismatchError: It is none of these, or has another number of fields.
    """
    if isinstance(record, Row):
        values: Sequence[Any] = record.get_fields_by_names(names)
    elif isinstance(record, dict):
        values = [record[name] for name in names]
    elif isinstance(record, (tuple, list)):
        values = record
    else:
        raise TypeMismatchError(f"ROW<{', '.join(names)}>", record, "a file of columns needs rows")
    if len(values) != len(names):
        raise TypeMismatchError(f"ROW<{', '.join(names)}>", record, f"it has {len(values)} fields, not {len(names)}")
    return values
