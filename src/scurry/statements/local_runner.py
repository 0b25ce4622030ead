"""LocalTableRunner: executes plans in this process, in BATCH and, without changelogs, in STREAMING."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from scurry.connectors.sink import WriterContext
from scurry.connectors.tables.contract import Changes, SinkTarget
from scurry.connectors.tables.factories import create_sink, create_source
from scurry.errors import UnsupportedError, ValidationError
from scurry.relational import plan as relational
from scurry.relational.plan import Plan, Sink
from scurry.statements.session import TableSession

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["LocalTableRunner"]

#: Flink's names of the operators whose results change, so that STREAMING needs more than rows that are added
_CHANGING = {
    "Aggregate": "GroupAggregate",
    "Correlate": "Correlate",
    "Join": "Join",
    "Match": "Match",
    "Over": "OverAggregate",
    "Snapshot": "TemporalJoin",
    "Sort": "Sort",
    "WindowTable": "WindowTableFunction",
}


class LocalTableRunner:
    """Execute plans in this process."""

    def query(self, session: TableSession, plan: Plan) -> Iterator[Changes]:
        """Yield the rows of a plan, computed as they are taken."""
        if session.is_streaming:
            _refuse_changing(plan)
        for batch in self._batches(session, plan):
            yield Changes(batch)

    def write(self, session: TableSession, sinks: Sequence[Sink]) -> None:
        """Run the plans of sinks one after the other."""
        for sink in sinks:
            self._write(session, sink)

    def _batches(self, session: TableSession, plan: Plan) -> Iterator[pa.RecordBatch]:
        from scurry.runtime.tables.batch.executor import execute_batch

        def read(scan: relational.Scan) -> Iterator[pa.RecordBatch]:
            found = scan.table
            source = create_source(session.context_of(found.identifier, found.table, dict(scan.options)))
            names = list(scan.schema.names)
            for split in source.splits():
                yield from source.read(split, names)

        return execute_batch(plan, session.for_functions(), read)

    def _write(self, session: TableSession, plan: Sink) -> None:
        found = plan.table
        target = SinkTarget(plan.overwrite, dict(plan.partition))
        sink = create_sink(session.context_of(found.identifier, found.table), target)
        identity = f"{found.identifier}-{uuid.uuid4().hex}"
        committer = sink.create_committer(identity)
        writer = sink.create_writer(WriterContext(0, 1, 0, identity))
        try:
            for changes in self.query(session, plan.input):
                writer.write([_enforced(session, plan, changes)])
        except BaseException:
            writer.abort()
            raise
        committer.commit(0, writer.prepare_commit())
        committer.finish()


def _refuse_changing(plan: Plan) -> None:
    for node in relational.walk(plan):
        name = _CHANGING.get(type(node).__name__)
        if isinstance(node, relational.SetOperation) and not (node.kind == "UNION" and node.all):
            name = node.kind.capitalize()
        if name is not None:
            raise UnsupportedError(
                f"{name} in STREAMING: its result changes with further rows, which scurry's SQL does not stream yet; "
                "use EnvironmentSettings.in_batch_mode()"
            )


def _enforced(session: TableSession, plan: Sink, changes: Changes) -> Changes:
    """Refuse or drop rows with NULL in columns that are NOT NULL.

    Raises:
        ValidationError: There is such a row, and `table.exec.sink.not-null-enforcer` is ERROR.
    """
    batch = changes.batch
    columns = [column for column in plan.table.table.schema.get_columns() if column.is_persisted()]
    wrong: Any = None
    for index, column in enumerate(columns):
        if column.data_type.is_nullable or not batch.column(index).null_count:
            continue
        if session.setting("table.exec.sink.not-null-enforcer", "ERROR").upper() != "DROP":
            raise ValidationError(
                f"Column '{column.name}' is NOT NULL, however, a null value is being written into it. You can set job "
                "configuration 'table.exec.sink.not-null-enforcer'='DROP' to suppress this exception and drop such "
                "records silently."
            )
        import pyarrow.compute as pc

        valid = pc.is_valid(batch.column(index))
        wrong = valid if wrong is None else pc.and_(wrong, valid)
    return changes if wrong is None else Changes(batch.filter(wrong))
