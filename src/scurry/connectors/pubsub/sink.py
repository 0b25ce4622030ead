"""PubSubSink: publishes records to topics, and waits until Pub/Sub has stored them."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.kafka.client import ClientPool
from scurry.connectors.kafka.serializer import ProducerRecord, RecordSerializer
from scurry.connectors.pubsub.client import PubSubAway, PubSubClient, PubSubProject
from scurry.connectors.queues.receiving import PATIENCE_SECONDS
from scurry.connectors.sink import COUNTED, RETRIES, BufferedWriter, Sink, SinkWriter, WriterContext
from scurry.errors import RecordRejectedError

#: Messages of a request, the most that Pub/Sub takes.
_MOST_MESSAGES = 1000
#: Bytes of the data of a request: Pub/Sub takes 10 MB, and data becomes a third longer in it.
_MOST_BYTES = 4 << 20
_PAUSE_SECONDS = 0.25
#: Seconds in which a request has to be answered.
_PUBLISH_SECONDS = 30.0


@dataclass(frozen=True)
class PubSubSink(Sink):
    """Publish records, at least once: a batch is not committed before Pub/Sub has stored all of its messages.

    A repeated batch is published again, under other ids: Pub/Sub has neither transactions nor ids of publishers.

    Attributes:
        project: The project.
        serializer: Serializes the records; topics are those of Pub/Sub, keys become ordering keys.
    """

    project: PubSubProject
    serializer: RecordSerializer

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that publishes."""
        return _Writer(self)


class _Writer(BufferedWriter):
    def __init__(self, sink: PubSubSink) -> None:
        super().__init__(_MOST_MESSAGES, 0)
        self._sink = sink

    def prepared(self, values: list[Any]) -> list[Any]:
        return self._sink.serializer.records(values, None)

    def flush(self, records: list[Any]) -> None:
        project = self._sink.project
        client = CLIENTS.take(project, lambda: PubSubClient(project, reads=False, answer_seconds=_PUBLISH_SECONDS))
        try:
            for topic, of_topic in groupby(records, itemgetter(0)):
                for some in _requests(list(of_topic)):
                    _publish(client, topic, some)
        except BaseException:
            client.close()
            raise
        CLIENTS.give(project, client)


def _publish(client: PubSubClient, topic: str, records: Sequence[ProducerRecord]) -> None:
    body = {"messages": [_message(record) for record in records]}
    give_up = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            client.call("topics", topic, "publish", body)
            return
        except PubSubAway as away:
            if time.monotonic() > give_up:
                raise away.error from None
            COUNTED.get()(RETRIES, 1)
            time.sleep(_PAUSE_SECONDS)


def _requests(records: list[ProducerRecord]) -> Iterator[list[ProducerRecord]]:
    """Yield the records of each request."""
    some: list[ProducerRecord] = []
    size = 0
    for record in records:
        length = len(record[2] or b"")
        if some and size + length > _MOST_BYTES:
            yield some
            some, size = [], 0
        some.append(record)
        size += length
    yield some


def _message(record: ProducerRecord) -> dict[str, Any]:
    _, key, value, _, headers = record
    if not value and not headers:
        raise RecordRejectedError("Pub/Sub takes no message without data and attributes", record)
    found: dict[str, Any] = {"data": base64.b64encode(value or b"").decode()}
    if headers:
        found["attributes"] = {name: _text("attribute", content, record) for name, content in headers}
    if key:
        found["orderingKey"] = _text("ordering key", key, record)
    return found


def _text(what: str, content: bytes, record: ProducerRecord) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise RecordRejectedError(f"an {what} of Pub/Sub is text, got {content!r}", record) from None


#: The pool of this process's clients.
CLIENTS: ClientPool[PubSubClient] = ClientPool()
