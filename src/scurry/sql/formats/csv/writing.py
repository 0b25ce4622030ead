"""CsvEncoder: rows of columns as CSV lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scurry.connectors.files.formats.csv.schema import CsvDialect
from scurry.connectors.files.formats.csv.writer import CsvLines
from scurry.sql.formats.messages import MessageEncoder
from scurry.sql.types.values import to_values

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class CsvEncoder(MessageEncoder):
    """Encode rows as CSV lines.

    Attributes:
        dialect: The syntax, with the columns of the rows.
    """

    dialect: CsvDialect

    def encode(self, batch: pa.RecordBatch) -> list[bytes]:
        """Return the line of each row, without its end."""
        return [line.encode() for line in CsvLines(self.dialect).of_columns(map(to_values, batch.columns))]
