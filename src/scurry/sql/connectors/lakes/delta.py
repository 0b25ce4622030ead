"""DeltaFactory: tables of Delta Lake."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from scurry.connectors.files.formats.parquet import ParquetWriterFactory
from scurry.connectors.files.reading.damaged import naming_damage
from scurry.connectors.lakes.columns import lake_schema
from scurry.connectors.lakes.delta_sink import DeltaFiles, DeltaSink
from scurry.connectors.lakes.delta_source import file_batches
from scurry.connectors.lakes.delta_table import DeltaRange, DeltaTableLog, columns_of, open_table
from scurry.connectors.lakes.enumerator import LakeEnumerator, OpenedTable, TableFile
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.connectors.source import BatchLimits, Enumerator
from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean, one_of, whole_number
from scurry.sql.connectors.contract import Changes, SinkTarget, TableContext, TableFactory, TableSource
from scurry.sql.connectors.lakes.columns import check_columns, inserted, lake_row, stored
from scurry.sql.formats.contract import FormatColumn, chosen_columns, row_of
from scurry.sql.values.parsing import parse_timestamp

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 65_536


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
_OF_BATCH = (VERSION_AS_OF, TIME_AS_OF)
_OF_STREAMING = (STARTING_VERSION, STARTING_TIME, INTERVAL, IGNORE_DELETES, IGNORE_CHANGES)


class DeltaFactory(TableFactory):
    """Make sources and sinks of Delta tables."""

    identifier = "delta"
    with_watermark_options = True

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return all options."""
        return (PATH, MODE, *_OF_BATCH, *_OF_STREAMING, MERGE_SCHEMA)

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
        path, columns = options.get(PATH), _columns(context)
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
        return DeltaTableSource.of(path, columns, what, options.get(INTERVAL) if streaming else None)

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        """Return a sink that adds rows."""
        options = self.check(context)
        columns, keys = _columns(context), context.table.partition_keys
        rows = DeltaSink.of(options.get(PATH), lake_row(columns), keys, options.get(MERGE_SCHEMA))
        return DeltaTableSink(rows)


def _columns(context: TableContext) -> tuple[FormatColumn, ...]:
    return tuple(FormatColumn(c.name, c.data_type) for c in context.schema.get_columns() if c.is_physical())


@dataclass(frozen=True)
class DeltaTableSource(TableSource):
    """Read the files of a Delta table.

    Attributes:
        path: The table's path or address.
        declared: The declared columns.
        what: The versions to read.
        interval_ms: Milliseconds between checks for new versions; None to read one version only.
        given: The versions that the options name, without the one that was the newest when it was made.
        opened: The table as it was checked.
    """

    path: str
    declared: tuple[FormatColumn, ...]
    what: DeltaRange
    interval_ms: int | None = None
    given: DeltaRange = DeltaRange()
    opened: OpenedTable = field(default_factory=OpenedTable, compare=False, repr=False)

    @classmethod
    def of(cls, path: str, declared: tuple[FormatColumn, ...], given: DeltaRange, interval_ms: int | None) -> Self:
        """Open the table, and check its columns.

        Raises:
            SourceNotFoundError: There is no such table, or no such version.
            ValidationError: The table lacks a declared column, or one has another type.
        """
        table = open_table(path, None if given.changes_only else given.version)
        check_columns(lake_row(declared), columns_of(table), f"Delta table {path}")
        # the job reads the version that was checked
        what = DeltaRange(table.version()) if given == DeltaRange() else given
        return cls(path, declared, what, interval_ms, given, OpenedTable(table))

    def renewed(self) -> Self:
        """Return a source of the newest version, unless the options name one."""
        return self if self.what == self.given else self.of(self.path, self.declared, self.given, self.interval_ms)

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """Return whether it reads one version."""
        return self.interval_ms is None

    def splits(self) -> list[Any]:
        """Return the files of the version."""
        return list(self._log().start()[1])

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return the assigner of files, and looks for new versions."""
        return LakeEnumerator(self._log, channels, limits.max_bytes, self.interval_ms)

    def _log(self) -> DeltaTableLog:
        return DeltaTableLog(self.path, self.what, self.opened)

    def read(self, split: TableFile, columns: Sequence[str]) -> Iterator[Changes]:
        """Yield the rows of a file, with the values of its partition."""
        row = row_of(chosen_columns(self.declared, columns))
        yield from map(Changes, naming_damage(file_batches(self.path, split, row, _ROWS), split.path, 0, split.size))


@dataclass(frozen=True)
class DeltaTableSink(Sink):
    """Add rows to a Delta table, one version per micro-batch.

    Attributes:
        rows: Describes the table, and commits.
    """

    rows: DeltaSink

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer of Parquet files."""
        return _DeltaWriter(self.rows, context)

    def create_committer(self, sink_id: str) -> Committer:
        """Return the committer of the table."""
        return self.rows.create_committer(sink_id)


class _DeltaWriter(SinkWriter):
    def __init__(self, sink: DeltaSink, context: WriterContext) -> None:
        import pyarrow as pa

        schema = lake_schema(sink.row)
        self._by = [schema.get_field_index(name) for name in sink.partition_columns]
        self._kept = [index for index in range(len(schema)) if index not in self._by]
        self._schema = schema
        self._inside = pa.schema([schema.field(index) for index in self._kept])
        factory = ParquetWriterFactory(self._inside)
        self._files = DeltaFiles(sink.path, sink.partition_columns, factory, context)

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        import pyarrow as pa

        for changes in values:
            batch = inserted(changes, "delta")
            if not batch.num_rows:
                continue
            columns = [stored(column, field.type) for column, field in zip(batch.columns, self._schema, strict=True)]
            for key, rows in self._groups(columns, batch.num_rows).items():
                kept = [columns[index] if rows is None else columns[index].take(rows) for index in self._kept]
                inside = pa.RecordBatch.from_arrays(kept, schema=self._inside)
                self._files.add(key, [inside], inside.num_rows)

    def _groups(self, columns: list[pa.Array], count: int) -> dict[tuple[Any, ...], pa.Array | None]:
        """Return the positions of the rows of each partition, None for all rows."""
        import pyarrow as pa

        if not self._by:
            return {(): None}
        texts = [columns[index].cast(pa.string()).to_pylist() for index in self._by]
        found: dict[tuple[Any, ...], list[int]] = {}
        for position, key in enumerate(zip(*texts, strict=True)):
            found.setdefault(key, []).append(position)
        return {key: None if len(rows) == count else pa.array(rows) for key, rows in found.items()}

    def prepare_commit(self) -> list[Any]:
        return list(self._files.finish())

    def abort(self) -> None:
        self._files.abort()
