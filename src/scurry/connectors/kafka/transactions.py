"""One Kafka transaction per micro-batch, from the driver: what makes a KafkaSink exactly once.

Why not one transaction per task, each committing the batch's number with its share? Because a batch can fail after
some of them are committed. Its repetition then skips those tasks' shares and writes the others', which is right
only if every task has the very records it had before. That does not hold: a failed task of the same batch is tried
again after its transaction may have been committed; channels may be merged in another order; processing time has
gone on; after a change of parallelism the same batch has other tasks. Readers would see shares of two different
attempts, records lost between them or twice. Flink has no such gap because tasks only prepare and its coordinator
commits, resuming the transactions by their producer ids, and repeats that after a failure from the ids in the
checkpoint; librdkafka cannot resume a transaction of another process.

A single transaction has no in-between. It holds the records of all tasks, and the offset "batch + 1" of a consumer
group that belongs to this sink alone. So the records and the fact that they are written become true together, and a
repeated batch finds that it is written. The transactional id belongs to the sink too: a driver that starts fences
every older one, whose transaction, if open, is aborted, and if being committed, is completed before the new driver
looks at the group.

The price: all records of a batch pass through the driver. At-least-once sinks write from the tasks.
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

__all__ = ["TransactionCommitter"]

#: Seconds a single request may take before it is tried again.
_REQUEST_SECONDS = 10.0


class TransactionCommitter(Committer):
    """Writes the records that tasks have serialized."""

    def __init__(self, properties: ClientProperties, name: str, topic: str | None) -> None:
        """Connect with the first batch.

        Args:
            properties: Of the clients.
            name: The transactional id, and the group with the batch numbers.
            topic: Where all records go, if that is one topic.
        """
        self._properties = properties
        self._name = name
        self._topic = topic
        self._session: _Session | None = None

    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        """Write a batch in one transaction, unless that was done before."""
        if not committables:
            return
        try:
            if self._session is None:
                self._session = _Session(self._properties, self._name, self._topic)
            self._session.write(batch_id, committables)
        except BaseException:
            self._drop()  # whatever has become of the transaction: the next session finds out
            raise

    def restarted(self) -> None:
        """Begin again with a new producer."""
        self._drop()

    def finish(self) -> None:
        """Leave the cluster."""
        self._drop()

    def _drop(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()


class _Session:
    """A transactional producer from its initialization to its first failure."""

    def __init__(self, properties: ClientProperties, name: str, topic: str | None) -> None:
        self._module = confluent()
        self._name = name
        self._patience = properties.patience_seconds
        self._servers = properties.servers
        self._producer = TopicProducer(properties, topic, name)
        configuration = Trouble().watched(
            properties.client(group_id=name, enable_auto_commit=False, isolation_level="read_committed")
        )
        #: never joins the group: transactions want a consumer to tell them about it; by its isolation level it waits
        #: for what a transaction is about to commit
        self._group = self._module.Consumer(configuration)
        self._patiently(lambda: self._producer.client.init_transactions(_REQUEST_SECONDS))
        self._written = self._written_before(topic)

    def _written_before(self, topic: str | None) -> int:
        """The number after the last batch that was written; nobody else can write one from now on.

        It is the offset of some topic: of any that a record of the batch went to.
        """
        found = self._patiently(lambda: self._group.list_topics(timeout=_REQUEST_SECONDS), always=True)
        topics = {*found.topics, *([topic] if topic is not None else [])}
        markers = [self._module.TopicPartition(each, 0) for each in topics]
        offsets = self._patiently(lambda: committed(self._group, markers, _REQUEST_SECONDS), always=True)
        return max((each.offset for each in offsets), default=0)

    def write(self, batch_id: int, parcels: Sequence[Any]) -> None:
        """Write a batch, unless it is written."""
        if batch_id < self._written:
            return
        give_up = time.monotonic() + self._patience
        while not self._tried(batch_id, parcels, give_up):
            time.sleep(0.1)
        self._written = batch_id + 1

    def _tried(self, batch_id: int, parcels: Sequence[Any], give_up: float) -> bool:
        """Whether the batch is written; if not, its transaction is aborted and may be tried again."""
        producer = self._producer
        client = producer.client
        marker = self._module.TopicPartition(parcels[0][0][0], 0, batch_id + 1)
        client.begin_transaction()
        try:
            for parcel in parcels:
                producer.send(parcel)
            metadata = self._group.consumer_group_metadata()
            self._patiently(lambda: client.send_offsets_to_transaction([marker], metadata, _REQUEST_SECONDS))
            self._patiently(lambda: client.commit_transaction(_REQUEST_SECONDS))
        except self._module.KafkaException as error:
            if not error.args[0].txn_requires_abort() or time.monotonic() > give_up:
                raise self._failed(error) from None
            self._patiently(lambda: client.abort_transaction(_REQUEST_SECONDS))
            producer.forget()
            return False
        return True

    def _patiently(self, request: Callable[[], Any], always: bool = False) -> Any:
        """Repeat a request that may be repeated while the cluster is away.

        Args:
            request: The request.
            always: Whether it may be repeated whatever the error; errors about transactions know it of themselves.
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
                    raise self._failed(error) from None
                time.sleep(0.1)

    def _failed(self, error: Any) -> SinkCommitError | SinkConnectionError:
        problem = error.args[0]
        if problem.code() in (self._module.KafkaError._FENCED, self._module.KafkaError.INVALID_PRODUCER_EPOCH):
            return SinkCommitError(
                f"another run of this job writes to {self._servers} as {self._name!r}; this one must not go on"
            )
        return self._producer.error(problem.str())

    def close(self) -> None:
        """Leave; a transaction that is open is aborted by the next session, or by its time-out."""
        self._producer.close()
        self._group.close()
