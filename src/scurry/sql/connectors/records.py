"""RecordFactory: tables over the source, the sink and the lookup function of streams, whose records are their rows."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from scurry._dataclasses import dataclass
from scurry.common.types import Row, RowKind
from scurry.connectors.files.formats.columnar import RowTables
from scurry.connectors.lookup_cache import CacheSettings
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.connectors.source import SKIPPED, BatchLimits, ChunkSizer, Enumerator, MalformedRecords, Source
from scurry.connectors.vectors.contract import Nearest, VectorSearchSource
from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, whole_number
from scurry.sql.connectors.contract import (
    Changes,
    LookupSource,
    SinkChanges,
    SinkTarget,
    TableContext,
    TableFactory,
    TableSource,
)
from scurry.sql.connectors.durations import duration
from scurry.sql.connectors.lookups import LOOKUP_OPTIONS, KeyLookup, lookup_cache
from scurry.sql.connectors.parallelism import SCAN_PARALLELISM
from scurry.sql.connectors.reducing import ReducingSink
from scurry.sql.connectors.vectors import VectorFinder
from scurry.sql.formats.contract import FormatColumn, chosen_columns, row_of
from scurry.sql.types import RowType
from scurry.sql.types.values import batch_of_columns, from_values, to_values
from scurry.sql.values.records import record_reader

if TYPE_CHECKING:
    import pyarrow as pa

#: Readers between which BATCH divides a table that does not set `scan.parallelism`.
BATCH_READERS = 8
#: Rows of a batch of columns.
_ROWS = 4096

FLUSH_ROWS = TableOption(
    "sink.buffer-flush.max-rows", whole_number, 100, "Number of keys that wait, of each only the last row; 0 for any."
)
FLUSH_INTERVAL = TableOption(
    "sink.buffer-flush.interval", duration, 1000, "Longest time that rows wait, at most until their commit; 0 for any."
)


class Finder(Protocol):
    """Look up records by key; picklable. `close`, if there is one, is called at the end."""

    def find(self, key: Mapping[str, Any]) -> Iterable[Any]:
        """Return the records of a key: rows, tuples or dicts of all columns.

        Args:
            key: The values of the columns of the key, none of them None.
        """


class RecordFactory(TableFactory):
    """Make tables of the source, the sink and the lookup function that a connector has for streams.

    A connector declares its options in `options`, and implements those of `source`, `sink` and `finder` that it has.
    The records of all three are rows of the physical columns: a source and a finder return rows, tuples or dicts; a
    sink is given Rows with a `RowKind`.

    Attributes:
        changes: The changes that the sink takes: `INSERT`; `UPSERT` for the last one of each primary key, which is
            `RowKind.UPDATE_AFTER` or `DELETE`; `ALL` for all changes.
        flush_rows: The option of the number of keys that wait, with its default.
    """

    with_watermark_options = True
    changes: ClassVar[str] = "INSERT"
    flush_rows: ClassVar[TableOption[int]] = FLUSH_ROWS

    def source(self, options: Options, columns: Sequence[FormatColumn]) -> Source | None:
        """Return the source of the rows; None if the connector is no source."""
        return None

    def sink(self, options: Options, columns: Sequence[FormatColumn], key: Sequence[str]) -> Sink | None:
        """Return the sink of the rows; None if the connector is no sink.

        Args:
            key: The columns of its primary key; none if it has none.
        """
        return None

    def finder(self, options: Options, columns: Sequence[FormatColumn], key: Sequence[str]) -> Finder | None:
        """Return the lookup of rows by some columns; None if the connector has no lookups, or not by these."""
        return None

    def vector_finder(self, options: Options, columns: Sequence[FormatColumn], column: str) -> VectorFinder | None:
        """Return the search of rows by vector; None if the connector has none, or not by this column."""
        return None

    @abstractmethod
    def table_options(self) -> Sequence[TableOption[Any]]:
        """Return the options of the connector."""

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return the options of the connector, and those of all connectors with the same abilities."""
        able, own = type(self), list(self.table_options())
        if able.source is not RecordFactory.source:
            own.append(SCAN_PARALLELISM)
        if able.finder is not RecordFactory.finder:
            own += [option for option in LOOKUP_OPTIONS if option.key != "lookup.max-retries"]
        if self.changes == "UPSERT":
            own += [self.flush_rows, FLUSH_INTERVAL]
        return own

    def create_source(self, context: TableContext) -> TableSource:
        options, columns = self.check(context), context.physical_columns
        source = self.source(options, columns)
        if source is None:
            return super().create_source(context)
        cache = None
        if type(self).finder is not RecordFactory.finder:
            cache = lookup_cache(options, self.identifier)
        finder = partial(self.finder, options, columns)
        searched = partial(self.vector_finder, options, columns)
        return RecordTableSource(source, columns, finder, cache, options.find(SCAN_PARALLELISM), searched)

    def sink_changes(self, context: TableContext) -> SinkChanges:
        """Return which changes the sink takes; without a primary key, one of `UPSERT` takes inserted rows."""
        if self.changes == "UPSERT" and context.schema.get_primary_key() is None:
            return SinkChanges("INSERT", "please declare primary key for sink table: rows are written by it.")
        return SinkChanges(self.changes)

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        options, columns, primary = self.check(context), context.physical_columns, context.schema.get_primary_key()
        key = () if primary is None else tuple(primary.columns)
        sink = self.sink(options, columns, key)
        if sink is None:
            return super().create_sink(context, target)
        records = RecordTableSink(sink, row_of(columns))
        if self.changes != "UPSERT" or not key:
            return records
        places = tuple([column.name for column in columns].index(name) for name in key)
        return ReducingSink(records, places, options.get(self.flush_rows), options.get(FLUSH_INTERVAL))


