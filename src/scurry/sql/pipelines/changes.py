"""TableChanges: rows on their way to a table of a sink."""

from __future__ import annotations

import hashlib
from dataclasses import field

from scurry._dataclasses import dataclass
from scurry.sql.connectors.contract import Changes
from scurry.sql.pipelines.columns import TableColumns


@dataclass(frozen=True)
class ColumnHistory:
    """A change of the columns of a table of a sink, which another task may have made already.

    Attributes:
        renamed: Earlier names, and names now.
        dropped: Columns that are no more.
        altered: Columns of another type.
    """

    renamed: tuple[tuple[str, str], ...] = ()
    dropped: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()


#: No change.
UNCHANGED = ColumnHistory()


@dataclass(frozen=True)
class SinkTable:
    """A table of a sink, as rows on their way to it see it.

    Attributes:
        path: Its name, with dots.
        partition_keys: The columns by which it is partitioned.
        options: Options that the transform has for it.
        version: Counts the changes of its columns.
        history: The change that the rows of this micro-batch bring.
        creates: Whether it is created if it is missing.
    """

    path: str
    columns: TableColumns
    partition_keys: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    version: int = 0
    history: ColumnHistory = field(default=UNCHANGED, compare=False)
    creates: bool = field(default=True, compare=False)

    @property
    def digest(self) -> str:
        """Return a short text that differs for other columns."""
        described = [self.path, *map(str, zip(self.columns.names, self.columns.types, strict=True)), *self.columns.key]
        described += [str(self.version)] if self.version else []
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
