"""DeltaSink: appends records to a Delta table, exactly once."""

from __future__ import annotations

import contextlib
import json
import posixpath
import time
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Self
from urllib.parse import quote

from scurry._dataclasses import dataclass
from scurry.common.serialization import BulkWriter
from scurry.connectors.files.filesystem import file_system
from scurry.connectors.files.formats.parquet import ParquetWriterFactory
from scurry.connectors.files.storage_errors import reaching
from scurry.connectors.lakes.columns import check_lake_row, described, lake_schema
from scurry.connectors.lakes.delta_table import address, columns_of, deltalake, open_table
from scurry.connectors.lakes.writer import LakeFiles, LakeWriter, TablesOf, tables_of_records
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.errors import ArgumentError, SinkCommitError, SourceNotFoundError
from scurry.sql.types.atomic_types import (
    BigIntType,
    BooleanType,
    CharType,
    DateType,
    IntType,
    SmallIntType,
    TinyIntType,
    VarCharType,
)
from scurry.sql.types.nested_types import RowType

if TYPE_CHECKING:
    import pyarrow as pa

#: Number of rows that a task collects before it adds them to files, which collect groups of columns.
HELD_ROWS = 10_000
#: Directory name of partitions whose value is null, as in Hive.
_NULL = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class DeltaFile:
    """A file that a task has written and that is not part of the table yet.

    Attributes:
        path: Its path relative to the table.
        size: Its size in bytes.
        partition_values: The values of the partition columns, as text.
        records: Its number of records.
    """

    path: str
    size: int
    partition_values: dict[str, str | None]
    records: int


@dataclass(frozen=True)
class DeltaSink(Sink):
    """Write records as Parquet files into a table's directory and add them to its log, one version per micro-batch.

    The version also contains the number of the micro-batch, as Delta's transaction identifier of the sink (`txn`), so
    files and number are committed atomically. A repeated micro-batch finds its number and only deletes the files that
    it has written again. Two concurrent runs of a job cannot both commit a micro-batch, because Delta rejects one of
    the two versions.

    Attributes:
        path: The table's path or address.
        row: The type of the rows.
        partition_columns: The partition columns of a table that the sink creates.
        merge_schema: Whether to add columns that the table lacks.
        tables: Converts what is written to columns.
        replaced_version: The version whose rows those that are written replace; None to add them.
    """

    path: str
    row: RowType
    partition_columns: tuple[str, ...] = ()
    merge_schema: bool = False
    tables: TablesOf = tables_of_records
    replaced_version: int | None = None

    @classmethod
    def of(
        cls,
        path: str,
        row: RowType,
        partition_columns: tuple[str, ...] = (),
        merge_schema: bool = False,
        tables: TablesOf = tables_of_records,
    ) -> Self:
        """Describe a sink.

        Raises:
            ArgumentError: A partition column is not one of the columns, or all columns are partition columns.
            UnsupportedError: Tables do not support the type of a column.
            ExtraMissingError: The package deltalake is missing.
        """
        deltalake()
        file_system(path)
        for name in partition_columns:
            if name not in row.names:
                raise ArgumentError(f"there is no column {name!r} to partition by; the columns are {described(row)}")
            if not isinstance(row[name].data_type, _PARTITION_TYPES):
                raise ArgumentError(
                    f"column {name!r} cannot be partitioned by; use one of STRING, BOOLEAN, TINYINT, SMALLINT, INT, "
                    "BIGINT, DATE"
                )
        if len(partition_columns) == len(row.names):
            raise ArgumentError("a table cannot be partitioned by all of its columns")
        return cls(path, check_lake_row(row), partition_columns, merge_schema, tables)

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer of Parquet files."""
        schema = lake_schema(self.row)
        return LakeWriter(self.tables(self.row, schema), _DeltaFiles(self, schema, context))

    def create_committer(self, sink_id: str) -> Committer:
        """Check that the table fits the sink, and return the committer.

        Raises:
            ArgumentError: The table has other columns or partitions.
        """
        return DeltaCommitter(self, f"scurry-{sink_id}")


_PARTITION_TYPES = (
    CharType,
    VarCharType,
    BooleanType,
    TinyIntType,
    SmallIntType,
    IntType,
    BigIntType,
    DateType,
)


@dataclass
class _Open:
    """A file that is being written."""

    path: str
    stream: BinaryIO
    writer: BulkWriter
    partition_values: dict[str, str | None]
    records: int = 0


class _DeltaFiles(LakeFiles):
    """Parquet files of partitions in a table's directory."""

    def __init__(self, sink: DeltaSink, schema: pa.Schema, context: WriterContext) -> None:
        import pyarrow as pa

        self.held_rows = HELD_ROWS

        self._fs, self._base = file_system(sink.path)
        self._by = sink.partition_columns
        self._kept = [field.name for field in schema if field.name not in self._by]
        self._factory = ParquetWriterFactory(pa.schema([schema.field(name) for name in self._kept]))
        self._context = context
        self._open: dict[tuple[str | None, ...], _Open] = {}
        self._written: list[str] = []

    def add(self, rows: pa.Table) -> None:
        import pyarrow as pa

        inside = rows.select(self._kept)
        for key, places in self._partitions(rows).items():
            part = self._open.get(key)
            if part is None:
                part = self._open[key] = self._create(key)
            written = inside if places is None else inside.take(pa.array(places))
            part.writer.write(written.to_batches())
            part.records += written.num_rows

    def _partitions(self, rows: pa.Table) -> dict[tuple[str | None, ...], list[int] | None]:
        """Return the positions of the rows of each partition, None for all rows."""
        import pyarrow as pa

        if not self._by:
            return {(): None}
        texts = [rows.column(name).cast(pa.string()).to_pylist() for name in self._by]
        found: dict[tuple[str | None, ...], list[int] | None] = {}
        for position, key in enumerate(zip(*texts, strict=True)):
            # as Delta's log, which does not tell the empty text from null
            places = found.setdefault(tuple(text or None for text in key), [])
            assert places is not None
            places.append(position)
        return found

    def _create(self, key: tuple[str | None, ...]) -> _Open:
        values = dict(zip(self._by, key, strict=True))
        directories = [
            f"{quote(name)}={_NULL if text is None else quote(text, safe='')}" for name, text in values.items()
        ]
        name = f"part-{self._context.batch_id}-{self._context.subtask_index}-{uuid.uuid4().hex}.snappy.parquet"
        path = "/".join([*directories, name])
        self._written.append(path)
        stream = self._fs.open_output(posixpath.join(self._base, path))
        return _Open(path, stream, self._factory.create(stream), values)

    def finish(self) -> list[DeltaFile]:
        files = []
        for part in self._open.values():
            part.writer.finish()
            part.stream.close()
            size = next(self._fs.files(posixpath.join(self._base, part.path))).size
            files.append(DeltaFile(part.path, size, part.partition_values, part.records))
        return files

    def abort(self) -> None:
        for part in self._open.values():
            with contextlib.suppress(Exception):
                part.writer.finish()  # an open Parquet writer would write later
            part.stream.close()
        for path in self._written:
            self._fs.delete(posixpath.join(self._base, path))


