"""LakeTableSource: reads the files of a lake table as rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.lakes.enumerator import TableFile
from scurry.connectors.lakes.source import LakeScan
from scurry.connectors.source import BatchLimits, Enumerator
from scurry.sql.connectors.contract import Changes, TableSource
from scurry.sql.connectors.lakes.columns import check_columns, lake_row
from scurry.sql.formats.contract import FormatColumn, chosen_columns, row_of
from scurry.sql.types import RowType

_ROWS = 65_536


@dataclass(frozen=True)
class LakeTableSource(TableSource):
    """Read the files of a table.

    Attributes:
        newest: Makes the source of the newest version; None if the options name one.
    """

    scan: LakeScan
    declared: tuple[FormatColumn, ...]
    newest: Callable[[], LakeTableSource] | None = None

    @classmethod
    def of(
        cls,
        scan: LakeScan,
        declared: tuple[FormatColumn, ...],
        there: RowType,
        name: str,
        newest: Callable[[], LakeTableSource] | None,
    ) -> LakeTableSource:
        """Check the columns of a table.

        Raises:
            ValidationError: The table lacks a declared column, or one has another type.
        """
        check_columns(lake_row(declared), there, name)
        return cls(scan, declared, newest)

    def renewed(self) -> LakeTableSource:
        """Return a source of the newest version, unless the options name one."""
        return self if self.newest is None else self.newest()

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """Return whether it reads one version."""
        return self.scan.interval_ms is None

    def splits(self) -> list[Any]:
        """Return the files of the version."""
        return list(self.scan.log().start()[1])

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return the assigner of files, and looks for new versions."""
        return self.scan.create_enumerator(channels, limits)

    def read(self, split: TableFile, columns: Sequence[str]) -> Iterator[Changes]:
        """Yield the rows of a file."""
        return map(Changes, self.scan.read(split, row_of(chosen_columns(self.declared, columns)), _ROWS))
