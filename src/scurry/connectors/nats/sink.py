"""NatsSink: publishes records to subjects of streams, and waits until the server has stored them."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from scurry.connectors.kafka.client import ClientPool
from scurry.connectors.kafka.serializer import ProducerRecord, RecordSerializer
from scurry.connectors.nats.client import NatsClient, NatsServer
from scurry.connectors.queues.positions import patiently
from scurry.connectors.sink import BufferedWriter, Sink, SinkWriter, WriterContext
from scurry.errors import SinkConnectionError

#: Messages that are published before their acknowledgements are waited for.
_FLUSH_MESSAGES = 1000


@dataclass(frozen=True)
class NatsSink(Sink):
    """Publish records, at least once: a batch is not committed before streams have stored all of its messages.

    Each message has an id, `Nats-Msg-Id`, of sink, batch, task and content. A stream drops a message whose id it has
    seen lately, so that a repeated batch with the same records leaves no duplicates within its duplicate window. By its
    number alone another record of a repeated batch would be dropped, too.

    Attributes:
        server: The address of the servers.
        serializer: Serializes the records; topics are subjects.
    """

    server: NatsServer
    serializer: RecordSerializer

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that publishes."""
        return _Writer(self, f"{context.sink_id}/{context.batch_id}/{context.subtask_index}")


class _Writer(BufferedWriter):
    def __init__(self, sink: NatsSink, name: str) -> None:
        super().__init__(_FLUSH_MESSAGES, 0)
        self._sink, self._name = sink, name
        #: how often a content came, which tells equal records of a batch
        self._seen: Counter[bytes] = Counter()

    def prepared(self, values: list[Any]) -> list[Any]:
        return self._sink.serializer.records(values, None)

    def flush(self, records: list[Any]) -> None:
        ids = list(map(self._id, records))
        patiently(lambda: self._publish(records, ids))

    def _id(self, record: ProducerRecord) -> str:
        subject, _, value, _, headers = record
        digest = blake2b(value or b"", digest_size=16, key=blake2b(repr((subject, headers)).encode()).digest()).digest()
        self._seen[digest] += 1
        return f"{self._name}/{digest.hex()}/{self._seen[digest]}"

    def _publish(self, records: list[ProducerRecord], ids: list[str]) -> None:
        server = self._sink.server
        client = CLIENTS.take(server, lambda: NatsClient(server, reads=False))
        try:
            client.run(self._published(client.jetstream, records, ids))
        except BaseException:
            client.close()
            raise
        CLIENTS.give(server, client)

    async def _published(self, jetstream: Any, records: list[ProducerRecord], ids: list[str]) -> None:
        tasks = []
        for named, (subject, _, value, _, headers) in zip(ids, records, strict=True):
            more = {name: content.decode("utf-8", "replace") for name, content in headers or ()}
            tasks.append(
                asyncio.ensure_future(jetstream.publish(subject, value or b"", headers=more | {"Nats-Msg-Id": named}))
            )
        done = await asyncio.gather(*tasks, return_exceptions=True)
        failed = next((each for each in done if isinstance(each, BaseException)), None)
        if failed is None:
            return
        if type(failed).__name__ == "NoStreamResponseError":
            raise SinkConnectionError(
                f"NATS at {self._sink.server.place}: no stream stores messages of subject {records[0][0]!r}; add the "
                "subject to a stream, or check subject"
            )
        raise failed


#: The pool of this process's connections.
CLIENTS: ClientPool[NatsClient] = ClientPool()