class DeltaCommitter(Committer):
    """Add files of micro-batches to the log of a table."""

    def __init__(self, sink: DeltaSink, app_id: str) -> None:
        """Check that the table fits the sink, if it is there."""
        self._sink = sink
        self._app_id = app_id
        self._fs, self._base = file_system(sink.path)
        try:
            self._compare(open_table(sink.path))
        except SourceNotFoundError:
            return  # the first commit creates it

    def _compare(self, table: Any) -> None:
        sink, there = self._sink, columns_of(table)
        partitions = tuple(table.metadata().partition_columns)
        if partitions != sink.partition_columns:
            raise ArgumentError(
                f"the Delta table {sink.path} is partitioned by {list(partitions)}, the sink says "
                f"{list(sink.partition_columns)}; set with_partition_columns(...) accordingly"
            )
        known, written = lake_schema(there), lake_schema(sink.row)
        missing = [name for name in written.names if name not in known.names]
        other = [
            name for name in written.names if name not in missing and known.field(name).type != written.field(name).type
        ]
        if other or (missing and not sink.merge_schema):
            hint = "" if other else "; with_merge_schema(True) adds the missing ones"
            raise ArgumentError(
                f"the Delta table {sink.path} has the columns {described(there)}, the sink writes "
                f"{described(sink.row)}; make them alike{hint}"
            )
        if missing:
            schema = _schema(sink.row)
            table.alter.add_columns([field for field in schema.fields if field.name in missing])

    def commit(self, batch_id: int, committables: Sequence[DeltaFile]) -> None:
        """Add the files of a micro-batch, unless the table has it already."""
        files, module, sink = list(committables), deltalake(), self._sink
        replaced = sink.replaced_version
        if not files and replaced is None:
            return
        table = self.table()
        known = table.transaction_version(self._app_id)
        if known is not None and known >= batch_id:
            self._delete_others(table, files)
            return
        self._check_present(files)
        if replaced is not None and table.version() != replaced:
            raise SinkCommitError(
                f"the Delta table {sink.path} has changed while its rows were read: version {table.version()} follows "
                f"{replaced}; execute the statement again"
            )
        now = time.time_ns() // 1_000_000
        actions = [
            module.transaction.AddAction(
                file.path, file.size, file.partition_values, now, True, json.dumps({"numRecords": file.records})
            )
            for file in files
        ]
        properties = module.CommitProperties(app_transactions=[module.Transaction(self._app_id, batch_id)])
        try:
            with reaching(sink.path):
                table.create_write_transaction(
                    actions,
                    "append" if replaced is None else "overwrite",
                    table.schema(),
                    list(sink.partition_columns),
                    commit_properties=properties,
                )
        except module.exceptions.CommitFailedError as error:
            raise SinkCommitError(
                f"batch {batch_id} cannot be committed to the Delta table {sink.path}: {error}; another run of this "
                "job may be writing, or the table was changed in a way that does not fit"
            ) from None

    def _delete_others(self, table: Any, files: list[DeltaFile]) -> None:
        """Delete the files that are not in the table: another attempt of the batch has committed its own."""
        there = set(map(posixpath.basename, table.file_uris()))
        for file in files:
            if posixpath.basename(file.path) not in there:
                self._fs.delete(posixpath.join(self._base, file.path))

    def table(self) -> Any:
        """Return the table, which is created if it is missing."""
        sink = self._sink
        try:
            return open_table(sink.path)
        except SourceNotFoundError:
            schema, partitions = _schema(sink.row), list(sink.partition_columns)
            with reaching(sink.path):
                deltalake().DeltaTable.create(
                    address(sink.path), schema, mode="ignore", partition_by=partitions or None
                )
            return open_table(sink.path)

    def _check_present(self, files: list[DeltaFile]) -> None:
        for file in files:
            if not self._fs.exists(posixpath.join(self._base, file.path)):
                raise SinkCommitError(f"{file.path} is missing; something else deletes files below {self._sink.path}")


def _schema(row: RowType) -> Any:
    return deltalake().Schema.from_arrow(lake_schema(row))
