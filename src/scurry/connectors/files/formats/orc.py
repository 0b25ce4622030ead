"""OrcFormat and OrcWriterFactory: read and write rows in ORC files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from scurry.common.bulk_writer import BulkWriter, BulkWriterFactory
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.files.formats.column_types import ColumnType
from scurry.connectors.files.formats.columnar import ColumnarFormat, ColumnarWriter, RowTables
from scurry.connectors.source import Block, MalformedRecords
from scurry.errors import MalformedRecordError, UnsupportedError

_MAGIC = b"ORC"


def check_orc_type(column: ColumnType) -> None:
    """Check that ORC supports a type.

    Raises:
        UnsupportedError: It does not.
    """
    if column.kind == "TIME":
        raise UnsupportedError("ORC files cannot hold TIME; declare a BIGINT or STRING and convert the values")
    for part in column.parts:
        check_orc_type(part)


@dataclass(frozen=True)
class OrcFormat(ColumnarFormat):
    """Read rows of the chosen columns, like Flink's OrcColumnarRowInputFormat.

    The positions of stripes are unknown, so a byte range owns a share of the stripes in proportion to its share of the
    file. A file that is not an ORC file is one malformed record.
    """

    def read(self, fs: FileSystem, path: str, start: int, end: int, size: int) -> Iterator[Block]:
        """Yield blocks of rows."""
        import pyarrow.orc as orc

        with fs.open_input(path) as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                if start == 0:  # once per file
                    yield MalformedRecords([MalformedRecordError(path, None, "", "this is no ORC file")])
                return
            stripes = orc.ORCFile(file)
            found = self.columns_in(stripes.schema.names, path)
            wanted = [name for name in found if name is not None]
            for number in range(stripes.nstripes):
                if not start <= number * size // stripes.nstripes < end:
                    continue
                stripe = stripes.read_stripe(number, wanted)
                for first in range(0, stripe.num_rows, self.batch_size):
                    yield self.rows(stripe.slice(first, self.batch_size), found, path)


@dataclass(frozen=True)
class OrcWriterFactory(BulkWriterFactory):
    """Create writers of ORC files.

    Attributes:
        row: The type of the rows, a ROW.
        compression: A compression that pyarrow supports for ORC.
        stripe_size: Size of a stripe in bytes.
    """

    row: ColumnType
    compression: str = "zlib"
    stripe_size: int = 64 * 1024 * 1024

    def create(self, stream: BinaryIO) -> BulkWriter:
        """Return a writer to an open stream."""
        return _OrcWriter(self, stream)


class _OrcWriter(ColumnarWriter):
    def __init__(self, factory: OrcWriterFactory, stream: BinaryIO) -> None:
        import pyarrow.orc as orc

        # ORC's timestamps have no zone: store them unconverted
        super().__init__(RowTables(factory.row, utc_timestamp=True))
        self._writer = orc.ORCWriter(stream, compression=factory.compression, stripe_size=factory.stripe_size)

    def write_group(self, table: Any) -> None:
        self._writer.write(table)

    def close(self) -> None:
        self._writer.close()
