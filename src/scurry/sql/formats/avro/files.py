"""AvroReader and AvroWriterFactory: Avro files as columns, and back."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO

from scurry._dataclasses import dataclass
from scurry.common.serialization import BulkWriter, BulkWriterFactory
from scurry.connectors.avro.files import AvroFileFormat, AvroWriter
from scurry.connectors.avro.library import fastavro
from scurry.connectors.avro.schema import AvroSchema
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.source import MalformedRecords
from scurry.sql.formats.avro.schema import columns_of, named_alike, records_of, schema_of
from scurry.sql.formats.contract import FileReader, FormatColumn

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class AvroReader(FileReader):
    """Read Avro files, whose fields are found by name."""

    columns: tuple[FormatColumn, ...]
    splittable = True

    def __post_init__(self) -> None:
        """Refuse columns that Avro has not."""
        self._schema()

    def _schema(self) -> AvroSchema:
        return AvroSchema(schema_of(self.columns))

    def read(self, fs: FileSystem, path: str, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the blocks that begin in a range."""
        schema = self._schema()
        with fs.open_input(path) as file, contextlib.suppress(Exception):  # what is no Avro file is reported below
            schema = AvroSchema(json.dumps(named_alike(json.loads(str(schema)), fastavro().reader(file).writer_schema)))
        for block in AvroFileFormat(schema).read(fs, path, start, end, end):
            if isinstance(block, MalformedRecords):
                raise block.errors[0]
            yield columns_of(block, self.columns)


@dataclass(frozen=True)
class AvroWriterFactory(BulkWriterFactory):
    """Create writers of Avro files, whose values are record batches.

    Attributes:
        codec: Compression of the blocks.
    """

    columns: tuple[FormatColumn, ...]
    codec: str

    def __post_init__(self) -> None:
        """Refuse columns that Avro has not."""
        AvroSchema(schema_of(self.columns))

    def create(self, stream: BinaryIO) -> BulkWriter:
        def records(batches: list[Any]) -> Iterator[dict[str, Any]]:
            return chain.from_iterable(records_of(batch, self.columns) for batch in batches)

        return AvroWriter(AvroSchema(schema_of(self.columns)), self.codec, stream, records)
