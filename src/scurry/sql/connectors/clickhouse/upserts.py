"""UpsertSink: writes rows by their primary key into tables of ClickHouse whose engine replaces rows."""

from __future__ import annotations

from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.clickhouse.names import literal, quoted
from scurry.connectors.clickhouse.sink import ClickHouseSink, Inserts
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.errors import ArgumentError

#: Keys of one DELETE.
_DELETED_KEYS = 1000


@dataclass(frozen=True)
class UpsertSink(Sink):
    """Insert the last row of each key, which replaces older ones, and delete keys that are gone.

    A row that is written again replaces itself, so that a repeated micro-batch changes nothing.

    Attributes:
        rows: Inserts rows.
        key: Columns of the primary key.
        ignores_deletes: Whether rows that are deleted stay.
    """

    rows: ClickHouseSink
    key: tuple[str, ...]
    ignores_deletes: bool = False

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that connects with its first write."""
        return _UpsertWriter(self)

    def create_committer(self, sink_id: str) -> Committer:
        """Check that the table takes the rows by their key.

        Raises:
            ArgumentError: The table has other columns, or keeps all rows of a key.
            SourceNotFoundError: There is no such table.
            SinkConnectionError: The server does not answer.
        """
        facts, table = self.rows.checked(), self.rows.table
        if not facts.replaces:
            raise ArgumentError(
                f"the table {table.shown} is {facts.engine}, which keeps all rows of a key: make it "
                "ReplacingMergeTree to write by PRIMARY KEY, or leave the key out to add rows"
            )
        return super().create_committer(sink_id)


class _UpsertWriter(SinkWriter):
    """Write changes, of which no two of one key are in one element: new rows, then the keys that are gone."""

    def __init__(self, sink: UpsertSink) -> None:
        self._sink = sink
        self._inserts = Inserts(sink.rows)
        self._schema = sink.rows.schema

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        for changes in values:
            columns = [
                column if column.type == field.type else column.cast(field.type)
                for column, field in zip(changes.batch.columns, self._schema, strict=True)
            ]
            rows = pa.RecordBatch.from_arrays(columns, schema=self._schema)
            gone = pa.array(changes.gone, pa.bool_())
            kept = rows.filter(pc.invert(gone))
            for at in range(0, kept.num_rows, self._sink.rows.block_rows):
                self._inserts.insert(kept.slice(at, self._sink.rows.block_rows))
            if not self._sink.ignores_deletes:
                self._delete(rows.filter(gone).select(list(self._sink.key)).to_pylist())

    def _delete(self, keys: list[dict[str, Any]]) -> None:
        table, columns = self._sink.rows.table, ", ".join(map(quoted, self._sink.key))
        for at in range(0, len(keys), _DELETED_KEYS):
            listed = ", ".join(f"({', '.join(map(literal, key.values()))})" for key in keys[at : at + _DELETED_KEYS])
            self._inserts.server.execute(f"DELETE FROM {table.quoted} WHERE ({columns}) IN ({listed})")

    def prepare_commit(self) -> list[Any]:
        self._inserts.server.close()
        return []

    def abort(self) -> None:
        self._inserts.server.close()
