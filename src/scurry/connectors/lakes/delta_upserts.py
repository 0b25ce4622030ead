"""DeltaUpsertSink: writes rows into a Delta table by their key, exactly once."""

from __future__ import annotations

import posixpath
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.connectors.files.filesystem import file_system
from scurry.connectors.files.formats.parquet import ParquetWriterFactory
from scurry.connectors.files.storage_errors import reaching
from scurry.connectors.lakes.columns import lake_schema
from scurry.connectors.lakes.delta_sink import HELD_ROWS, DeltaCommitter, DeltaSink
from scurry.connectors.lakes.delta_table import deltalake
from scurry.connectors.lakes.writer import LakeFiles, LakeWriter
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.errors import SinkCommitError

if TYPE_CHECKING:
    import pyarrow as pa

#: Directory below the table for changes that are not merged yet; readers of Delta tables and VACUUM pass over it.
_STAGED = "_scurry_changes"
#: The column of changes that says whether their row is deleted.
GONE = "__gone"


@dataclass(frozen=True)
class DeltaUpsertSink(Sink):
    """Merge changes into a table by key, those of a micro-batch as one version.

    Tasks write changes into files beside the table; the driver merges them, with the number of the micro-batch as
    Delta's transaction identifier. A repeated micro-batch finds its number and deletes its files.

    Attributes:
        table: The table, and what makes columns of changes: those of the table, and `GONE`.
        key: The columns of the key. A micro-batch has at most one change of each.
    """

    table: DeltaSink
    key: tuple[str, ...]

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer of changes."""
        import pyarrow as pa

        schema = lake_schema(self.table.row).append(pa.field(GONE, pa.bool_()))
        return LakeWriter(self.table.tables(self.table.row, schema), _StagedChanges(self.table.path, schema, context))

    def create_committer(self, sink_id: str) -> Committer:
        """Check that the table fits the sink, and return the committer.

        Raises:
            ArgumentError: The table has other columns or partitions.
        """
        return _MergingCommitter(self, f"scurry-{sink_id}")


class _StagedChanges(LakeFiles):
    """One file of changes for each task and micro-batch."""

    def __init__(self, path: str, schema: pa.Schema, context: WriterContext) -> None:
        self.held_rows = HELD_ROWS
        self._fs, base = file_system(path)
        self._factory = ParquetWriterFactory(schema)
        name = f"{context.batch_id}-{context.subtask_index}-{uuid.uuid4().hex}.parquet"
        self._name, self._path = posixpath.join(_STAGED, name), posixpath.join(base, _STAGED, name)
        self._stream: Any = None
        self._writer: Any = None

    def add(self, rows: pa.Table) -> None:
        if self._writer is None:
            self._stream = self._fs.open_output(self._path)
            self._writer = self._factory.create(self._stream)
        self._writer.write(rows.to_batches())

    def finish(self) -> list[str]:
        if self._writer is None:
            return []
        self._writer.finish()
        self._stream.close()
        return [self._name]

    def abort(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._fs.delete(self._path)


class _MergingCommitter(Committer):
    def __init__(self, sink: DeltaUpsertSink, app_id: str) -> None:
        self._key, self._path, self._app_id = sink.key, sink.table.path, app_id
        self._names = sink.table.row.names
        self._delta = DeltaCommitter(sink.table, app_id)
        self._fs, self._base = file_system(sink.table.path)

    def commit(self, batch_id: int, committables: Sequence[str]) -> None:
        paths = [posixpath.join(self._base, name) for name in committables]
        if not paths:
            return
        table = self._delta.table()
        known = table.transaction_version(self._app_id)
        if known is None or known < batch_id:
            self._merge(table, batch_id, paths)
        for path in paths:
            self._fs.delete(path)

    def _merge(self, table: Any, batch_id: int, paths: list[str]) -> None:
        module = deltalake()
        properties = module.CommitProperties(app_transactions=[module.Transaction(self._app_id, batch_id)])
        same = " AND ".join(f"t.{quoted(name)} = s.{quoted(name)}" for name in self._key)
        values = {quoted(name): f"s.{quoted(name)}" for name in self._names}
        there = f"NOT s.{quoted(GONE)}"
        try:
            with reaching(self._path):
                merge = table.merge(
                    self._changes(paths), same, source_alias="s", target_alias="t", commit_properties=properties
                )
                merge = merge.when_matched_delete(f"s.{quoted(GONE)}").when_matched_update(values)
                merge.when_not_matched_insert(values, there).execute()
        except module.exceptions.DeltaError as error:
            raise SinkCommitError(
                f"batch {batch_id} cannot be merged into the Delta table {self._path}: {error}; another run of this "
                "job may be writing, or the table was changed in a way that does not fit"
            ) from None

    def _changes(self, paths: list[str]) -> pa.Table:
        import pyarrow as pa
        from pyarrow import parquet

        tables = []
        for path in paths:
            if not self._fs.exists(path):
                raise SinkCommitError(f"{path} is missing; something else deletes files below {self._path}")
            with self._fs.open_input(path) as stream:
                tables.append(parquet.read_table(stream))
        return pa.concat_tables(tables)


def quoted(name: str) -> str:
    """Return a name in quotes, for conditions."""
    return '"' + name.replace('"', '""') + '"'
