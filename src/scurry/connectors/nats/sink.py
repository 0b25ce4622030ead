"""NatsSink: publishes records to subjects of streams, and waits until the server has stored them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from hashlib import blake2b
from typing import Any, TypeVar

from scurry._dataclasses import dataclass
from scurry.connectors.kafka.client import ClientPool
from scurry.connectors.kafka.serializer import ProducerRecord, RecordSerializer
from scurry.connectors.nats.client import NatsClient, NatsServer, nats_module
from scurry.connectors.nats.streams import messages_between
from scurry.connectors.queues.positions import MOST_AHEAD, patiently
from scurry.connectors.queues.receiving import PATIENCE_SECONDS
from scurry.connectors.sink import BufferedWriter, Committer, Sink, SinkWriter, WriterContext
from scurry.connectors.staging import Delivery, Numbered, StagingCommitter, StagingWriter
from scurry.errors import ConnectorError, SinkConnectionError

T = TypeVar("T")

#: Messages that are published before their acknowledgements are waited for.
FLUSH_MESSAGES = 1000
#: The header by which streams know a message that comes again.
MESSAGE_ID = "Nats-Msg-Id"


@dataclass(frozen=True)
class NatsSink(Sink):
    """Publish records to streams.

    At least once: tasks publish, and a batch is not committed before streams have stored all of its messages. Each
    message has an id, `Nats-Msg-Id`, of sink, batch, task and content. A stream drops a message whose id it has seen
    lately, so that a repeated batch with the same records leaves no duplicates within its duplicate window. By its
    number alone another record of a repeated batch would be dropped, too.

    Exactly once: the driver stages the records of a micro-batch, then publishes them with their numbers as ids, but for
    those that it finds in the stream.

    Attributes:
        server: The address of the servers.
        serializer: Serializes the records; topics are subjects.
        staging: The directory of staged records; None for at least once.
    """

    server: NatsServer
    serializer: RecordSerializer
    staging: str | None = None

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that publishes, or for exactly once one that serializes for the committer."""
        if self.staging is not None:
            return StagingWriter(self.serializer)
        return _Writer(self, f"{context.sink_id}/{context.batch_id}/{context.subtask_index}")

    def create_committer(self, sink_id: str) -> Committer:
        """Return a committer that stages and publishes for exactly once, else one that has nothing to do."""
        if self.staging is None:
            return super().create_committer(sink_id)
        return StagingCommitter(self.staging, sink_id, lambda name: _Delivery(self.server, name))


class _Writer(BufferedWriter):
    def __init__(self, sink: NatsSink, name: str) -> None:
        super().__init__(FLUSH_MESSAGES, 0)
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
            client.run(published(server, client.jetstream, records, ids))
        except BaseException:
            client.close()
            raise
        CLIENTS.give(server, client)


async def published(server: NatsServer, jetstream: Any, records: list[ProducerRecord], ids: list[str]) -> int:
    """Publish records with their ids, wait until streams have stored them, and return the last sequence number.

    Raises:
        SinkConnectionError: No stream stores messages of a subject.
        Error: The server does not take one, or does not answer.
    """
    tasks = []
    for named, (subject, _, value, _, headers) in zip(ids, records, strict=True):
        more = {name: content.decode("utf-8", "replace") for name, content in headers or ()}
        tasks.append(
            asyncio.ensure_future(jetstream.publish(subject, value or b"", headers=more | {MESSAGE_ID: named}))
        )
    done = await asyncio.gather(*tasks, return_exceptions=True)
    failed = next((each for each in done if isinstance(each, BaseException)), None)
    if failed is None:
        return max(int(each.seq) for each in done if not isinstance(each, BaseException))
    raise nothing_stores(server, records[0][0]) if type(failed).__name__ == "NoStreamResponseError" else failed


