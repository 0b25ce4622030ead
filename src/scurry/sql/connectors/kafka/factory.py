"""KafkaFactory and UpsertKafkaFactory: tables of topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scurry.connectors.kafka.sink import KafkaSink
from scurry.connectors.sink import Sink
from scurry.errors import UnsupportedError, ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.catalog.schema import MetadataColumn
from scurry.sql.catalog.table_options import Options, TableOption
from scurry.sql.connectors.contract import SinkChanges, SinkTarget, TableContext, TableFactory, TableSource
from scurry.sql.connectors.kafka import options as keys
from scurry.sql.connectors.kafka.rows import METADATA, MessageRows
from scurry.sql.connectors.kafka.sink import ChangeSerializer
from scurry.sql.connectors.kafka.source import KafkaTableSource
from scurry.sql.connectors.parallelism import SCAN_PARALLELISM
from scurry.sql.connectors.reducing import ReducingSink
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.formats.message_format import BoundFormat, bound_format, format_keys


class KafkaFactory(TableFactory):
    """Make sources and sinks of topics."""

    identifier = "kafka"
    with_watermark_options = True
    writes_metadata = True
    upsert = False

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return all options but those of formats."""
        return keys.KAFKA_OPTIONS

    def other_keys(self, context: TableContext) -> Sequence[str]:
        """Return the keys of the formats, and those of clients' properties that are set."""
        values = context.options
        found = [key for key in values if key.startswith("properties.")]
        for option, prefix in ((keys.FORMAT, ""), (keys.VALUE_FORMAT, "value."), (keys.KEY_FORMAT, "key.")):
            if option.key in values:
                found += format_keys(values[option.key], prefix)
        return found

    def create_source(self, context: TableContext) -> TableSource:
        """Return a source of messages."""
        formats = self._formats(context, "scan")
        options = self.check(context)
        subscription = keys.subscription(options)
        self._check_key(context, formats.value)
        metadata = {c.name: c for c in context.schema.get_columns() if isinstance(c, MetadataColumn)}
        known = {**{f"value.{key}": kind for key, kind in formats.value.metadata.items()}, **METADATA}
        _check_metadata(context, metadata.values(), known, "reads")
        start = self._start(options)
        rows = MessageRows(
            formats.value,
            formats.key,
            options.get(keys.KEY_PREFIX),
            {name: column.key for name, column in metadata.items()},
            {name: column.data_type for name, column in metadata.items()},
            self.upsert,
        )
        return KafkaTableSource(
            keys.client_properties(options),
            subscription,
            start,
            keys.bounded_by(options),
            options.values.get("properties.group.id"),
            rows,
            formats.value.insert_only and not self.upsert,
            options.find(SCAN_PARALLELISM),
            self.upsert,
        )

    def sink_changes(self, context: TableContext) -> SinkChanges:
        """Accept the changes that the format accepts."""
        if self.upsert:
            return SinkChanges("UPSERT")
        return SinkChanges("INSERT" if self._formats(context, "sink").value.insert_only else "ALL")

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        """Return a sink of messages."""
        formats = self._formats(context, "sink")
        options = self.check(context)
        topics = keys.subscription(options).topics
        if not self.upsert:
            keys.partitioned(options)
        if target.overwrite:
            raise UnsupportedError(f"INSERT OVERWRITE is not supported by the connector '{self.identifier}'")
        self._check_key(context, formats.value)
        columns = [column for column in context.schema.get_columns() if column.is_persisted()]
        written = [column for column in columns if isinstance(column, MetadataColumn)]
        known = {key: METADATA[key] for key in ("headers", "timestamp", *(() if len(topics) == 1 else ("topic",)))}
        _check_metadata(context, written, known, "writes")
        metadata = tuple((column.name, column.key) for column in written)
        if len(topics) != 1 and "topic" not in dict(metadata).values():
            raise ValidationError(
                "'topic' is not one topic: a column METADATA FROM 'topic' has to say where each row goes"
            )
        serializer = ChangeSerializer(
            tuple(column.name for column in columns),
            formats.value,
            formats.key,
            options.get(keys.KEY_PREFIX),
            topics[0] if len(topics) == 1 else None,
            metadata,
            self.upsert,
        )
        prefix = options.find(keys.TRANSACTIONAL_ID_PREFIX) or "kafka-sink"
        sink = KafkaSink(keys.client_properties(options), serializer, keys.exactly_once(options), prefix)
        if not self.upsert or options.get(keys.BUFFER_ROWS) <= 0:
            return sink
        key = context.schema.get_primary_key()
        assert key is not None  # checked with the formats
        return ReducingSink(
            sink,
            tuple(serializer.names.index(name) for name in key.columns),
            options.get(keys.BUFFER_ROWS),
            options.get(keys.BUFFER_INTERVAL),
        )

    def _start(self, options: Options) -> Any:
        return keys.started_at(options)

    def _check_key(self, context: TableContext, value: BoundFormat) -> None:
        if context.schema.get_primary_key() is not None and value.insert_only:
            raise ValidationError(
                f"The Kafka table '{context.identifier.as_summary_string()}' with '{value.identifier}' format doesn't "
                "support defining PRIMARY KEY constraint on the table, because it can't guarantee the semantic of "
                "primary key."
            )

    def _key_names(self, context: TableContext, options: Options) -> list[str] | None:
        """Return the names of the columns in the key, None without a format of keys."""
        fields = [name for name in options.get(keys.KEY_FIELDS).split(";") if name]
        if keys.KEY_FORMAT not in options:
            if keys.KEY_FIELDS in options:
                raise ValidationError(
                    "The option 'key.fields' can only be declared if a key format is defined using 'key.format'."
                )
            return None
        if not fields:
            raise ValidationError(
                "A key format 'key.format' requires the declaration of one or more of key fields using 'key.fields'."
            )
        return fields

    def _formats(self, context: TableContext, kind: str) -> _Formats:
        options = context.read_options()
        physical = context.physical_columns
        prefix, names = options.get(keys.KEY_PREFIX), self._key_names(context, options)
        everything = options.get(keys.FIELDS_INCLUDE) == "ALL"
        option = next((each for each in (keys.FORMAT, keys.VALUE_FORMAT) if each in options), None)
        if option is None:
            self.check(context)  # other options that are missing
            raise ValidationError(f"Could not find required {kind} format 'value.format'.")
        by_name = {column.name: column for column in physical}
        for name in names or ():
            if name not in by_name:
                listed = ", ".join(by_name)
                raise ValidationError(
                    f"Could not find the field '{name}' in the table schema for usage in the key format. A key field "
                    "must be a regular, physical column. The following columns can be selected in the 'key.fields' "
                    f"option:\n[{listed}]"
                )
            if not name.startswith(prefix):
                raise ValidationError(
                    f"All fields in 'key.fields' must be prefixed with '{prefix}' when option 'key.fields-prefix' is "
                    f"set but field '{name}' is not prefixed."
                )
        if prefix and everything:
            raise ValidationError(
                "A key prefix is not allowed when option 'value.fields-include' is set to 'ALL'. Set it to "
                "'EXCEPT_KEY' instead to avoid field overlaps."
            )
        in_value = [column for column in physical if everything or column.name not in (names or ())]
        space = "value." if option is keys.VALUE_FORMAT else ""
        value = bound_format(options, space, options.get(option), in_value, kind, context.time_zone)
        key = None
        if names is not None:
            in_key = [FormatColumn(name.removeprefix(prefix), by_name[name].type) for name in names]
            key = bound_format(options, "key.", options.get(keys.KEY_FORMAT), in_key, kind, context.time_zone)
            self._check_insert_only(key, "key")
        if self.upsert:
            self._check_insert_only(value, "value")
        return _Formats(value, key)

    def _check_insert_only(self, part: BoundFormat, which: str) -> None:
        if not part.insert_only and self.upsert:
            raise ValidationError(
                f"'upsert-kafka' connector doesn't support '{part.identifier}' as {which} format, because "
                f"'{part.identifier}' is not in insert-only mode."
            )
        if not part.insert_only:
            raise ValidationError(
                f"A key format should only deal with INSERT-only records. But 'key.format' has a changelog mode of "
                f"'{part.identifier}'."
            )


