"""DeltaFactory: tables of Delta Lake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from scurry.connectors.files.storage_errors import reaching
from scurry.connectors.lakes.delta_sink import DeltaSink
from scurry.connectors.lakes.delta_source import DeltaScan
from scurry.connectors.lakes.delta_table import DeltaRange, columns_of, open_table
from scurry.connectors.lakes.delta_upserts import DeltaUpsertSink
from scurry.connectors.lakes.enumerator import OpenedTable
from scurry.connectors.sink import Sink
from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean, one_of, whole_number
from scurry.sql.connectors.contract import RowChanges, SinkChanges, SinkTarget, TableContext, TableFactory, TableSource
from scurry.sql.connectors.lakes.columns import ChangeTables, UpsertTables, lake_row
from scurry.sql.connectors.lakes.source import LakeTableSource
from scurry.sql.connectors.reducing import ReducingSink
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.values.parsing import parse_timestamp


def _version(text: str) -> int:
    found = whole_number(text)
    if found < 0:
        raise ValueError(f"a version of a table is a number from 0, not {text}")
    return found


def _start(text: str) -> int | None:
    return None if text == "latest" else _version(text)


def _time(text: str) -> int:
    """Return the milliseconds of a point of time, in UTC."""
    return parse_timestamp(text.replace("T", " ").removesuffix("Z"), False, False) // 1_000_000


PATH = TableOption("table-path", str, None, "The table's directory or address.", required=True)
MODE = TableOption(
    "mode",
    one_of(("batch", "streaming")),
    "batch",
    "Whether one version is read, or also what later versions add: `batch` or `streaming`, in STREAMING.",
)
VERSION_AS_OF = TableOption("versionAsOf", _version, None, "The version that `batch` reads; the newest without.")
TIME_AS_OF = TableOption(
    "timestampAsOf", _time, None, "The time, in UTC, whose version `batch` reads, such as `2026-03-04 05:06:07`."
)
STARTING_VERSION = TableOption(
    "startingVersion",
    _start,
    None,
    "With `streaming`: only what this version and later ones have added is read; `latest` for later ones only.",
)
STARTING_TIME = TableOption(
    "startingTimestamp", _time, None, "With `streaming`: only what versions after this time have added is read."
)
INTERVAL = TableOption(
    "updateCheckIntervalMillis", whole_number, 5000, "With `streaming`: milliseconds between looks for new versions."
)
IGNORE_DELETES = TableOption(
    "ignoreDeletes", boolean, False, "With `streaming`: whether versions that only delete are skipped; else they fail."
)
IGNORE_CHANGES = TableOption(
    "ignoreChanges", boolean, False, "With `streaming`: whether rewritten files are read as new; else they fail."
)
MERGE_SCHEMA = TableOption(
    "mergeSchema", boolean, False, "Whether an insertion adds the columns that the Delta table lacks."
)
UPSERT = TableOption(
    "write.upsert.enabled", boolean, False, "Whether rows replace those with their primary key, and updates are taken."
)
_OF_BATCH = (VERSION_AS_OF, TIME_AS_OF)
_OF_STREAMING = (STARTING_VERSION, STARTING_TIME, INTERVAL, IGNORE_DELETES, IGNORE_CHANGES)


class DeltaFactory(TableFactory):
    """Make sources and sinks of Delta tables."""

    identifier = "delta"
    row_changes = RowChanges.REPLACING
    with_watermark_options = True

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        return (PATH, MODE, *_OF_BATCH, *_OF_STREAMING, MERGE_SCHEMA, UPSERT)

    def check(self, context: TableContext) -> Options:
        """Return the options after checking them."""
        options = super().check(context)
        streaming = options.get(MODE) == "streaming"
        if streaming and not context.streaming:
            raise ValidationError(f"'{MODE.key}' = 'streaming' needs a session in STREAMING.")
        for option in _OF_BATCH if streaming else _OF_STREAMING:
            if option in options:
                raise ValidationError(f"'{option.key}' does not go with '{MODE.key}' = '{options.get(MODE)}'.")
        for pair in (_OF_BATCH, _OF_STREAMING[:2]):
            if all(option in options for option in pair):
                raise ValidationError(f"'{pair[0].key}' and '{pair[1].key}' exclude each other.")
        return options

    def create_source(self, context: TableContext) -> TableSource:
        """Return a source of the rows of one version, or of all later ones, too."""
        options = self.check(context)
        path, columns = options.get(PATH), context.physical_columns
        streaming = options.get(MODE) == "streaming"
        what = DeltaRange(options.find(VERSION_AS_OF), options.find(TIME_AS_OF))
        if streaming:
            what = DeltaRange(
                options.find(STARTING_VERSION),
                options.find(STARTING_TIME),
                STARTING_VERSION in options or STARTING_TIME in options,
                options.get(IGNORE_DELETES),
                options.get(IGNORE_CHANGES),
            )
        return _source(path, columns, what, options.get(INTERVAL) if streaming else None)

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        """Return a sink that adds rows, or writes them by their primary key."""
        options = self.check(context)
        if options.get(UPSERT) and target.change is None and not target.overwrite:
            return _upserts(context, options)
        row, keys = lake_row(context.physical_columns), context.table.partition_keys
        tables = partial(ChangeTables, self.identifier)
        sink = DeltaSink.of(options.get(PATH), row, keys, options.get(MERGE_SCHEMA), tables)
        return sink if target.change is None else replace(sink, replaced_version=open_table(sink.path).version())

    def sink_changes(self, context: TableContext) -> SinkChanges:
        """Accept changes by the primary key if rows are written by it, else inserted rows."""
        if not Options(context.options).get(UPSERT):
            return super().sink_changes(context)
        _key_of(context)
        return SinkChanges("UPSERT")

    def truncate(self, context: TableContext) -> None:
        """Remove all rows, as a new version."""
        path = self.check(context).get(PATH)
        with reaching(path):
            open_table(path).delete()


def _key_of(context: TableContext) -> tuple[str, ...]:
    key = context.schema.get_primary_key()
    if key is None:
        raise ValidationError(f"'{UPSERT.key}' = 'true' needs a primary key.").with_hint(
            "add PRIMARY KEY (...) NOT ENFORCED to the columns"
        )
    return tuple(key.columns)


def _upserts(context: TableContext, options: Options) -> Sink:
    key, row = _key_of(context), lake_row(context.physical_columns)
    table = DeltaSink.of(options.get(PATH), row, context.table.partition_keys, options.get(MERGE_SCHEMA), UpsertTables)
    return ReducingSink(DeltaUpsertSink(table, key), tuple(map(row.names.index, key)), 0, 0)


def _source(
    path: str, declared: tuple[FormatColumn, ...], given: DeltaRange, interval_ms: int | None
) -> LakeTableSource:
    """Open the table, and check its columns.

    Raises:
        SourceNotFoundError: There is no such table, or no such version.
        ValidationError: The table lacks a declared column, or one has another type.
    """
    table = open_table(path, None if given.changes_only else given.version)
    there, newest, what = columns_of(table), None, given
    if given == DeltaRange():
        what = DeltaRange(table.version())  # the job reads the version that was checked
        newest = partial(_source, path, declared, given, interval_ms)
    scan = DeltaScan(path, what, interval_ms, OpenedTable(table))
    return LakeTableSource.of(scan, declared, there, f"Delta table {path}", newest)
