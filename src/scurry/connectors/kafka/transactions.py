"""Committer of an exactly-once KafkaSink: one Kafka transaction per micro-batch, written by the driver.

One transaction per task, each with the batch's number and the task's share of the records, would not be enough. The
batch can fail after some transactions are committed. Its repetition would skip those shares and write the others, which
is correct only if every task has exactly the same records as before. This does not hold: a failed task may be retried
after its transaction was committed, channels may be merged in another order, processing time has advanced, and after a
change of parallelism the batch has other tasks. Readers would see shares of two different attempts, with records lost
or duplicated between them. Flink avoids this because tasks only prepare transactions. Its coordinator commits them by
their producer ids, and after a failure repeats the commit with the ids in the checkpoint. librdkafka cannot resume a
transaction of another process.

A single transaction is atomic. It holds the records of all tasks, and the offset "batch + 1" of a consumer group that
belongs to this sink alone. A repeated batch therefore sees in the group whether it is already written. The
transactional id belongs to the sink, too: a starting driver fences every older one. The older driver's transaction is
aborted if it is open, and completed if it is being committed, before the new driver reads the group's offset.

The disadvantage: all records of a batch pass through the driver. At-least-once sinks write from the tasks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from scurry.connectors.kafka.client import Trouble, committed, confluent
from scurry.connectors.kafka.producer import TopicProducer
from scurry.connectors.kafka.properties import ClientProperties
from scurry.connectors.sink import Committer
from scurry.errors import SinkCommitError, SinkConnectionError

#: Time-out of a single request, in seconds, before it is retried.
_REQUEST_SECONDS = 10.0


class TransactionCommitter(Committer):
    """Write the records that tasks have serialized, in one transaction per micro-batch."""

    def __init__(self, properties: ClientProperties, name: str, topic: str | None) -> None:
        """Store the settings; the committer connects with the first batch.

        Args:
            properties: The clients' properties.
            name: The transactional id, which is also the consumer group with the batch number.
            topic: The topic of all records; None if there are several.
        """
        self._properties = properties
        self._name = name
        self._topic = topic
        self._session: _Session | None = None

    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        """Write a batch in one transaction, unless it is already written."""
        if not committables:
            return
        try:
            if self._session is None:
                self._session = _Session(self._properties, self._name, self._topic)
            self._session.write(batch_id, committables)
        except BaseException:
            self._drop()  # the next session finds out whether the transaction was committed
            raise

    def restarted(self) -> None:
        """Close the producer; the next commit creates a new one."""
        self._drop()

    def finish(self) -> None:
        """Close the producer."""
        self._drop()

    def _drop(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()


class _Session:
    """A transactional producer, used until its first failure."""

    def __init__(self, properties: ClientProperties, name: str, topic: str | None) -> None:
        self._module = confluent()
        self._name = name
        self._patience = properties.patience_seconds
        self._servers = properties.servers
        self._producer = TopicProducer(properties, topic, name)
        self._producer.connect()
        configuration = Trouble().watched(
            properties.client(group_id=name, enable_auto_commit=False, isolation_level="read_committed")
        )
        #: never joins the group, but provides the group metadata for transactions; with read_committed, reading the
        #: group's offset waits for transactions that are being committed
        self._group = self._module.Consumer(configuration)
        self._patiently("init_transactions", lambda: self._producer.client.init_transactions(_REQUEST_SECONDS))
        self._written = self._written_before(topic)

    def _written_before(self, topic: str | None) -> int:
        """Return the number after the last written batch; older drivers are fenced and cannot write any more.

        It is stored as the offset of partition 0 of one of the topics that the batch wrote to.
        """
        found = self._patiently("list_topics", lambda: self._group.list_topics(timeout=_REQUEST_SECONDS), always=True)
        topics = {*found.topics, *([topic] if topic is not None else [])}
        markers = [self._module.TopicPartition(each, 0) for each in topics]
        offsets = self._patiently("committed", lambda: committed(self._group, markers, _REQUEST_SECONDS), always=True)
        return max((each.offset for each in offsets), default=0)

    def write(self, batch_id: int, parcels: Sequence[Any]) -> None:
        """Write a batch, unless it is already written."""
        if batch_id < self._written:
            return
        give_up = time.monotonic() + self._patience
        while not self._tried(batch_id, parcels, give_up):
            time.sleep(0.1)
        self._written = batch_id + 1

    def _tried(self, batch_id: int, parcels: Sequence[Any], give_up: float) -> bool:
        """Return whether the batch is written; if not, its transaction is aborted and can be retried."""
        producer = self._producer
        client = producer.client
        marker = self._module.TopicPartition(parcels[0][0][0], 0, batch_id + 1)
        client.begin_transaction()
        try:
            for parcel in parcels:
                producer.send(parcel)
            metadata = self._group.consumer_group_metadata()
            self._patiently(
                "send_offsets_to_transaction",
                lambda: client.send_offsets_to_transaction([marker], metadata, _REQUEST_SECONDS),
            )
            self._patiently("commit_transaction", lambda: client.commit_transaction(_REQUEST_SECONDS))
        except self._module.KafkaException as error:
            if not error.args[0].txn_requires_abort() or time.monotonic() > give_up:
                raise self._failed("transaction", error) from None
            self._patiently("abort_transaction", lambda: client.abort_transaction(_REQUEST_SECONDS))
            producer.forget()
            return False
        return True

    def _patiently(self, name: str, request: Callable[[], Any], always: bool = False) -> Any:
        """Repeat a retriable request while the cluster is unavailable.

        Args:
            name: The name of the request in messages.
            request: The request.
            always: Whether to retry after any error; otherwise only after errors that are marked as retriable.
        """
        give_up = time.monotonic() + self._patience
        while True:
            try:
                return request()
            except self._module.KafkaException as error:
                self._producer.client.poll(0)
                if error.args[0].txn_requires_abort():
                    raise
                if not (always or error.args[0].retriable()) or time.monotonic() > give_up:
                    raise self._failed(name, error) from None
                time.sleep(0.1)

    def _failed(self, request: str, error: Any) -> SinkCommitError | SinkConnectionError:
        problem = error.args[0]
        if problem.code() in (self._module.KafkaError._FENCED, self._module.KafkaError.INVALID_PRODUCER_EPOCH):
            return SinkCommitError(
                f"another run of this job writes to {self._servers} as {self._name!r}; this one must stop"
            )
        return self._producer.error(f"{request}: {problem.str()}")

    def close(self) -> None:
        """Close the clients; the next session, or the transaction's time-out, aborts an open transaction."""
        self._producer.close()
        self._group.close()
