"""Relational plans to nodes of a job graph."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, cast

import pyarrow as pa

from scurry._dataclasses import dataclass
from scurry.common._config.tables import STATE_TTL
from scurry.common.watermark_strategy import WatermarkAlignment, WatermarkStrategy
from scurry.connectors.collection import CollectionSource
from scurry.connectors.source import Source
from scurry.errors import UnsupportedError
from scurry.graph import operators as ops
from scurry.graph.nodes import Node, OperatorNode, PartitionNode, SourceNode, UnionNode
from scurry.sql.connectors.contract import Changes, TableSource
from scurry.sql.connectors.scanning import TableScan
from scurry.sql.evaluation.batch.executor import execute_batch
from scurry.sql.evaluation.row_wise import ROW_WISE
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.operators.calc import Calc, CalcWithWatermark, DropUpdateBefore, SelectColumns
from scurry.sql.operators.identities import Identities, state_description
from scurry.sql.operators.partitioning import PartitionByHash, PartitionByKey
from scurry.sql.operators.records.source import StreamSource
from scurry.sql.operators.watermarks import RowWatermarks
from scurry.sql.plan import nodes as relational
from scurry.sql.plan.changelog_functions import FromChangelog, ToChangelog
from scurry.sql.plan.matching import PatternMatch
from scurry.sql.plan.models import MLPredict, VectorSearch
from scurry.sql.plan.nodes import Plan, walk
from scurry.sql.plan.physical import aggregates, changes, joins, over, ranks, windows
from scurry.sql.plan.process_tables import ProcessTableFunction, check_identifiers
from scurry.sql.plan.rewriting import called_functions, expressions_of, without_inputs
from scurry.sql.planner.changelog import Changelogs


@dataclass(frozen=True)
class ReadTable:
    """A table that plans read.

    Attributes:
        watermark: A row-wise plan over the table that computes time and watermark; None if it has none.
        watermark_interval_ms: By how many milliseconds event time moves until a watermark is emitted at once.
        idle_timeout_ms: After how many milliseconds without rows a reader is idle; None for never.
        alignment: With which other tables it is read in step; None if it waits for no other.
    """

    source: TableSource
    watermark: Plan | None = None
    watermark_interval_ms: int = 0
    idle_timeout_ms: int | None = None
    alignment: WatermarkAlignment | None = None


#: Lowering of each physical plan node, by module and function: a query loads those that it has.
_LOWERED: dict[type[Plan], str] = {
    aggregates.Expand: "groups.lowering.lower_expand",
    aggregates.GlobalGroupAggregate: "groups.lowering.lower_global_aggregate",
    aggregates.LocalGroupAggregate: "groups.lowering.lower_local_aggregate",
    changes.ChangelogNormalize: "changes.lowering.lower_changelog_normalize",
    over.NonTimeOverAggregate: "over.lowering.lower_over",
    over.OverAggregate: "over.lowering.lower_over",
    relational.Aggregate: "groups.lowering.lower_group_aggregate",
    relational.TableAggregate: "groups.lowering.lower_table_aggregate",
    joins.EventTimeTemporalJoin: "joins.temporal.lower_temporal_join",
    joins.IntervalJoin: "joins.interval.lower_interval_join",
    joins.LookupJoin: "joins.lookup.lower_lookup_join",
    joins.RegularJoin: "joins.regular.lower_regular_join",
    joins.WindowJoin: "joins.window.lower_window_join",
    MLPredict: "predict.lower_ml_predict",
    FromChangelog: "changes.codes.lower_from_changelog",
    PatternMatch: "match.operator.lower_match",
    ProcessTableFunction: "process.lower_process_table",
    VectorSearch: "search.lower_vector_search",
    windows.SessionTable: "windows.sessions.lower_session_table",
    ranks.Deduplicate: "ranks.lowering.lower_deduplicate",
    relational.Limit: "ranks.lowering.lower_limit",
    ranks.Rank: "ranks.lowering.lower_rank",
    ranks.TemporalSort: "ranks.lowering.lower_temporal_sort",
    ToChangelog: "changes.codes.lower_to_changelog",
    changes.ReplicateRows: "replicate.lower_replicate",
    windows.WindowAggregate: "windows.aggregate.lower_window_aggregate",
    windows.WindowDeduplicate: "windows.rank.lower_window_rank",
    windows.WindowRank: "windows.rank.lower_window_rank",
}

#: Flink's names of the operators that STREAMING does not have yet.
_MISSING = {
    "Correlate": "Correlate",
    "Join": "Join",
    "Sort": "Sort",
    "TableFunctionScan": "Correlate",
    "TemporalJoin": "TemporalJoin",
}


class Lowering:
    """Make the nodes of a job out of the plans of its sinks.

    Equal parts of the plans are one node, and a table is read once, with the columns that any part needs.
    """

    def __init__(
        self,
        plans: Iterable[Plan],
        changelogs: Changelogs,
        session: EvaluationContext,
        tables: Mapping[Any, ReadTable],
        prefix: str = "",
        numbers: Mapping[Plan, int] | None = None,
    ) -> None:
        """Create the lowering of the plans of all sinks.

        Args:
            changelogs: The changes of their nodes.
            tables: Key of a scan -> its table; those that are looked up are among them.
            prefix: What the identities of all operators begin with.
            numbers: What follows in those of the operators of each node of a compiled plan; None to count operators.
        """
        plans = list(plans)
        check_identifiers(plans)
        self._session = session
        self._identities = Identities(prefix, numbers)
        self._changelogs = changelogs
        self._tables = tables
        self._columns: dict[Any, list[int]] = {}
        self._first_scans: dict[Any, relational.Scan] = {}
        # True if results depend on the watermark before rows that are not late.
        self._watermarks_are_seen = False
        for plan in plans:
            for node in walk(plan):
                if isinstance(node, relational.Scan):
                    self._note(node)
                self._watermarks_are_seen |= _sees_watermarks(node, self._changelogs)
        self._scans: dict[Any, Node] = {}
        self._nodes: dict[Plan, Node] = {}
        #: the plans that are being lowered, the innermost last
        self._lowering: list[Plan] = []

    def node(self, plan: Plan) -> Node:
        """Return the node whose records are the rows of a plan.

        Raises:
            UnsupportedError: STREAMING does not have an operator of the plan.
        """
        found = self._nodes.get(plan)
        if found is None:
            with self.identified_by(plan):
                found = self._nodes[plan] = self._lowered(plan)
        return found

    def identified_by(self, plan: Plan) -> AbstractContextManager[None]:
        """Let the identities of operators that are made meanwhile be those of a plan's node."""
        return self._identities.of(plan)

    def sink(self, rows: Node, sink: Any, name: str, guard: Any = None) -> OperatorNode:
        """Return the node that writes rows.

        Args:
            sink: The sink of the table, or of the query.
            guard: A function that is applied to all rows before they are written; None for none.
        """
        if guard is not None:
            rows = self.operator(rows, ops.Map(guard), "ConstraintEnforcer")
        return self.operator(rows, ops.Sink(sink), name)

    def operator(self, rows: Node, operator: ops.Operator, name: str) -> OperatorNode:
        return OperatorNode(inputs=(rows,), name=name, operator=operator, uid=self._uid(name))

    def keyed(
        self,
        inputs: Sequence[Node],
        keys: Sequence[Sequence[int]],
        function: Any,
        name: str,
        by_group: bool | Sequence[bool] = False,
        by_hash: bool = False,
    ) -> OperatorNode:
        """Return a node that applies an operator with state to rows, which are exchanged by key.

        Args:
            keys: The positions of the columns of its key, for each input. Without keys there is one subtask.
            function: A `KeyedRowsFunction`.
            by_group: As for `PartitionByKey`; for all inputs, or for each of them.
            by_hash: Whether the function takes `HashedChanges` instead of `KeyedChanges`.
        """
        takes_over = by_hash and function.takes_over_entries
        grouped = [by_group] * len(inputs) if isinstance(by_group, bool) else by_group
        exchanged = tuple(
            PartitionNode(
                inputs=(rows,),
                name="Exchange",
                partitioner=ops.HashRows(
                    PartitionByHash(columns, takes_over) if by_hash else PartitionByKey(columns, each)
                ),
            )
            for rows, columns, each in zip(inputs, keys, grouped, strict=True)
        )
        parallelism = None if keys[0] else 1
        keeps = state_description(self._lowering[-1]) if self._lowering else name
        operator = ops.KeyedRows(function, keeps=f"{keeps}, in columns{' of keys' * takes_over}" if by_hash else keeps)
        return OperatorNode(
            inputs=exchanged, name=name, operator=operator, uid=self._uid(name), parallelism=parallelism
        )

    def source_of(self, scan: relational.Scan) -> TableSource:
        """Return the source of a table that an operator reads itself."""
        return self._tables[scan.key].source

    @property
    def session(self) -> EvaluationContext:
        return self._session

    @property
    def state_ttl(self) -> int:
        """After how many milliseconds without rows the state of a key is forgotten; 0 for never."""
        return self._session.get(STATE_TTL)

    @property
    def changelogs(self) -> Changelogs:
        """The kinds of changes of the plans' nodes, and the content of their updates."""
        return self._changelogs

    def _uid(self, name: str) -> str:
        return self._identities.next(name.partition("[")[0])

    def _source(self, source: Source, name: str, parallelism: int | None = None) -> Node:
        return SourceNode(name=name, source=source, uid=self._uid(name), parallelism=parallelism)

    def _lowered(self, plan: Plan) -> Node:
        if isinstance(plan, relational.Scan):
            return self._scan(plan)
        if isinstance(plan, relational.Values):
            return self._values(plan)
        if _is_row_wise(plan):
            return self._calc(plan)
        if isinstance(plan, relational.SetOperation) and plan.kind == "UNION" and plan.all:
            return UnionNode(inputs=tuple(self._branch(branch, plan) for branch in plan.branches), name="Union")
        lowered = _LOWERED.get(type(plan))
        if lowered is not None:
            self._lowering.append(plan)
            try:
                module, _, function = lowered.rpartition(".")
                lower = getattr(importlib.import_module(f"{__package__}.{module}"), function)
                return cast(Node, lower(self, plan))
            finally:
                self._lowering.pop()
        kind = type(plan).__name__
        name = plan.kind.capitalize() if isinstance(plan, relational.SetOperation) else _MISSING.get(kind, kind)
        raise UnsupportedError(
            f"{name} in STREAMING: its result changes with further rows, which scurry's SQL does not stream yet; "
            "use EnvironmentSettings.in_batch_mode()"
        )

    def _note(self, scan: relational.Scan) -> None:
        """Note which columns of a table are read: those of a scan, and those of its watermark."""
        table, needed = scan.key, list(scan.columns)
        watermark = self._tables[table].watermark
        if watermark is not None:
            needed += _scan_below(watermark).columns
        first = self._first_scans.get(table, scan)
        self._first_scans[table] = min(first, scan, key=self._identities.number)
        known = self._columns.setdefault(table, [])
        known += [column for column in dict.fromkeys(needed) if column not in known]

    def _scan(self, plan: relational.Scan) -> Node:
        read = self._columns[plan.key]
        rows = self._scans.get(plan.key)
        if rows is None:
            with self.identified_by(self._first_scans[plan.key]):
                rows = self._scans[plan.key] = self._read_table(plan, read)
        if plan.changes == "RETRACT" and not self._changelogs.updates_before(plan):
            rows = self.operator(rows, ops.FlatMap(DropUpdateBefore()), "DropUpdateBefore")
        return self.operator(rows, ops.Map(_selecting(plan, read)), "SelectColumns")

    def _read_table(self, plan: relational.Scan, read: list[int]) -> Node:
        names = tuple(plan.table_schema.select(read).names)
        table = self._tables[plan.key]
        rows = self._read(table.source, names, f"TableSourceScan[{'.'.join(plan.path)}]")
        if table.watermark is None:
            return rows
        if table.alignment is not None and isinstance(rows, SourceNode):
            rows.watermark_strategy = replace(
                WatermarkStrategy.no_watermarks(), alignment=table.alignment, idle_timeout_ms=table.idle_timeout_ms
            )
        return self._watermarked(rows, table, table.watermark, read)

    def _read(self, source: TableSource, columns: tuple[str, ...], name: str) -> Node:
        """Return the node of some columns of a table: a source, or a stream of the same job."""
        if not isinstance(source, StreamSource):
            return self._source(TableScan(source, columns), name)
        assert source.node is not None, "only where it is planned"
        rows = self.operator(source.node, source.conversion(columns), name)
        rows.parallelism = source.node.parallelism
        return rows

    def _watermarked(self, rows: Node, table: ReadTable, plan: Plan, read: list[int]) -> Node:
        """Return the rows of a table with its watermarks, which a plan over the table computes."""
        calc = Calc(_row_wise_steps(plan)[0], self._session)
        settings = table.watermark_interval_ms, table.idle_timeout_ms
        sees = (self._watermarks_are_seen, table.source.generates_watermarks)
        function = RowWatermarks(_selecting(_scan_below(plan), read), calc, *settings, *sees)
        return self.operator(rows, ops.AssignWatermarks(function), "WatermarkAssigner")

    def _values(self, plan: relational.Values) -> Node:
        rows = [Changes(batch) for batch in execute_batch(plan, self._session, _no_table)]
        return self._source(CollectionSource(rows), "Values", parallelism=1)

    def _calc(self, plan: Plan) -> Node:
        steps, below = _row_wise_steps(plan)
        calc: ops.Operator = ops.FlatMap(Calc(steps, self._session))
        if any(map(_reads_watermark, steps)):
            calc = ops.Process(CalcWithWatermark(steps, self._session))
        return self.operator(self.node(below), calc, "Calc")

    def _branch(self, branch: Plan, union: Plan) -> Node:
        """Return the rows of a branch with the names and types of the union."""
        rows = self.node(branch)
        if branch.schema == union.schema:
            return rows
        positions = range(len(branch.schema))
        return self.operator(rows, ops.Map(SelectColumns(positions, without_inputs(union))), "SelectColumns")


