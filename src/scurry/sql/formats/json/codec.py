"""JsonDecoder and JsonEncoder: JSON messages as columns and back, converted as Flink's deserializer (Jackson) does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.common.nullable import nullable
from scurry.connectors.files.formats.json.reader import JsonSettings, JsonValues, parsed
from scurry.connectors.files.formats.json.writer import JsonTexts, JsonWriting
from scurry.connectors.source import SKIPPED
from scurry.sql.formats.contract import FormatColumn, names_and_types
from scurry.sql.formats.json.arrow_reading import ArrowJsonColumns
from scurry.sql.formats.json.arrow_writing import json_objects
from scurry.sql.formats.messages import DecodedMessages, DecodingError, MessageDecoder, MessageEncoder
from scurry.sql.types.values import batch_of_rows, to_values

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class JsonDecoder(MessageDecoder):
    """Decode messages of JSON objects, or arrays of them.

    Attributes:
        settings: How.
        identifier: The format, whose options they are.
    """

    columns: tuple[FormatColumn, ...]
    settings: JsonSettings
    identifier: str = "json"

    def block_decoder(self) -> Callable[[bytes | bytearray], pa.RecordBatch | None] | None:
        """Return a decoder of many lines by pyarrow, None if it does not support a type or an option."""
        if self.settings.fail_on_missing or not ArrowJsonColumns.understands(self.columns):
            return None
        return ArrowJsonColumns(self.columns, self.settings.iso).read

    def decode_messages(self, messages: Sequence[bytes]) -> DecodedMessages:
        """Return the rows with the messages that they are from; empty messages have none.

        Raises:
            DecodingError: A message cannot be read.
        """
        rows: list[list[Any]] = []
        origins: list[int] = []
        convert = self.row_converter()
        for index, message in enumerate(messages):
            for value in self.parsed(index, message):
                try:
                    row = convert(value)
                except ValueError as error:
                    if self.settings.ignore_errors:
                        SKIPPED.get()(1)
                        continue
                    raise DecodingError(index, str(error), self._ignoring) from None
                if row is not None:
                    rows.append(row)
                    origins.append(index)
        return DecodedMessages(batch_of_rows(rows, *names_and_types(self.columns)), origins)

    def parsed(self, index: int, message: bytes) -> list[Any]:
        """Return the values of a message: one, or those of an array."""
        try:
            value = parsed(message)
        except EOFError:
            return []
        except ValueError as error:
            if self.settings.ignore_errors:
                SKIPPED.get()(1)
                return []
            raise DecodingError(index, str(error), self._ignoring) from None
        return value if isinstance(value, list) else [value]

    @property
    def _ignoring(self) -> str:
        return "" if self.settings.fail_on_missing else f"{self.identifier}.ignore-parse-errors"

    def row_converter(self) -> Callable[[Any], list[Any] | None]:
        """Return the function that makes a row of a JSON object; it raises ValueError."""
        return nullable(JsonValues(self.settings).object(*names_and_types(self.columns)))


if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class JsonEncoder(MessageEncoder):
    """Encode rows as JSON objects.

    Attributes:
        settings: How.
    """

    columns: tuple[FormatColumn, ...]
    settings: JsonWriting

    def encode(self, batch: pa.RecordBatch) -> list[bytes]:
        """Return the JSON object of each row."""
        if not self.columns:
            return [b"{}"] * batch.num_rows
        objects = json_objects(batch, self.columns, self.settings)
        if objects is not None:
            return list(objects.cast("binary").to_pylist())
        lines = JsonTexts(self.settings).objects(*names_and_types(self.columns))
        return [line.encode() for line in lines(map(to_values, batch.columns))]
