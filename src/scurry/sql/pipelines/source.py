"""PipelineSource: one capture of a database, whose rows go to the tables of a sink."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from scurry._dataclasses import dataclass
from scurry.connectors.cdc.capture import (
    CapturedTable,
    CaptureSession,
    ChangeCapture,
    ChunkWork,
    LogWork,
    RowBlock,
    TableId,
)
from scurry.connectors.cdc.enumerator import CdcEnumerator, EnumeratorSettings
from scurry.connectors.source import Assignment, BatchLimits, Chunk, ChunkSizer, Enumerator, Source
from scurry.errors import MalformedRecordError
from scurry.sql.connectors.cdc.values import ColumnReader
from scurry.sql.connectors.contract import Changes
from scurry.sql.pipelines.changes import UNCHANGED, ColumnHistory, SinkTable, TableChanges
from scurry.sql.pipelines.columns import TableColumns, columns_of
from scurry.sql.pipelines.evolution import CHANGES, Evolution, Rules, history_of
from scurry.sql.pipelines.selectors import Route, targets
from scurry.sql.pipelines.targets import Target
from scurry.sql.pipelines.transforms import CompiledTransforms, Transform, split_keys
from scurry.sql.types import DataType
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import batch_of_columns

if TYPE_CHECKING:
    import pyarrow as pa


class PipelineWork(NamedTuple):
    """Chunks or a range of the log, with the columns of their tables.

    Attributes:
        evolutions: The columns of the tables.
        histories: The changes of columns that the rows bring to the sink.
        announces: Whether the changes go to the sink also without rows.
    """

    works: list[Any]
    evolutions: dict[TableId, Evolution]
    histories: dict[TableId, ColumnHistory]
    announces: bool = False


@dataclass(frozen=True)
class Plan:
    """The way of captured rows to the tables of the sink.

    Attributes:
        rules: The consequences of a change of columns.
        target: The sink; None for one that follows all changes.
    """

    routes: tuple[Route, ...] = ()
    transforms: tuple[Transform, ...] = ()
    rules: Rules = Rules()
    time_zone: str = "UTC"
    target: Target | None = None

    def rules_of(self, table: TableId) -> list[Transform]:
        """Return the rules about a table."""
        return [each for each in self.transforms if each.source.match(table)]

    def evolved(self, table: TableId, known: Evolution, now: TableColumns, tables: Sequence[TableId]) -> Evolution:
        """Return the columns with which rows go on, after those of their table are others.

        Args:
            table: The table.
            known: The columns until now.
            now: The columns of the table.
            tables: All tables.

        Raises:
            ValidationError: The job does not go on with the change.
        """
        target = self.target
        able, alters = (CHANGES, _alters_all) if target is None else (target.changes, target.alters)
        own = targets(self.routes, table)
        shared = any(set(own) & set(targets(self.routes, each)) for each in tables if each != table)
        return self.rules.evolved(table, known, now, able, alters, shared)

    def history(self, table: TableId, before: Evolution, now: Evolution) -> ColumnHistory:
        """Return how the columns of the sink change."""
        earlier, later = (self.compiled(table, each.columns).out for each in (before, now))
        return history_of(earlier, later, now)

    def compiled(
        self, table: TableId, known: TableColumns | Evolution, history: ColumnHistory = UNCHANGED
    ) -> TablePlan:
        """Return the way of the rows of a table with some columns."""
        evolution = known if isinstance(known, Evolution) else Evolution.of(known)
        columns = evolution.columns
        rules = self.rules_of(table)
        compiled = (
            CompiledTransforms([each.compiled(table, columns, self.time_zone) for each in rules]) if rules else None
        )
        out = columns if compiled is None else compiled.columns
        partitions = next((each.partition_keys for each in rules if each.partition_keys), ())
        options = tuple(dict(pair for each in reversed(rules) for pair in each.options).items())
        creates = "create.table" in self.rules.accepted
        sinks = tuple(
            SinkTable(name, out, partitions, options, evolution.version, history, creates)
            for name in targets(self.routes, table)
        )
        splits = any(each.soft_delete for each in rules)
        return TablePlan(evolution, compiled, out, sinks, splits, self.rules.behavior == "try_evolve")


def _alters_all(earlier: DataType, now: DataType) -> bool:
    return True


@dataclass(frozen=True)
class TablePlan:
    """The way of the rows of one table.

    Attributes:
        out: The columns that come out.
        splits: Whether an update that changes the key is a deletion and an insertion.
        is_tolerant: Whether a value that does not fit its type is NULL.
    """

    evolution: Evolution
    transform: CompiledTransforms | None
    out: TableColumns
    sinks: tuple[SinkTable, ...]
    splits: bool = False
    is_tolerant: bool = False

    def announced(self) -> list[TableChanges]:
        """Return no rows for the tables of the sink, which bring them the columns."""
        arrays = [_nothing(kind) for kind in self.out.types]
        changes = Changes(batch_of_columns(arrays, self.out.names, 0))
        return [TableChanges(sink, changes) for sink in self.sinks]

    def apply(self, block: RowBlock) -> list[TableChanges]:
        """Return the rows of a block for the tables of the sink."""
        import numpy as np

        known = self.evolution.columns
        columns = list(map(self._column(block), known.names, known.types))
        batch = batch_of_columns(columns, known.names, block.count)
        kinds = None if block.kinds is None else np.asarray(block.kinds, dtype=np.int8)
        if self.splits and kinds is not None:
            kinds = split_keys(batch, kinds, known.key)
        if self.transform is not None:
            batch, kinds = self.transform.apply(batch, kinds)
        if not batch.num_rows:
            return []
        changes = Changes(batch, kinds if kinds is not None and kinds.any() else None)
        return [TableChanges(sink, changes) for sink in self.sinks]

    def _column(self, block: RowBlock) -> Callable[..., pa.Array]:
        def read(name: str, kind: Any) -> pa.Array:
            import pyarrow as pa

            names = [name, *self.evolution.earlier_names(name)]
            there = next(filter(block.names.__contains__, names), None)
            if there is None:
                return pa.nulls(block.count, arrow_type(kind))
            at = block.names.index(there)
            reader, values = ColumnReader(name, kind), block.columns[at]
            try:
                return reader.read(values, block.types[at], block.table.path)
            except MalformedRecordError:
                if not self.is_tolerant:
                    raise
            single = [_tolerated(reader, value, block.types[at], block.table.path) for value in values]
            return pa.concat_arrays(single)

        return read


def _tolerated(reader: ColumnReader, value: Any, database_type: str, table: str) -> pa.Array:
    try:
        return reader.read([value.as_py() if hasattr(value, "as_py") else value], database_type, table)
    except MalformedRecordError:
        return reader.read([None], database_type, table)


def _nothing(kind: DataType) -> pa.Array:
    import pyarrow as pa

    return pa.nulls(0, arrow_type(kind))


class PipelineSource(Source):
    """Read all tables of a pipeline by one capture. Each record is a `TableChanges`."""

    columnar = True

    def __init__(self, capture: ChangeCapture, settings: EnumeratorSettings, plan: Plan) -> None:
        self._capture = capture
        self._settings = settings
        self._plan = plan
        self.bounded = settings.startup.ends

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return the assigner of chunks and of the log."""
        settings = self._settings
        assigned = EnumeratorSettings(
            parallelism, settings.startup, settings.chunk_rows, settings.release_delay, settings.adds_tables
        )
        return _PipelineEnumerator(self._capture, assigned, limits, self._plan)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the rows of an assignment."""
        capture, plans = self._capture, dict[TableId, TablePlan]()

        def plan_of(table: TableId) -> TablePlan:
            if table not in plans:
                history = work.histories.get(table, UNCHANGED)
                plans[table] = self._plan.compiled(table, work.evolutions[table], history)
            return plans[table]

        if work.announces:
            for table in work.histories:
                yield plan_of(table).announced(), None
        for each in work.works:
            is_chunk = isinstance(each, ChunkWork)
            for block in (capture.read_chunk if is_chunk else capture.read_log)(each, None):
                if records := plan_of(block.table).apply(block):
                    yield records, None


class _PipelineEnumerator(CdcEnumerator):
    """Assign work with the columns of its tables, which are looked up with each range of the log.

    They are looked up after the end of the range is known, so that a column which a row of the range has is among them.
    """

    def __init__(self, capture: ChangeCapture, settings: EnumeratorSettings, limits: BatchLimits, plan: Plan) -> None:
        super().__init__(capture.open, settings, limits)
        self._capture = capture
        self._plan = plan
        self._evolutions: dict[TableId, Evolution] = {}
        #: the columns before changes that no assignment has yet
        self._before: dict[TableId, Evolution] = {}

    def next_batch(self) -> list[Assignment]:
        found = super().next_batch()
        first = next((each.channel for each in found if each.work is not None), None)
        if first is None:
            return found
        plan, now = self._plan, self._evolutions
        histories = {table: plan.history(table, before, now[table]) for table, before in self._before.items()}
        self._before = {}
        return [
            each if each.work is None else self._with_columns(each, histories, each.channel == first) for each in found
        ]

    def _begin(self) -> CaptureSession:
        session = super()._begin()
        self._look(self._tables)
        return session

    def _look(self, tables: Sequence[CapturedTable]) -> None:
        names = [table.id for table in tables]
        for table, columns in columns_of(self._capture, tables).items():
            known = self._evolutions.setdefault(table, Evolution.of(columns))
            if columns != known.source:
                evolution = self._plan.evolved(table, known, columns, names)
                if evolution.version != known.version:
                    self._before.setdefault(table, known)
                self._evolutions[table] = evolution

    def _next_range(self, session: CaptureSession) -> LogWork | None:
        work = super()._next_range(session)
        if work is None:
            return None
        there = {table.id: table for table in session.tables()}
        tables = [there.get(table.id, table) for table in self._tables]
        if tables != self._tables:
            self._tables = tables
            self._look(tables)
        return work._replace(tables=tuple(tables))

    def _with_columns(
        self, assignment: Assignment, histories: dict[TableId, ColumnHistory], announces: bool
    ) -> Assignment:
        works, names = assignment.work, set(histories)
        for work in works:
            names |= {work.table.id} if isinstance(work, ChunkWork) else {table.id for table in work.tables}
        evolutions = {name: self._evolutions[name] for name in names}
        return replace(assignment, work=PipelineWork(works, evolutions, histories, announces and bool(histories)))

    def position(self) -> dict[str, Any]:
        evolutions, before = (
            [[list(name), each.to_json()] for name, each in found.items()] for found in (self._evolutions, self._before)
        )
        return {**super().position(), "evolutions": evolutions, "before": before}

    def restore(self, position: dict[str, Any]) -> None:
        super().restore(position)
        self._evolutions, self._before = (
            {TableId(*name): Evolution.of_json(each) for name, each in position[key]}
            for key in ("evolutions", "before")
        )
