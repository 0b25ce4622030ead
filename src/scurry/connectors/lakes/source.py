"""LakeSource: common part of the sources of lake tables."""

from __future__ import annotations

from scurry.common.typeinfo import TypeInformation
from scurry.connectors.source import Source
from scurry.sql.types.nested_types import RowType
from scurry.sql.values.type_information import to_type_info


class LakeSource(Source):
    """Read the files of one version of a table, or of all future ones, as Rows.

    Attributes:
        row: The type of the rows to read.
        interval_ms: Milliseconds between checks for new versions; None to read one version only.
    """

    row: RowType
    interval_ms: int | None

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """Return whether it reads one version."""
        return self.interval_ms is None

    @property
    def produced_type(self) -> TypeInformation | None:
        """A row with the columns' names and types."""
        return to_type_info(self.row)
