"""CassandraSource: the rows of a table, by ranges of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.cassandra.client import CassandraSettings, errors, failure, session_of
from scurry.connectors.source import BatchLimits, Chunk, ChunkSizer, Enumerator, Source, sliced
from scurry.connectors.split_queues import SplitEnumerator
from scurry.errors import SourceNotFoundError, UnsupportedError

_FIRST, _AFTER = -(1 << 63), 1 << 63
#: Rows that a reader converts at once.
_BLOCK_ROWS = 1000


@dataclass(frozen=True)
class CassandraTable:
    """A table.

    Attributes:
        settings: The cluster.
        keyspace: The keyspace.
        name: The table.
    """

    settings: CassandraSettings
    keyspace: str
    name: str

    @property
    def quoted(self) -> str:
        """The name in statements."""
        return f"{quoted(self.keyspace)}.{quoted(self.name)}"

    def partition_key(self) -> list[str]:
        """Return the columns by which the rows are spread over the nodes.

        Raises:
            SourceNotFoundError: The table does not exist.
            UnsupportedError: Tokens are not those of Murmur3.
        """
        metadata = session_of(self.settings).cluster.metadata
        if not str(metadata.partitioner).endswith("Murmur3Partitioner"):
            raise UnsupportedError(
                f"tables are read with Murmur3Partitioner, but the cluster has {metadata.partitioner}"
            )
        keyspace = metadata.keyspaces.get(self.keyspace)
        if keyspace is None:
            raise SourceNotFoundError(f"Cassandra has no keyspace {self.keyspace!r} ('keyspace')")
        table = keyspace.tables.get(self.name)
        if table is None:
            raise SourceNotFoundError(f"keyspace {self.keyspace!r} has no table {self.name!r} ('table-name')")
        return [column.name for column in table.partition_key]


def quoted(name: str) -> str:
    """Return a name in double quotes."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class CassandraSource(Source):
    """A bounded source of the rows of a table.

    A repeated micro-batch reads its ranges again, so that results are exactly once if the table does not change.

    Attributes:
        table: The table.
        columns: The columns that are read.
        convert: Makes a record of a row, which is a tuple.
        ranges: Number of ranges that are read separately.
        fetch_size: Rows that are fetched at once.
    """

    table: CassandraTable
    columns: tuple[str, ...]
    convert: Callable[[Sequence[Any]], Any]
    ranges: int = 16
    fetch_size: int = 5000

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator that assigns one range at a time to each reader."""
        try:
            self.table.partition_key()
        except errors() as error:
            raise failure(self.table.settings, error, is_sink=False) from None
        cuts = [_FIRST + (_AFTER - _FIRST) * number // self.ranges for number in range(self.ranges + 1)]
        return SplitEnumerator(list(zip(cuts, cuts[1:], strict=False)), self.channels(parallelism))

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the rows of the assigned ranges."""
        for first, after in work:
            yield from sliced(self._blocks(first, after), sizer)

    def _blocks(self, first: int, after: int) -> Iterator[list[Any]]:
        settings = self.table.settings
        try:
            session, token = session_of(settings), ", ".join(map(quoted, self.table.partition_key()))
            chosen = ", ".join(map(quoted, self.columns))
            statement = session.prepare(
                f"SELECT {chosen} FROM {self.table.quoted} WHERE token({token}) >= ? AND token({token}) <= ?"
            )
            statement.fetch_size = self.fetch_size
            rows = iter(session.execute(statement, [first, after - 1]))
            while block := list(islice(rows, _BLOCK_ROWS)):
                yield list(map(self.convert, block))
        except errors() as error:
            raise failure(settings, error, is_sink=False) from None
