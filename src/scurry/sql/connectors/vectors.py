"""Tables that VECTOR_SEARCH searches: those of connectors that can, and others, which are read whole."""

from __future__ import annotations

import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from scurry._dataclasses import dataclass
from scurry.connectors.vectors.contract import Nearest, VectorSearchSource, WrongVectorError
from scurry.connectors.vectors.index import VectorIndex
from scurry.errors import EvaluationError, UnsupportedError, ValidationError
from scurry.sql.catalog.table_options import Options
from scurry.sql.connectors.contract import TableSource
from scurry.sql.connectors.vector_options import MAX_BYTES, MAX_ROWS, METRIC, RELOAD_INTERVAL
from scurry.sql.types import DataType
from scurry.sql.types.values import batch_of_columns, from_values

#: Tables whose searches have ended that a process keeps: tasks of Spark are opened for every micro-batch.
_KEPT_TABLES = 2


class VectorFinder(Protocol):
    """Search records by vector; picklable. `close`, if there is one, is called at the end."""

    def search(
        self, vector: Sequence[float], top_k: int
    ) -> Iterable[tuple[Any, float]] | Awaitable[Iterable[tuple[Any, float]]]:
        """Return the nearest records, rows, tuples or dicts of all columns, with their scores; the best first.

        It may be `async def`: the searches of several vectors overlap then.

        Args:
            vector: The vector, not None.
            top_k: How many records there are at most.
        """


def vector_search_of(
    source: TableSource, table: str, options: Mapping[str, str], column: str, columns: Sequence[tuple[str, DataType]]
) -> VectorSearchSource:
    """Return the search of a table.

    Args:
        options: Its options, with those of a hint.
        columns: Names and types of the columns of the rows that are found.

    Raises:
        UnsupportedError: The table is not read whole, and its connector does not search.
    """
    own = source.create_vector_search(column, [name for name, _ in columns])
    if own is not None:
        return own
    if not source.bounded or not source.insert_only:
        raise UnsupportedError(
            f"Table '{table}' cannot be searched: its connector does not search, and its rows "
            + ("do not end." if not source.bounded else "change.")
        ).with_hint("write the vectors into a table that is read whole, such as one of files, JDBC, Delta or Iceberg")
    given = Options(options)
    limits = _Limits(given.get(METRIC), given.find(RELOAD_INTERVAL), given.get(MAX_ROWS), given.get(MAX_BYTES))
    return ScannedVectors(source, table, column, columns, limits)


@dataclass(frozen=True)
class _Limits:
    metric: str
    reload: int | None
    rows: int
    nbytes: int


@dataclass
class _Loaded:
    """The rows of a table: those with a vector are in the index."""

    rows: Any
    index: VectorIndex


class _Tables:
    """The tables of a process, which its tasks share: they are read once."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Keep nothing.

        Args:
            now: A clock of seconds.
        """
        self._now = now
        self._lock = threading.Lock()
        #: the tables, each with the time when it was read
        self._loaded: OrderedDict[str, tuple[_Loaded, float]] = OrderedDict()
        self._open: dict[str, int] = {}

    def opened(self, key: str) -> None:
        with self._lock:
            self._open[key] = self._open.get(key, 0) + 1

    def closed(self, key: str) -> None:
        with self._lock:
            self._open[key] = self._open.get(key, 1) - 1
            if self._open[key] <= 0:
                del self._open[key]
            unused = [each for each in self._loaded if each not in self._open]
            for each in unused[: max(len(unused) - _KEPT_TABLES, 0)]:
                del self._loaded[each]

    def get(self, key: str, load: Callable[[], _Loaded], reload: int | None) -> _Loaded:
        with self._lock:
            found, now = self._loaded.get(key), self._now()
            if found is None or (reload is not None and (now - found[1]) * 1000 >= reload):
                found = self._loaded[key] = load(), now
            self._loaded.move_to_end(key)
            return found[0]


_TABLES = _Tables()

__all__ = ["Nearest", "ScannedVectors", "VectorFinder", "VectorSearchSource", "checked_mode", "vector_search_of"]


