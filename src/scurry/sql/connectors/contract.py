"""The contract of connectors as tables: a factory per identifier, sources of record batches, sinks of changes."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Self

from scurry._dataclasses import dataclass
from scurry.common.types import RowKind
from scurry.connectors.sink import Sink
from scurry.connectors.source import BatchLimits, Enumerator
from scurry.connectors.split_queues import SplitEnumerator
from scurry.connectors.vectors.contract import VectorSearchSource
from scurry.errors import ScurryError, UnsupportedError, ValidationError
from scurry.sql.catalog.entries import CatalogTable
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.schema import ResolvedSchema
from scurry.sql.catalog.table_options import Options, TableOption, refuse_unsupported
from scurry.sql.connectors.parallelism import SCAN_PARALLELISM, SINK_PARALLELISM, checked_parallelism
from scurry.sql.connectors.vector_options import VECTOR_OPTIONS
from scurry.sql.connectors.watermark_options import WATERMARK_OPTIONS, check_watermark_options
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.types import DataType

if TYPE_CHECKING:
    import pyarrow as pa

_UPDATE_BEFORE, _DELETE = RowKind.UPDATE_BEFORE.value, RowKind.DELETE.value


@dataclass(frozen=True)
class TableContext:
    """The table that a factory makes a source or a sink for.

    Attributes:
        identifier: Its full name.
        table: Its definition.
        options: Its options, with those of a hint.
        time_zone: The session's time zone, `table.local-time-zone`.
        streaming: Whether the job is STREAMING.
    """

    identifier: ObjectIdentifier
    table: CatalogTable
    options: Mapping[str, str]
    time_zone: str = "UTC"
    streaming: bool = False

    @property
    def schema(self) -> ResolvedSchema:
        """The columns of the table."""
        return self.table.schema

    @property
    def physical_columns(self) -> tuple[FormatColumn, ...]:
        """The columns that the connector reads and writes."""
        columns = self.table.schema.get_columns()
        return tuple(FormatColumn(column.name, column.data_type) for column in columns if column.is_physical())

    def read_options(self) -> Options:
        """Return the options, to be read through their declarations."""
        return Options(self.options)


class TableSource(ABC):
    """Read the rows of a table; picklable.

    Attributes:
        bounded: Whether the rows end.
        insert_only: Whether rows are only added; otherwise the kind of each says what happens to it.
        upserts: Whether a row replaces the one with its primary key, so that updates have no row before.
        metadata: The metadata that columns may have, with their types.
        parallelism: Number of readers of a STREAMING job; None for the job's parallelism.
        generates_watermarks: Whether the source itself generates watermarks in Flink, where rows without a time pass.
    """

    bounded: bool = True
    insert_only: bool = True
    upserts: bool = False
    generates_watermarks: bool = False
    metadata: Mapping[str, DataType] = {}
    parallelism: int | None = None

    def renewed(self) -> Self:
        """Return the source for another execution; one that reads a version of its table, with the newest one.

        Raises:
            ValidationError: The table has other columns now.
        """
        return self

    @abstractmethod
    def splits(self) -> list[Any]:
        """Return the pieces that are read separately, in order; called on the driver. Each is picklable."""

    def channels(self, parallelism: int) -> int:
        """Return the number of readers of a STREAMING job of this parallelism: the one that the table sets, if any."""
        return self.parallelism or parallelism

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return the assigner of the pieces to the readers of a STREAMING job.

        Args:
            channels: The number of readers.
            limits: How much they read at once.
        """
        return SplitEnumerator(self.splits(), channels)

    def pieces(self, work: Any) -> Iterable[Any]:
        """Return the pieces of an assignment of the enumerator."""
        pieces: Iterable[Any] = work
        return pieces

    @abstractmethod
    def read(self, split: Any, columns: Sequence[str]) -> Iterator[Changes]:
        """Yield the rows of a piece.

        Args:
            split: One of `splits()`, or of the `pieces` of an assignment.
            columns: Names of the columns to read, physical ones and metadata, in this order.

        Raises:
            MalformedRecordError: Input cannot be decoded.
        """

    def create_lookup(self, keys: Sequence[str], columns: Sequence[str]) -> LookupSource | None:
        """Return the lookup function of rows by key, None if the table has no lookups.

        Args:
            keys: Names of the physical columns that make the key.
            columns: Names of the columns to read, in this order.
        """
        return None

    def create_vector_search(self, column: str, columns: Sequence[str]) -> VectorSearchSource | None:
        """Return the search of VECTOR_SEARCH, None if the connector does not search: bounded tables are read whole.

        Args:
            column: Name of the column with the vectors.
            columns: Names of the columns to read, in this order.
        """
        return None


