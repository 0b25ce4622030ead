"""ElasticsearchFactory: tables of Elasticsearch 6 to 8 and of OpenSearch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from scurry.connectors.elasticsearch.sink import ElasticsearchSink
from scurry.connectors.sink import Sink
from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options, TableOption
from scurry.sql.connectors.contract import SinkChanges, SinkTarget, TableContext, TableFactory, TableSource
from scurry.sql.connectors.elasticsearch import options as keys
from scurry.sql.connectors.elasticsearch.documents import WITHOUT_KEY, DocumentIds, RowActions, document_ids
from scurry.sql.connectors.elasticsearch.indices import index_names
from scurry.sql.connectors.elasticsearch.source import DocumentTableSource
from scurry.sql.connectors.lookups import lookup_cache
from scurry.sql.connectors.parallelism import SCAN_PARALLELISM
from scurry.sql.connectors.reducing import ReducingSink
from scurry.sql.formats.message_format import BoundFormat, bound_format, format_keys
from scurry.sql.types import BigIntType, IntType


class ElasticsearchFactory(TableFactory):
    """Make sources and sinks of indices.

    Attributes:
        own_options: The options that only this version has.
    """

    identifier = "elasticsearch-7"
    with_watermark_options = True
    own_options: ClassVar[tuple[TableOption[Any], ...]] = ()

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        return (*keys.OPTIONS, *self.own_options)

    def other_keys(self, context: TableContext) -> Sequence[str]:
        """Return the keys of the format."""
        return format_keys(context.options.get("format", "json"), "")

    def create_source(self, context: TableContext) -> TableSource:
        """Return a source of documents."""
        options = self.check(context)
        names = index_names(options.get(keys.INDEX), context.physical_columns, context.time_zone)
        if not names.is_fixed:
            raise ValidationError(
                f"'index' = '{options.get(keys.INDEX)}' says where rows are written. To read them, name the indices: "
                f"'index' = '{names.before}*{names.after}'"
            )
        for option in (keys.PAGE_SIZE, keys.SLICES):
            number = options.find(option)
            if number is not None and number < 1:
                raise ValidationError(f"'{option.key}' must be at least 1, but is {number}")
        keys.bulk_of(options)
        is_single = not set(names.before) & set("*,")
        return DocumentTableSource(
            keys.hosts_of(options),
            names.before,
            self._format(context, "scan"),
            options.get(keys.PAGE_SIZE),
            options.find(keys.SLICES),
            self._ids(context) if is_single else None,
            lookup_cache(options, self.identifier),
            options.find(SCAN_PARALLELISM),
            self._document_type(options),
        )

    def sink_changes(self, context: TableContext) -> SinkChanges:
        """Accept changes by the primary key; without one, inserted rows."""
        if context.schema.get_primary_key() is not None:
            return SinkChanges("UPSERT")
        return SinkChanges("INSERT", WITHOUT_KEY)

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        """Return a sink of documents, by the primary key if the table has one."""
        options, columns = self.check(context), context.physical_columns
        names = index_names(options.get(keys.INDEX), columns, context.time_zone)
        ids, version = self._ids(context), options.find(keys.VERSION_COLUMN)
        if ids is not None and names.is_of_clock:
            raise ValidationError("Dynamic indexing based on system time only works on append only stream.")
        self._check_version(context, version, ids)
        bulk, kind = keys.bulk_of(options), self._document_type(options)
        actions = RowActions(self._format(context, "sink"), names, ids, version, kind)
        sink = ElasticsearchSink(keys.hosts_of(options), bulk, actions)
        if ids is None:
            return sink
        positions = tuple([column.name for column in columns].index(column.name) for column in ids.columns)
        return ReducingSink(sink, positions, bulk.max_actions, bulk.interval_ms)

    def _document_type(self, options: Options) -> str | None:
        return options.find(keys.DOCUMENT_TYPE) if keys.DOCUMENT_TYPE in self.own_options else None

    def _format(self, context: TableContext, kind: str) -> BoundFormat:
        options = context.read_options()
        identifier = options.get(keys.FORMAT)
        found = bound_format(options, "", identifier, context.physical_columns, kind)
        if identifier != "json":
            raise ValidationError(f"'format' = '{identifier}': documents are JSON objects; use 'json' or leave it out")
        return found

    def _ids(self, context: TableContext) -> DocumentIds | None:
        key = context.schema.get_primary_key()
        delimiter = context.read_options().get(keys.KEY_DELIMITER)
        return None if key is None else document_ids(context.physical_columns, key.columns, delimiter)

    def _check_version(self, context: TableContext, version: str | None, ids: DocumentIds | None) -> None:
        if version is None:
            return
        types = {column.name: column.type for column in context.physical_columns}
        if ids is None or not isinstance(types.get(version), (BigIntType, IntType)):
            raise ValidationError(
                f"'{keys.VERSION_COLUMN.key}' = '{version}' needs a PRIMARY KEY and names a column of it or of the "
                "others, of type BIGINT or INT"
            )


class Elasticsearch6Factory(ElasticsearchFactory):
    """Tables of Elasticsearch 6, whose documents have a type."""

    identifier = "elasticsearch-6"
    own_options = (keys.DOCUMENT_TYPE,)


class Elasticsearch8Factory(ElasticsearchFactory):
    """Tables of Elasticsearch 8."""

    identifier = "elasticsearch-8"


class OpensearchFactory(ElasticsearchFactory):
    """Tables of OpenSearch."""

    identifier = "opensearch"
    own_options = (keys.ALLOW_INSECURE,)
