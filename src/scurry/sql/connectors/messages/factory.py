"""MessageFactory: tables of messages, whose columns are in keys, values and metadata."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from scurry._dataclasses import dataclass
from scurry.connectors.messages import MessageScan, MessageSystem
from scurry.connectors.sink import Sink
from scurry.errors import ValidationError
from scurry.sql.catalog.schema import MetadataColumn
from scurry.sql.catalog.table_options import Options, TableOption, one_of
from scurry.sql.connectors.contract import SinkChanges, SinkTarget, TableContext, TableFactory, TableSource
from scurry.sql.connectors.messages.rows import MessageRows
from scurry.sql.connectors.messages.serializer import ChangeSerializer
from scurry.sql.connectors.messages.source import MessageTableSource
from scurry.sql.connectors.metadata import check_metadata
from scurry.sql.connectors.parallelism import SCAN_PARALLELISM
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.formats.message_format import BoundFormat, bound_format, format_keys

FORMAT = TableOption("format", str, None, "The format of values.")
VALUE_FORMAT = TableOption("value.format", str, None, "The format of values; another name of `format`.")
KEY_FORMAT = TableOption("key.format", str, None, "The format of keys.")
KEY_FIELDS = TableOption("key.fields", str, "", "Names of the columns in the key, with `;`.")
KEY_PREFIX = TableOption("key.fields-prefix", str, "", "What the names of columns in the key begin with.")
FIELDS_INCLUDE = TableOption(
    "value.fields-include",
    one_of(("ALL", "EXCEPT_KEY")),
    "ALL",
    "Whether values have the columns of the key, too: `ALL` or `EXCEPT_KEY`.",
)
#: The options of the columns in keys and values.
FORMAT_OPTIONS: tuple[TableOption[Any], ...] = (
    FORMAT,
    VALUE_FORMAT,
    KEY_FORMAT,
    KEY_FIELDS,
    KEY_PREFIX,
    FIELDS_INCLUDE,
)


class MessageFactory(TableFactory):
    """Make sources and sinks of messages.

    A connector declares its options, `FORMAT_OPTIONS` among them, and implements `scan`, `topics` and `sink`.

    Attributes:
        upsert: Whether messages replace each other by key, which is the primary key.
    """

    with_watermark_options = True
    reads_metadata = True
    writes_metadata = True
    system_name: ClassVar[str]
    system: ClassVar[MessageSystem]
    upsert: ClassVar[bool] = False

    @abstractmethod
    def scan(self, options: Options) -> MessageScan:
        """Return the messages that a table reads.

        Raises:
            ValidationError: Options do not fit together.
        """

    @abstractmethod
    def topics(self, options: Options) -> tuple[str, ...]:
        """Return the topics that a table writes; if it is not one, the metadata `topic` says where a row goes.

        Raises:
            ValidationError: Options do not fit together.
        """

    @abstractmethod
    def sink(self, options: Options, serializer: ChangeSerializer, context: TableContext) -> Sink:
        """Return the sink of messages, which are made of changes."""

    def other_keys(self, context: TableContext) -> Sequence[str]:
        """Return the keys of the formats."""
        values, found = context.options, list[str]()
        for option, prefix in ((FORMAT, ""), (VALUE_FORMAT, "value."), (KEY_FORMAT, "key.")):
            if option.key in values:
                found += format_keys(values[option.key], prefix)
        return found

    def create_source(self, context: TableContext) -> TableSource:
        formats = self._formats(context, "scan")
        options = self.check(context)
        self.check_key(context, formats.value)
        metadata = {c.name: c for c in context.schema.get_columns() if isinstance(c, MetadataColumn)}
        of_value = {f"value.{key}": kind for key, kind in formats.value.metadata.items()}
        check_metadata(context, metadata.values(), {**of_value, **self.system.metadata}, "reads")
        rows = MessageRows(
            self.system,
            formats.value,
            formats.key,
            options.get(KEY_PREFIX),
            {name: column.key for name, column in metadata.items()},
            {name: column.data_type for name, column in metadata.items()},
            self.upsert,
        )
        insert_only = formats.value.insert_only and not self.upsert
        return MessageTableSource(self.scan(options), rows, insert_only, options.find(SCAN_PARALLELISM), self.upsert)

    def sink_changes(self, context: TableContext) -> SinkChanges:
        """Accept the changes that the format accepts."""
        if self.upsert:
            return SinkChanges("UPSERT")
        return SinkChanges("INSERT" if self._formats(context, "sink").value.insert_only else "ALL")

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        formats = self._formats(context, "sink")
        options = self.check(context)
        topics = self.topics(options)
        self.check_key(context, formats.value)
        columns = [column for column in context.schema.get_columns() if column.is_persisted()]
        written = [column for column in columns if isinstance(column, MetadataColumn)]
        writable = [key for key in self.system.written if key != "topic" or len(topics) != 1]
        check_metadata(context, written, {key: self.system.metadata[key] for key in writable}, "writes")
        metadata = tuple((column.name, column.key) for column in written)
        if len(topics) != 1 and "topic" not in dict(metadata).values():
            raise ValidationError(
                "'topic' is not one topic: a column METADATA FROM 'topic' has to say where each row goes"
            )
        serializer = ChangeSerializer(
            tuple(column.name for column in columns),
            formats.value,
            formats.key,
            options.get(KEY_PREFIX),
            topics[0] if len(topics) == 1 else None,
            metadata,
            self.upsert,
        )
        return self.sink(options, serializer, context)

    def check_key(self, context: TableContext, value: BoundFormat) -> None:
        """Check the primary key of a table.

        Raises:
            ValidationError: Messages cannot keep it.
        """
        if context.schema.get_primary_key() is not None and value.insert_only and not self.upsert:
            raise ValidationError(
                f"The {self.system_name} table '{context.identifier.as_summary_string()}' with '{value.identifier}' "
                "format doesn't support defining PRIMARY KEY constraint on the table, because it can't guarantee the "
                "semantic of primary key."
            )

    def key_names(self, context: TableContext, options: Options) -> list[str] | None:
        """Return the names of the columns in the key, None without a format of keys."""
        fields = [name for name in options.get(KEY_FIELDS).split(";") if name]
        if KEY_FORMAT not in options:
            if KEY_FIELDS in options:
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
        prefix, names = options.get(KEY_PREFIX), self.key_names(context, options)
        everything = options.get(FIELDS_INCLUDE) == "ALL"
        option = next((each for each in (FORMAT, VALUE_FORMAT) if each in options), None)
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
        space = "value." if option is VALUE_FORMAT else ""
        value = bound_format(options, space, options.get(option), in_value, kind)
        key = None
        if names is not None:
            in_key = [FormatColumn(name.removeprefix(prefix), by_name[name].type) for name in names]
            key = bound_format(options, "key.", options.get(KEY_FORMAT), in_key, kind)
            self._check_insert_only(key, "key")
        if self.upsert:
            self._check_insert_only(value, "value")
        return _Formats(value, key)

    def _check_insert_only(self, part: BoundFormat, which: str) -> None:
        if not part.insert_only and self.upsert:
            raise ValidationError(
                f"'{self.identifier}' connector doesn't support '{part.identifier}' as {which} format, because "
                f"'{part.identifier}' is not in insert-only mode."
            )
        if not part.insert_only:
            raise ValidationError(
                f"A key format should only deal with INSERT-only records. But 'key.format' has a changelog mode of "
                f"'{part.identifier}'."
            )


@dataclass(frozen=True)
class _Formats:
    value: BoundFormat
    key: BoundFormat | None
