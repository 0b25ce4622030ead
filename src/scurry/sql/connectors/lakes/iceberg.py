"""IcebergFactory: tables of Apache Iceberg."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from scurry.connectors.lakes.enumerator import OpenedTable
from scurry.connectors.lakes.iceberg_sink import IcebergSink
from scurry.connectors.lakes.iceberg_source import IcebergScan
from scurry.connectors.lakes.iceberg_table import IcebergTable, columns_of, newest_snapshot
from scurry.connectors.sink import Sink
from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean, whole_number
from scurry.sql.connectors.contract import RowChanges, SinkTarget, TableContext, TableFactory, TableSource
from scurry.sql.connectors.durations import duration
from scurry.sql.connectors.lakes.columns import ChangeTables, lake_row
from scurry.sql.connectors.lakes.source import LakeTableSource
from scurry.sql.formats.contract import FormatColumn

#: Prefix of the keys of further properties of the catalog, as pyiceberg names them.
PROPERTIES = "properties."
CATALOG_NAME = TableOption("catalog-name", str, None, "Name of the catalog for pyiceberg.", required=True)
CATALOG_TYPE = TableOption(
    "catalog-type", str, None, "Kind of the catalog, as pyiceberg names it: `sql`, `rest`, `hive`, `glue`, ..."
)
URI = TableOption("uri", str, None, "Address of the catalog.")
WAREHOUSE = TableOption("warehouse", str, None, "Where the catalog keeps its tables.")
DATABASE = TableOption("catalog-database", str, "default", "The database, a namespace of the catalog.")
TABLE = TableOption("catalog-table", str, None, "The table; the name of the declared one without.")
STREAMING = TableOption("streaming", boolean, False, "Whether what later snapshots append is read, too, in STREAMING.")
INTERVAL = TableOption("monitor-interval", duration, 60_000, "With `streaming`: time between looks for new snapshots.")
SNAPSHOT = TableOption("snapshot-id", whole_number, None, "The snapshot that is read; the newest without.")
START = TableOption(
    "start-snapshot-id", whole_number, None, "With `streaming`: only what is appended after this snapshot is read."
)
CATALOG_OPTIONS = (CATALOG_TYPE, URI, WAREHOUSE)


def catalog_properties(options: Options) -> dict[str, str]:
    """Return the properties of the catalog for pyiceberg."""
    given = {key.removeprefix(PROPERTIES): v for key, v in options.values.items() if key.startswith(PROPERTIES)}
    for option, name in ((CATALOG_TYPE, "type"), (URI, "uri"), (WAREHOUSE, "warehouse")):
        value = options.find(option)
        if value is not None:
            given[name] = value
    return given


class IcebergFactory(TableFactory):
    """Make sources and sinks of Iceberg tables."""

    identifier = "iceberg"
    row_changes = RowChanges.REPLACING
    with_watermark_options = True

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return all options but further properties of the catalog."""
        return (CATALOG_NAME, *CATALOG_OPTIONS, DATABASE, TABLE, STREAMING, INTERVAL, SNAPSHOT, START)

    def other_keys(self, context: TableContext) -> Sequence[str]:
        """Return the properties of the catalog that are set."""
        return [key for key in context.options if key.startswith(PROPERTIES)]

    def check(self, context: TableContext) -> Options:
        """Return the options after checking them."""
        options = super().check(context)
        streaming = options.get(STREAMING)
        if streaming and not context.streaming:
            raise ValidationError(f"'{STREAMING.key}' = 'true' needs a session in STREAMING.")
        for option in (SNAPSHOT,) if streaming else (START, INTERVAL):
            if option in options:
                raise ValidationError(
                    f"'{option.key}' does not go with '{STREAMING.key}' = '{str(streaming).lower()}'."
                )
        return options

    def create_source(self, context: TableContext) -> TableSource:
        """Return a source of the rows of one snapshot, or of all later ones, too."""
        options = self.check(context)
        table, columns = self._table(context, options), context.physical_columns
        snapshot = options.find(START) if options.get(STREAMING) else options.find(SNAPSHOT)
        interval = options.get(INTERVAL) if options.get(STREAMING) else None
        return _source(table, columns, snapshot, START in options, interval)

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        """Return a sink that adds rows."""
        options = self.check(context)
        table, keys = self._table(context, options), context.table.partition_keys
        row, tables = lake_row(context.physical_columns), partial(ChangeTables, self.identifier)
        sink = IcebergSink.of(table, row, keys, tables)
        return sink if target.change is None else replace(sink, replaced_snapshot=newest_snapshot(table.load()))

    def truncate(self, context: TableContext) -> None:
        """Remove all rows, as a new snapshot."""
        self._table(context, self.check(context)).load().delete()

    def _table(self, context: TableContext, options: Options) -> IcebergTable:
        name = options.find(TABLE) or context.identifier.name
        properties: Mapping[str, str] = catalog_properties(options)
        return IcebergTable(f"{options.get(DATABASE)}.{name}", properties, options.get(CATALOG_NAME))


def _source(
    table: IcebergTable,
    declared: tuple[FormatColumn, ...],
    given: int | None,
    changes_only: bool,
    interval_ms: int | None,
) -> LakeTableSource:
    """Load the table, and check its columns.

    Raises:
        SourceNotFoundError: There is no such table, or no such snapshot.
        ValidationError: The table lacks a declared column, or one has another type.
    """
    loaded, snapshot, newest = table.at(given), given, None
    if given is None:
        current = loaded.current_snapshot()
        snapshot = None if current is None else current.snapshot_id  # the job reads the snapshot that was checked
        newest = partial(_source, table, declared, None, changes_only, interval_ms)
    scan = IcebergScan(table, snapshot, changes_only, interval_ms, OpenedTable(loaded))
    return LakeTableSource.of(scan, declared, columns_of(loaded), f"Iceberg table {table.identifier}", newest)
