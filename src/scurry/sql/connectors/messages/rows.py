"""MessageRows: messages as rows, from their keys, values and metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.common.types import RowKind
from scurry.connectors.messages import MessageSystem
from scurry.errors import MalformedRecordError
from scurry.sql.connectors.contract import Changes
from scurry.sql.formats.message_format import BoundFormat
from scurry.sql.formats.messages import DecodingError, MessageDecoder
from scurry.sql.types import DataType
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import batch_of_columns, from_values

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class MessageRows:
    """Make rows of messages; picklable.

    Attributes:
        key: The format of keys, None if they are not read.
        prefix: Prefix of the names of the key's columns.
        types: The type of each metadata column.
        upsert: Whether a message without a value deletes the row of its key.
    """

    system: MessageSystem
    value: BoundFormat
    key: BoundFormat | None
    prefix: str
    metadata: Mapping[str, str]
    types: Mapping[str, DataType]
    upsert: bool = False

    def reader(self, columns: Sequence[str]) -> Callable[[Sequence[Any]], Changes]:
        """Return the function that makes rows with some columns of messages."""
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

        values = list(map(self.system.value, messages))
        present = [index for index, value in enumerate(values) if value is not None]
        decoded = self._decoded(value[1], messages, present, values)
        rows: Sequence[int] = range(len(present)) if decoded.origins is None else decoded.origins
        origins = [present[row] for row in rows]
        kinds = None if decoded.kinds is None else list(decoded.kinds)
        positions: list[int | None] = list(range(len(origins)))
        if self.upsert:
            origins, positions, kinds = _with_deletions(values, origins)
        key_rows: list[int] = []
        key_batch = None
        if key[1] is not None:
            key_batch, by_message = self._keys(key[1], messages)
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
        values = from_values([self.system.read(key, message) for message in messages], self.system.metadata[key])
        wanted = arrow_type(self.types[name])
        return values if values.type == wanted else values.cast(wanted)

    def _keys(self, decoder: MessageDecoder, messages: Sequence[Any]) -> tuple[pa.RecordBatch, dict[int, int]]:
        """Return the decoded keys, and the row of each message that has one."""
        keys = list(map(self.system.key, messages))
        found = [index for index, key in enumerate(keys) if key is not None]
        decoded = self._decoded(decoder, messages, found, keys)
        places = range(len(found)) if decoded.origins is None else decoded.origins
        return decoded.batch, {found[at]: row for row, at in enumerate(places)}

    def _decoded(
        self, decoder: MessageDecoder, messages: Sequence[Any], present: Sequence[int], texts: Sequence[Any]
    ) -> Any:
        texts = [texts[index] for index in present]
        try:
            return decoder.decode_messages(texts)
        except DecodingError as error:
            place = self.system.place(messages[present[error.index]])
            text = texts[error.index].decode("utf-8", "replace")
            raise MalformedRecordError(place, None, text, error.reason).with_hint(error.hint) from None


def _with_deletions(
    values: Sequence[bytes | None], origins: list[int]
) -> tuple[list[int], list[int | None], list[int]]:
    """Return message, row and kind of each change, among them those that messages without a value delete."""
    gone = [index for index, value in enumerate(values) if value is None]
    both = origins + gone
    order = sorted(range(len(both)), key=both.__getitem__)
    positions = [at if at < len(origins) else None for at in order]
    kinds = [RowKind.DELETE.value if at is None else RowKind.INSERT.value for at in positions]
    return [both[at] for at in order], positions, kinds
