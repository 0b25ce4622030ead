"""PulsarSink: writes records to topics, at least once from the tasks or exactly once by sequence numbers."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.kafka.client import ClientPool
from scurry.connectors.kafka.serializer import ProducerRecord, RecordSerializer
from scurry.connectors.log.partitioning import partitions_of
from scurry.connectors.pulsar.client import PATIENCE_SECONDS, PulsarService, full_name, pulsar
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.connectors.staging import Delivery, Numbered, StagingCommitter, StagingWriter
from scurry.errors import SinkConnectionError

#: Messages that wait for their acknowledgement; the task waits while there are more.
_MOST_PENDING = 5_000


@dataclass(frozen=True)
class PulsarSink(Sink):
    """Write records to topics.

    At least once: tasks send, and a batch is not committed before brokers have acknowledged all of it. A repeated
    batch is sent again.

    Exactly once: the driver stages the records of a micro-batch, then sends them with sequence numbers, and brokers
    drop those that they have. Pulsar's transactions are not in its client for Python.

    Attributes:
        service: The cluster.
        serializer: Serializes the records.
        topics: The topics, which take turns.
        staging: The directory of staged records; None for at least once.
        producer_name: Begins the names of producers.
        delay_ms: Milliseconds that brokers keep messages from shared subscriptions.
        by_key: Whether the hash of a key chooses the topic; without a key topics take turns.
    """

    service: PulsarService
    serializer: RecordSerializer
    topics: tuple[str, ...]
    staging: str | None = None
    producer_name: str = "scurry"
    delay_ms: int = 0
    by_key: bool = False

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that sends records, or for exactly once one that serializes them for the committer."""
        return StagingWriter(self.serializer) if self.staging is not None else _SendingWriter(self, context)

    def create_committer(self, sink_id: str) -> Committer:
        """Return a committer that stages and sends for exactly once, else one that has nothing to do."""
        if self.staging is None:
            return super().create_committer(sink_id)
        return StagingCommitter(self.staging, sink_id, lambda name: _Delivery(self, f"{self.producer_name}-{name}"))

    def topic(self, record: ProducerRecord, turn: int) -> str:
        """Return the topic of a record."""
        if not self.topics:
            return full_name(record[0])
        hashed = self.by_key and record[1] is not None
        place = partitions_of([record[1] or b""], len(self.topics))[0] if hashed else turn % len(self.topics)
        return full_name(self.topics[place])


def _options(record: ProducerRecord, delay_ms: int) -> dict[str, Any]:
    """Return the arguments of `send` for a record."""
    _, key, _, timestamp, headers = record
    given: dict[str, Any] = {}
    if key is not None:
        given["partition_key"] = key.decode("utf-8", "replace")
    if timestamp > 0:
        given["event_timestamp"] = timestamp
    if delay_ms:
        given["deliver_after"] = timedelta(milliseconds=delay_ms)
    if headers:
        given["properties"] = {name: value.decode("utf-8", "replace") for name, value in headers}
    return given


