"""Bulk writes of MongoDB that break off or are not confirmed, on a collection in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from bson import ObjectId
from pymongo import InsertOne
from pymongo.errors import AutoReconnect, BulkWriteError

from scurry.connectors.mongodb.client import MongoSettings
from scurry.connectors.mongodb.sink import MongoExecution, MongoSink
from scurry.connectors.sink import WriterContext
from scurry.errors import RecordRejectedError, SinkConnectionError


class Documents:
    """A collection whose first writes end in errors, after a part of them has been done.

    Attributes:
        held: The documents.
        errors: What the next writes end in.
    """

    def __init__(self, *errors: Exception) -> None:
        self.held: dict[Any, Any] = {}
        self.errors = list(errors)

    def bulk_write(self, writes: Sequence[Any], ordered: bool) -> None:
        error = self.errors.pop(0) if self.errors else None
        for index, write in enumerate(writes if error is None else writes[:1]):
            document = write._doc
            document.setdefault("_id", ObjectId())  # as the client does
            if document["_id"] in self.held:
                raise BulkWriteError({"writeErrors": [{"index": index, "code": 11000, "errmsg": "duplicate"}]})
            self.held[document["_id"]] = document
        if error is not None:
            raise error


def write(monkeypatch: pytest.MonkeyPatch, documents: Documents, records: list[Any]) -> None:
    monkeypatch.setattr("scurry.connectors.mongodb.sink.collection_of", lambda settings: documents)
    settings, execution = MongoSettings("mongodb://h", "d", "c"), MongoExecution(retry_interval_ms=0)
    sink = MongoSink(settings, lambda record: InsertOne(dict(record)), execution)
    writer = sink.create_writer(WriterContext(0, 1, 1, "sink"))
    writer.write(records)
    writer.prepare_commit()


def test_documents_that_a_broken_try_inserted_do_not_refuse_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = Documents(AutoReconnect("broken"), AutoReconnect("broken"))
    write(monkeypatch, documents, [{"n": 1}, {"n": 2}])
    assert [document["n"] for document in documents.held.values()] == [1, 1, 1, 2]


def test_an_id_that_is_there_is_refused_also_by_a_retry(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = Documents(AutoReconnect("broken"))
    with pytest.raises(RecordRejectedError, match="11000 duplicate") as refused:
        write(monkeypatch, documents, [{"_id": 1}, {"_id": 2}])
    assert refused.value.record == {"_id": 1}


def test_writes_that_are_not_confirmed_blame_no_record(monkeypatch: pytest.MonkeyPatch) -> None:
    concern = {"code": 64, "errmsg": "waiting for replication timed out"}
    documents = Documents(BulkWriteError({"writeErrors": [], "writeConcernErrors": [concern]}))
    with pytest.raises(SinkConnectionError, match=r"refuses a request for d\.c: .*waiting for replication timed out"):
        write(monkeypatch, documents, [{"n": 1}])