@dataclass(frozen=True)
class RecordTableSource(TableSource):
    """Read the records of a source as rows.

    Attributes:
        finder: Returns the lookup of rows by the columns of a key, None for no lookups.
        cache: The settings of the cache of lookups; None for no cache.
        parallelism: Number of readers of a STREAMING job; None for the job's parallelism.
        vector_finder: Returns the search of rows by a column of vectors, None for no search.
    """

    source: Source
    declared: tuple[FormatColumn, ...]
    finder: Callable[[Sequence[str]], Finder | None]
    cache: CacheSettings | None = None
    parallelism: int | None = None
    vector_finder: Callable[[str], VectorFinder | None] = lambda column: None

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        return self.source.bounded

    def channels(self, parallelism: int) -> int:
        """Return the number of readers of the source."""
        return self.source.channels(super().channels(parallelism))

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        return self.source.create_enumerator(channels, limits)

    def pieces(self, work: Any) -> Iterable[Any]:
        """Return the assignment as one piece."""
        return [work]

    def splits(self) -> list[Any]:
        """Return all assignments of a source that ends."""
        if not self.bounded:
            raise ValidationError("the rows of this table do not end: read it in STREAMING")
        channels = self.channels(BATCH_READERS)
        enumerator = self.source.create_enumerator(channels, BatchLimits())
        works, final = list[Any](), set[int]()
        try:
            while len(final) < channels:
                for assignment in enumerator.next_batch():
                    works += [] if assignment.work is None else [assignment.work]
                    final |= {assignment.channel} if assignment.final else set()
        finally:
            enumerator.close()
        return works

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[Changes]:
        """Yield the rows of an assignment."""
        tables = RowTables(row_of(self.declared))
        for chunk in self.source.read(split, ChunkSizer(_ROWS)):
            if isinstance(chunk, MalformedRecords):
                if not chunk.dropped:
                    raise chunk.errors[0]
                SKIPPED.get()(len(chunk.errors))
                continue
            yield Changes(_batch(tables, chunk[0], columns))

    def create_lookup(self, keys: Sequence[str], columns: Sequence[str]) -> LookupSource | None:
        """Return the lookup of rows by some columns."""
        finder = self.finder(keys)
        return None if finder is None else _RecordLookup(finder, self.declared, keys, columns, self.cache)

    def create_vector_search(self, column: str, columns: Sequence[str]) -> VectorSearchSource | None:
        """Return the search of rows by a column of vectors."""
        finder = self.vector_finder(column)
        return None if finder is None else _RecordSearch(finder, self.declared, columns)


