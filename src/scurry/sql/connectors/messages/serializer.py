"""ChangeSerializer: changes of rows as messages: topic, key, value, timestamp, headers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.connectors.kafka.serializer import ProducerRecord
from scurry.errors import ValidationError
from scurry.sql.connectors.contract import Changes
from scurry.sql.formats.message_format import BoundFormat
from scurry.sql.types.values import to_values

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class ChangeSerializer:
    """Serialize changes of rows; picklable.

    Attributes:
        key: The format of keys, None for records without keys.
        prefix: Prefix of the names of the key's columns.
        topic: The topic; None if a column has it.
        metadata: The column of each metadata that is written.
        upsert: Whether a deleted row becomes a record without a value.
    """

    names: tuple[str, ...]
    value: BoundFormat
    key: BoundFormat | None
    prefix: str
    topic: str | None
    metadata: tuple[tuple[str, str], ...] = ()
    upsert: bool = False

    def records(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> list[ProducerRecord]:
        return [record for changes in values for record in self._records(changes)]

    def _records(self, changes: Changes) -> list[ProducerRecord]:
        batch, kinds = changes.batch, changes.kinds
        if self.value.insert_only and not self.upsert:
            changes.inserted(
                ValidationError(
                    f"format '{self.value.identifier}' writes inserted rows only; the query updates or deletes rows: "
                    "write to the connector 'upsert-kafka', or use a format of changes such as 'debezium-json'"
                )
            )
        values: list[bytes | None] = list(
            self.value.encoder().encode_changes(self._part(batch, self.value, ""), None if self.upsert else kinds)
        )
        if self.upsert:
            values = [None if gone else value for gone, value in zip(changes.gone, values, strict=True)]
        count = batch.num_rows
        keys: Sequence[bytes | None] = [None] * count
        if self.key is not None:
            keys = self.key.encoder().encode_changes(self._part(batch, self.key, self.prefix), None)
        written = {key: to_values(batch.column(self.names.index(name))) for name, key in self.metadata}
        topics = written.get("topic") or [self.topic] * count
        times = [0 if time is None else time for time in written.get("timestamp") or [0] * count]
        headers = [
            None if each is None else [(name, value) for name, value in each]
            for each in written.get("headers") or [None] * count
        ]
        return list(zip(topics, keys, values, times, headers, strict=True))

    def _part(self, batch: pa.RecordBatch, part: BoundFormat, prefix: str) -> pa.RecordBatch:
        import pyarrow as pa

        names = [prefix + column.name for column in part.columns]
        arrays = [batch.column(self.names.index(name)) for name in names]
        return pa.RecordBatch.from_arrays(arrays, names=names)
