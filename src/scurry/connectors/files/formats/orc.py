"""OrcFormat and OrcWriterFactory: ORC files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from scurry.common.serialization import BulkWriter, BulkWriterFactory
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.files.formats.columnar import BatchWriter, ColumnarFormat
from scurry.connectors.source import MalformedRecords
from scurry.errors import MalformedRecordError

if TYPE_CHECKING:
    import pyarrow as pa

_MAGIC = b"ORC"


@dataclass(frozen=True)
class OrcFormat(ColumnarFormat):
    """Read the declared columns, like Flink's OrcColumnarRowInputFormat.

    The positions of stripes are unknown, so a byte range owns a share of the stripes in proportion to its share of the
    file. A file that is not an ORC file is one malformed record.
    """

    def batches(
        self, fs: FileSystem, path: str, start: int, end: int, size: int
    ) -> Iterator[pa.RecordBatch | MalformedRecords]:
        """Yield the declared columns of the stripes of a byte range."""
        from pyarrow import orc

        with fs.open_input(path) as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                if start == 0:  # once per file
                    yield MalformedRecords([MalformedRecordError(path, None, "", "this is no ORC file")])
                return
            stripes, columns = orc.ORCFile(file), self.columns
            found = columns.found_in(stripes.schema.names, path)
            wanted = [name for name in found if name is not None]
            for number in range(stripes.nstripes):
                if not start <= number * size // stripes.nstripes < end:
                    continue
                # without names pyarrow returns no rows: of a stripe whose rows only count, it reads all columns
                stripe = stripes.read_stripe(number, wanted or None)
                for first in range(0, stripe.num_rows, self.batch_size):
                    yield columns.of(stripe.slice(first, self.batch_size), found, path)


@dataclass(frozen=True)
class OrcWriterFactory(BulkWriterFactory):
    """Create writers of record batches to ORC files.

    Attributes:
        schema: The columns.
        compression: A compression that pyarrow supports for ORC.
        stripe_size: Size of a stripe in bytes.
    """

    schema: pa.Schema
    compression: str = "zlib"
    stripe_size: int = 64 * 1024 * 1024

    def create(self, stream: BinaryIO) -> BulkWriter:
        """Return a writer to an open stream."""
        return _OrcWriter(self, stream)


class _OrcWriter(BatchWriter):
    def __init__(self, factory: OrcWriterFactory, stream: BinaryIO) -> None:
        from pyarrow import orc

        super().__init__(factory.schema)
        self._writer = orc.ORCWriter(stream, compression=factory.compression, stripe_size=factory.stripe_size)

    def write_group(self, table: pa.Table) -> None:
        import pyarrow as pa

        for index, field in enumerate(table.schema):
            if pa.types.is_time32(field.type):  # ORC has no times: they are its numbers of milliseconds
                table = table.set_column(index, field.name, table.column(index).cast(pa.int32()))
        self._writer.write(table)

    def close(self) -> None:
        self._writer.close()
