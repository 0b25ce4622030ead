"""JdbcSource: reads the rows of a query once, in parallel if the query is split."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from scurry._dataclasses import dataclass
from scurry.common.typeinfo import RowTypeInfo
from scurry.connectors.jdbc.database import READING
from scurry.connectors.jdbc.drivers import database_of
from scurry.connectors.jdbc.options import JdbcConnectionOptions
from scurry.connectors.jdbc.session import JdbcSession
from scurry.connectors.ranges import RangeEnumerator
from scurry.connectors.source import BatchLimits, Chunk, ChunkSizer, Enumerator, Source, sliced
from scurry.errors import ArgumentError, TypeMismatchError

Bound: TypeAlias = int | float | decimal.Decimal | datetime.date | datetime.datetime

_CONNECT_RETRIES = 3


@dataclass(frozen=True)
class Partitions:
    """The splits of a query by ranges of a column.

    The bounds do not filter rows: smaller values and NULLs are in the first split, larger values in the last.

    Attributes:
        column: A column of the query's result: a number, date or timestamp.
        lower: The approximate smallest value.
        upper: The approximate largest value.
        number: The number of splits.
    """

    column: str
    lower: Bound
    upper: Bound
    number: int

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            ArgumentError: They are not in order, or the number of splits is not positive.
        """
        if self.number < 1:
            raise ArgumentError(f"a query has at least 1 partition, got {self.number}")
        if type(self.lower) is not type(self.upper) or not self.lower < self.upper:  # type: ignore[operator]
            raise ArgumentError(
                f"partitions of column {self.column} need a lower bound and a greater upper one of the same type, got "
                f"{self.lower!r} and {self.upper!r}"
            )

    def split(self, number: int) -> tuple[str, list[Bound]]:
        """Return the SQL condition of a split, with JDBC's placeholders, and its parameters."""
        quoted = '"' + self.column.replace('"', '""') + '"'
        if self.number == 1:
            return "1 = 1", []
        if number == 0:
            return f"({quoted} < ? OR {quoted} IS NULL)", [self._cut(1)]
        if number == self.number - 1:
            return f"{quoted} >= ?", [self._cut(number)]
        return f"{quoted} >= ? AND {quoted} < ?", [self._cut(number), self._cut(number + 1)]

    def _cut(self, number: int) -> Any:
        lower: Any = self.lower
        width: Any = (self.upper - lower) * number
        return lower + (width // self.number if isinstance(width, int) else width / self.number)


@dataclass(frozen=True)
class JdbcSource(Source):
    """A bounded source of the rows of a query, each a Row with the columns' names.

    A split is one query through a server-side cursor: its rows are from one snapshot, and at most `fetch_size` of them
    are in a task's memory. Different splits are read from different snapshots. A repeated micro-batch reads its splits
    again, so results are exactly-once only if the table does not change in the meantime.

    Attributes:
        sql: The query.
        connection: The connection options.
        type_info: Type of the rows, derived from the query's columns or declared.
        partitions: The splits of the query; None for one split.
        fetch_size: Number of rows fetched at once.
    """

    sql: str
    connection: JdbcConnectionOptions
    type_info: RowTypeInfo
    partitions: Partitions | None = None
    fetch_size: int = 5000

    @property
    def produced_type(self) -> RowTypeInfo:
        """The type of the rows."""
        return self.type_info

    @property
    def splits(self) -> int:
        """The number of splits."""
        return 1 if self.partitions is None else self.partitions.number

    def channels(self, parallelism: int) -> int:
        """Return the parallelism, but at most the number of splits."""
        return min(parallelism, self.splits)

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator that assigns every reader one split per micro-batch."""
        channels = self.channels(parallelism)
        return _SplitEnumerator(0, self.splits, channels, channels)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the rows of the assigned splits."""
        for split in range(*work):
            yield from sliced(self._blocks(split), sizer)

    def _blocks(self, split: int) -> Iterator[Sequence[Any]]:
        database = database_of(self.connection)
        query, parameters = self.sql, list[Bound]()
        if self.partitions is not None:
            condition, parameters = self.partitions.split(split)
            translated, _ = database.translate(condition)
            query = f"SELECT * FROM ({self.sql}\n) AS scurry_split WHERE {translated}"
        convert = self.type_info.block_converter()
        assert convert is not None  # a row type has a converter
        try:
            for rows in database.read(query, parameters, self.fetch_size):
                yield convert(rows)
        except TypeMismatchError as error:
            raise TypeMismatchError(
                error.declared, error.value, f"{error.reason or 'the columns of the query are others'}: {self.sql}"
            ) from None


class _SplitEnumerator(RangeEnumerator):
    """Assign one split per channel and micro-batch, regardless of its number of rows."""

    obeys_limits = False

    def limit(self, limits: BatchLimits, record_bytes: Mapping[int, float]) -> None:
        return

    def align(self, held: Collection[int]) -> None:
        super().align(held)
        self._max_records = 1  # of each channel

    def backlog(self) -> None:
        return None


def row_type(sql: str, connection: JdbcConnectionOptions) -> RowTypeInfo:
    """Return the type of a query's rows, as reported by the database.

    Raises:
        DatabaseError: The database is not available, or rejects the query.
    """
    database = database_of(connection)
    session = JdbcSession(database, _CONNECT_RETRIES)
    try:
        return session.transact(lambda connection: database.row_type(connection, sql), READING)
    finally:
        session.close()
