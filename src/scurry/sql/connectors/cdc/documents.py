"""MongoCdcTableSource: the documents of collections and their changes as rows by `_id`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.cdc.mongodb.places import Change
from scurry.connectors.cdc.mongodb.receiver import MongoCdcSettings, MongoReceiver
from scurry.connectors.files.formats.columnar import RowTables
from scurry.connectors.mongodb.client import library
from scurry.connectors.mongodb.values import reader
from scurry.connectors.queues.receiving import ReceivingEnumerator
from scurry.connectors.source import MEASURED, BatchLimits, Enumerator
from scurry.errors import ValidationError
from scurry.sql.connectors.cdc.source import METADATA, SHORT_KINDS, typed
from scurry.sql.connectors.contract import Changes, TableSource
from scurry.sql.formats.contract import FormatColumn, row_of
from scurry.sql.types import DataType
from scurry.sql.types.values import batch_of_columns

#: Rows of a batch of columns.
_ROWS = 4096
_TEXT = METADATA["table_name"]
DOCUMENT_METADATA: dict[str, DataType] = {
    "collection_name": _TEXT,
    "database_name": _TEXT,
    "op_ts": METADATA["op_ts"],
    "row_kind": _TEXT,
}
_VALUES: dict[str, Callable[[Change], Any]] = {
    "collection_name": lambda change: change.collection,
    "database_name": lambda change: change.database,
    "op_ts": lambda change: change.millis,
    "row_kind": lambda change: SHORT_KINDS[change.kind or 0],
}


@dataclass(frozen=True)
class MongoCdcTableSource(TableSource):
    """Read collections as one table; an update has no row before.

    Attributes:
        settings: The server and the collections.
        columns: The physical columns, which are fields of documents.
        metadata_columns: The name, the key and the declared type of each metadata column.
        append_only: Whether all changes are rows that are added.
    """

    settings: MongoCdcSettings
    columns: tuple[FormatColumn, ...]
    metadata_columns: tuple[tuple[str, str, DataType], ...] = ()
    append_only: bool = False
    bounded = False

    @property
    def insert_only(self) -> bool:  # type: ignore[override]
        """Return whether rows are only added."""
        return self.append_only

    @property
    def upserts(self) -> bool:  # type: ignore[override]
        """Return whether a row replaces the one with its `_id`."""
        return not self.append_only

    def channels(self, parallelism: int) -> int:
        """Return 1: the driver reads, which keeps the order of changes."""
        return 1

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return the assigner of documents that the driver has read."""
        return ReceivingEnumerator(MongoReceiver(self.settings), limits)

    def splits(self) -> list[Any]:
        """Raise an error.

        Raises:
            ValidationError: Always: changes do not end.
        """
        raise ValidationError("the changes of this table do not end: read it in STREAMING").with_hint(
            "'connector' = 'mongodb' reads the documents that are there now"
        )

    def read(self, split: Sequence[Change], columns: Sequence[str]) -> Iterator[Changes]:
        """Yield the rows of documents and changes."""
        MEASURED.get()(len(split), sum(len(change.document) for change in split))
        metadata = {name: (key, kind) for name, key, kind in self.metadata_columns}
        # a document that is deleted has no other columns than its id
        physical = [FormatColumn(each.name, each.type.nullable()) for each in self.columns if each.name in columns]
        readers = [(column.name, reader(column.type)) for column in physical]
        tables, decode = RowTables(row_of(physical)), library("bson").decode
        present = [change for change in split if change.kind is not None]
        for begin in range(0, len(present), _ROWS):
            block = present[begin : begin + _ROWS]
            documents = [decode(change.document) for change in block]
            rows = [tuple(read(document.get(name)) for name, read in readers) for document in documents]
            table = tables.table(tables.prepare(rows)) if physical else None
            arrays = []
            for name in columns:
                if name in metadata:
                    key, declared = metadata[name]
                    arrays.append(typed(list(map(_VALUES[key], block)), DOCUMENT_METADATA[key], declared))
                else:
                    assert table is not None
                    arrays.append(table.column(name).combine_chunks())
            kinds = None if self.append_only else [change.kind for change in block]
            yield Changes(batch_of_columns(arrays, columns, len(block)), kinds)
