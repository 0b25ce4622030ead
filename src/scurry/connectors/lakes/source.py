"""LakeSource: common part of the sources of lake tables."""

from __future__ import annotations

from scurry.common.typeinfo import TypeInformation
from scurry.connectors.files.formats.column_types import ColumnType
from scurry.connectors.source import Source


class LakeSource(Source):
    """Read the files of one version of a table, or of all future ones, as Rows.

    Attributes:
        row: The type of the rows to read, a ROW.
        interval_ms: Milliseconds between checks for new versions; None to read one version only.
    """

    row: ColumnType
    interval_ms: int | None

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """Return whether it reads one version."""
        return self.interval_ms is None

    @property
    def produced_type(self) -> TypeInformation | None:
        """A row with the columns' names and types."""
        return self.row.type_info
