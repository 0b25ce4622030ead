"""The sources between streams and tables: one job in STREAMING; in BATCH, one job reads the files of the other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from scurry.common import config_options as options
from scurry.connectors.cache import CachedRecords, CacheSink, read_blocks
from scurry.connectors.source import Assignment, BatchLimits, Chunk, ChunkSizer, Enumerator, Source
from scurry.graph import operators as ops
from scurry.graph.configured_settings import configured_settings
from scurry.graph.nodes import Node, OperatorNode, SourceNode
from scurry.graph.planner import plan_job
from scurry.runtime.submit import submit
from scurry.sql.connectors.contract import Changes
from scurry.sql.operators.records.incoming import Field, RowsOfRecords
from scurry.sql.operators.records.source import StreamSource
from scurry.sql.statements.planning import PlannedStatement
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.streaming_runner import wait_for


class ProgramStreamSource(StreamSource):
    """The records of a stream of the program as rows.

    Args:
        make: What makes rows of records, but for the columns: the other arguments of `RowsOfRecords`.
        watermarks: Whether the watermarks of the stream are those of the table.
        insert_only: As for tables.
        upserts: As for tables.
    """

    def __init__(
        self,
        session: TableSession,
        node: Node,
        fields: Sequence[Field],
        make: dict[str, Any],
        watermarks: bool,
        insert_only: bool,
        upserts: bool,
    ) -> None:
        self.node = node
        self.bounded = all(source.source.bounded for source in _sources(node))
        self.insert_only = insert_only
        self.upserts = upserts
        self._session: TableSession | None = session
        self._fields = {field.name: field for field in fields}
        self._make = make
        self._watermarks = watermarks
        self._records: CachedRecords | None = None

    def conversion(self, columns: Sequence[str]) -> ops.RecordsToRows:
        fields = [self._fields[name] for name in columns]
        return ops.RecordsToRows(RowsOfRecords(fields, **self._make), self._watermarks)

    def splits(self) -> list[Any]:
        """BATCH: run the job that makes the stream; return the files with its rows."""
        assert self.node is not None and self._session is not None
        configuration = self._session.configuration
        records = self._records = CachedRecords(configuration.get(options.CACHE_DIR))
        rows = OperatorNode(
            inputs=(self.node,),
            name="DataStreamToTable",
            operator=self.conversion(list(self._fields)),
            origin=self.node.origin,
        )
        sink = OperatorNode(inputs=(rows,), name="Exchange", operator=ops.Sink(CacheSink(records)))
        parallelism = configuration.get(options.PARALLELISM) or os.cpu_count() or 1
        name = configuration.get(options.JOB_NAME) or "Stream of a table"
        wait_for(submit(plan_job([sink], configured_settings(configuration, "BATCH", parallelism, name, {}))))
        return [file for part in records.parts or () for file in part]

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[Changes]:
        """BATCH: yield the rows of a file."""
        for values, _ in read_blocks(split):
            for changes in values:
                yield Changes(changes.batch.select(list(columns)))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out attributes that only the driver needs."""
        return {**self.__dict__, "node": None, "_session": None, "_records": None}


def _sources(node: Node) -> list[SourceNode]:
    found: list[SourceNode] = []
    seen: set[int] = set()
    todo = [node]
    while todo:
        each = todo.pop()
        if each.id not in seen:
            seen.add(each.id)
            todo.extend(each.inputs)
            if isinstance(each, SourceNode):
                found.append(each)
    return found


class PlanSource(Source):
    """BATCH: the rows of a plan, which is executed when the job that reads them begins.

    Args:
        statement: The plan, with a sink whose table is replaced.
    """

    bounded = True

    def __init__(self, statement: PlannedStatement) -> None:
        self._statement: PlannedStatement | None = statement
        self._records: CachedRecords | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out attributes that only the driver needs."""
        return {"_statement": None, "_records": None}

    def channels(self, parallelism: int) -> int:
        return parallelism

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Execute the plan; return the enumerator that assigns the files with its rows."""
        from scurry.sql.statements.jobs import write_to_end

        statement = self._statement
        assert statement is not None
        (sink,) = statement.sinks
        records = self._records = CachedRecords(statement.session.configuration.get(options.CACHE_DIR))
        table = replace(sink.table, table=replace(sink.table.table, sink=CacheSink(records)))
        write_to_end(replace(statement, plans=[replace(sink, table=table)]))
        return _Files([file for part in records.parts or () for file in part], parallelism)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the rows of some files, as `Changes`."""
        for name in work:
            for values, _ in read_blocks(name):
                yield values, None


class _Files(Enumerator):
    def __init__(self, files: Sequence[str], channels: int) -> None:
        self._files = [list(files[channel::channels]) for channel in range(channels)]
        self._assigned = False

    def next_batch(self) -> list[Assignment]:
        if self._assigned:
            return []
        self._assigned = True
        return [Assignment(channel, files, True) for channel, files in enumerate(self._files)]

    def position(self) -> dict[str, Any]:
        return {"assigned": self._assigned}

    def restore(self, position: dict[str, Any]) -> None:
        self._assigned = position["assigned"]
