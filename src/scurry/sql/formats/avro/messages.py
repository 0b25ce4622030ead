"""AvroDecoder and AvroEncoder: messages in Avro's encoding as columns, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.connectors.avro.confluent import RegistryReader, RegistryWriter
from scurry.connectors.avro.messages import MessageReader, MessageWriter
from scurry.connectors.avro.registry_settings import RegistrySettings
from scurry.connectors.avro.schema import AvroSchema
from scurry.errors import MalformedRecordError
from scurry.sql.formats.avro.schema import columns_of, records_of, schema_of
from scurry.sql.formats.contract import FormatColumn, chosen_columns
from scurry.sql.formats.messages import DecodedMessages, DecodingError, MessageDecoder, MessageEncoder

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class AvroDecoder(MessageDecoder):
    """Decode records.

    Attributes:
        declared: All columns of the messages, which give their schema.
        columns: Names of those to decode.
        url: The registry of the writers' schemas; None if messages have the declared one.
        client: Properties of the registry's client.
        schema: The reader's schema instead of the declared one.
    """

    declared: tuple[FormatColumn, ...]
    columns: tuple[str, ...]
    url: str | None = None
    client: tuple[tuple[str, str], ...] = ()
    schema: str | None = None

    def __post_init__(self) -> None:
        """Refuse columns that Avro has not."""
        self._schema()

    def _schema(self) -> AvroSchema:
        return AvroSchema(self.schema or schema_of(self.declared))

    def _read(self) -> Callable[[bytes], Any]:
        if self.url is None:
            return MessageReader(self._schema()).read
        return RegistryReader(self._schema(), RegistrySettings(self.url, dict(self.client))).read

    def decode_messages(self, messages: Sequence[bytes]) -> DecodedMessages:
        """Return the row of each message.

        Raises:
            DecodingError: A message cannot be read.
        """
        read = self._read()
        records = []
        for index, message in enumerate(messages):
            try:
                records.append(read(message))
            except MalformedRecordError as error:
                raise DecodingError(index, error.reason) from None
        return DecodedMessages(columns_of(records, chosen_columns(self.declared, self.columns)))


@dataclass(frozen=True)
class AvroEncoder(MessageEncoder):
    """Encode records.

    Attributes:
        url: The registry of the schema; None for messages without its number.
        client: Properties of the registry's client.
        subject: The subject under which the schema is registered.
        schema: The schema instead of the one that the columns give.
    """

    columns: tuple[FormatColumn, ...]
    url: str | None = None
    client: tuple[tuple[str, str], ...] = ()
    subject: str = ""
    schema: str | None = None

    def __post_init__(self) -> None:
        """Refuse columns that Avro has not."""
        self._schema()

    def _schema(self) -> AvroSchema:
        return AvroSchema(self.schema or schema_of(self.columns))

    def encode(self, batch: pa.RecordBatch) -> list[bytes]:
        """Return the message of each row."""
        write: Callable[[Any], bytes]
        if self.url is None:
            write = MessageWriter(self._schema()).write
        else:
            settings = RegistrySettings(self.url, dict(self.client))
            write = RegistryWriter(self.subject, self._schema(), settings).write
        return list(map(write, records_of(batch, self.columns)))
