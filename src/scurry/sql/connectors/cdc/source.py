"""CdcTableSource: the rows of captured tables and their changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.common.types import RowKind
from scurry.connectors.cdc.capture import ChangeCapture, ChunkWork, RowBlock
from scurry.connectors.cdc.enumerator import CdcEnumerator, EnumeratorSettings
from scurry.connectors.source import BatchLimits, Enumerator
from scurry.errors import ValidationError
from scurry.sql.connectors.cdc.values import ColumnReader
from scurry.sql.connectors.contract import Changes, TableSource
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.types import MAX_LENGTH, DataType, LocalZonedTimestampType, VarCharType
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import batch_of_columns, from_values

if TYPE_CHECKING:
    import pyarrow as pa

_TEXT = VarCharType(MAX_LENGTH, False)
#: The metadata of all databases; those with schemas have `schema_name`, too.
METADATA: dict[str, DataType] = {
    "table_name": _TEXT,
    "database_name": _TEXT,
    "op_ts": LocalZonedTimestampType(3, False),
    "row_kind": _TEXT,
}
SCHEMA_METADATA: dict[str, DataType] = {**METADATA, "schema_name": _TEXT}


@dataclass(frozen=True)
class CdcTableSource(TableSource):
    """Read captured tables as one table; columns are found by their names.

    Attributes:
        capture: The database.
        settings: How chunks and the log are assigned; its channels are those of BATCH.
        columns: The physical columns.
        metadata_columns: The metadata of each metadata column, and its declared type.
        upserts: Whether updates have no row before.
        append_only: Whether all changes are rows that are added.
        parallelism: Number of readers of a STREAMING job; None for the job's parallelism.
        zone: The time zone in which moments are read as TIMESTAMP.
    """

    capture: ChangeCapture
    settings: EnumeratorSettings
    columns: tuple[FormatColumn, ...]
    metadata_columns: tuple[tuple[str, str, DataType], ...] = ()
    upserts: bool = False
    append_only: bool = False
    parallelism: int | None = None
    zone: tzinfo = UTC

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """Return whether only the rows of the tables are read."""
        return self.settings.startup.ends

    @property
    def insert_only(self) -> bool:  # type: ignore[override]
        """Return whether rows are only added."""
        return self.bounded or self.append_only

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return the assigner of chunks and of the log."""
        return CdcEnumerator(self.capture.open, replace(self.settings, channels=channels), limits)

    def splits(self) -> list[Any]:
        """Return the tables, each of which is read as a whole, for BATCH."""
        if not self.bounded:
            raise ValidationError("the changes of this table do not end: read it in STREAMING").with_hint(
                "'scan.startup.mode' = 'snapshot' reads the rows that are there now"
            )
        session = self.capture.open()
        try:
            return [ChunkWork(table, None, None, None, None) for table in session.tables()]
        finally:
            session.close(False)

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[Changes]:
        """Yield the rows of a chunk, or the changes of a range of the log."""
        metadata = {name: (key, kind) for name, key, kind in self.metadata_columns}
        physical = [name for name in columns if name not in metadata]
        types = {column.name: column.type for column in self.columns}
        readers: list[Callable[[RowBlock], pa.Array]] = [
            _of_metadata(*metadata[name])
            if name in metadata
            else _of_column(ColumnReader(name, types[name], self.zone))
            for name in columns
        ]
        is_chunk = isinstance(split, ChunkWork)
        blocks = (self.capture.read_chunk if is_chunk else self.capture.read_log)(split, physical)
        for block in blocks:
            kinds = None if self.append_only else block.kinds
            yield Changes(batch_of_columns([read(block) for read in readers], columns, block.count), kinds)


def _of_column(reader: ColumnReader) -> Callable[[RowBlock], pa.Array]:
    def read(block: RowBlock) -> pa.Array:
        import pyarrow as pa

        if reader.name not in block.names:
            return pa.nulls(block.count, arrow_type(reader.type))
        at = block.names.index(reader.name)
        return reader.read(block.columns[at], block.types[at], block.table.path)

    return read


#: Kinds of changes as the metadata `row_kind` has them.
SHORT_KINDS = {
    RowKind.INSERT.value: "+I",
    RowKind.UPDATE_BEFORE.value: "-U",
    RowKind.UPDATE_AFTER.value: "+U",
    RowKind.DELETE.value: "-D",
}


def _of_metadata(key: str, declared: DataType) -> Callable[[RowBlock], pa.Array]:
    def values(block: RowBlock) -> list[Any]:
        if key == "op_ts":
            return list(block.times or [0] * block.count)
        if key == "row_kind":
            return [SHORT_KINDS[kind] for kind in block.kinds or [0] * block.count]
        table = block.table
        name = {"table_name": table.name, "database_name": table.database, "schema_name": table.schema}[key]
        return [name] * block.count

    return lambda block: typed(values(block), SCHEMA_METADATA[key], declared)


def typed(values: Sequence[Any], kind: DataType, declared: DataType) -> pa.Array:
    """Return values of a type as a column of the type that a table declares."""
    found, wanted = from_values(values, kind), arrow_type(declared)
    return found if found.type == wanted else found.cast(wanted)