class ScannedVectors(VectorSearchSource):
    """Search a table that is read whole, in the process of the task, when the first vector comes."""

    def __init__(
        self, source: TableSource, table: str, column: str, columns: Sequence[tuple[str, DataType]], limits: _Limits
    ) -> None:
        """Describe the search.

        Args:
            columns: Names and types of the columns of the rows that are found.
            limits: The metric, when the table is read again, and how large it may be.
        """
        self._source = source
        self._table = table
        self._column = column
        self._columns = list(columns)
        self._limits = limits
        self._splits: list[Any] | None = None
        self._key = uuid.uuid4().hex

    def __getstate__(self) -> dict[str, Any]:
        """List the pieces of the table on the driver: sources of rows in memory have them only there."""
        splits = self._source.splits() if self._splits is None else self._splits
        return {**self.__dict__, "_splits": splits}

    def open(self) -> None:
        """Note that the table is used."""
        _TABLES.opened(self._key)

    def close(self) -> None:
        """Note that the table is not used any more."""
        _TABLES.closed(self._key)

    def search(self, vectors: Any, top_k: int) -> Nearest:
        """Return the nearest rows of some vectors."""
        import pyarrow as pa

        loaded = _TABLES.get(self._key, self._load, self._limits.reload)
        positions, places, scores = loaded.index.nearest(vectors, top_k)
        return Nearest(
            pa.array(positions, pa.int64()), loaded.rows.take(pa.array(places)), pa.array(scores, pa.float64())
        )

    def _load(self) -> _Loaded:
        import pyarrow as pa

        names = [name for name, _ in self._columns]
        read = list(dict.fromkeys([*names, self._column]))
        source, splits = self._source, self._splits
        if splits is None:
            source = source.renewed()
            splits = source.splits()
        if self._limits.reload is not None:
            self._splits = None  # the next time the table has other pieces
        batches: list[pa.RecordBatch] = []
        rows = nbytes = 0
        for split in splits:
            for changes in source.read(split, read):
                batches.append(changes.batch)
                rows, nbytes = rows + changes.batch.num_rows, nbytes + changes.batch.nbytes
                self._check(rows, MAX_ROWS.key, self._limits.rows, "rows")
                self._check(nbytes, MAX_BYTES.key, self._limits.nbytes, "bytes")
        if not batches:
            none = batch_of_columns([from_values([], kind) for _, kind in self._columns], names, 0)
            return _Loaded(none, VectorIndex(pa.array([], pa.list_(pa.float64())), self._limits.metric))
        table = pa.Table.from_batches(batches).combine_chunks()
        whole = table.to_batches()[0] if table.num_rows else batches[0]
        try:
            index = VectorIndex(whole.column(whole.schema.get_field_index(self._column)), self._limits.metric)
        except WrongVectorError as error:
            row = whole.slice(error.position, 1).to_pylist()[0]
            shown = {name: value for name, value in row.items() if name != self._column}
            raise EvaluationError(
                f"table '{self._table}' cannot be searched by '{self._column}': {error} (row {shown})"
            ).with_hint("vectors of one column have one length; leave out rows without one, or make it NULL") from None
        self._check(nbytes + index.nbytes, MAX_BYTES.key, self._limits.nbytes, "bytes, with the matrix of its vectors")
        return _Loaded(whole.select(names), index)

    def _check(self, count: int, key: str, limit: int, what: str) -> None:
        if count > limit:
            raise EvaluationError(
                f"table '{self._table}' has more than {limit:,} {what}, which VECTOR_SEARCH would keep in memory"
            ).with_hint(f"raise '{key}' of the table, or search it where it is, by a connector with a vector_finder")


def checked_mode(search: VectorSearchSource, wanted: bool | None, table: str) -> None:
    """Refuse a mode that a table does not have; one that is read whole has both, because nothing waits.

    Raises:
        ValidationError: The call wants to overlap searches that do not, or the reverse.
    """
    if wanted is None or wanted == search.is_async or isinstance(search, ScannedVectors):
        return
    mode, other = ("async", "sync") if wanted else ("sync", "async")
    raise ValidationError(
        f"Require {mode} mode, but vector search provider of table '{table}' doesn't support {mode} mode."
    ).with_hint(f"leave out 'async' of the call: the table is searched in {other} mode")
