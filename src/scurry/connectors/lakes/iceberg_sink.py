"""IcebergSink: appends records to an Iceberg table, exactly once."""

from __future__ import annotations

import contextlib
import random
import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Self

from scurry._dataclasses import dataclass
from scurry.connectors.lakes.columns import check_lake_row, described, lake_schema, without_small_integers
from scurry.connectors.lakes.iceberg_table import IcebergTable, columns_of, newest_snapshot, pyiceberg
from scurry.connectors.lakes.writer import LakeFiles, LakeWriter, TablesOf, tables_of_records
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.errors import ArgumentError, SinkCommitError, SourceNotFoundError
from scurry.sql.types.nested_types import RowType

if TYPE_CHECKING:
    import pyarrow as pa

#: Number of records that a task buffers before it writes them.
HELD_RECORDS = 200_000
_TRIES = 10
_PAUSE_SECONDS = 0.1
#: Prefix, followed by the sink's id, of the table property with the last committed micro-batch.
_COMMITTED = "scurry.committed-batch."


@dataclass(frozen=True)
class IcebergSink(Sink):
    """Write records as data files of a table and append them as one snapshot per micro-batch.

    The same catalog commit sets a table property to the number of the micro-batch, so files and number are committed
    atomically. A repeated micro-batch finds its number and only deletes the files that it has written again. If the
    table was changed concurrently, the number is read again before the commit is retried.

    Attributes:
        table: The table.
        row: The type of the rows.
        partition_columns: The partition columns of a table that the sink creates.
        tables: Converts what is written to columns.
        replaced_snapshot: The snapshot whose rows those that are written replace, 0 for a table that has none; None to
            add them.
    """

    table: IcebergTable
    row: RowType
    partition_columns: tuple[str, ...] = ()
    tables: TablesOf = tables_of_records
    replaced_snapshot: int | None = None

    @classmethod
    def of(
        cls,
        table: IcebergTable,
        row: RowType,
        partition_columns: tuple[str, ...],
        tables: TablesOf = tables_of_records,
    ) -> Self:
        """Describe a sink.

        Raises:
            ArgumentError: A partition column is not one of the columns.
            UnsupportedError: Tables do not support the type of a column.
            ExtraMissingError: The package pyiceberg is missing.
        """
        pyiceberg()
        for name in partition_columns:
            if name not in row.names:
                raise ArgumentError(f"there is no column {name!r} to partition by; the columns are {described(row)}")
        return cls(table, check_lake_row(row), partition_columns, tables)

    @property
    def schema(self) -> pa.Schema:
        """The columns as the table stores them."""
        return lake_schema(self.row, without_small_integers)

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer of data files."""
        return LakeWriter(self.tables(self.row, self.schema), _IcebergFiles(self.table))

    def create_committer(self, sink_id: str) -> Committer:
        """Check that the table fits the sink, or create it, and return the committer.

        Raises:
            ArgumentError: The table has other columns.
            SourceConnectionError: The catalog does not answer.
        """
        return _IcebergCommitter(self, _COMMITTED + sink_id)

    def create_table(self, required: Collection[str] = (), properties: Mapping[str, str] | None = None) -> None:
        """Create the table unless it exists, and its namespace.

        Args:
            required: Names of the columns that are never null.
            properties: Properties of the table.

        Raises:
            SourceConnectionError: The catalog does not answer.
        """
        import pyarrow as pa

        catalog = self.table.catalog()
        namespace = catalog.namespace_from(self.table.identifier)
        if namespace:
            catalog.create_namespace_if_not_exists(namespace)
        columns = [field.with_nullable(field.name not in required) for field in self.schema]
        table = catalog.create_table_if_not_exists(
            self.table.identifier, pa.schema(columns), properties=dict(properties or {})
        )
        if self.partition_columns and table.spec().is_unpartitioned():
            with table.update_spec() as update:
                for name in self.partition_columns:
                    update.add_identity(name)


class _IcebergFiles(LakeFiles):
    """Data files of a table, which pyiceberg writes."""

    def __init__(self, table: IcebergTable) -> None:
        self.held_rows = HELD_RECORDS
        self._table = table.load()
        self._target = self._table.schema().as_arrow()
        self._files: list[Any] = []
        self._uuid, self._counter = uuid.uuid4(), count()

    def add(self, rows: pa.Table) -> None:
        """Write rows as files of their partitions; columns that the sink does not write are null."""
        import pyarrow as pa
        from pyiceberg.io.pyarrow import _dataframe_to_data_files

        there = rows.schema.names
        arrays = [
            rows[field.name] if field.name in there else pa.nulls(rows.num_rows, field.type) for field in self._target
        ]
        table = pa.Table.from_arrays(arrays, names=self._target.names).cast(self._target)
        metadata, io = self._table.metadata, self._table.io
        self._files += _dataframe_to_data_files(metadata, table, io, self._uuid, self._counter)

    def finish(self) -> list[Any]:
        return list(self._files)

    def abort(self) -> None:
        _delete(self._table, self._files)


def _delete(table: Any, files: Sequence[Any]) -> None:
    for file in files:
        with contextlib.suppress(OSError):
            table.io.delete(file.file_path)


class _IcebergCommitter(Committer):
    def __init__(self, sink: IcebergSink, key: str) -> None:
        self._sink = sink
        self._key = key
        try:
            self._compare(sink.table.load())
        except SourceNotFoundError:
            sink.create_table()

    def _compare(self, table: Any) -> None:
        sink, there = self._sink, columns_of(table)
        known = {field.name: field.type for field in lake_schema(there, without_small_integers)}
        written = {field.name: field.type for field in sink.schema}
        required = [field.name for field in table.schema().fields if field.required and field.name not in written]
        if required or any(known.get(name) != part for name, part in written.items()):
            raise ArgumentError(
                f"the Iceberg table {sink.table.identifier} has the columns {described(there)}, the sink writes "
                f"{described(sink.row)}; make them alike"
            )

    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        files, replaced = list(committables), self._sink.replaced_snapshot
        if not files and replaced is None:
            return
        exceptions = pyiceberg().exceptions
        for attempt in range(_TRIES):
            table = self._sink.table.load()
            if int(table.properties.get(self._key, -1)) >= batch_id:
                there = {task.file.file_path for task in table.scan().plan_files()}
                _delete(table, [file for file in files if file.file_path not in there])
                return
            if replaced is not None and newest_snapshot(table) != replaced:
                raise SinkCommitError(
                    f"the Iceberg table {self._sink.table.identifier} has changed while its rows were read: snapshot "
                    f"{newest_snapshot(table)} follows {replaced}; execute the statement again"
                )
            try:
                return self._write(table, files, batch_id)
            except exceptions.CommitFailedException as error:
                failure = error
                time.sleep(_PAUSE_SECONDS * random.uniform(1, 2) * (attempt + 1))
        raise SinkCommitError(
            f"batch {batch_id} cannot be committed to the Iceberg table {self._sink.table.identifier}: others have "
            f"changed it {_TRIES} times meanwhile ({failure})"
        )

    def _write(self, table: Any, files: list[Any], batch_id: int) -> None:
        # pyiceberg must not retry by itself, because the batch may be committed by then
        table.metadata.properties["commit.retry.num-retries"] = "0"
        summary = {"scurry.batch-id": str(batch_id)}
        with table.transaction() as transaction:
            snapshot = transaction.update_snapshot(snapshot_properties=summary)
            is_replaced = self._sink.replaced_snapshot is not None
            with snapshot.overwrite() if is_replaced else snapshot.fast_append() as update:
                for task in table.scan().plan_files() if is_replaced else ():
                    update.delete_data_file(task.file)
                for file in files:
                    update.append_data_file(file)
            transaction.set_properties({self._key: str(batch_id)})