class UpsertKafkaFactory(KafkaFactory):
    """Make sources and sinks of topics whose messages replace each other by key."""

    identifier = "upsert-kafka"
    upsert = True

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return all options but those of formats."""
        return keys.UPSERT_OPTIONS

    def check(self, context: TableContext) -> Options:
        """Return the options after checking them."""
        options = super().check(context)
        if context.schema.get_primary_key() is None:
            raise _without_key()
        if (options.get(keys.BUFFER_ROWS) > 0) != (options.get(keys.BUFFER_INTERVAL) > 0):
            raise ValidationError(
                "'sink.buffer-flush.max-rows' and 'sink.buffer-flush.interval' must be set to be greater than zero "
                "together to enable sink buffer flushing."
            )
        return options

    def _start(self, options: Options) -> Any:
        from scurry.connectors.kafka.partitions import KafkaOffsetsInitializer

        return KafkaOffsetsInitializer.earliest()

    def _check_key(self, context: TableContext, value: BoundFormat) -> None:
        return

    def _key_names(self, context: TableContext, options: Options) -> list[str] | None:
        key = context.schema.get_primary_key()
        if key is None:
            raise _without_key()
        self.check(context)  # a missing format of keys
        return list(key.columns)


@dataclass(frozen=True)
class _Formats:
    value: BoundFormat
    key: BoundFormat | None


def _without_key() -> ValidationError:
    return ValidationError(
        "'upsert-kafka' tables require to define a PRIMARY KEY constraint. The PRIMARY KEY specifies which columns "
        "should be read from or write to the Kafka message key. The PRIMARY KEY also defines records in the "
        "'upsert-kafka' table should update or delete on which keys."
    ).with_hint("add it to CREATE TABLE: PRIMARY KEY (id) NOT ENFORCED")


def _check_metadata(context: TableContext, columns: Any, known: Any, does: str) -> None:
    for column in columns:
        if column.key not in known:
            raise ValidationError(
                f"Invalid metadata key '{column.key}' in column '{column.name}' of table "
                f"'{context.identifier.as_summary_string()}'. The table {does} these "
                "metadata keys:\n" + "\n".join(known)
            ).with_hint(did_you_mean(column.key, known))
