"""ClickHouseFactory: tables of ClickHouse."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from scurry.connectors.clickhouse.client import ClickHouseTable
from scurry.connectors.clickhouse.columns import check_row
from scurry.connectors.clickhouse.server import hosts_of
from scurry.connectors.clickhouse.sink import BLOCK_ROWS, ClickHouseSink
from scurry.connectors.clickhouse.source import ClickHouseScan
from scurry.connectors.sink import Sink
from scurry.errors import ArgumentError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean, whole_number
from scurry.sql.connectors.clickhouse.source import ClickHouseTableSource
from scurry.sql.connectors.clickhouse.upserts import UpsertSink
from scurry.sql.connectors.contract import SinkChanges, SinkTarget, TableContext, TableFactory, TableSource
from scurry.sql.connectors.durations import duration
from scurry.sql.connectors.lakes.columns import ChangeTables
from scurry.sql.connectors.lookups import LOOKUP_OPTIONS, lookup_cache
from scurry.sql.connectors.parallelism import SCAN_PARALLELISM, SINK_PARALLELISM
from scurry.sql.connectors.partitions import PARTITION_OPTIONS, numeric_ranges
from scurry.sql.connectors.queues.options import GUARANTEE, STAGING, staging_of
from scurry.sql.connectors.reducing import ReducingSink
from scurry.sql.formats.contract import row_of

URL = TableOption("url", str, None, "Addresses of the server, with `,`: `http://host:8123`.", required=True)
USERNAME = TableOption("username", str, None, "The user.")
PASSWORD = TableOption("password", str, None, "The user's password.")
DATABASE = TableOption("database-name", str, "default", "The database.")
TABLE_NAME = TableOption("table-name", str, None, "The table.", required=True)
BATCH_SIZE = TableOption("sink.batch-size", whole_number, BLOCK_ROWS, "Rows of an INSERT, at most 1,000,000.")
FLUSH_INTERVAL = TableOption(
    "sink.flush-interval", duration, 0, "Longest time that rows wait, at most until their commit; 0 for any."
)
RETRIES = TableOption(
    "sink.max-retries", whole_number, 3, "How often what the server could not do just then is tried again."
)
IGNORE_DELETE = TableOption("sink.ignore-delete", boolean, False, "Whether rows that are deleted stay.")

OPTIONS: tuple[TableOption[Any], ...] = (
    *(URL, USERNAME, PASSWORD, DATABASE, TABLE_NAME),
    *(BATCH_SIZE, FLUSH_INTERVAL, RETRIES, IGNORE_DELETE, GUARANTEE, STAGING, SINK_PARALLELISM),
    *(*PARTITION_OPTIONS, SCAN_PARALLELISM),
    *(option for option in LOOKUP_OPTIONS if option.key != "lookup.max-retries"),
)


class ClickHouseFactory(TableFactory):
    """Make sources, sinks and lookups of tables of ClickHouse."""

    identifier = "clickhouse"
    with_watermark_options = True

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        return OPTIONS

    def check(self, context: TableContext) -> Options:
        """Return the options after checking them and the columns."""
        options = super().check(context)
        check_row(row_of(context.physical_columns))
        if not 1 <= options.get(BATCH_SIZE) <= 1_000_000:
            raise ValidationError(f"'{BATCH_SIZE.key}' must be 1 to 1000000, but is {options.get(BATCH_SIZE)}")
        if options.get(RETRIES) < 0:
            raise ValidationError(f"'{RETRIES.key}' must not be negative, but is {options.get(RETRIES)}")
        _table(options)
        numeric_ranges(options)
        return options

    def create_source(self, context: TableContext) -> TableSource:
        """Return a source of the rows of a table."""
        options = self.check(context)
        scan = ClickHouseScan(_table(options), numeric_ranges(options))
        cache, parallelism = lookup_cache(options, self.identifier), options.find(SCAN_PARALLELISM)
        return ClickHouseTableSource(scan, context.physical_columns, cache, parallelism)

    def sink_changes(self, context: TableContext) -> SinkChanges:
        """Accept changes by the primary key; without one, inserted rows."""
        if context.schema.get_primary_key() is not None:
            return SinkChanges("UPSERT")
        return SinkChanges("INSERT", "please declare primary key for sink table: rows are written by it.")

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        """Return a sink that inserts rows, by the primary key if the table has one."""
        options, columns = self.check(context), context.physical_columns
        key, interval = context.schema.get_primary_key(), options.get(FLUSH_INTERVAL)
        staging = staging_of(options, GUARANTEE, "ClickHouse has no transactions over blocks")
        rows = ClickHouseSink(
            _table(options),
            row_of(columns),
            options.get(BATCH_SIZE),
            0 if key is not None else interval,
            None if key is not None else staging,
            partial(ChangeTables, self.identifier),
        )
        if key is None:
            return rows
        if staging is not None:
            raise ValidationError(
                f"'{GUARANTEE.key}' = 'exactly-once' is for tables without PRIMARY KEY: by key 'at-least-once' leaves "
                "each row once"
            )
        by_key = UpsertSink(rows, tuple(key.columns), options.get(IGNORE_DELETE))
        names = [column.name for column in columns]
        return ReducingSink(by_key, tuple(map(names.index, key.columns)), options.get(BATCH_SIZE), interval)


def _table(options: Options) -> ClickHouseTable:
    username, password = options.find(USERNAME), options.find(PASSWORD)
    if password and not username:
        raise ValidationError(f"'{PASSWORD.key}' needs '{USERNAME.key}'")
    try:
        hosts = hosts_of(options.get(URL), username, password)
    except ArgumentError as error:
        raise ValidationError(f"'{URL.key}': {error}") from None
    return ClickHouseTable(hosts, options.get(DATABASE), options.get(TABLE_NAME), options.get(RETRIES))
