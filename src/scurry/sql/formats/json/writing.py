"""JsonEncoder: rows of columns as JSON messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scurry.connectors.files.formats.json.writer import JsonTexts, JsonWriting
from scurry.sql.formats.contract import FormatColumn, names_and_types
from scurry.sql.formats.messages import MessageEncoder
from scurry.sql.types.values import to_values

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class JsonEncoder(MessageEncoder):
    """Encode rows as JSON objects.

    Attributes:
        columns: The columns of the rows.
        settings: How.
    """

    columns: tuple[FormatColumn, ...]
    settings: JsonWriting

    def encode(self, batch: pa.RecordBatch) -> list[bytes]:
        """Return the JSON object of each row."""
        if not self.columns:
            return [b"{}"] * batch.num_rows
        lines = JsonTexts(self.settings).objects(*names_and_types(self.columns))
        return [line.encode() for line in lines(map(to_values, batch.columns))]
