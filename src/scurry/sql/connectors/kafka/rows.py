"""MessageRows: Kafka's messages as rows, from their keys, values and metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scurry.common.types import RowKind
from scurry.errors import MalformedRecordError
from scurry.sql.connectors.contract import Changes
from scurry.sql.formats.message_format import BoundFormat
from scurry.sql.formats.messages import DecodingError, MessageDecoder
from scurry.sql.types import (
    MAX_LENGTH,
    BigIntType,
    DataType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    VarBinaryType,
    VarCharType,
)
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import batch_of_columns, from_values

if TYPE_CHECKING:
    import pyarrow as pa

_STRING = VarCharType(MAX_LENGTH).not_null()
_TIMESTAMP_TYPES = {1: "CreateTime", 2: "LogAppendTime"}

#: Metadata of Kafka's messages.
METADATA: dict[str, DataType] = {
    "topic": _STRING,
    "partition": IntType().not_null(),
    "headers": MapType(_STRING, VarBinaryType(MAX_LENGTH).not_null()).not_null(),
    "leader-epoch": IntType(),
    "offset": BigIntType().not_null(),
    "timestamp": LocalZonedTimestampType(3).not_null(),
    "timestamp-type": _STRING,
}

_READERS: dict[str, Callable[[Any], Any]] = {
    "topic": lambda message: message.topic(),
    "partition": lambda message: message.partition(),
    "headers": lambda message: [(name, value or b"") for name, value in message.headers() or ()],
    "leader-epoch": lambda message: message.leader_epoch(),
    "offset": lambda message: message.offset(),
    "timestamp": lambda message: message.timestamp()[1],
    "timestamp-type": lambda message: _TIMESTAMP_TYPES.get(message.timestamp()[0], "NoTimestampType"),
}


@dataclass(frozen=True)
class MessageRows:
    """Make rows of messages; picklable.

    Attributes:
        value: The format of values.
        key: The format of keys, None if they are not read.
        prefix: What the names of the key's columns begin with.
        metadata: The metadata of each metadata column.
        types: The type of each metadata column.
        upsert: Whether a message without a value deletes the row of its key.
    """

    value: BoundFormat
    key: BoundFormat | None
    prefix: str
    metadata: Mapping[str, str]
    types: Mapping[str, DataType]
    upsert: bool = False

    def reader(self, columns: Sequence[str]) -> Callable[[Sequence[Any]], Changes]:
        """Return the function that makes rows with some columns of librdkafka's messages."""
        value_names = [column.name for column in self.value.columns]
        of_format = {name: key[6:] for name, key in self.metadata.items() if key.startswith("value.")}
        from_value = [name for name in columns if name in value_names]
        metadata = [of_format[name] for name in columns if name in of_format]
        decode_value = self.value.decoder(from_value, metadata)
        from_key: list[str] = []
        decode_key: MessageDecoder | None = None
        if self.key is not None:
            in_key = [self.prefix + column.name for column in self.key.columns]
            from_key = [name for name in columns if name in in_key and (self.upsert or name not in value_names)]
            decode_key = self.key.decoder([name.removeprefix(self.prefix) for name in from_key], ())

        def read(messages: Sequence[Any]) -> Changes:
            return self._changes(messages, columns, (from_value, decode_value), (from_key, decode_key), of_format)

        return read

    def _changes(
        self,
        messages: Sequence[Any],
        columns: Sequence[str],
        value: tuple[list[str], MessageDecoder],
        key: tuple[list[str], MessageDecoder | None],
        of_format: Mapping[str, str],
    ) -> Changes:
        import pyarrow as pa

        present = [index for index, message in enumerate(messages) if message.value() is not None]
        decoded = _decoded(value[1], messages, present, [messages[index].value() for index in present])
        rows: Sequence[int] = range(len(present)) if decoded.origins is None else decoded.origins
        origins = [present[row] for row in rows]
        kinds = None if decoded.kinds is None else list(decoded.kinds)
        positions: list[int | None] = list(range(len(origins)))
        if self.upsert:
            origins, positions, kinds = _with_deletions(messages, origins)
        key_rows: list[int] = []
        key_batch = None
        if key[1] is not None:
            key_batch, by_message = _keys(key[1], messages)
            kept = [at for at, origin in enumerate(origins) if origin in by_message]
            origins, positions = [origins[at] for at in kept], [positions[at] for at in kept]
            kinds = None if kinds is None else [kinds[at] for at in kept]
            key_rows = [by_message[origin] for origin in origins]
        whole = positions == list(range(decoded.batch.num_rows))
        arrays = []
        for name in columns:
            if name in key[0] and key_batch is not None:
                column = key_batch.column(key[0].index(name))
                arrays.append(column.take(pa.array(key_rows, pa.int64())))
            elif name in value[0] or name in of_format:
                place = (
                    value[0].index(name)
                    if name in value[0]
                    else len(value[0]) + list(each for each in columns if each in of_format).index(name)
                )
                column = decoded.batch.column(place)
                arrays.append(column if whole else column.take(pa.array(positions, pa.int64())))
            else:
                arrays.append(self._metadata(name, [messages[origin] for origin in origins]))
        return Changes(batch_of_columns(arrays, columns, len(origins)), kinds)

    def _metadata(self, name: str, messages: Sequence[Any]) -> pa.Array:
        key = self.metadata[name]
        values = from_values(list(map(_READERS[key], messages)), METADATA[key])
        wanted = arrow_type(self.types[name])
        return values if values.type == wanted else values.cast(wanted)


def _with_deletions(messages: Sequence[Any], origins: list[int]) -> tuple[list[int], list[int | None], list[int]]:
    """Return message, row and kind of each change, among them those that messages without a value delete."""
    gone = [index for index, message in enumerate(messages) if message.value() is None]
    both = origins + gone
    order = sorted(range(len(both)), key=both.__getitem__)
    positions = [at if at < len(origins) else None for at in order]
    kinds = [RowKind.DELETE.value if at is None else RowKind.INSERT.value for at in positions]
    return [both[at] for at in order], positions, kinds


def _keys(decoder: MessageDecoder, messages: Sequence[Any]) -> tuple[pa.RecordBatch, dict[int, int]]:
    """Return the decoded keys, and the row of each message that has one."""
    found = [index for index, message in enumerate(messages) if message.key() is not None]
    keys = _decoded(decoder, messages, found, [messages[index].key() for index in found])
    places = range(len(found)) if keys.origins is None else keys.origins
    return keys.batch, {found[at]: row for row, at in enumerate(places)}


def _decoded(decoder: MessageDecoder, messages: Sequence[Any], places: Sequence[int], texts: Sequence[bytes]) -> Any:
    try:
        return decoder.decode_messages(texts)
    except DecodingError as error:
        message = messages[places[error.index]]
        place = f"topic {message.topic()!r}, partition {message.partition()}, offset {message.offset()}"
        text = texts[error.index].decode("utf-8", "replace")
        raise MalformedRecordError(place, None, text, error.reason).with_hint(error.hint) from None