class LookupSource(ABC):
    """Look up the rows of a table by key, as lookup joins do; picklable before `open`.

    A lookup returns what the table contains now, or contained when a cache was filled: a repeated one may return other
    rows.
    """

    @abstractmethod
    def open(self) -> None:
        """Prepare lookups; called once in a task. Connections may also be made with the first lookup."""

    @abstractmethod
    def lookup(self, keys: pa.RecordBatch) -> tuple[pa.Array, pa.RecordBatch]:
        """Return the rows of some keys.

        Args:
            keys: A row per key, with the columns of the key in their order and types; a key with a NULL has no rows.

        Returns:
            For each row that was found the position of its key, as int64, ascending; and the rows that were found,
            with the columns that are read.

        Raises:
            DatabaseError: The table cannot be asked.
        """

    @abstractmethod
    def close(self) -> None:
        """Close connections and empty caches."""


#: Larger batches are compressed when they are pickled: each byte is copied a dozen times on its way to another process.
_COMPRESSED_BYTES = 64 * 1024


@dataclass(frozen=True)
class Changes:
    """Rows that travel together, between operators of tables and to their sinks.

    Attributes:
        batch: The rows; those for a sink have the persisted columns of the table.
        kinds: The kind of change of each row, values of `RowKind`; None if all are inserted. A
            sequence of ints; operators pass on numpy arrays of int8.
    """

    batch: pa.RecordBatch
    kinds: Any = None

    @property
    def record_count(self) -> int:
        """Return the number of rows, which metrics count as records."""
        return int(self.batch.num_rows)

    @property
    def signs(self) -> Any:
        """Return for each row 1 if it is added, -1 if it is taken back; None if all are inserted."""
        import numpy as np

        if self.kinds is None:
            return None
        kinds = np.asarray(self.kinds)
        return np.where((kinds == _UPDATE_BEFORE) | (kinds == _DELETE), -1, 1)

    @property
    def gone(self) -> list[bool]:
        """Return for each row whether its key has it no longer: it is deleted, or the one before an update."""
        if self.kinds is None:
            return [False] * self.batch.num_rows
        return [kind in (_UPDATE_BEFORE, _DELETE) for kind in self.kinds]

    def inserted(self, refusal: ScurryError) -> pa.RecordBatch:
        """Return the rows, all of which are inserted.

        Args:
            refusal: The error to raise if rows are updated or deleted.
        """
        if self.kinds is not None and any(self.kinds):
            raise refusal
        return self.batch

    def slice(self, start: int, length: int | None = None) -> Changes:
        """Return some of the rows, without copying them."""
        kinds = self.kinds
        if kinds is not None:
            kinds = kinds[start:] if length is None else kinds[start : start + length]
        return Changes(self.batch.slice(start, length), kinds)

    def __repr__(self) -> str:
        """Return the number and columns of the rows, as messages show a record."""
        return f"{self.batch.num_rows} rows of ({', '.join(self.batch.schema.names)})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the rows as an Arrow IPC stream, without the other contents of their buffers.

        Columns with a dictionary, which save bytes on the way, are plain ones again when they arrive.
        """
        import pyarrow as pa

        stream = pa.BufferOutputStream()
        options = pa.ipc.IpcWriteOptions(compression="lz4" if self.batch.nbytes > _COMPRESSED_BYTES else None)
        with pa.ipc.new_stream(stream, self.batch.schema, options=options) as writer:
            writer.write_batch(self.batch)
        return _changes, (stream.getvalue().to_pybytes(), self.kinds)


def _changes(stream: bytes, kinds: Sequence[int] | None) -> Changes:
    import pyarrow as pa

    batch = pa.ipc.open_stream(stream).read_next_batch()
    for position, column in enumerate(batch.columns):
        if pa.types.is_dictionary(column.type):
            texts = column.dictionary_decode()
            batch = batch.set_column(position, batch.schema.field(position).with_type(texts.type), texts)
    return Changes(batch, kinds)


@dataclass(frozen=True)
class SinkChanges:
    """The changes that a sink accepts.

    Attributes:
        kinds: INSERT, UPSERT or ALL, as `Sink.changes` of plans.
        refusal: Text of a sink that takes inserted rows only, for others; None for Flink's general words.
    """

    kinds: str
    refusal: str | None = None


@dataclass(frozen=True)
class SinkTarget:
    """The mode of a statement that writes: whether it overwrites, its static partition, and which rows change.

    Attributes:
        overwrite: Whether existing rows are replaced.
        partition: Values of the partition columns that the statement fixes, as text.
        change: The rows that are deleted or updated; None where rows are inserted.
        replaces_all: Whether overwriting replaces all rows, not those of the partitions that are written.
    """

    overwrite: bool = False
    partition: Mapping[str, str] = field(default_factory=dict)
    change: RowChange | None = None
    replaces_all: bool = False


class RowChanges(enum.Enum):
    """Ways in which a connector deletes and updates rows, all of a statement at once."""

    #: its sink is given the primary keys of the rows that change, and their new values
    BY_KEY = enum.auto()
    #: its sink is given all rows that the table has afterwards
    REPLACING = enum.auto()


@dataclass(frozen=True)
class RowChange:
    """A DELETE or an UPDATE.

    Attributes:
        columns: The columns that UPDATE sets, empty for DELETE. With BY_KEY rows have these first, then the key.
    """

    columns: tuple[str, ...] = ()


class TableFactory(ABC):
    """Make sources and sinks of the tables of one connector.

    Attributes:
        identifier: The value of the option `connector`.
        with_watermark_options: Whether tables may have the options that all sources with watermarks have.
        supports_overwrite: Whether INSERT OVERWRITE can replace the rows of its tables.
        reads_metadata: Whether its sources have columns of metadata.
        writes_metadata: Whether its sinks take columns of metadata that are not virtual.
        row_changes: How its sinks delete and update rows; None if they cannot.
    """

    identifier: str
    with_watermark_options: bool = False
    supports_overwrite: bool = False
    reads_metadata: bool = False
    writes_metadata: bool = False
    row_changes: RowChanges | None = None

    @abstractmethod
    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return the options that a table may set, without `connector`."""

    def other_keys(self, context: TableContext) -> Sequence[str]:
        """Return keys that are accepted beside the options, such as those of a format."""
        return ()

    def check(self, context: TableContext) -> Options:
        """Return the table's options after checking all of them.

        Raises:
            ValidationError: A required option is missing, a value is no such value, or a key is not known.
        """
        declared = self.options(context)
        options = context.read_options()
        known = {"connector", *(option.key for option in declared), *self.other_keys(context)}
        if self.with_watermark_options:
            known |= {"property-version", *(option.key for option in WATERMARK_OPTIONS)}
        options.check([*declared, *VECTOR_OPTIONS], known)
        known |= {option.key for option in VECTOR_OPTIONS if option in options}
        refuse_unsupported(self.identifier, context.options, known)
        if self.with_watermark_options:
            check_watermark_options(options, self.identifier)
        for option in (SCAN_PARALLELISM, SINK_PARALLELISM):
            if option in declared:
                checked_parallelism(options, option, context.identifier)
        return options

    def sink_changes(self, context: TableContext) -> SinkChanges:
        """Return which changes the sink of a table takes; by default inserted rows only."""
        return SinkChanges("INSERT")

    def create_source(self, context: TableContext) -> TableSource:
        """Return the source of a table.

        Raises:
            ValidationError: The options are wrong, or the connector is no source.
        """
        raise ValidationError(
            f"Connector '{self.identifier}' can only be used as a sink. It cannot be used as a source."
        ).with_hint("INSERT INTO writes it; read the table that its rows come from")

    def truncate(self, context: TableContext) -> None:
        """Remove all rows of a table at once.

        Raises:
            UnsupportedError: The connector cannot.
        """
        raise UnsupportedError(
            f"TRUNCATE TABLE statement is not supported for the table {context.identifier.as_summary_string()} since "
            "its connector cannot remove all of its rows."
        )

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        """Return the sink of a table; its records are `Changes`.

        Raises:
            ValidationError: The options are wrong, or the connector is no sink.
        """
        raise ValidationError(
            f"Connector '{self.identifier}' can only be used as a source. It cannot be used as a sink."
        ).with_hint("write into a table of another connector, such as 'print', 'filesystem' or 'kafka'")
