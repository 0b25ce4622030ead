"""PipelineSource: one capture of a database, whose rows go to the tables of a sink."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

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
from scurry.errors import ValidationError
from scurry.sql.connectors.cdc.values import ColumnReader
from scurry.sql.connectors.contract import Changes
from scurry.sql.pipelines.changes import SinkTable, TableChanges
from scurry.sql.pipelines.columns import TableColumns, columns_of
from scurry.sql.pipelines.selectors import Route, targets
from scurry.sql.pipelines.transforms import CompiledTransforms, Transform, split_keys
from scurry.sql.statements.text import parse_type
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import batch_of_columns

if TYPE_CHECKING:
    import pyarrow as pa

BEHAVIORS = ("lenient", "evolve", "try_evolve", "ignore", "exception")


class PipelineWork(NamedTuple):
    """Chunks or a range of the log, with the columns of their tables.

    Attributes:
        first: The columns that tables had when the job began.
        now: Those that they have now.
    """

    works: list[Any]
    first: dict[TableId, TableColumns]
    now: dict[TableId, TableColumns]


@dataclass(frozen=True)
class Plan:
    """The way of captured rows to the tables of the sink.

    Attributes:
        behavior: What a change of columns does: one of `BEHAVIORS`.
    """

    routes: tuple[Route, ...] = ()
    transforms: tuple[Transform, ...] = ()
    behavior: str = "lenient"
    time_zone: str = "UTC"

    def rules_of(self, table: TableId) -> list[Transform]:
        """Return the rules about a table."""
        return [each for each in self.transforms if each.source.match(table)]

    def columns(self, table: TableId, first: TableColumns, now: TableColumns) -> TableColumns:
        """Return the columns with which rows go on, of a table whose columns may have changed.

        Raises:
            ValidationError: The job does not go on with the change.
        """
        if self.behavior == "ignore" or first == now:
            return first
        added = tuple(name for name in now.names if name not in first.names)
        removed = tuple(name for name in first.names if name not in now.names)
        other = tuple(name for name in first.names if name in now.names and first.type_of(name) != now.type_of(name))
        if self.behavior == "exception":
            self._refuse(table, added, removed, other, "'schema.change.behavior' is exception")
        if self.behavior == "evolve" and (removed or other):
            self._refuse(table, (), removed, other, "sinks add columns, and neither drop nor change them")
        kinds = [*first.types, *(now.type_of(name) for name in added)]
        return TableColumns((*first.names, *added), tuple(kinds), first.key)

    def _refuse(
        self, table: TableId, added: Sequence[str], removed: Sequence[str], other: Sequence[str], why: str
    ) -> None:
        what = [("has new columns", added), ("has lost columns", removed), ("has other types of columns", other)]
        listed = "; ".join(f"{text} {', '.join(names)}" for text, names in what if names)
        if listed:
            raise ValidationError(f"table {table.path} {listed}: {why}").with_hint(
                "'schema.change.behavior': lenient goes on: new columns are added, lost ones get NULL, types stay"
            )

    def compiled(self, table: TableId, columns: TableColumns) -> TablePlan:
        """Return the way of the rows of a table with some columns."""
        rules = self.rules_of(table)
        compiled = (
            CompiledTransforms([each.compiled(table, columns, self.time_zone) for each in rules]) if rules else None
        )
        out = columns if compiled is None else compiled.columns
        partitions = next((each.partition_keys for each in rules if each.partition_keys), ())
        options = tuple(dict(pair for each in reversed(rules) for pair in each.options).items())
        sinks = tuple(SinkTable(name, out, partitions, options) for name in targets(self.routes, table))
        splits = any(each.soft_delete for each in rules)
        return TablePlan(columns, compiled, sinks, splits)


@dataclass(frozen=True)
class TablePlan:
    """The way of the rows of one table.

    Attributes:
        splits: Whether an update that changes the key is a deletion and an insertion.
    """

    columns: TableColumns
    transform: CompiledTransforms | None
    sinks: tuple[SinkTable, ...]
    splits: bool = False

    def apply(self, block: RowBlock) -> list[TableChanges]:
        """Return the rows of a block for the tables of the sink."""
        import numpy as np

        columns = list(map(_column(block), self.columns.names, self.columns.types))
        batch = batch_of_columns(columns, self.columns.names, block.count)
        kinds = None if block.kinds is None else np.asarray(block.kinds, dtype=np.int8)
        if self.splits and kinds is not None:
            kinds = split_keys(batch, kinds, self.columns.key)
        if self.transform is not None:
            batch, kinds = self.transform.apply(batch, kinds)
        if not batch.num_rows:
            return []
        changes = Changes(batch, kinds if kinds is not None and kinds.any() else None)
        return [TableChanges(sink, changes) for sink in self.sinks]


def _column(block: RowBlock) -> Callable[..., pa.Array]:
    def read(name: str, kind: Any) -> pa.Array:
        import pyarrow as pa

        if name not in block.names:
            return pa.nulls(block.count, arrow_type(kind))
        at = block.names.index(name)
        return ColumnReader(name, kind).read(block.columns[at], block.types[at], block.table.path)

    return read


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
        return _PipelineEnumerator(self._capture, assigned, limits)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the rows of an assignment."""
        capture, plans = self._capture, dict[TableId, TablePlan]()
        for each in work.works:
            is_chunk = isinstance(each, ChunkWork)
            for block in (capture.read_chunk if is_chunk else capture.read_log)(each, None):
                table = block.table
                if table not in plans:
                    columns = self._plan.columns(table, work.first[table], work.now[table])
                    plans[table] = self._plan.compiled(table, columns)
                if records := plans[table].apply(block):
                    yield records, None


class _PipelineEnumerator(CdcEnumerator):
    """Assign work with the columns of its tables, which are looked up with each range of the log.

    They are looked up after the end of the range is known, so that a column which a row of the range has is among them.
    """

    def __init__(self, capture: ChangeCapture, settings: EnumeratorSettings, limits: BatchLimits) -> None:
        super().__init__(capture.open, settings, limits)
        self._capture = capture
        self._first: dict[TableId, TableColumns] = {}
        self._now: dict[TableId, TableColumns] = {}

    def next_batch(self) -> list[Assignment]:
        found = super().next_batch()
        return [each if each.work is None else self._with_columns(each) for each in found]

    def _begin(self) -> CaptureSession:
        session = super()._begin()
        self._look(self._tables)
        return session

    def _look(self, tables: Sequence[CapturedTable]) -> None:
        self._now = columns_of(self._capture, tables)
        for table, columns in self._now.items():
            self._first.setdefault(table, columns)

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

    def _with_columns(self, assignment: Assignment) -> Assignment:
        works, names = assignment.work, set[TableId]()
        for work in works:
            names |= {work.table.id} if isinstance(work, ChunkWork) else {table.id for table in work.tables}
        first, now = ({name: each[name] for name in names} for each in (self._first, self._now))
        return replace(assignment, work=PipelineWork(works, first, now))

    def position(self) -> dict[str, Any]:
        first = [[list(name), _text_of(columns)] for name, columns in self._first.items()]
        return {**super().position(), "first": first}

    def restore(self, position: dict[str, Any]) -> None:
        super().restore(position)
        self._first = {TableId(*name): _columns_of_text(text) for name, text in position["first"]}


def _text_of(columns: TableColumns) -> list[Any]:
    return [list(columns.names), [kind.as_summary_string() for kind in columns.types], list(columns.key)]


def _columns_of_text(text: list[Any]) -> TableColumns:
    names, kinds, key = text
    return TableColumns(tuple(names), tuple(map(parse_type, kinds)), tuple(key))
