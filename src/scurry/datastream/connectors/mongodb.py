"""MongoDB as source and sink: MongoSource and MongoSink, under the names of Flink's Java API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scurry.common._api import ApiObject, made_by
from scurry.common.time import TimeAmount, to_millis
from scurry.common.typeinfo import TypeInformation
from scurry.connectors.mongodb.client import MongoSettings
from scurry.connectors.mongodb.sink import MongoExecution
from scurry.connectors.mongodb.sink import MongoSink as _MongoSink
from scurry.connectors.mongodb.source import STRATEGIES, MongoPartitions
from scurry.connectors.mongodb.source import MongoSource as _MongoSource
from scurry.datastream.connectors.base import DeliveryGuarantee
from scurry.errors import ArgumentError, UnsupportedError

__all__ = ["MongoSink", "MongoSinkBuilder", "MongoSource", "MongoSourceBuilder"]


@made_by("builder")
class MongoSource(ApiObject, _MongoSource):
    """A bounded source of the documents of a collection."""

    @staticmethod
    def builder() -> MongoSourceBuilder:
        """Return a builder."""
        return MongoSourceBuilder()


class _Builder(ApiObject):
    def __init__(self) -> None:
        self._uri, self._database, self._collection = "", "", ""

    def _settings(self, name: str) -> MongoSettings:
        if not (self._uri and self._database and self._collection):
            raise ArgumentError(f"a {name} needs set_uri(...), set_database(...) and set_collection(...)")
        return MongoSettings(self._uri, self._database, self._collection)


class MongoSourceBuilder(_Builder):
    """Build a MongoSource."""

    def __init__(self) -> None:
        """Begin with all fields of all documents, in ranges of 64 MiB."""
        super().__init__()
        self._fetch_size, self._no_timeout, self._limit = 2048, True, -1
        self._fields: tuple[str, ...] | None = None
        self._strategy, self._size, self._samples, self._records = "default", 64 << 20, 10, 100_000
        self._convert: Callable[[Any], Any] | None = None
        self._type: TypeInformation | None = None

    def set_uri(self, uri: str) -> MongoSourceBuilder:
        """Set the connection string, `mongodb://user:password@host:27017`."""
        self._uri = uri
        return self

    def set_database(self, database: str) -> MongoSourceBuilder:
        """Set the database."""
        self._database = database
        return self

    def set_collection(self, collection: str) -> MongoSourceBuilder:
        """Set the collection."""
        self._collection = collection
        return self

    def set_fetch_size(self, fetch_size: int) -> MongoSourceBuilder:
        """Set the number of documents that a reader fetches at once (2048)."""
        self._fetch_size = _positive("set_fetch_size", fetch_size)
        return self

    def set_no_cursor_timeout(self, no_cursor_timeout: bool) -> MongoSourceBuilder:
        """Set whether the server keeps a cursor that is not read for ten minutes (True)."""
        self._no_timeout = no_cursor_timeout
        return self

    def set_projected_fields(self, *projected_fields: str) -> MongoSourceBuilder:
        """Set the fields that are read; without it all."""
        self._fields = tuple(projected_fields)
        return self

    def set_limit(self, limit: int) -> MongoSourceBuilder:
        """Set the number of documents of each range, at most; -1 for all."""
        self._limit = limit if limit == -1 else _positive("set_limit", limit)
        return self

    def set_partition_strategy(self, partition_strategy: str) -> MongoSourceBuilder:
        """Set how ranges are found: `single`, `pagination`, or one of those by samples.

        Raises:
            ArgumentError: There is no such strategy.
        """
        if partition_strategy.lower() not in STRATEGIES:
            raise ArgumentError(f"{partition_strategy!r} is no strategy; the strategies are {', '.join(STRATEGIES)}")
        self._strategy = partition_strategy.lower()
        return self

    def set_partition_size(self, bytes_of_range: int) -> MongoSourceBuilder:
        """Set the bytes of a range (64 MiB)."""
        self._size = _positive("set_partition_size", bytes_of_range)
        return self

    def set_samples_per_partition(self, samples: int) -> MongoSourceBuilder:
        """Set the number of samples per range (10)."""
        self._samples = _positive("set_samples_per_partition", samples)
        return self

    def set_partition_record_size(self, records: int) -> MongoSourceBuilder:
        """Set the documents of a range, of the strategy `pagination` (100000)."""
        self._records = _positive("set_partition_record_size", records)
        return self

    def set_deserialization_schema(
        self, convert: Callable[[Any], Any], type_info: TypeInformation | None = None
    ) -> MongoSourceBuilder:
        """Set the function that makes a record of a document; without it records are dicts of BSON's values.

        Args:
            convert: The function.
            type_info: The type of the records.
        """
        self._convert, self._type = convert, type_info
        return self

    def build(self) -> MongoSource:
        """Return the source.

        Raises:
            ArgumentError: The collection is not set.
        """
        return MongoSource(
            self._settings("MongoSource"),
            self._convert,
            MongoPartitions(self._strategy, self._size, self._samples, self._records),
            self._fields,
            self._fetch_size,
            self._no_timeout,
            None if self._limit == -1 else self._limit,
            self._type,
        )


@made_by("builder")
class MongoSink(ApiObject, _MongoSink):
    """Write to a collection, at least once; writes by id leave each document once."""

    @staticmethod
    def builder() -> MongoSinkBuilder:
        """Return a builder."""
        return MongoSinkBuilder()


class MongoSinkBuilder(_Builder):
    """Build a MongoSink."""

    def __init__(self) -> None:
        """Begin with 1000 records of a bulk write, and 3 retries."""
        super().__init__()
        self._size, self._interval, self._retries, self._ordered = 1000, 1000, 3, True
        self._serialize: Callable[[Any], Any] | None = None

    def set_uri(self, uri: str) -> MongoSinkBuilder:
        """Set the connection string, `mongodb://user:password@host:27017`."""
        self._uri = uri
        return self

    def set_database(self, database: str) -> MongoSinkBuilder:
        """Set the database."""
        self._database = database
        return self

    def set_collection(self, collection: str) -> MongoSinkBuilder:
        """Set the collection."""
        self._collection = collection
        return self

    def set_batch_size(self, batch_size: int) -> MongoSinkBuilder:
        """Set the number of records that are written at once (1000); -1 for all of a micro-batch."""
        self._size = 0 if batch_size == -1 else _positive("set_batch_size", batch_size)
        return self

    def set_batch_interval_ms(self, batch_interval_ms: TimeAmount) -> MongoSinkBuilder:
        """Set the time that records wait for others (1000 ms)."""
        self._interval = to_millis(batch_interval_ms)
        return self

    def set_max_retries(self, max_retries: int) -> MongoSinkBuilder:
        """Set the number of retries while no server answers (3), one per second."""
        if max_retries < 0:
            raise ArgumentError(f"set_max_retries takes 0 or more, got {max_retries}")
        self._retries = max_retries
        return self

    def set_ordered_writes(self, ordered: bool) -> MongoSinkBuilder:
        """Set whether the server stops at the first write of a bulk that fails (True)."""
        self._ordered = ordered
        return self

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> MongoSinkBuilder:
        """Set the guarantee: `AT_LEAST_ONCE`, or `NONE`, which writes the same way.

        Raises:
            UnsupportedError: It is `EXACTLY_ONCE`, which Flink refuses, too.
        """
        if delivery_guarantee is DeliveryGuarantee.EXACTLY_ONCE:
            raise UnsupportedError("a MongoSink is not EXACTLY_ONCE; writes by id with AT_LEAST_ONCE come to the same")
        return self

    def set_serialization_schema(self, serialize: Callable[[Any], Any]) -> MongoSinkBuilder:
        """Set the function that makes a write of pymongo of a record: `InsertOne`, `ReplaceOne`, `UpdateOne` ...

        Args:
            serialize: The function. One that writes by `_id` makes repeated writes harmless.
        """
        self._serialize = serialize
        return self

    def build(self) -> MongoSink:
        """Return the sink.

        Raises:
            ArgumentError: The collection or the function is not set.
        """
        if self._serialize is None:
            raise ArgumentError("a MongoSink needs set_serialization_schema(...)")
        execution = MongoExecution(self._size, self._interval, self._retries, 1000, self._ordered)
        return MongoSink(self._settings("MongoSink"), self._serialize, execution)


def _positive(method: str, value: int) -> int:
    if value < 1:
        raise ArgumentError(f"{method} takes a positive number, got {value}")
    return value
