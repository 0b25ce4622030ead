"""MongoSink: writes records as a function says, in bulk."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.redaction import without_secrets
from scurry.connectors.mongodb.client import MongoSettings, collection_of, failure, is_passing, library
from scurry.connectors.sink import COUNTED, RETRIES, BufferedWriter, Sink, SinkWriter, WriterContext
from scurry.errors import RecordRejectedError

#: Code of two writers that insert a document of the same id at once.
_DUPLICATE = 11000


@dataclass(frozen=True)
class MongoExecution:
    """Sizes and retries of bulk writes.

    Attributes:
        batch_size: Records that are written at once; 0 for all of a micro-batch.
        interval_ms: Milliseconds that records wait; 0 for any.
        max_retries: Number of retries while no server answers.
        retry_interval_ms: Milliseconds before each of them.
        ordered: Whether the server stops at the first write that fails.
    """

    batch_size: int = 1000
    interval_ms: int = 1000
    max_retries: int = 3
    retry_interval_ms: int = 1000
    ordered: bool = True


@dataclass(frozen=True)
class MongoSink(Sink):
    """Write to a collection, from the tasks, before each commit.

    At least once: a repeated micro-batch writes again. Writes by id leave each document once.

    Attributes:
        settings: The collection.
        serialize: Makes a write of pymongo, such as `InsertOne` or `UpdateOne`, of a record.
        execution: Sizes and retries.
    """

    settings: MongoSettings
    serialize: Callable[[Any], Any]
    execution: MongoExecution

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that connects with its first write."""
        return _MongoWriter(self)


class _MongoWriter(BufferedWriter):
    def __init__(self, sink: MongoSink) -> None:
        super().__init__(sink.execution.batch_size, sink.execution.interval_ms)
        self._sink = sink

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        super().write(values, timestamps)
        if not self._sink.execution.ordered and self._held:  # later ones may be of the same documents
            self._flush(len(self._held))

    def flush(self, records: list[Any]) -> None:
        execution = self._sink.execution
        for retry in range(execution.max_retries + 1):
            # the client gives inserted documents ids, by which those of a try that broke off would be refused
            writes = list(map(self._sink.serialize, records))
            try:
                self._write(records, writes)
                return
            except library("pymongo.errors").PyMongoError as error:
                if not is_passing(error) or retry == execution.max_retries:
                    raise failure(self._sink.settings, error, is_sink=True) from None
            COUNTED.get()(RETRIES, 1)
            time.sleep(execution.retry_interval_ms / 1000)

    def _write(self, records: list[Any], writes: list[Any]) -> None:
        """Write; begin again where another writer has inserted a document at the same moment."""
        errors, collection = library("pymongo.errors"), collection_of(self._sink.settings)
        for is_last in (False, False, True):
            try:
                collection.bulk_write(writes, ordered=self._sink.execution.ordered)
                return
            except errors.BulkWriteError as error:
                failed = (error.details or {}).get("writeErrors")
                if not failed:
                    raise  # too few members of the set have confirmed it: no record is at fault
                if is_last or any(each.get("code") != _DUPLICATE for each in failed) or not self._are_upserts(writes):
                    text = without_secrets(str(failed[0].get("errmsg") or error))
                    raise RecordRejectedError(
                        f"MongoDB refuses it: {failed[0].get('code')} {text}", records[failed[0].get("index", 0)]
                    ) from None

    def _are_upserts(self, writes: list[Any]) -> bool:
        inserting = library("pymongo").InsertOne
        return not any(isinstance(write, inserting) for write in writes)
