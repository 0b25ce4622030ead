"""MongoSource: the documents of a collection, in ranges of their ids."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from dataclasses import field
from itertools import islice
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.typeinfo import TypeInformation
from scurry.connectors.mongodb.client import MongoSettings, collection_of, failure, library
from scurry.connectors.source import BatchLimits, Chunk, ChunkSizer, Enumerator, Source, sliced
from scurry.connectors.split_queues import SplitEnumerator

_logger = logging.getLogger(__name__)

#: Documents that a reader converts at once.
_BLOCK_ROWS = 1000
STRATEGIES = ("single", "sample", "split-vector", "sharded", "pagination", "default")


@dataclass(frozen=True)
class MongoPartitions:
    """Ranges of a collection that are read separately.

    Attributes:
        strategy: `single` for one range, `pagination` for ranges of as many documents; others take samples.
        size: Bytes of a range.
        samples: Samples per range.
        records: Documents of a range, of `pagination`.
    """

    strategy: str = "default"
    size: int = 64 * 1024 * 1024
    samples: int = 10
    records: int = 100_000

    def ranges(self, collection: Any) -> list[tuple[Any, Any]]:
        """Return the ranges of ids, each with its first one and the one after it, None at both ends."""
        bounds = [] if self.strategy == "single" else self._bounds(collection)
        return list(zip([None, *bounds], [*bounds, None], strict=True))

    def _bounds(self, collection: Any) -> list[Any]:
        ends = [
            document["_id"] for way in (1, -1) for document in collection.find({}, {"_id": 1}).sort("_id", way).limit(1)
        ]
        if not ends or _order(ends[0]) != _order(ends[-1]):
            return []  # conditions compare ids of one type only
        if self.strategy == "pagination":
            count = math.ceil(collection.estimated_document_count() / self.records)
            return self._pages(collection, count)
        statistics = collection.database.command("collStats", collection.name)
        count = min(math.ceil(int(statistics.get("size", 0)) / self.size), int(statistics.get("count", 0)))
        return self._samples(collection, count) if count > 1 else []

    def _pages(self, collection: Any, count: int) -> list[Any]:
        found = []
        for number in range(1, count):
            at = collection.find({}, {"_id": 1}).sort("_id", 1).skip(number * self.records).limit(1)
            found += [document["_id"] for document in at]
        return found

    def _samples(self, collection: Any, count: int) -> list[Any]:
        stages = [{"$sample": {"size": count * self.samples}}, {"$project": {"_id": 1}}, {"$sort": {"_id": 1}}]
        ids = [document["_id"] for document in collection.aggregate(stages)]
        found: list[Any] = []
        for each in ids[self.samples :: self.samples]:
            if not found or found[-1] != each:
                found.append(each)
        return found


def _order(identity: Any) -> Any:
    """Return the group of types within which MongoDB compares an id."""
    is_number = isinstance(identity, (int, float, library("bson").Decimal128)) and not isinstance(identity, bool)
    return "number" if is_number else type(identity)


@dataclass(frozen=True)
class MongoSource(Source):
    """A bounded source of the documents of a collection.

    A range is read by one cursor. A repeated micro-batch reads it again, so that results are exactly once if the
    documents do not change in the meantime.

    Attributes:
        settings: The collection.
        convert: Makes a record of a document, which is a dict of BSON's values; None for the dict.
        partitions: The ranges.
        fields: The fields that are read; None for all.
        fetch_size: Documents that a cursor fetches at once.
        no_timeout: Whether the server keeps a cursor that is not read for a long time.
        limit: Documents of each range at most; None for all.
        type_info: The type of the records; None for any object.
    """

    settings: MongoSettings
    convert: Callable[[Any], Any] | None = None
    partitions: MongoPartitions = field(default_factory=MongoPartitions)
    fields: tuple[str, ...] | None = None
    fetch_size: int = 2048
    no_timeout: bool = True
    limit: int | None = None
    type_info: TypeInformation | None = None

    @property
    def produced_type(self) -> TypeInformation | None:
        """The type of the records."""
        return self.type_info

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator that assigns one range at a time to each reader."""
        errors, collection = library("pymongo.errors"), collection_of(self.settings)
        try:
            if self.settings.collection not in collection.database.list_collection_names():
                name = f"{self.settings.database}.{self.settings.collection}"
                _logger.warning("there is no collection %s ('database', 'collection'): nothing is read", name)
            ranges = self.partitions.ranges(collection)
        except errors.PyMongoError as error:
            raise failure(self.settings, error, is_sink=False) from None
        return SplitEnumerator(ranges, self.channels(parallelism))

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the documents of the assigned ranges."""
        declared = self.type_info
        prepare = None if declared is None else declared.block_converter()
        for each in work:
            blocks = self._blocks(*each)
            yield from sliced(blocks if prepare is None else map(prepare, blocks), sizer)

    def _blocks(self, first: Any, after: Any) -> Iterator[list[Any]]:
        errors = library("pymongo.errors")
        condition = {} if first is None else {"$gte": first}
        condition |= {} if after is None else {"$lt": after}
        projection = None if self.fields is None else {"_id": "_id" in self.fields, **dict.fromkeys(self.fields, True)}
        try:
            with collection_of(self.settings).find(
                {"_id": condition} if condition else {},
                projection or None,
                batch_size=self.fetch_size,
                limit=self.limit or 0,
                no_cursor_timeout=self.no_timeout,
            ) as cursor:
                documents = iter(cursor)
                while block := list(islice(documents, _BLOCK_ROWS)):
                    yield block if self.convert is None else [self.convert(each) for each in block]
        except errors.PyMongoError as error:
            raise failure(self.settings, error, is_sink=False) from None
