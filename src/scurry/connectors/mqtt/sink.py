"""MqttSink: publishes records to topics, and waits until the broker has taken them."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from functools import partial
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.kafka.client import ClientPool
from scurry.connectors.kafka.serializer import ProducerRecord, RecordSerializer
from scurry.connectors.mqtt.client import MqttBroker
from scurry.connectors.queues.positions import patiently
from scurry.connectors.queues.receiving import PATIENCE_SECONDS
from scurry.connectors.sink import BufferedWriter, Sink, SinkWriter, WriterContext

#: Messages that are published before the broker's acknowledgements are waited for.
_FLUSH_MESSAGES = 1000
# codes of paho
_SUCCESS, _NOT_CONNECTED = 0, 4


@dataclass(frozen=True)
class MqttSink(Sink):
    """Publish records, at least once: a batch is not committed before the broker has taken all of its messages.

    A repeated batch is published again. With quality of service 0 the broker acknowledges nothing, and messages may be
    lost.

    Attributes:
        broker: The address of the broker.
        serializer: Serializes the records; topics are those of MQTT.
        qos: Quality of service, 0 to 2.
        retain: Whether the broker keeps the last message of each topic for new subscriptions.
    """

    broker: MqttBroker
    serializer: RecordSerializer
    qos: int = 1
    retain: bool = False

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that publishes."""
        return _Writer(self)


class _Publisher:
    def __init__(self, broker: MqttBroker) -> None:
        self._broker = broker
        self._client = broker.client(f"scurry-{uuid.uuid4().hex[:16]}", keeps_session=False, acknowledges=False)
        self._client.max_inflight_messages_set(_FLUSH_MESSAGES)
        broker.connect(self._client, reads=False)
        self._client.loop_start()  # connects again, and sends again, by itself

    def publish(self, records: Sequence[ProducerRecord], qos: int, retain: bool) -> None:
        waiting = [patiently(partial(self._sent, record, qos, retain)) for record in records]
        give_up = time.monotonic() + PATIENCE_SECONDS
        for each in waiting:
            while not each.is_published():
                left = give_up - time.monotonic()
                if left <= 0:
                    raise self._broker.failure("it does not take messages; check host and port", reads=False)
                each.wait_for_publish(min(left, 1.0))

    def _sent(self, record: ProducerRecord, qos: int, retain: bool) -> Any:
        topic, _, value, _, _ = record
        sent = self._client.publish(topic, value or b"", qos, retain)
        if qos and sent.rc == _NOT_CONNECTED:
            sent.rc = _SUCCESS  # the client keeps it, and sends it over the next connection
        if sent.rc > _SUCCESS:
            raise self._broker.failure(f"it takes no messages (code {sent.rc}); check host and port", reads=False)
        return sent

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()


class _Writer(BufferedWriter):
    def __init__(self, sink: MqttSink) -> None:
        super().__init__(_FLUSH_MESSAGES, 0)
        self._sink = sink

    def prepared(self, values: list[Any]) -> list[Any]:
        return self._sink.serializer.records(values, None)

    def flush(self, records: list[Any]) -> None:
        sink = self._sink
        publisher = PUBLISHERS.take(sink.broker, lambda: _Publisher(sink.broker))
        try:
            publisher.publish(records, sink.qos, sink.retain)
        except BaseException:
            publisher.close()
            raise
        PUBLISHERS.give(sink.broker, publisher)


#: The pool of this process's publishers.
PUBLISHERS: ClientPool[_Publisher] = ClientPool()
