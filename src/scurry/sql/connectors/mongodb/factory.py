"""MongoFactory: tables of collections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.common._config.option import parse_bytes
from scurry.connectors.mongodb.client import MongoSettings
from scurry.connectors.mongodb.sink import MongoExecution, MongoSink
from scurry.connectors.mongodb.source import STRATEGIES, MongoPartitions, MongoSource
from scurry.connectors.mongodb.values import check_type
from scurry.connectors.sink import Sink
from scurry.connectors.source import Source
from scurry.errors import ArgumentError, UnsupportedError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean, one_of, whole_number
from scurry.sql.connectors.contract import TableContext
from scurry.sql.connectors.durations import duration
from scurry.sql.connectors.lookups import LOOKUP_RETRIES
from scurry.sql.connectors.mongodb.documents import DocumentFinder, RowWrites, check_key, source_of
from scurry.sql.connectors.parallelism import SINK_PARALLELISM
from scurry.sql.connectors.records import FLUSH_INTERVAL, Finder, RecordFactory
from scurry.sql.formats.contract import FormatColumn, chosen_columns

URI = TableOption("uri", str, None, "The connection string: `mongodb://user:password@host:27017`.", required=True)
DATABASE = TableOption("database", str, None, "The database.", required=True)
COLLECTION = TableOption("collection", str, None, "The collection.", required=True)
FETCH_SIZE = TableOption("scan.fetch-size", whole_number, 2048, "Documents that a reader fetches at once.")
NO_TIMEOUT = TableOption(
    "scan.cursor.no-timeout", boolean, True, "Whether the server keeps a cursor that is not read for ten minutes."
)
STRATEGY = TableOption(
    "scan.partition.strategy",
    one_of(STRATEGIES),
    "default",
    "Ranges of ids that are read separately: `single` for one, `pagination` by counting documents; `sample`, "
    "`split-vector`, `sharded` and `default` by samples.",
)
PARTITION_SIZE = TableOption("scan.partition.size", parse_bytes, 64 << 20, "Size of a range.")
PARTITION_SAMPLES = TableOption("scan.partition.samples", whole_number, 10, "Samples per range.")
PARTITION_RECORDS = TableOption(
    "scan.partition.record-size", whole_number, 100_000, "Documents of a range, of `pagination`."
)
RETRY_INTERVAL = TableOption("lookup.retry.interval", duration, 1000, "Time before a lookup is retried.")
FILTER_POLICY = TableOption(
    "filter.handling.policy",
    one_of(("always", "never")),
    "always",
    "Conditions are evaluated here, not in the database.",
    without_effect=True,
)
FLUSH_ROWS = TableOption(
    "sink.buffer-flush.max-rows", whole_number, 1000, "Number of keys that wait, of each only the last row; 0 for any."
)
SINK_RETRIES = TableOption("sink.max-retries", whole_number, 3, "How often a write is retried.")
SINK_INTERVAL = TableOption("sink.retry.interval", duration, 1000, "Time before a write is retried.")
GUARANTEE = TableOption(
    "sink.delivery-guarantee",
    one_of(("at-least-once", "none", "exactly-once")),
    "at-least-once",
    "`at-least-once` or `none`, which writes the same way. `exactly-once` is refused.",
)
ORDERED = TableOption(
    "sink.ordered-writes", boolean, True, "Whether the server stops at the first write of a bulk that fails."
)


class MongoFactory(RecordFactory):
    """Make sources, sinks and lookups of collections."""

    identifier = "mongodb"
    changes = "UPSERT"
    flush_rows = FLUSH_ROWS

    def table_options(self) -> Sequence[TableOption[Any]]:
        """Return the options of the connector."""
        return (
            URI,
            DATABASE,
            COLLECTION,
            FETCH_SIZE,
            NO_TIMEOUT,
            STRATEGY,
            PARTITION_SIZE,
            PARTITION_SAMPLES,
            PARTITION_RECORDS,
            LOOKUP_RETRIES,
            RETRY_INTERVAL,
            FILTER_POLICY,
            SINK_RETRIES,
            SINK_INTERVAL,
            GUARANTEE,
            ORDERED,
            SINK_PARALLELISM,
        )

    def check(self, context: TableContext) -> Options:
        """Return the options after checking them and the columns."""
        options = super().check(context)
        for column in context.physical_columns:
            check_type(column.type, column.name)
        for option in (FETCH_SIZE, PARTITION_SIZE, PARTITION_SAMPLES, PARTITION_RECORDS):
            if options.get(option) < 1:
                raise ValidationError(f"'{option.key}' must be at least 1, but is {options.get(option)}")
        for option in (SINK_RETRIES, LOOKUP_RETRIES):
            if options.get(option) < 0:
                raise ValidationError(f"'{option.key}' must not be negative, but is {options.get(option)}")
        key = context.schema.get_primary_key()
        check_key(context.physical_columns, () if key is None else key.columns)
        _settings(options)
        return options

    def source(self, options: Options, columns: Sequence[FormatColumn]) -> Source:
        """Return the source of documents."""
        partitions = MongoPartitions(
            options.get(STRATEGY),
            options.get(PARTITION_SIZE),
            options.get(PARTITION_SAMPLES),
            options.get(PARTITION_RECORDS),
        )
        source = MongoSource(
            _settings(options),
            None,
            partitions,
            fetch_size=options.get(FETCH_SIZE),
            no_timeout=options.get(NO_TIMEOUT),
        )
        return source_of(source, columns)

    def sink(self, options: Options, columns: Sequence[FormatColumn], key: Sequence[str]) -> Sink:
        """Return the sink of documents, by the primary key if there is one."""
        if options.get(GUARANTEE) == "exactly-once":
            raise UnsupportedError(
                f"'{GUARANTEE.key}' = 'exactly-once': with a PRIMARY KEY 'at-least-once' leaves each document once"
            )
        execution = MongoExecution(
            max(options.get(FLUSH_ROWS), 0),
            options.get(FLUSH_INTERVAL),
            options.get(SINK_RETRIES),
            options.get(SINK_INTERVAL),
            options.get(ORDERED),
        )
        return MongoSink(_settings(options), RowWrites(tuple(columns), tuple(key)), execution)

    def finder(self, options: Options, columns: Sequence[FormatColumn], key: Sequence[str]) -> Finder:
        """Return the lookup of documents."""
        return DocumentFinder(
            _settings(options),
            tuple(columns),
            chosen_columns(columns, key),
            options.get(LOOKUP_RETRIES),
            options.get(RETRY_INTERVAL) / 1000,
        )


def _settings(options: Options) -> MongoSettings:
    try:
        return MongoSettings(options.get(URI), options.get(DATABASE), options.get(COLLECTION))
    except ArgumentError as error:
        raise ValidationError(f"'{URI.key}', '{DATABASE.key}' or '{COLLECTION.key}': {error}") from None
