"""MessageTarget: topics of changes, in the messages that Flink CDC's Kafka sink writes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.common.types import RowKind
from scurry.connectors.kafka.serializer import ProducerRecord
from scurry.connectors.kafka.sink import KafkaSink
from scurry.connectors.kafka.topic_creation import ensure_topic
from scurry.connectors.log.sink import FileLogSink
from scurry.connectors.sink import Sink
from scurry.errors import ValidationError
from scurry.sql import types
from scurry.sql.catalog.schema import PhysicalColumn, ResolvedSchema
from scurry.sql.connectors.contract import Changes, TableContext
from scurry.sql.connectors.messages.serializer import ChangeSerializer
from scurry.sql.formats.changes.writing import ChangeEncoder
from scurry.sql.formats.contract import chosen_columns
from scurry.sql.pipelines.changes import SinkTable
from scurry.sql.pipelines.targets import Target
from scurry.sql.types.values import from_values

if TYPE_CHECKING:
    pass

#: The option of names of tables with topics.
TOPICS = "sink.tableId-to-topic.mapping"
_HEADERS = "sink.custom-header"
_NAMES_IN_HEADERS = "sink.add-tableId-to-header-enabled"
#: The formats of values that have a form of their own in pipelines.
_FORMS = ("debezium-json", "canal-json")
#: The first column of keys.
_TABLE_ID = "TableId"
_TEXT = types.VarCharType(types.MAX_LENGTH)
_BEFORE, _DELETE = RowKind.UPDATE_BEFORE.value, RowKind.DELETE.value
_INSERT, _AFTER = RowKind.INSERT.value, RowKind.UPDATE_AFTER.value


@dataclass(frozen=True)
class MessageTarget(Target):
    """Topics of messages: of each table one, if the pipeline does not name one for all.

    Messages of a row have its table and its primary key as key, so that they keep their order.
    """

    connector: str = "kafka"

    def options_of(self, table: SinkTable) -> dict[str, str]:
        """Return the options of a topic."""
        given = dict(self.options)
        topics = dict(each.split(":", 1) for each in given.pop(TOPICS, "").split(";") if ":" in each)
        topic = topics.get(table.path) or given.pop("topic", "") or table.path
        form, keys = given.pop("value.format", _FORMS[0]), given.pop("key.format", "json")
        for name in ("topic", "partition.strategy", _HEADERS, _NAMES_IN_HEADERS):
            given.pop(name, None)
        prefixes = {f"{form}.": "value.", f"{keys}.": "key."}
        spaces = {key: next((space for each, space in prefixes.items() if key.startswith(each)), "") for key in given}
        found = {"connector": self.connector, "topic": topic, "value.format": form, "key.format": keys}
        return found | {"key.fields": ";".join(_key(table))} | {spaces[key] + key: text for key, text in given.items()}

    def check(self) -> None:
        """Check how rows get to partitions, and the headers.

        Raises:
            ValidationError: It is another way, or a header is none.
        """
        strategy = dict(self.options).get("partition.strategy", "hash-by-key")
        if strategy != "hash-by-key":
            raise ValidationError(
                f"'partition.strategy' = '{strategy}': rows go to partitions by their primary key, hash-by-key"
            )
        self._headers()
        if dict(self.options).get(_NAMES_IN_HEADERS, "false") not in ("true", "false"):
            raise ValidationError(f"'{_NAMES_IN_HEADERS}' is true or false")

    def prepare(self, table: SinkTable, adds: bool = True) -> None:
        """Create the topic if it is missing; a log does so itself.

        Raises:
            SinkConnectionError: The cluster does not answer, or refuses it.
        """
        made = self.sink(table)
        if isinstance(made, KafkaSink) and made.serializer.topic is not None:
            ensure_topic(made.properties, made.serializer.topic, table.creates)

    def context(self, table: SinkTable) -> TableContext:
        """Return the table as a statement would have it, with the column of its name."""
        if _TABLE_ID in table.columns.names:
            raise ValidationError(f"table {table.path} has a column '{_TABLE_ID}', which is a field of keys")
        context = super().context(table)
        columns = [PhysicalColumn(_TABLE_ID, _TEXT), *context.schema.get_columns()]
        schema = ResolvedSchema(columns, (), context.schema.get_primary_key())
        return replace(context, table=replace(context.table, schema=schema))

    def sink(self, table: SinkTable) -> Sink:
        """Return the sink of a topic.

        Raises:
            ValidationError: An option is missing, or wrong.
        """
        made = super().sink(table)
        assert isinstance(made, KafkaSink | FileLogSink)
        serializer = made.serializer
        assert isinstance(serializer, ChangeSerializer)
        values = chosen_columns(serializer.value.columns, table.columns.names)
        serializer = replace(serializer, value=replace(serializer.value, columns=values))
        return replace(made, serializer=TableMessages(serializer, table, self._headers_of(table)))

    def _headers(self) -> list[tuple[str, bytes]]:
        found = []
        for each in dict(self.options).get(_HEADERS, "").split(","):
            name, colon, text = each.partition(":")
            if colon:
                found.append((name.strip(), text.strip().encode()))
            elif each.strip():
                raise ValidationError(f"'{_HEADERS}' is name:text,name:text, and {each.strip()!r} is none")
        return found

    def _headers_of(self, table: SinkTable) -> tuple[tuple[str, bytes], ...]:
        found = self._headers()
        if dict(self.options).get(_NAMES_IN_HEADERS) == "true":
            parts = ["", "", *table.path.split(".")][-3:]
            names = ("namespace", "schemaName", "tableName")
            found = [(name, part.encode()) for name, part in zip(names, parts, strict=True)] + found
        return tuple(found)


def _key(table: SinkTable) -> list[str]:
    return [_TABLE_ID, *table.columns.key]


@dataclass(frozen=True)
class TableMessages:
    """Serialize changes of a table; picklable.

    An update is one message of `debezium-json` and `canal-json`, with the row before and the row after.

    Attributes:
        rows: Serializes rows with the name of their table.
        headers: The headers of each message.
    """

    rows: ChangeSerializer
    table: SinkTable
    headers: tuple[tuple[str, bytes], ...] = ()

    @property
    def topic(self) -> str | None:
        """The topic."""
        return self.rows.topic

    def records(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> list[ProducerRecord]:
        """Return the messages of changes."""
        return [record for changes in values for record in self._records(changes)]

    def _records(self, changes: Changes) -> Iterator[ProducerRecord]:
        import pyarrow as pa

        headers = list(self.headers) or None
        batch = changes.batch
        names = from_values([self.table.path] * batch.num_rows, _TEXT)
        named = pa.RecordBatch.from_arrays([names, *batch.columns], names=[_TABLE_ID, *batch.schema.names])
        if self.rows.value.identifier not in _FORMS:
            for topic, key, value, time, _ in self.rows.records([Changes(named, changes.kinds)], None):
                yield topic, key, value, time, headers
            return
        encoder = self.rows.value.encoder()
        assert isinstance(encoder, ChangeEncoder)
        assert self.rows.key is not None
        keys = self.rows.key.encoder().encode_changes(named.select(_key(self.table)), None)
        texts = encoder.rows.encode(batch)
        write = self._debezium if encoder.identifier == _FORMS[0] else self._canal
        before = None
        kinds = changes.kinds.tolist() if changes.kinds is not None else [_INSERT] * batch.num_rows
        for kind, following, key, row in zip(kinds, [*kinds[1:], None], keys, texts, strict=True):
            if kind == _BEFORE and following == _AFTER:
                before = row
                continue
            value = write(_DELETE if kind == _BEFORE else kind, before, row, encoder.skip_nulls)
            before = None
            yield self.topic or self.table.path, key, value, 0, headers

    def _debezium(self, kind: int, before: bytes | None, row: bytes, skips: bool) -> bytes:
        database, name = self._names()
        old, new = (row, None) if kind == _DELETE else (before, row)
        images = [
            b'"%s":%s,' % (image, text or b"null")
            for image, text in ((b"before", old), (b"after", new))
            if text or not skips
        ]
        operation = b"d" if kind == _DELETE else b"c" if kind == _INSERT else b"u"
        source = b'{"db":%s,"table":%s}' % (database, name)
        return b'{%s"op":"%s","source":%s}' % (b"".join(images), operation, source)

    def _canal(self, kind: int, before: bytes | None, row: bytes, skips: bool) -> bytes:
        database, name = self._names()
        old = b'"old":[%s],' % before if before else b"" if skips else b'"old":null,'
        word = b"DELETE" if kind == _DELETE else b"INSERT" if kind == _INSERT else b"UPDATE"
        key = json.dumps(self.table.columns.key, ensure_ascii=False, separators=(",", ":")).encode()
        return b'{%s"data":[%s],"type":"%s","database":%s,"table":%s,"pkNames":%s}' % (
            old,
            row,
            word,
            database,
            name,
            key,
        )

    def _names(self) -> tuple[bytes, bytes]:
        parts = self.table.path.split(".")
        database = json.dumps(parts[-2], ensure_ascii=False) if len(parts) > 1 else "null"
        return database.encode(), json.dumps(parts[-1], ensure_ascii=False).encode()
