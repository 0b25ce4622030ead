"""Queries of STREAMING whose tables a test feeds with changes, micro-batch by micro-batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.common.types import RowKind
from scurry.datastream import DataStream
from scurry.graph.nodes import Node
from scurry.sql.connectors.contract import Changes
from scurry.sql.connectors.scanning import TableScan
from scurry.sql.operators.changes.lowering import materialized
from scurry.sql.operators.lowering import Lowering
from scurry.sql.plan.nodes import Scan, Sink, Values, walk
from scurry.sql.statements.inserts import plan_insert
from scurry.sql.statements.planning import PlannedStatement, planned
from scurry.sql.statements.queries import plan_query
from scurry.sql.statements.streaming_runner import read_tables
from scurry.sql.syntax.parser import parse
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import from_values, to_values
from scurry.table import TableEnvironment
from scurry.testing import TestHarness

__all__ = ["Change", "FedQuery"]

#: A kind (`+I`, `-U`, `+U`, `-D`), and the values of all columns that the query reads, by name.
Change = tuple[str, dict[str, Any]]

_KINDS = {"+I": RowKind.INSERT, "-U": RowKind.UPDATE_BEFORE, "+U": RowKind.UPDATE_AFTER, "-D": RowKind.DELETE}
_ADDED = (RowKind.INSERT.value, RowKind.UPDATE_AFTER.value)
_KEY_GROUPS = 16


class FedQuery:
    """A query, or an INSERT into a table with a key, which runs in a test harness.

    Args:
        env: Where its tables are.
        statement: Its text.
        parallelism: Subtasks of its operators.
    """

    def __init__(self, env: TableEnvironment, statement: str, parallelism: int = 1) -> None:
        self._session = env._session
        parsed: Any = parse(statement)
        plan = (plan_insert if statement.startswith("INSERT") else plan_query)(self._session, parsed)
        self._statement = planned(self._session, [plan])
        (self.plan,) = self._statement.plans
        self._key = self.plan.key if isinstance(self.plan, Sink) else ()
        self._scans = {each.path[-1]: each for each in walk(self.plan) if isinstance(each, Scan)}
        self._rows: Counter[tuple[Any, ...]] = Counter()
        self._by_key: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self._harness = self._open(parallelism, None)

    def feed(self, batch: Sequence[tuple[str, Iterable[Change]]]) -> None:
        """Feed changes of tables as one micro-batch, each group of them as one record."""
        with self._harness.batch():
            for table, changes in batch:
                if table in self._columns:
                    number = list(self._scans).index(table) + 1
                    self._harness.process(self._record(table, list(changes)), input=number)
        self._take()

    def restart(self, parallelism: int) -> None:
        """Go on with the state of a snapshot in a new harness."""
        snapshot = self._harness.snapshot()
        self._harness.close()
        self._harness = self._open(parallelism, snapshot)

    def end(self) -> None:
        """End all inputs."""
        self._harness.end_input()
        self._take()
        self._harness.close()

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the rows that the changes so far leave, in order of their text."""
        return sorted(self._by_key.values() if self._key else self._rows.elements(), key=str)

    def _open(self, parallelism: int, snapshot: Any) -> TestHarness:
        plan, statement, tables = self.plan, self._statement, list(self._scans)
        self._columns: dict[str, tuple[str, ...]] = {}

        def build(streams: Sequence[DataStream]) -> DataStream:
            of_tables = dict(zip(tables, streams, strict=False))
            lowering = _FedLowering(statement, of_tables, streams[-1], self._columns)
            rows = materialized(lowering, plan) if isinstance(plan, Sink) else lowering.node(plan)
            return DataStream(streams[0]._env, rows)

        # What rules find to have no rows reads one stream more, which is never fed.
        count = len(tables) + any(isinstance(each, Values) for each in walk(plan))
        names = ", ".join(f"stream_{number}" for number in range(count))
        make = eval(f"lambda {names}: build([{names}])", {"build": build})  # the harness counts the parameters
        settings = {"parallelism": parallelism, "max_parallelism": _KEY_GROUPS, "snapshot": snapshot}
        return TestHarness.of(make, **settings)

    def _record(self, table: str, changes: Sequence[Change]) -> Changes:
        names = self._columns[table]
        schema = self._scans[table].table_schema
        types = [schema[schema.names.index(name)].type for name in names]
        columns = [
            from_values([row[name] for _, row in changes], arrow_type(kind))
            for name, kind in zip(names, types, strict=True)
        ]
        kinds = np.asarray([_KINDS[kind].value for kind, _ in changes], dtype=np.int8)
        return Changes(pa.RecordBatch.from_arrays(columns, names=list(names)), kinds if kinds.any() else None)

    def _take(self) -> None:
        for changes in self._harness.outputs():
            kinds = [0] * changes.batch.num_rows if changes.kinds is None else list(changes.kinds)
            for kind, row in zip(kinds, zip(*map(to_values, changes.batch.columns), strict=True), strict=True):
                self._apply(kind, tuple(row))
        self._harness.clear_outputs()

    def _apply(self, kind: int, row: tuple[Any, ...]) -> None:
        if self._key:
            key = tuple(row[column] for column in self._key)
            if kind in _ADDED:
                self._by_key[key] = row
            else:
                del self._by_key[key]
            return
        self._rows[row] += 1 if kind in _ADDED else -1
        assert self._rows[row] >= 0, f"{row} is taken back without having been there"


class _FedLowering(Lowering):
    """A lowering whose tables are the streams of a harness; it notes which of their columns are read."""

    def __init__(
        self,
        statement: PlannedStatement,
        streams: dict[str, DataStream],
        nothing: DataStream,
        columns: dict[str, Any],
    ) -> None:
        super().__init__(statement.plans, statement.changelogs, statement.functions, read_tables(statement))
        self._streams = streams
        self._nothing = nothing
        self._names = columns

    def _source(self, source: Any, name: str, parallelism: int | None = None) -> Node:
        assert isinstance(source, TableScan)
        table = name.rpartition(".")[2].rstrip("]")
        self._names[table] = source._columns
        return self._streams[table]._node

    def _values(self, plan: Values) -> Node:
        assert not plan.rows, "lists of values cannot be fed"
        return self._nothing._node
