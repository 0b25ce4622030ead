"""LakeScan: the files of a lake table, for streams and tables; LakeSource: its rows as records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.common.typeinfo import TypeInformation
from scurry.connectors.files.formats.columnar import BatchRows
from scurry.connectors.files.reading.damaged import naming_damage
from scurry.connectors.lakes.enumerator import LakeEnumerator, TableFile, TableLog
from scurry.connectors.source import BatchLimits, Block, Chunk, ChunkSizer, Enumerator, Source, sliced
from scurry.sql.types.nested_types import RowType
from scurry.sql.values.type_information import to_type_info

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows that are a block of records.
_ROWS = 2048


class LakeScan(ABC):
    """The files of one version of a table, or of all future ones; picklable.

    Attributes:
        interval_ms: Milliseconds between checks for new versions; None to read one version only.
    """

    interval_ms: int | None

    @abstractmethod
    def log(self) -> TableLog:
        """Open the table's log."""

    @abstractmethod
    def batches(self, file: TableFile, row: RowType, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield columns of a file.

        Args:
            file: The file.
            row: The columns to read.
            rows: Rows decoded at once, if the library can be told.
        """

    def read(self, file: TableFile, row: RowType, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield columns of a file like `batches`; measure them, and name the file if it is damaged."""
        return naming_damage(self.batches(file, row, rows), file.path, 0, file.size)

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator of the table's files."""
        return LakeEnumerator(self.log, channels, limits.max_bytes, self.interval_ms)


@dataclass(frozen=True)
class LakeSource(Source):
    """Read the files of a table, as Rows.

    Attributes:
        scan: The files.
        row: The type of the rows to read.
    """

    scan: LakeScan
    row: RowType

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """Return whether it reads one version."""
        return self.scan.interval_ms is None

    @property
    def produced_type(self) -> TypeInformation | None:
        """A row with the columns' names and types."""
        return to_type_info(self.row)

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator of the table's files."""
        return self.scan.create_enumerator(self.channels(parallelism), limits)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        return sliced(chain.from_iterable(map(self._blocks, work)), sizer)

    def _blocks(self, file: TableFile) -> Iterator[Block]:
        rows = BatchRows(self.row)
        for batch in self.scan.read(file, self.row, _ROWS):
            for first in range(0, batch.num_rows, _ROWS):
                yield rows(batch.slice(first, _ROWS), file.path)
