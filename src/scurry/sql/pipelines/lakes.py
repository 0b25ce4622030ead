"""Tables of lakes: rows are merged by their primary key, all of a micro-batch as one version."""

from __future__ import annotations

import random
import time
import warnings
from abc import abstractmethod
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from scurry._dataclasses import dataclass
from scurry.connectors.files.storage_errors import reaching
from scurry.connectors.lakes.columns import lake_schema, without_small_integers
from scurry.connectors.lakes.delta_table import address, columns_of, deltalake, open_table
from scurry.connectors.lakes.iceberg_sink import IcebergSink
from scurry.connectors.lakes.iceberg_table import IcebergTable, pyiceberg
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.errors import SinkCommitError, SourceNotFoundError, ValidationError
from scurry.sql.connectors.contract import Changes
from scurry.sql.connectors.lakes.columns import lake_row
from scurry.sql.connectors.reducing import ReducingSink
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.pipelines.changes import SinkTable
from scurry.sql.pipelines.targets import Target, missing, without_key
from scurry.sql.types import DataType, DecimalType, RowType

if TYPE_CHECKING:
    import pyarrow as pa

#: Attempts to commit a micro-batch, if others change the table meanwhile.
_TRIES = 10
_PAUSE_SECONDS = 0.1
#: The column that says which rows are deleted, in what is merged.
_GONE = "__scurry_gone"
#: Iceberg has no smaller integers, and widens these types to others.
_WIDE = {"int8": "int32", "int16": "int32"}
_PROMOTIONS = (("int32", "int32"), ("int32", "int64"), ("float", "double"))
#: Prefix, followed by the sink's id, of the table property with the last committed micro-batch, as of appends.
_COMMITTED = "scurry.committed-batch."


