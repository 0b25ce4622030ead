"""IcebergFactory: tables of Apache Iceberg."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from scurry.connectors.files.reading.damaged import naming_damage
from scurry.connectors.lakes.enumerator import LakeEnumerator, OpenedTable, TableFile
from scurry.connectors.lakes.iceberg_sink import HELD_RECORDS, IcebergFiles, IcebergSink
from scurry.connectors.lakes.iceberg_source import file_batches
from scurry.connectors.lakes.iceberg_table import IcebergLog, IcebergTable, columns_of
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.connectors.source import BatchLimits, Enumerator
from scurry.errors import SourceNotFoundError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean, whole_number
from scurry.sql.connectors.contract import Changes, SinkTarget, TableContext, TableFactory, TableSource
from scurry.sql.connectors.durations import duration
from scurry.sql.connectors.lakes.columns import check_columns, inserted, lake_row, stored
from scurry.sql.formats.contract import FormatColumn, chosen_columns, row_of

if TYPE_CHECKING:
    import pyarrow as pa

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
        table, columns = self._table(context, options), _columns(context)
        snapshot = options.find(START) if options.get(STREAMING) else options.find(SNAPSHOT)
        interval = options.get(INTERVAL) if options.get(STREAMING) else None
        return IcebergTableSource.of(table, columns, snapshot, START in options, interval)

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        """Return a sink that adds rows."""
        options = self.check(context)
        table, keys = self._table(context, options), context.table.partition_keys
        return IcebergTableSink(IcebergSink.of(table, lake_row(_columns(context)), keys))

    def _table(self, context: TableContext, options: Options) -> IcebergTable:
        name = options.find(TABLE) or context.identifier.name
        properties: Mapping[str, str] = catalog_properties(options)
        return IcebergTable(f"{options.get(DATABASE)}.{name}", properties, options.get(CATALOG_NAME))


def _columns(context: TableContext) -> tuple[FormatColumn, ...]:
    return tuple(FormatColumn(c.name, c.data_type) for c in context.schema.get_columns() if c.is_physical())


@dataclass(frozen=True)
class IcebergTableSource(TableSource):
    """Read the files of an Iceberg table, without deleted rows.

    Attributes:
        table: The table.
        declared: The declared columns.
        snapshot: The snapshot to read or to start from; None for the newest.
        changes_only: Whether to read only what is appended after the snapshot.
        interval_ms: Milliseconds between checks for new snapshots; None to read one snapshot only.
        given: The snapshot that the options name; None for the newest.
        opened: The table as it was checked.
    """

    table: IcebergTable
    declared: tuple[FormatColumn, ...]
    snapshot: int | None = None
    changes_only: bool = False
    interval_ms: int | None = None
    given: int | None = None
    opened: OpenedTable = field(default_factory=OpenedTable, compare=False, repr=False)

    @classmethod
    def of(
        cls,
        table: IcebergTable,
        declared: tuple[FormatColumn, ...],
        given: int | None,
        changes_only: bool,
        interval_ms: int | None,
    ) -> Self:
        """Load the table, and check its columns.

        Raises:
            SourceNotFoundError: There is no such table, or no such snapshot.
            ValidationError: The table lacks a declared column, or one has another type.
        """
        loaded = table.load()
        if given is not None and loaded.snapshot_by_id(given) is None:
            raise SourceNotFoundError(f"the Iceberg table {table.identifier} has no snapshot {given}")
        check_columns(lake_row(declared), columns_of(loaded), f"Iceberg table {table.identifier}")
        newest = loaded.current_snapshot()
        # the job reads the snapshot that was checked
        snapshot = newest.snapshot_id if given is None and newest is not None else given
        return cls(table, declared, snapshot, changes_only, interval_ms, given, OpenedTable(loaded))

    def renewed(self) -> Self:
        """Return a source of the newest snapshot, unless the options name one."""
        if self.given is not None:
            return self
        return self.of(self.table, self.declared, None, self.changes_only, self.interval_ms)

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """Return whether it reads one snapshot."""
        return self.interval_ms is None

    def _log(self) -> IcebergLog:
        return IcebergLog(self.table, self.snapshot, self.changes_only, self.opened)

    def splits(self) -> list[Any]:
        """Return the files of the snapshot."""
        return list(self._log().start()[1])

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return the assigner of files, and looks for new snapshots."""
        return LakeEnumerator(self._log, channels, limits.max_bytes, self.interval_ms)

    def read(self, split: TableFile, columns: Sequence[str]) -> Iterator[Changes]:
        """Yield the rows of a file."""
        row = row_of(chosen_columns(self.declared, columns))
        yield from map(Changes, naming_damage(file_batches(split, row), split.path, 0, split.size))


@dataclass(frozen=True)
class IcebergTableSink(Sink):
    """Add rows to an Iceberg table, one snapshot per micro-batch.

    Attributes:
        rows: Describes the table, and commits.
    """

    rows: IcebergSink

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer of data files."""
        return _IcebergWriter(self.rows)

    def create_committer(self, sink_id: str) -> Committer:
        """Return the committer of the table, which is created if it does not exist."""
        return self.rows.create_committer(sink_id)


class _IcebergWriter(SinkWriter):
    def __init__(self, sink: IcebergSink) -> None:
        self._names = sink.row.names
        self._files = IcebergFiles(sink.table)
        self._held: list[pa.RecordBatch] = []
        self._rows = 0

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        for changes in values:
            batch = inserted(changes, "iceberg")
            self._held.append(batch)
            self._rows += batch.num_rows
            if self._rows >= HELD_RECORDS:
                self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        held, self._held, self._rows = self._held, [], 0
        rows = pa.Table.from_batches(held).combine_chunks()
        columns = dict(zip(self._names, rows.columns, strict=True))
        arrays = [
            stored(columns[field.name], field.type) if field.name in columns else pa.nulls(rows.num_rows, field.type)
            for field in self._files.target
        ]
        self._files.add(pa.Table.from_arrays(arrays, schema=self._files.target))

    def prepare_commit(self) -> list[Any]:
        if self._rows:
            self._flush()
        return self._files.finish()

    def abort(self) -> None:
        self._files.abort()