def _batch(tables: RowTables, records: Sequence[Any], columns: Sequence[str]) -> pa.RecordBatch:
    rows = tables.table(tables.prepare(list(records))) if records else tables.schema.empty_table()
    arrays = [rows.column(name).combine_chunks() for name in columns]
    return batch_of_columns(arrays, columns, len(records))


class _RecordLookup(KeyLookup):
    def __init__(
        self,
        finder: Finder,
        declared: Sequence[FormatColumn],
        keys: Sequence[str],
        columns: Sequence[str],
        cache: CacheSettings | None,
    ) -> None:
        wanted = chosen_columns(declared, columns)
        super().__init__([(column.name, column.type) for column in wanted], cache)
        self._finder = finder
        self._row = row_of(declared)
        self._keys = chosen_columns(declared, keys)

    def open(self) -> None:
        super().open()
        self._tables = RowTables(self._row)
        self._readers = [record_reader(column.type) for column in self._keys]

    def find(self, key: tuple[Any, ...]) -> Sequence[tuple[Any, ...]]:
        columns = zip(self._keys, self._readers, key, strict=True)
        given = {column.name: read(from_values([value], column.type))[0] for column, read, value in columns}
        found = _batch(self._tables, list(self._finder.find(given)), self._names)
        if not self._names:
            return [()] * found.num_rows
        return list(zip(*map(to_values, found.columns), strict=True))

    def close(self) -> None:
        super().close()
        getattr(self._finder, "close", lambda: None)()


class _RecordSearch(VectorSearchSource):
    def __init__(self, finder: VectorFinder, declared: Sequence[FormatColumn], columns: Sequence[str]) -> None:
        self._finder = finder
        self._row = row_of(declared)
        self._names = list(columns)
        self.is_async = inspect.iscoroutinefunction(finder.search)

    def open(self) -> None:
        self._tables = RowTables(self._row)

    def search(self, vectors: pa.Array, top_k: int) -> Nearest:
        found: list[tuple[int, Any, float]] = []
        for position, vector in enumerate(vectors.to_pylist()):
            if vector is not None:
                pairs: Any = self._finder.search(vector, top_k)
                found += [(position, record, score) for record, score in pairs]
        return self._nearest(found)

    async def search_async(self, vector: Sequence[float], top_k: int) -> Nearest:
        pairs: Any = await self._finder.search(vector, top_k)  # type: ignore[misc]
        return self._nearest([(0, record, score) for record, score in pairs])

    def _nearest(self, found: Sequence[tuple[int, Any, float]]) -> Nearest:
        import pyarrow as pa

        rows = _batch(self._tables, [record for _, record, _ in found], self._names)
        positions = pa.array([position for position, _, _ in found], pa.int64())
        return Nearest(positions, rows, pa.array([score for _, _, score in found], pa.float64()))

    def close(self) -> None:
        getattr(self._finder, "close", lambda: None)()


_KINDS = tuple(RowKind)


@dataclass(frozen=True)
class RecordTableSink(Sink):
    """Pass changes on as Rows with a `RowKind`."""

    sink: Sink
    row: RowType

    def connect(self) -> None:
        """Begin to connect, as the sink does."""
        self.sink.connect()

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer of Rows."""
        return _RecordWriter(self.sink.create_writer(context), self.row)

    def create_committer(self, sink_id: str) -> Committer:
        return self.sink.create_committer(sink_id)


class _RecordWriter(SinkWriter):
    def __init__(self, records: SinkWriter, row: RowType) -> None:
        self._records = records
        self._names = tuple(row.names)
        self._readers = [record_reader(kind) for kind in row.field_types()]

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        for changes in values:
            columns = [read(column) for read, column in zip(self._readers, changes.batch.columns, strict=True)]
            kinds = [0] * changes.batch.num_rows if changes.kinds is None else changes.kinds
            rows = zip(zip(*columns, strict=True), kinds, strict=True)
            self._records.write([Row._from_values(each, self._names, _KINDS[kind]) for each, kind in rows])

    def prepare_commit(self) -> list[Any]:
        return self._records.prepare_commit()

    def abort(self) -> None:
        self._records.abort()