def _selecting(scan: relational.Scan, read: list[int]) -> SelectColumns:
    return SelectColumns([read.index(column) for column in scan.columns], without_inputs(scan))


def _is_row_wise(plan: Plan) -> bool:
    return isinstance(plan, ROW_WISE) and not (isinstance(plan, relational.WindowTable) and plan.kind == "SESSION")


def _row_wise_steps(plan: Plan) -> tuple[list[Plan], Plan]:
    """Return the row-wise operations at the top of a plan, the first one first, and the plan below them."""
    steps: list[Plan] = []
    while _is_row_wise(plan):
        steps.insert(0, without_inputs(plan))
        plan = plan.inputs[0]
    return steps, plan


def _sees_watermarks(plan: Plan, changelogs: Changelogs) -> bool:
    """Return whether results depend on the watermark before rows that are not late.

    A window does not take back a row of which it has closed, however new the row that replaces it is.
    """
    if isinstance(plan, windows.WindowAggregate):
        return plan.window.is_event_time and not changelogs.is_insert_only(plan.input)
    return isinstance(plan, ProcessTableFunction) or _reads_watermark(plan)


def _reads_watermark(step: Plan) -> bool:
    return any("CURRENT_WATERMARK" in called_functions(expression) for expression in expressions_of(step))


def _scan_below(plan: Plan) -> relational.Scan:
    scan = _row_wise_steps(plan)[1]
    assert isinstance(scan, relational.Scan), "a watermark is computed of the rows of its table"
    return scan


def _no_table(scan: relational.Scan) -> Iterator[pa.RecordBatch]:
    raise AssertionError("a list of values reads no table")
