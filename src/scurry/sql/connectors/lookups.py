"""Lookups of tables by key: their options in Flink, and KeyLookup, which caches the rows of keys."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from scurry.connectors.lookup_cache import CacheSettings, LookupCache
from scurry.errors import UnsupportedError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean, one_of, whole_number
from scurry.sql.connectors.contract import LookupSource
from scurry.sql.connectors.durations import duration
from scurry.sql.types import DataType
from scurry.sql.types.values import batch_of_columns, from_values, to_values

if TYPE_CHECKING:
    import pyarrow as pa

LOOKUP_CACHE = TableOption(
    "lookup.cache",
    one_of(("NONE", "PARTIAL", "FULL")),
    "NONE",
    "Whether lookups are cached: `NONE` or `PARTIAL`.",
)
PARTIAL_ROWS = TableOption("lookup.partial-cache.max-rows", whole_number, None, "Number of keys in the cache.")
PARTIAL_WRITE = TableOption(
    "lookup.partial-cache.expire-after-write", duration, None, "How long after its lookup a key is cached."
)
PARTIAL_ACCESS = TableOption(
    "lookup.partial-cache.expire-after-access", duration, None, "How long after its last use a key is cached."
)
PARTIAL_MISSING = TableOption(
    "lookup.partial-cache.cache-missing-key", boolean, True, "Whether keys without rows are cached."
)
LOOKUP_RETRIES = TableOption("lookup.max-retries", whole_number, 3, "How often a lookup is retried.")
#: The options that every table with lookups has.
LOOKUP_OPTIONS: tuple[TableOption[Any], ...] = (
    LOOKUP_CACHE,
    LOOKUP_RETRIES,
    PARTIAL_ROWS,
    PARTIAL_WRITE,
    PARTIAL_ACCESS,
    PARTIAL_MISSING,
)


def lookup_cache(options: Options, connector: str) -> CacheSettings | None:
    """Return the cache of lookups, None without one.

    Raises:
        ValidationError: Nothing says when keys leave the cache.
        UnsupportedError: The cache is a copy of the whole table.
    """
    kind = options.get(LOOKUP_CACHE)
    if kind == "FULL":
        raise UnsupportedError(
            f"'{LOOKUP_CACHE.key}' = 'FULL': a table of the connector '{connector}' is not copied as a whole (Flink "
            "ignores the value); set 'PARTIAL' and 'lookup.partial-cache.max-rows', or 'NONE'"
        )
    if kind == "NONE":
        return None
    limits = (PARTIAL_ACCESS, PARTIAL_WRITE, PARTIAL_ROWS)
    if not any(option in options for option in limits):
        listed = "'{}', '{}' or '{}'".format(*(option.key for option in limits))
        raise ValidationError(
            f"Missing {listed} in the configuration. The cache will not have evictions under this configuration "
            "and could lead to potential memory issues as the cache size may grow indefinitely."
        )
    return CacheSettings(
        options.find(PARTIAL_ROWS),
        options.find(PARTIAL_WRITE),
        options.find(PARTIAL_ACCESS),
        options.get(PARTIAL_MISSING),
    )


class KeyLookup(LookupSource):
    """Ask for the rows of one key after another, and keep them in a cache; equal keys of a batch are asked for once.

    A connector implements `find`, and opens its connection in `open` or with the first key.
    """

    def __init__(self, columns: Sequence[tuple[str, DataType]], cache: CacheSettings | None) -> None:
        """Describe the rows.

        Args:
            cache: The settings of the cache; None for no cache.
        """
        self._names = [name for name, _ in columns]
        self._types = [kind for _, kind in columns]
        self._settings = cache

    def open(self) -> None:
        """Make an empty cache."""
        self._cache = None if self._settings is None else LookupCache[tuple[Any, ...]](self._settings)

    @abstractmethod
    def find(self, key: tuple[Any, ...]) -> Sequence[tuple[Any, ...]]:
        """Return the rows of a key: the values of the columns that are read.

        Args:
            key: The values of the columns of the key, none of them None.

        Raises:
            ScurryError: The table cannot be asked.
        """

    def batch(self, rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
        """Return rows as columns."""
        values = zip(*rows, strict=True) if rows else [()] * len(self._names)
        arrays = [from_values(list(each), kind) for each, kind in zip(values, self._types, strict=True)]
        return batch_of_columns(arrays, self._names, len(rows))

    def lookup(self, keys: pa.RecordBatch) -> tuple[pa.Array, pa.RecordBatch]:
        import pyarrow as pa

        asked: dict[Hashable, Sequence[tuple[Any, ...]]] = {}
        positions: list[int] = []
        rows: list[tuple[Any, ...]] = []
        for position, key in enumerate(zip(*map(to_values, keys.columns), strict=True)):
            if None in key:
                continue
            identity = _hashable(key)
            found = asked.get(identity)
            if found is None:
                found = asked[identity] = self._found(identity, key)
            positions += [position] * len(found)
            rows += found
        return pa.array(positions, pa.int64()), self.batch(rows)

    def _found(self, identity: Hashable, key: tuple[Any, ...]) -> Sequence[tuple[Any, ...]]:
        found = None if self._cache is None else self._cache.get(identity)
        if found is None:
            found = self.find(key)
            if self._cache is not None:
                self._cache.put(identity, found)
        return found

    def close(self) -> None:
        """Empty the cache."""
        if self._cache is not None:
            self._cache.clear()


def _hashable(value: Any) -> Hashable:
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value
