"""RedisFactory: tables whose rows are hashes, strings or members of sets. Flink has no such table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.lookup_cache import CacheSettings
from scurry.connectors.queues.positions import patiently
from scurry.connectors.redis.client import RedisServer
from scurry.connectors.sink import BufferedWriter, Sink, SinkWriter, WriterContext
from scurry.errors import SourceNotFoundError, ValidationError
from scurry.sql.catalog.table_options import TableOption, one_of
from scurry.sql.connectors.contract import (
    Changes,
    LookupSource,
    SinkChanges,
    SinkTarget,
    TableContext,
    TableFactory,
    TableSource,
)
from scurry.sql.connectors.durations import duration
from scurry.sql.connectors.lookups import LOOKUP_OPTIONS, KeyLookup, lookup_cache
from scurry.sql.connectors.parallelism import SINK_PARALLELISM
from scurry.sql.connectors.records import FLUSH_INTERVAL, FLUSH_ROWS
from scurry.sql.connectors.redis.rows import RedisRows
from scurry.sql.connectors.redis.streams import SERVER_OPTIONS, server_of
from scurry.sql.connectors.reducing import ReducingSink
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.types.values import batch_of_columns, from_values
from scurry.sql.values.texts import atom_text

#: Rows that are sent at once.
_FLUSH_ROWS = 1000
#: Keys that are read at once.
_SCANNED_KEYS = 1000

KIND = TableOption(
    "data-type",
    one_of(("hash", "string", "set")),
    "hash",
    "The value of a key: a `hash` of the columns, a `string` of the only other column, or a `set`, whose "
    "members are the last column of the primary key.",
)
PREFIX = TableOption("key.prefix", str, "", "The begin of all keys.")
DELIMITER = TableOption("key.delimiter", str, ":", "The text between the columns of the primary key in a key.")
TTL = TableOption("ttl", duration, None, "Time after which a key that is not written again is gone; never without it.")

OPTIONS: tuple[TableOption[Any], ...] = (
    *SERVER_OPTIONS,
    KIND,
    PREFIX,
    DELIMITER,
    TTL,
    FLUSH_ROWS,
    FLUSH_INTERVAL,
    SINK_PARALLELISM,
    *(option for option in LOOKUP_OPTIONS if option.key != "lookup.max-retries"),
)


class RedisFactory(TableFactory):
    """Make sources, sinks and lookups of keys."""

    identifier = "redis"

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        return OPTIONS

    def sink_changes(self, context: TableContext) -> SinkChanges:
        """Accept changes by key."""
        return SinkChanges("UPSERT")

    def create_source(self, context: TableContext) -> TableSource:
        """Return a source of the rows that there are."""
        options = self.check(context)
        return _RedisSource(server_of(options), self._rows(context), lookup_cache(options, self.identifier))

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        """Return a sink by key."""
        options, rows = self.check(context), self._rows(context)
        names = [column.name for column in rows.columns]
        places = tuple(map(names.index, rows.key))
        sink = _RedisSink(server_of(options), rows)
        return ReducingSink(sink, places, options.get(FLUSH_ROWS), options.get(FLUSH_INTERVAL))

    def _rows(self, context: TableContext) -> RedisRows:
        options, columns, primary = context.read_options(), context.physical_columns, context.schema.get_primary_key()
        if primary is None:
            raise ValidationError(
                "'redis' tables need a PRIMARY KEY: it makes the keys of Redis, and rows are replaced by it."
            ).with_hint("add it to CREATE TABLE: PRIMARY KEY (id) NOT ENFORCED")
        kind, key = options.get(KIND), tuple(primary.columns)
        wrong = [column.name for column in columns if atom_text(column.type) is None]
        if wrong:
            raise ValidationError(
                f"'redis': column '{wrong[0]}' has no text; store it as a STRING, such as JSON of it (JSON_STRING)"
            )
        others = [column.name for column in columns if column.name not in key]
        if kind == "string" and len(others) != 1:
            raise ValidationError(
                f"'{KIND.key}' = 'string' has one column beside the primary key, not {len(others)}; 'hash' has many"
            )
        if kind == "set" and (others or len(key) < 2):
            raise ValidationError(
                f"'{KIND.key}' = 'set' has a primary key of all columns, the last of which is the member: "
                "PRIMARY KEY (id, member) NOT ENFORCED"
            )
        return RedisRows(columns, key, kind, options.get(PREFIX), options.get(DELIMITER), options.find(TTL))


@dataclass(frozen=True)
class _RedisSink(Sink):
    server: RedisServer
    rows: RedisRows

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return _Writer(self)


class _Writer(BufferedWriter):
    def __init__(self, sink: _RedisSink) -> None:
        super().__init__(_FLUSH_ROWS, 0)
        self._server, self._rows = sink.server, sink.rows
        self._client = sink.server.client()

    def prepared(self, values: list[Any]) -> list[Any]:
        return [command for changes in values for command in self._rows.commands(changes)]

    def flush(self, records: list[Any]) -> None:
        def act() -> None:
            pipeline = self._client.pipeline(transaction=True)
            for is_gone, row in records:
                self._rows.write(pipeline, is_gone, row)
            pipeline.execute()

        patiently(lambda: self._server.asked(act, reads=False))

    def close(self) -> None:
        self._client.close()


@dataclass(frozen=True)
class _RedisSource(TableSource):
    server: RedisServer
    rows: RedisRows
    cache: CacheSettings | None

    def splits(self) -> list[Any]:
        return [None]

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[Changes]:
        client = self.server.client()
        try:
            places: list[str] = []
            scan = client.scan_iter(match=_literal(self.rows.prefix) + "*", count=_SCANNED_KEYS, _type=self.rows.kind)
            known = set[bytes]()  # SCAN may return a key twice
            while True:
                place = self.server.asked(lambda: next(scan, None), reads=True)
                if place is not None and place not in known:
                    known.add(place)
                    places.append(place.decode())
                if places and (place is None or len(places) >= _SCANNED_KEYS):
                    yield self._changes(client, places, columns)
                    places = []
                if place is None:
                    return
        finally:
            client.close()

    def _changes(self, client: Any, places: list[str], columns: Sequence[str]) -> Changes:
        found = _found(self.server, self.rows, client, places)
        rows = [
            self.rows.values(place, row, columns)
            for place, answer in zip(places, found, strict=True)
            for row in self.rows.rows(place, answer)
        ]
        types = {column.name: column.type for column in self.rows.columns}
        values = zip(*rows, strict=True) if rows and columns else [()] * len(columns)
        arrays = [from_values(list(each), types[name]) for name, each in zip(columns, values, strict=True)]
        return Changes(batch_of_columns(arrays, columns, len(rows)))

    def create_lookup(self, keys: Sequence[str], columns: Sequence[str]) -> LookupSource | None:
        missing = [name for name in self.rows.named if name not in keys]
        if missing:
            raise ValidationError(
                f"a lookup in a 'redis' table needs all columns that make its keys; column '{missing[0]}' is not in "
                "the condition of the join"
            )
        return _Lookup(self, keys, columns)


def _literal(prefix: str) -> str:
    return "".join(f"\\{letter}" if letter in "*?[]\\^" else letter for letter in prefix)


def _found(server: RedisServer, rows: RedisRows, client: Any, places: Sequence[str]) -> list[Any]:
    def act() -> list[Any]:
        pipeline = client.pipeline(transaction=False)
        for place in places:
            rows.ask(pipeline, place)
        return list(pipeline.execute())

    try:
        return patiently(lambda: server.asked(act, reads=True))
    except Exception as error:
        if "WRONGTYPE" in str(error):
            raise SourceNotFoundError(
                f"Redis at {server.place}: a key that begins with {rows.prefix!r} is no {rows.kind}; check 'data-type' "
                "and 'key.prefix'"
            ) from None
        raise


class _Lookup(KeyLookup):
    def __init__(self, source: _RedisSource, keys: Sequence[str], columns: Sequence[str]) -> None:
        by_name = {column.name: column for column in source.rows.columns}
        super().__init__([(name, by_name[name].type) for name in columns], source.cache)
        self._source, self._columns = source, tuple(columns)
        self._keys: tuple[FormatColumn, ...] = tuple(by_name[name] for name in keys)

    def open(self) -> None:
        super().open()
        self._client = self._source.server.client()
        self._texts = [atom_text(column.type) for column in self._keys]

    def find(self, key: tuple[Any, ...]) -> Sequence[tuple[Any, ...]]:
        rows = self._source.rows
        asked = {
            column.name: text(value)
            for column, text, value in zip(self._keys, self._texts, key, strict=True)
            if text is not None
        }
        place = rows.place(asked)
        (found,) = _found(self._source.server, rows, self._client, [place])
        others = {name: text for name, text in asked.items() if name not in rows.named}
        return [
            rows.values(place, row, self._columns)
            for row in rows.rows(place, found)
            if all(row.get(name) == text for name, text in others.items())
        ]

    def close(self) -> None:
        super().close()
        self._client.close()
