"""TableChanges: rows on their way to a table of a sink."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from scurry.sql.connectors.contract import Changes
from scurry.sql.pipelines.columns import TableColumns


@dataclass(frozen=True)
class SinkTable:
    """A table of a sink, as rows on their way to it see it.

    Attributes:
        path: Its name, with dots.
        partition_keys: The columns by which it is partitioned.
        options: Options that the transform has for it.
    """

    path: str
    columns: TableColumns
    partition_keys: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()

    @property
    def digest(self) -> str:
        """Return a short text that differs for other columns."""
        described = [self.path, *map(str, zip(self.columns.names, self.columns.types, strict=True)), *self.columns.key]
        return hashlib.sha256("\n".join(described).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class TableChanges:
    """Rows for a table of a sink."""

    table: SinkTable
    changes: Changes

    @property
    def record_count(self) -> int:
        """Return the number of rows, which metrics count as records."""
        return self.changes.record_count