def nothing_stores(server: NatsServer, subject: str) -> SinkConnectionError:
    """Return the error of a subject that is not in a stream."""
    return SinkConnectionError(
        f"NATS at {server.place}: no stream stores messages of subject {subject!r}; add the subject to a stream, or "
        "check subject"
    )


#: The pool of this process's connections.
CLIENTS: ClientPool[NatsClient] = ClientPool()


class _Delivery(Delivery):
    """Publish numbered records; the numbers are ids.

    Streams know ids for some time only, so a new connection looks behind the mark for those that are stored.
    """

    def __init__(self, server: NatsServer, name: str) -> None:
        self._server, self._name = server, name
        self._client: NatsClient | None = None
        self._answered = False
        self._marks: dict[str, int] = {}
        #: numbers behind the mark that are stored already, by subject
        self._stored: dict[str, set[int]] = {}

    def _asked(self, ask: Callable[[Any], Coroutine[Any, Any, T]]) -> T:
        """Return the result of a coroutine over JetStream."""
        try:
            if self._client is None:
                self._client = NatsClient(self._server, reads=False)
            found = self._client.run(ask(self._client.jetstream))
        except BaseException:
            self.close()
            raise
        self._answered = True
        return found

    def _patiently(self, act: Callable[[], T]) -> T:
        return patiently(act, PATIENCE_SECONDS if self._answered else 0.0)

    def mark(self, topic: str) -> int:
        if topic not in self._marks:
            self._marks[topic] = self._patiently(lambda: self._asked(lambda jetstream: self._end(jetstream, topic)))
        return self._marks[topic]

    def resume(self, topic: str, mark: int) -> None:
        self._marks[topic] = mark

    def send(self, topic: str, records: Sequence[Numbered]) -> None:
        self._patiently(lambda: self._send(topic, records))

    def _send(self, topic: str, records: Sequence[Numbered]) -> None:
        if topic not in self._stored:
            self._stored[topic] = self._asked(lambda jetstream: self._found(jetstream, topic))
        left = [each for each in records if each[0] not in self._stored[topic]]
        for first in range(0, len(left), FLUSH_MESSAGES):
            numbers, some = zip(*left[first : first + FLUSH_MESSAGES], strict=True)
            ids = [f"{self._name}/{number}" for number in numbers]
            last = self._asked(lambda jetstream: published(self._server, jetstream, list(some), ids))  # noqa: B023
            self._marks[topic] = max(last, self._marks[topic])

    async def _stream(self, jetstream: Any, subject: str) -> Any:
        try:
            name = await jetstream._jsm.find_stream_name_by_subject(subject)
        except nats_module().js.errors.NotFoundError:
            raise nothing_stores(self._server, subject) from None
        return await jetstream.stream_info(name)

    async def _end(self, jetstream: Any, subject: str) -> int:
        stream = await self._stream(jetstream, subject)
        if stream.config.retention not in (None, nats_module().js.api.RetentionPolicy.LIMITS):
            raise ConnectorError(
                f"NATS at {self._server.place}: stream {stream.config.name!r} deletes messages that are consumed, by "
                "which exactly once finds out what it has published: use a stream with retention=limits, or "
                "AT_LEAST_ONCE"
            )
        return int(stream.state.last_seq)

    async def _found(self, jetstream: Any, subject: str) -> set[int]:
        stream = await self._stream(jetstream, subject)
        mark, last, begin = self._marks[subject], int(stream.state.last_seq), f"{self._name}/"
        found = set()
        for start in range(mark, last, MOST_AHEAD):
            end = min(last, start + MOST_AHEAD)
            async for each in messages_between(jetstream, stream.config.name, subject, start, end, headers_only=True):
                named = (each.headers or {}).get(MESSAGE_ID, "")
                if named.startswith(begin):
                    found.add(int(named.removeprefix(begin)))
        return found

    def close(self) -> None:
        client, self._client = self._client, None
        self._stored.clear()
        if client is not None:
            client.close()