@dataclass(frozen=True)
class MergeSink(Sink):
    """Merge rows by their key: those of a micro-batch and its number become visible together, exactly once.

    The rows of a micro-batch pass through the driver, which is the only one to write.
    """

    name: str
    row: RowType
    key: tuple[str, ...]

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that hands the rows to the committer."""
        return _HandedOver()

    @property
    def schema(self) -> pa.Schema:
        """The columns as the table stores them."""
        return lake_schema(self.row)

    def rows(self, committables: Sequence[Changes]) -> tuple[pa.Table, Any]:
        """Return the rows of a micro-batch, and which of them are gone; each key once."""
        import numpy as np
        import pyarrow as pa

        schema = self.schema
        rows = pa.Table.from_batches([each.batch for each in committables]).combine_chunks()
        columns = [column.cast(part.type) for column, part in zip(rows.columns, schema, strict=True)]
        gone = np.concatenate([np.asarray(each.gone, dtype=bool) for each in committables])
        return pa.Table.from_arrays(columns, schema=schema), gone


class _HandedOver(SinkWriter):
    def __init__(self) -> None:
        self._rows: list[Changes] = []

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        self._rows += values

    def prepare_commit(self) -> list[Any]:
        return self._rows


@dataclass(frozen=True)
class DeltaMergeSink(MergeSink):
    """Merge rows into a Delta table: a version has the number of the micro-batch as its transaction (`txn`)."""

    path: str = ""

    def create_committer(self, sink_id: str) -> Committer:
        """Return the committer, which merges."""
        return _DeltaMerge(self, f"scurry-{sink_id}")


class _DeltaMerge(Committer):
    def __init__(self, sink: DeltaMergeSink, app_id: str) -> None:
        self._sink = sink
        self._app_id = app_id

    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        if not committables:
            return
        module, sink = deltalake(), self._sink
        rows, gone = sink.rows(committables)
        with_gone = rows.append_column(_GONE, [gone])
        values = {f"`{name}`": f"s.`{name}`" for name in rows.schema.names}
        matching = " AND ".join(f"t.`{name}` = s.`{name}`" for name in sink.key)
        properties = module.CommitProperties(app_transactions=[module.Transaction(self._app_id, batch_id)])
        for attempt in range(_TRIES):
            table = open_table(sink.path)
            known = table.transaction_version(self._app_id)
            if known is not None and known >= batch_id:
                return
            try:
                with reaching(sink.path):
                    merge = table.merge(with_gone, matching, "s", "t", commit_properties=properties)
                    merge = merge.when_matched_delete(f"s.{_GONE}").when_matched_update(values, f"NOT s.{_GONE}")
                    merge.when_not_matched_insert(values, f"NOT s.{_GONE}").execute()
                return
            except module.exceptions.CommitFailedError as error:
                failure = error
                time.sleep(_PAUSE_SECONDS * random.uniform(1, 2) * (attempt + 1))
        raise SinkCommitError(f"batch {batch_id} cannot be merged into the Delta table {sink.path}: {failure}")


@dataclass(frozen=True)
class IcebergMergeSink(MergeSink):
    """Merge rows into an Iceberg table: one commit of the catalog has the rows and the number of the micro-batch."""

    table: IcebergTable = IcebergTable("")

    @property
    def schema(self) -> pa.Schema:
        """The columns as the table stores them."""
        return lake_schema(self.row, without_small_integers)

    def create_committer(self, sink_id: str) -> Committer:
        """Return the committer, which merges."""
        return _IcebergMerge(self, _COMMITTED + sink_id)


class _IcebergMerge(Committer):
    def __init__(self, sink: IcebergMergeSink, key: str) -> None:
        self._sink = sink
        self._key = key

    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        if not committables:
            return
        exceptions = pyiceberg().exceptions
        rows, gone = self._sink.rows(committables)
        for attempt in range(_TRIES):
            table = self._sink.table.load()
            if int(table.properties.get(self._key, -1)) >= batch_id:
                return
            # pyiceberg must not retry by itself, because the batch may be committed by then
            table.metadata.properties["commit.retry.num-retries"] = "0"
            try:
                return self._write(table, rows, gone, batch_id)
            except exceptions.CommitFailedException as error:
                failure = error
                time.sleep(_PAUSE_SECONDS * random.uniform(1, 2) * (attempt + 1))
        raise SinkCommitError(
            f"batch {batch_id} cannot be merged into the Iceberg table {self._sink.table.identifier}: {failure}"
        )

    def _write(self, table: Any, rows: pa.Table, gone: Any, batch_id: int) -> None:
        import pyarrow as pa
        from pyiceberg.table.upsert_util import create_match_filter

        target = table.schema().as_arrow()
        kept = rows.filter(pa.array(~gone))
        arrays = [
            kept[part.name] if part.name in kept.schema.names else pa.nulls(kept.num_rows, part.type) for part in target
        ]
        with warnings.catch_warnings(), table.transaction() as transaction:
            warnings.simplefilter("ignore", UserWarning)  # none of the keys may be there
            if table.current_snapshot() is not None:
                transaction.delete(create_match_filter(rows, list(self._sink.key)))
            if kept.num_rows:
                transaction.append(pa.Table.from_arrays(arrays, names=target.names).cast(target))
            transaction.set_properties({self._key: str(batch_id)})


@dataclass(frozen=True)
class _LakeTarget(Target):
    """Tables of a lake, which need a primary key."""

    def row(self, table: SinkTable) -> RowType:
        """Return the columns as tables store them."""
        fields = zip(table.columns.names, table.columns.types, strict=True)
        return lake_row([FormatColumn(name, kind.nullable()) for name, kind in fields])

    def sink(self, table: SinkTable) -> Sink:
        """Return a sink that merges."""
        if not table.columns.key:
            raise without_key(table)
        places = tuple(map(table.columns.names.index, table.columns.key))
        return ReducingSink(self.merge_sink(table), places, 0, 0)

    @abstractmethod
    def merge_sink(self, table: SinkTable) -> MergeSink:
        """Return the sink of rows of which no two have the same key."""

    def options_of(self, table: SinkTable) -> dict[str, str]:
        """Return the options of the pipeline and of the table."""
        return dict(self.options) | dict(table.options)

    def known(self, names: Sequence[str], prefixes: Sequence[str] = ()) -> None:
        """Refuse options that are not known.

        Raises:
            ValidationError: There is one.
        """
        for key, _ in self.options:
            if key not in names and not key.startswith(tuple(prefixes)):
                listed = ", ".join([*names, *(f"{prefix}*" for prefix in prefixes)])
                raise ValidationError(f"there is no option '{key}'").with_hint(f"there are {listed}")


@dataclass(frozen=True)
class DeltaTarget(_LakeTarget):
    """Delta tables below a directory, by database and name; they only get more columns."""

    changes: ClassVar[Collection[str]] = ("create.table", "add.column", "alter.column.type")

    def alters(self, earlier: DataType, now: DataType) -> bool:
        """Return whether both types are stored as one."""
        return bool(stored(earlier) == stored(now))

    def check(self) -> None:
        """Check the options.

        Raises:
            ValidationError: One is missing, or not known.
        """
        deltalake()
        self.known(("path",))
        if not dict(self.options).get("path"):
            raise ValidationError("'path' is missing: the directory or address of the lake")

    def _path(self, table: SinkTable) -> str:
        return "/".join([self.options_of(table)["path"].rstrip("/"), *table.path.split(".")])

    def merge_sink(self, table: SinkTable) -> MergeSink:
        """Return the sink of a Delta table."""
        return DeltaMergeSink(table.path, self.row(table), table.columns.key, self._path(table))

    def prepare(self, table: SinkTable, adds: bool = True) -> None:
        """Create a table, or add the columns that it lacks."""
        if not table.columns.key:
            raise without_key(table)
        path, module = self._path(table), deltalake()
        schema = module.Schema.from_arrow(lake_schema(self.row(table)))
        try:
            there = open_table(path)
        except SourceNotFoundError:
            if not table.creates:
                raise missing(table) from None
            with reaching(path):
                module.DeltaTable.create(
                    address(path), schema, mode="ignore", partition_by=list(table.partition_keys) or None
                )
            there = open_table(path)
        known = columns_of(there).names
        added = [field for field in schema.fields if field.name not in known]
        if added and adds:
            with reaching(path):
                there.alter.add_columns(added)


@dataclass(frozen=True)
class IcebergTarget(_LakeTarget):
    """Iceberg tables of a catalog, by namespace and name."""

    def check(self) -> None:
        """Check the options.

        Raises:
            ValidationError: One is missing, or not known.
        """
        pyiceberg()
        self.known(("catalog-name",), ("catalog.properties.", "table.properties."))

    def _table(self, table: SinkTable) -> IcebergTable:
        options = self.options_of(table)
        return IcebergTable(table.path, _below(options, "catalog.properties."), options.get("catalog-name", "default"))

    def merge_sink(self, table: SinkTable) -> MergeSink:
        """Return the sink of an Iceberg table."""
        return IcebergMergeSink(table.path, self.row(table), table.columns.key, self._table(table))

    def prepare(self, table: SinkTable, adds: bool = True) -> None:
        """Create a table, or add the columns that it lacks."""
        if not table.columns.key:
            raise without_key(table)
        there, row = self._table(table), self.row(table)
        try:
            loaded = there.load()
        except SourceNotFoundError:
            if not table.creates:
                raise missing(table) from None
            made = IcebergSink.of(there, row, table.partition_keys)
            made.create_table(properties=_below(self.options_of(table), "table.properties."))
            loaded = there.load()
        known, history = {field.name for field in loaded.schema().fields}, table.history
        renamed = [pair for pair in history.renamed if pair[0] in known and pair[1] not in known]
        known |= {name for _, name in renamed}
        dropped = [name for name in history.dropped if name in known]
        added = adds and set(row.names) - known
        if renamed or dropped or added or history.altered:
            with loaded.update_schema() as update:
                for earlier, name in renamed:
                    update.rename_column(earlier, name)
                for name in dropped:
                    update.delete_column(name)
            with loaded.update_schema() as update:  # which widens types, too
                update.union_by_name(lake_schema(row, without_small_integers))

    def alters(self, earlier: DataType, now: DataType) -> bool:
        """Return whether Iceberg widens a type to another one, or stores both as one."""
        if isinstance(earlier, DecimalType) and isinstance(now, DecimalType):
            return earlier.scale == now.scale and earlier.precision <= now.precision
        old, new = str(stored(earlier)), str(stored(now))
        return old == new or (_WIDE.get(old, old), _WIDE.get(new, new)) in _PROMOTIONS


def stored(kind: DataType) -> pa.DataType:
    """Return the type that a lake stores."""
    return lake_schema(lake_row([FormatColumn("f", kind.nullable())])).field(0).type


def _below(options: dict[str, str], prefix: str) -> dict[str, str]:
    return {key.removeprefix(prefix): value for key, value in options.items() if key.startswith(prefix)}