class _Acknowledgements:
    """Count the messages on their way; their callbacks come from a thread of the client."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._pending = 0
        self.failure: Any = None

    def sent(self) -> None:
        with self._changed:
            self._pending += 1

    def heard(self, result: Any, message_id: Any) -> None:
        with self._changed:
            self._pending -= 1
            if result != pulsar().Result.Ok and self.failure is None:
                self.failure = result
            self._changed.notify_all()

    def wait(self, most: int, seconds: float) -> bool:
        """Wait until no more than so many are on their way; return False if that takes too long."""
        with self._changed:
            return self._changed.wait_for(lambda: self._pending <= most or self.failure is not None, seconds)


class Sender:
    """Producers of topics over one client."""

    def __init__(self, service: PulsarService) -> None:
        """Connect with the first record."""
        self._service = service
        self._client = service.client()
        self._producers: dict[str, Any] = {}
        self._acknowledgements = _Acknowledgements()

    def producer(self, topic: str, **options: Any) -> Any:
        """Return the producer of a topic.

        Raises:
            SinkConnectionError: The cluster does not answer, or denies access.
        """
        if topic not in self._producers:
            give_up = time.monotonic() + (PATIENCE_SECONDS if self._producers else 0.0)
            self._producers[topic] = self._patiently(lambda: self._client.create_producer(topic, **options), give_up)
        return self._producers[topic]

    def _patiently(self, ask: Callable[[], Any], give_up: float) -> Any:
        while True:
            try:
                return ask()
            except pulsar().PulsarException as error:
                if not isinstance(error, pulsar().ProducerBusy) and time.monotonic() > give_up:
                    raise self._service.error(error, reads=False) from None
                if time.monotonic() > give_up + PATIENCE_SECONDS:  # another driver uses the name
                    raise self._service.error(error, reads=False) from None
                time.sleep(0.2)

    def partitions(self, topic: str) -> list[str]:
        """Return the partitions of a topic."""
        found: list[str] = self._patiently(lambda: self._client.get_topic_partitions(topic), time.monotonic())
        return found

    def send(self, producer: Any, record: ProducerRecord, delay_ms: int, **options: Any) -> None:
        """Begin to send a record."""
        self._acknowledgements.sent()
        try:
            producer.send_async(record[2] or b"", self._acknowledgements.heard, **_options(record, delay_ms), **options)
        except pulsar().PulsarException as error:
            raise self._service.error(error, reads=False) from None

    def flush(self, most: int = 0) -> None:
        """Wait until brokers have acknowledged messages, but for some.

        Raises:
            SinkConnectionError: They have refused one, or are away for too long.
        """
        done = self._acknowledgements.wait(most, PATIENCE_SECONDS)
        failure = self._acknowledgements.failure
        if failure is not None or not done:
            reason = "no acknowledgement in time" if failure is None else f"a message was refused: {failure.name}"
            raise SinkConnectionError(f"Pulsar at {self._service.place}: {reason}")

    def close(self) -> None:
        """Close the client."""
        try:
            self._client.close()
        except pulsar().PulsarException:
            pass


#: The pool of this process's senders.
SENDERS: ClientPool[Sender] = ClientPool()
_BATCHED = {"batching_enabled": True, "block_if_queue_full": True, "send_timeout_millis": int(PATIENCE_SECONDS * 1000)}


class _SendingWriter(SinkWriter):
    def __init__(self, sink: PulsarSink, context: WriterContext) -> None:
        self._sink = sink
        self._sender = SENDERS.take(sink.service, lambda: Sender(sink.service))
        self._turn = context.subtask_index + context.batch_id
        self._done = False

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        sink, sender = self._sink, self._sender
        for record in sink.serializer.records(values, timestamps):
            self._turn += 1
            sender.send(sender.producer(sink.topic(record, self._turn), **_BATCHED), record, sink.delay_ms)
        sender.flush(_MOST_PENDING)

    def prepare_commit(self) -> list[Any]:
        self._sender.flush()
        self._done = True
        SENDERS.give(self._sink.service, self._sender)
        return []

    def abort(self) -> None:
        if not self._done:  # otherwise it is back in the pool
            self._sender.close()


class _Delivery(Delivery):
    """Send numbered records, each to the partition that key or number choose, so that a repetition goes there, too."""

    def __init__(self, sink: PulsarSink, name: str) -> None:
        self._sink, self._service, self._name = sink, sink.service, name
        self._sender = Sender(sink.service)
        self._partitions: dict[str, list[str]] = {}

    def send(self, topic: str, records: Sequence[Numbered]) -> None:
        """Send records, and wait until brokers have acknowledged them.

        Raises:
            SinkConnectionError: Brokers are away for too long, or do not drop what they have.
        """
        by_topic: dict[str, list[Numbered]] = defaultdict(list)
        for number, record in records:
            by_topic[self._sink.topic(record, number)].append((number, record))
        for target, some in by_topic.items():
            self._send(target, some)
        self._sender.flush()
        if records[0][0] == 1:  # rather now than when something is repeated
            self._sender.close()
            self._sender = Sender(self._service)
            for target in by_topic:
                self._check(target, 2)

    def _send(self, topic: str, records: list[Numbered]) -> None:
        if topic not in self._partitions:
            self._partitions[topic] = self._sender.partitions(topic)
            self._check(topic, records[0][0])
        partitions, sender = self._partitions[topic], self._sender
        for number, record in records:
            key = record[1]
            place = number if key is None else partitions_of([key], len(partitions))[0]
            producer = self._producer(partitions[place % len(partitions)])
            sender.send(producer, record, self._sink.delay_ms, sequence_id=number)
            if number % _MOST_PENDING == 0:
                sender.flush()

    def _producer(self, partition: str) -> Any:
        # In batches the broker would know the first number of each, and not drop a message that comes again in another.
        return self._sender.producer(
            partition,
            producer_name=self._name,
            batching_enabled=False,
            block_if_queue_full=True,
            max_pending_messages=_MOST_PENDING,
            send_timeout_millis=int(PATIENCE_SECONDS * 1000),
        )

    def _check(self, topic: str, number: int) -> None:
        """Fail if brokers do not remember the numbers of messages that were sent before."""
        if number <= 1:
            return
        known = [self._producer(partition).last_sequence_id() for partition in self._partitions[topic]]
        if max(known) < 0:
            raise SinkConnectionError(
                f"Pulsar at {self._service.place}: topic {topic!r} does not drop repeated messages, which exactly once "
                "needs; enable it: pulsar-admin namespaces set-deduplication NAMESPACE --enable, or "
                "brokerDeduplicationEnabled=true"
            )

    def close(self) -> None:
        self._sender.close()
