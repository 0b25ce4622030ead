"""The contract of databases whose changes are captured: a session on the driver, readers of rows and of the log."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from scurry._dataclasses import dataclass

#: A position in the log: JSON-able, and comparable with `==`.
LogPosition: TypeAlias = Any
#: The moment whose rows a chunk has: JSON-able. The reader of the database knows which transactions came before it.
Mark: TypeAlias = Any
#: A value of a chunk key: JSON-able; None for no bound.
ChunkKey: TypeAlias = Any


class TableId(NamedTuple):
    """The name of a table; `schema` is empty in databases that have none."""

    database: str
    schema: str
    name: str

    @property
    def path(self) -> str:
        """Return the name as options have it: `schema.table`, in databases without schemas `database.table`."""
        return f"{self.schema or self.database}.{self.name}"


class CapturedTable(NamedTuple):
    """A table that is captured.

    Attributes:
        id: Its name.
        columns: Names of its columns.
        types: Their types, as the database calls them.
        key: The columns of its primary key.
        chunk_key: The column by whose ranges it is read.
        former: Names and types of columns that it had while the job read it, which earlier changes have.
    """

    id: TableId
    columns: tuple[str, ...]
    types: tuple[str, ...]
    key: tuple[str, ...]
    chunk_key: str | None
    former: tuple[tuple[str, str], ...] = ()

    def type_of(self, column: str) -> str:
        """Return the type of a column."""
        return self.types[self.columns.index(column)]

    def with_columns(self, columns: tuple[str, ...]) -> CapturedTable:
        """Return the table as it was with other columns; those of which nothing is known are texts."""
        if columns == self.columns:
            return self
        known = dict(self.former) | dict(zip(self.columns, self.types, strict=True))
        key = self.key if set(self.key).issubset(columns) else ()
        chunk_key = self.chunk_key if self.chunk_key in columns else None
        return CapturedTable(self.id, columns, tuple(known.get(name, "text") for name in columns), key, chunk_key)

    def after(self, earlier: CapturedTable) -> CapturedTable:
        """Return the table with the types of columns that it had earlier."""
        known = dict(earlier.former) | dict(zip(earlier.columns, earlier.types, strict=True))
        return self._replace(former=tuple((name, kind) for name, kind in known.items() if name not in self.columns))


class Segment(NamedTuple):
    """The rows of a table with chunk keys up to a bound, behind the segment before.

    Attributes:
        upper: The last chunk key; None for all that are left.
        mark: Position in the log that the rows were read as of.
    """

    upper: ChunkKey
    mark: Mark


class ChunkWork(NamedTuple):
    """A chunk to be read: rows with chunk keys behind `lower`, up to `upper`, as of a mark.

    Attributes:
        table: The table.
        lower: The key behind which it begins; None for the first chunk.
        upper: The last key; None for the last chunk.
        mark: Position in the log that it is read as of; None for the present.
        log: The position of the log that holds all changes since the mark.
    """

    table: CapturedTable
    lower: ChunkKey
    upper: ChunkKey
    mark: Mark
    log: LogPosition


class LogWork(NamedTuple):
    """A range of the log to be read.

    Attributes:
        start: Its beginning.
        end: Its end.
        tables: The tables whose changes are wanted.
        segments: By table, what its rows were read as of, while changes before that are still in the log.
        follows_columns: Whether changes have the columns that the table had then, not those of `tables`.
    """

    start: LogPosition
    end: LogPosition
    tables: tuple[CapturedTable, ...]
    segments: dict[TableId, list[Segment]]
    follows_columns: bool = False


@dataclass(frozen=True)
class RowBlock:
    """Rows of a table, as the database writes them.

    Attributes:
        table: The table.
        names: Names of the columns.
        types: Their types, as the database calls them.
        columns: The values of each column, as text or bytes, None for NULL: an Arrow array or a list.
        count: The number of rows.
        kinds: The kind of change of each row, values of `RowKind`; None for rows of a snapshot. The row after an update
            follows the one before it, unless the latter is not known.
        times: When each change was committed, in milliseconds; None for rows of a snapshot.
        positions: Place of each row's transaction in the log; None for rows of a snapshot.
    """

    table: TableId
    names: tuple[str, ...]
    types: tuple[str, ...]
    columns: Sequence[Any]
    count: int
    kinds: list[int] | None = None
    times: list[int] | None = None
    positions: list[LogPosition] | None = None


@dataclass(frozen=True)
class Startup:
    """The begin of reading: Flink CDC's `StartupOptions`.

    Attributes:
        mode: `initial`, `earliest-offset`, `latest-offset`, `specific-offset`, `timestamp`, `committed-offset` or
            `snapshot`.
        position: The position of `specific-offset`; of MariaDB also a GTID, behind which reading begins.
        timestamp: The milliseconds of `timestamp`.
    """

    mode: str = "initial"
    position: LogPosition = None
    timestamp: int | None = None

    @property
    def reads_tables(self) -> bool:
        """Return whether the rows of tables are read before changes."""
        return self.mode in ("initial", "snapshot")

    @property
    def ends(self) -> bool:
        """Return whether reading ends with the rows of the tables."""
        return self.mode == "snapshot"


class CaptureSession(ABC):
    """The driver's talk with the database; it keeps connections open."""

    @abstractmethod
    def tables(self) -> list[CapturedTable]:
        """Return the tables that are wanted and there, in a fixed order.

        Raises:
            SourceNotFoundError: No table is wanted and there.
        """

    @abstractmethod
    def start(self, tables: Sequence[CapturedTable], startup: Startup) -> LogPosition:
        """Prepare the log for a job that starts for the first time, and return where it is read from.

        Raises:
            DatabaseError: The server is not set up for it, or the user may not do it.
        """

    @abstractmethod
    def resume(self, tables: Sequence[CapturedTable], position: LogPosition) -> None:
        """Prepare the log for a job that continues.

        Raises:
            LogLostError: The server has no longer what follows the position.
        """

    def admit(self) -> None:
        """Wait until the log has every later change of tables that a job adds, before their rows are read."""
        return

    @abstractmethod
    def mark(self) -> Mark:
        """Return the mark of the chunks that follow: the same one again while it is young."""

    def settled(self) -> None:
        """Note that all chunks which were assigned are read and committed: nobody needs their marks any more."""
        return

    @abstractmethod
    def behind_marks(self) -> LogPosition:
        """Return a position behind which no transaction comes before a mark that `mark` has returned."""

    @abstractmethod
    def passed(self, position: LogPosition, other: LogPosition) -> bool:
        """Return whether a position is not before another one."""

    @abstractmethod
    def upper_bound(self, table: CapturedTable, lower: ChunkKey, rows: int) -> ChunkKey:
        """Return the key so many rows behind another one, None if there are not so many."""

    @abstractmethod
    def end(self, start: LogPosition, most_bytes: int) -> tuple[LogPosition, bool]:
        """Return the end of the next part of the log, and whether there is more behind it.

        Args:
            start: The beginning of the part.
            most_bytes: About the size of the part at most, which has complete transactions.
        """

    @abstractmethod
    def release(self, position: LogPosition) -> None:
        """Let the server forget the log before a position."""

    @abstractmethod
    def close(self, ended: bool) -> None:
        """Close connections.

        Args:
            ended: Whether everything is read, of a source that ends.
        """


class ChangeCapture(ABC):
    """A database whose changes are captured; picklable, and without open connections."""

    @abstractmethod
    def open(self) -> CaptureSession:
        """Return a session for the driver."""

    @abstractmethod
    def read_chunk(self, work: ChunkWork, columns: Sequence[str] | None) -> Iterator[RowBlock]:
        """Yield the rows of a chunk; runs in a task, and gives the same rows again when it is repeated.

        Args:
            work: The chunk.
            columns: Names of the columns that are needed, those of the table only; None for all.
        """

    @abstractmethod
    def read_log(self, work: LogWork, columns: Sequence[str] | None) -> Iterator[RowBlock]:
        """Yield the changes of a range of the log that no snapshot has; runs in a task.

        Args:
            work: The range.
            columns: Names of the columns that are needed; None for all.
        """
