"""MongoReceiver: the driver reads documents and change streams, so that a repeated micro-batch has the same ones.

MongoDB shows no moment of the past: a document that is read again, and the document of an update that is read again,
are those of now. So the documents themselves are logged with the micro-batch, before a task sees them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import field
from itertools import islice
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common._java_regex.patterns import compiled
from scurry.common.redaction import without_secrets
from scurry.common.types import RowKind
from scurry.connectors.cdc.capture import Startup, TableId
from scurry.connectors.cdc.mongodb.places import Change, Found, Place
from scurry.connectors.cdc.naming import no_tables
from scurry.connectors.mongodb.client import MongoSettings, collection_of, database_of, failure, library
from scurry.connectors.queues.receiving import Receiver
from scurry.errors import ConnectorError, DatabaseError, LogLostError

#: Documents and changes that are read of a collection before the next one has its turn.
_BLOCK = 1000
#: Shortest time that a server may wait for changes, of several collections.
_LEAST_AWAIT_MS = 20
#: Codes of servers that have no longer what follows a token, or never had it.
_LOST = {136, 260, 280, 286, 40576}
_NO_REPLICA_SET = 40573
_SYSTEM = ("admin", "config", "local")
_KINDS = {"insert": RowKind.INSERT.value, "update": RowKind.UPDATE_AFTER.value, "replace": RowKind.UPDATE_AFTER.value}


@dataclass(frozen=True)
class MongoCdcSettings:
    """The address of a server, and the collections whose changes are read.

    Attributes:
        uri: The connection string.
        database: A regular expression of Java for databases.
        collection: A regular expression of Java for collections, by their names or as `database.collection`.
        startup: Start of reading: `initial`, `latest-offset` or `timestamp`.
        batch_size: Documents that a cursor fetches at once.
        await_ms: Milliseconds that the server waits for changes.
        heartbeat_ms: Milliseconds after which the position moves on without changes; 0 for never.
        no_timeout: Whether the server keeps a cursor that is not read for a long time.
        adds_collections: Whether a job that continues reads collections that are new.
    """

    uri: str = field(repr=False)
    database: str
    collection: str
    startup: Startup = Startup()
    batch_size: int = 1024
    await_ms: int = 1000
    heartbeat_ms: int = 0
    no_timeout: bool = True
    adds_collections: bool = False

    def of(self, database: str, collection: str) -> MongoSettings:
        """Return the settings of a collection."""
        return MongoSettings(self.uri, database, collection, "'hosts'", "'username', 'password' and their rights")


class MongoReceiver(Receiver):
    """Documents and changes of collections, read in a thread of the driver."""

    def __init__(self, settings: MongoCdcSettings) -> None:
        """Read nothing yet."""
        super().__init__()
        self._settings = settings
        errors = library("pymongo.errors")
        self.broken = (errors.ConnectionFailure, errors.CursorNotFound)
        self._places: list[Place] = []
        self._is_restored = False
        self._readings: list[_Reading] = []

    def connect(self) -> None:
        """Find the collections, when the job starts, and open cursors where each is read up to.

        Raises:
            SourceConnectionError: The server cannot be reached, or refuses the user.
            SourceNotFoundError: There is no such collection.
            LogLostError: The server has no longer the changes that follow.
        """
        settings = self._settings
        try:
            if self._is_restored or not self._places:
                self._begin()
            share = max(_LEAST_AWAIT_MS, settings.await_ms // len(self._places))
            self._readings = [_Reading(settings, number, place, share) for number, place in enumerate(self._places)]
            for each in self._readings:
                each.open()
        except library("pymongo.errors").PyMongoError as error:
            raise explained(settings, error) from None

    def _begin(self) -> None:
        settings = self._settings
        known = {(place.database, place.collection) for place in self._places}
        if not known or settings.adds_collections:
            startup, start = settings.startup, self._now()
            if startup.mode == "timestamp":
                start = (startup.timestamp or 0) // 1000, 0
            reads = startup.reads_tables or bool(known)
            found = [each for each in self._collections(bool(known)) if (each.database, each.name) not in known]
            self._places += [Place(each.database, each.name, reads, start) for each in found]
        self._is_restored = False

    def _now(self) -> tuple[int, int]:
        """Return the time of the server."""
        bson = library("bson")
        answer = database_of(self._settings.of("admin", "admin")).command("isMaster")
        at = answer.get("operationTime")  # of replica sets; others have no change streams, or no such times
        if at is None:
            at = bson.timestamp.Timestamp(answer["localTime"], 0)
        return at.time, at.inc

    def _collections(self, may_be_none: bool) -> list[TableId]:
        settings = self._settings
        databases, collections = compiled(f"(?:{settings.database})"), compiled(f"(?:{settings.collection})")
        client = database_of(settings.of("admin", "admin")).client
        there = [
            TableId(database, "", name)
            for database in client.list_database_names()
            if database not in _SYSTEM
            for name in client[database].list_collection_names()
            if not name.startswith("system.")
        ]
        found = [
            each
            for each in there
            if databases.fullmatch(each.database)
            and (collections.fullmatch(each.name) or collections.fullmatch(each.path))
        ]
        if not found and not may_be_none:
            chosen_by = f"'database' = '{settings.database}' and 'collection' = '{settings.collection}'"
            raise no_tables(there, "MongoDB", chosen_by, f"{settings.database}.{settings.collection}")
        return sorted(found)

    def receive(self) -> None:
        """Read some of each collection."""
        if self.is_full:
            time.sleep(0.01)
            return
        try:
            for reading in self._readings:
                for found in reading.next():
                    self.received(found)
        except self.broken:
            raise
        except library("pymongo.errors").PyMongoError as error:
            raise explained(self._settings, error) from None

    def accepted(self, messages: list[Any]) -> list[Any]:
        """Note how far collections are assigned, and return the documents and changes."""
        changes = []
        for found in messages:
            self._places[found.place].passed(found)
            if found.change is not None:
                changes.append(found.change)
        return changes

    def position(self) -> dict[str, Any]:
        """Return how far collections are assigned."""
        return {"collections": [place.position() for place in self._places]}

    def restore(self, position: dict[str, Any]) -> None:
        """Continue behind earlier assignments."""
        self._places = list(map(Place.restored, position["collections"]))
        self._is_restored = bool(self._places)

    def size(self, message: Found) -> int:
        """Return the number of bytes of a document."""
        return 0 if message.change is None else len(message.change.document)

    def acknowledge(self) -> None:
        """Do nothing: the server keeps its log by size and time."""

    def failure(self, reason: Exception) -> ConnectorError:
        """Return the error of connections that break again and again."""
        return explained(self._settings, reason)

    def disconnect(self) -> None:
        """Close the cursors."""
        for reading in self._readings:
            reading.close()
        self._readings = []


class _Reading:
    """An open cursor over the documents of a collection, then its change stream."""

    def __init__(self, settings: MongoCdcSettings, number: int, place: Place, await_ms: int) -> None:
        self._settings, self._number, self._place, self._await_ms = settings, number, place, await_ms
        collection = collection_of(settings.of(place.database, place.collection))
        raw = library("bson.raw_bson").RawBSONDocument
        self._collection = collection.with_options(library("bson.codec_options").CodecOptions(document_class=raw))
        self._token = place.token
        self._cursor: Any = None
        self._stream: Any = None
        self._beat_at = time.monotonic()
        self._beat: Any = None

    def open(self) -> None:
        """Ask for the documents, or for the changes."""
        if not self._place.reads_documents:
            self._watch()
            return
        condition: dict[str, Any] = {}
        if self._place.last is not None:
            # as the order by ids, over all types: $gt alone compares those of one type
            identity = library("bson").decode(self._place.last)["_id"]
            condition = {"$expr": {"$gt": ["$_id", {"$literal": identity}]}}
        size, no_timeout = self._settings.batch_size, self._settings.no_timeout
        found = self._collection.find(condition, batch_size=size, no_cursor_timeout=no_timeout)
        self._cursor = found.sort("_id", 1)

    def _watch(self) -> None:
        bson = library("bson")
        begin: dict[str, Any] = {"start_at_operation_time": bson.timestamp.Timestamp(*self._place.start)}
        if self._token is not None:
            begin = {"start_after": bson.decode(self._token)["_id"]}
        self._stream = self._collection.watch(
            full_document="updateLookup",
            batch_size=self._settings.batch_size,
            max_await_time_ms=self._await_ms,
            **begin,
        )

    def next(self) -> Iterator[Found]:
        """Yield documents or changes that are there, after waiting a moment for changes."""
        if self._cursor is None:
            yield from self._changes()
            return
        place, count = self._place, 0
        for document in islice(self._cursor, _BLOCK):
            count += 1
            row = Change(place.database, place.collection, RowKind.INSERT.value, 0, document.raw)
            yield Found(self._number, row)
        if count < _BLOCK:
            yield Found(self._number, None, last=True)
            self._cursor.close()
            self._cursor = None
            self._watch()

    def _changes(self) -> Iterator[Found]:
        for _ in range(_BLOCK):
            event = self._stream.try_next()
            if event is None:
                break
            yield self._found(event)
        if not self._stream.alive:  # the collection was dropped or renamed: another one of the name may come
            self._watch()
        yield from self._heartbeat()

    def _found(self, event: Any) -> Found:
        operation, place = event["operationType"], self._place
        kind = _KINDS.get(operation)
        document = event.get("fullDocument") if kind is not None else None
        if document is not None and "_id" not in document:
            document = None  # it is deleted by now; some servers say None, others {}
        if operation == "delete":
            kind, document = RowKind.DELETE.value, event["documentKey"]
        self._token = _token(event["_id"])
        if document is None or kind is None:
            return Found(self._number, None, self._token)
        millis = event["clusterTime"].time * 1000
        return Found(self._number, Change(place.database, place.collection, kind, millis, document.raw), self._token)

    def _heartbeat(self) -> Iterator[Found]:
        beat, now = self._settings.heartbeat_ms, time.monotonic()
        if not beat or now < self._beat_at + beat / 1000:
            return
        token, self._beat_at = self._stream.resume_token, now
        if token is not None and token != self._beat:
            self._beat, place = token, self._place
            yield Found(self._number, Change(place.database, place.collection, None, 0, b""), _token(token))

    def close(self) -> None:
        for each in (self._cursor, self._stream):
            if each is not None:
                try:
                    each.close()
                except library("pymongo.errors").PyMongoError:
                    pass  # the server ends it by itself


def _token(token: Any) -> bytes:
    return bytes(library("bson").encode({"_id": token}))


def explained(settings: MongoCdcSettings, error: Exception) -> ConnectorError:
    """Return scurry's error for one of the client."""
    code = getattr(error, "code", None)
    text = without_secrets(str(error).partition(", full error:")[0])
    if code in _LOST:
        return LogLostError(f"MongoDB has no longer the changes that follow: {text}").with_hint(
            "start the job without its checkpoint, 'scan.startup.mode' = 'initial' reads the documents again; a larger "
            "oplog (replSetResizeOplog) keeps more, and 'heartbeat.interval.ms' moves the position of a collection "
            "that seldom changes"
        )
    if code == _NO_REPLICA_SET:
        return DatabaseError(f"'hosts' has no change streams: {text}").with_hint(
            "start mongod with --replSet, and call rs.initiate(): one member is enough"
        )
    return failure(settings.of(settings.database, settings.collection), error, is_sink=False)
