"""LakeWriter: the writer of the tasks for all lake tables, of records and of changes of tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from scurry.connectors.files.formats.columnar import RowTables, Tables
from scurry.connectors.sink import SinkWriter
from scurry.sql.types.nested_types import RowType

if TYPE_CHECKING:
    import pyarrow as pa

#: Makes the converter of the values that a sink is given to columns of a schema. Picklable.
TablesOf: TypeAlias = "Callable[[RowType, pa.Schema], Tables]"


def tables_of_records(row: RowType, schema: pa.Schema) -> Tables:
    """Return the converter of records of a type to columns."""
    return RowTables(row, schema=schema)


class LakeFiles(ABC):
    """Files that a task writes in a micro-batch, and that are not part of the table yet.

    Attributes:
        held_rows: Number of rows that are collected before they are added.
    """

    held_rows: int

    @abstractmethod
    def add(self, rows: pa.Table) -> None:
        """Write rows into the files of their partitions."""

    @abstractmethod
    def finish(self) -> list[Any]:
        """End the files, and return them for the committer."""

    @abstractmethod
    def abort(self) -> None:
        """Delete the files."""


class LakeWriter(SinkWriter):
    """Collect records or changes, and write them as columns.

    Args:
        tables: Converts them.
        files: The files.
    """

    def __init__(self, tables: Tables, files: LakeFiles) -> None:
        self._tables = tables
        self._files = files
        self._held: list[Any] = []
        self._rows = 0

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        """Collect values, and write them when they are enough."""
        prepared = self._tables.prepare(values)
        self._held += prepared
        self._rows += self._tables.rows(prepared)
        if self._rows >= self._files.held_rows:
            self._flush()

    def _flush(self) -> None:
        held, self._held, self._rows = self._held, [], 0
        self._files.add(self._tables.table(held))

    def prepare_commit(self) -> list[Any]:
        """Write the rest."""
        if self._rows:
            self._flush()
        return self._files.finish()

    def abort(self) -> None:
        """Delete the files."""
        self._files.abort()
