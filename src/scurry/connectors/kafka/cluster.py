"""The driver's connection to a cluster: what is asked about topics, partitions and offsets."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, wait
from typing import Any

from scurry.connectors.kafka.client import Trouble, announce_wait, committed, confluent
from scurry.connectors.kafka.partitions import KafkaTopicPartition
from scurry.connectors.kafka.properties import ClientProperties
from scurry.errors import SourceConnectionError

__all__ = ["Cluster", "Offsets"]

#: How long a cluster may take to answer for the first time; afterwards it may be away for longer.
FIRST_ANSWER_SECONDS = 15.0
RETRY_SECONDS = 0.5
#: How long nothing is said while a cluster does not answer.
_SILENCE_SECONDS = 1.0
_REQUEST_SECONDS = 5.0

#: What Kafka's protocol means by these instead of a time.
_LATEST, _EARLIEST = -1, -2

_DEFAULTS = {"group.id": "scurry", "isolation.level": "read_uncommitted"}  # Java's default level, hence Flink's


class Offsets:
    """Offsets that were asked for and come when the brokers have answered."""

    def __init__(self, future: Future[dict[KafkaTopicPartition, int]]) -> None:
        self._future = future

    def here(self, seconds: float) -> bool:
        """Wait up to so many seconds; return whether they have come."""
        return not wait([self._future], seconds).not_done

    def result(self) -> dict[KafkaTopicPartition, int]:
        """Return them.

        Raises:
            KafkaException: A broker could not say.
        """
        return self._future.result()


class Cluster:
    """Asks a cluster, and is patient with one that has answered before."""

    def __init__(self, properties: ClientProperties, group: str | None) -> None:
        """Make a client; it connects when it is first asked.

        Args:
            properties: Of its client.
            group: The consumer group whose offsets are asked for, and committed.
        """
        self._module = confluent()
        self._trouble = Trouble()
        self._properties = properties
        self.servers = properties.servers
        self._group = group
        self.renew()
        self._known = False
        self._committing: Mapping[Any, Future[Any]] = {}

    def renew(self) -> None:
        """Take a new client: librdkafka goes on asking the brokers that led partitions before a failure, for good."""
        self._admin = self._module.admin.AdminClient(self._trouble.watched(self._properties.client()))
        configuration = self._properties.client(_DEFAULTS, enable_auto_commit=False)
        self._consumer = self._module.Consumer(self._trouble.watched(configuration))

    # ---------------------------------------------------------------- questions that wait for the answer

    def topics(self) -> dict[str, int]:
        """Return the number of partitions of every topic.

        Raises:
            SourceConnectionError: The cluster does not answer, or does not let us in.
        """
        metadata = self._patiently(lambda: self._admin.list_topics(timeout=1.0))
        return {name: len(topic.partitions) for name, topic in metadata.topics.items() if topic.error is None}

    def earliest(self, partitions: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, int]:
        """Return the first offsets there are."""
        return self._offsets(partitions, _EARLIEST)

    def latest(self, partitions: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, int]:
        """Return the offsets that come next; with `read_committed`, those no open transaction is before."""
        return self._offsets(partitions, _LATEST)

    def at(self, partitions: Iterable[KafkaTopicPartition], timestamp: int) -> dict[KafkaTopicPartition, int]:
        """Return the offsets of the first records with this timestamp or a later one, -1 if there are none."""
        return self._offsets(partitions, timestamp)

    def committed(self, partitions: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, int]:
        """Return the offsets the group has committed; partitions without any are left out."""
        asked = [self._module.TopicPartition(*partition) for partition in partitions]
        configuration = self._properties.client(group_id=self._group, enable_auto_commit=False)
        consumer = self._module.Consumer(self._trouble.watched(configuration))
        try:
            found = self._patiently(lambda: committed(consumer, asked, 5.0))
        finally:
            consumer.close()
        return {KafkaTopicPartition(each.topic, each.partition): each.offset for each in found}

    def _offsets(self, partitions: Iterable[KafkaTopicPartition], when: int) -> dict[KafkaTopicPartition, int]:
        some = list(partitions)
        found: dict[KafkaTopicPartition, int] = self._patiently(lambda: self._request(self._consumer, some, when))
        return found

    def _patiently(self, ask: Callable[[], Any]) -> Any:
        patience = self._properties.patience_seconds
        if not self._known:
            patience = min(patience, FIRST_ANSWER_SECONDS)
        began, told = time.monotonic(), False
        give_up = began + patience
        while True:
            try:
                answer = ask()
            except self._module.KafkaException as error:
                self._trouble.heard(error.args[0])
                self._admin.poll(0)
                if self._trouble.refused or time.monotonic() > give_up:
                    raise self.unreachable(error) from None
                if not told and time.monotonic() > began + _SILENCE_SECONDS:
                    told = True
                    announce_wait(self.servers, patience)
                time.sleep(RETRY_SECONDS)
                self.renew()
            else:
                self.answered()
                return answer

    # ---------------------------------------------------------------- questions that do not wait

    def ask_latest(self, partitions: Iterable[KafkaTopicPartition]) -> Offsets:
        """Ask for the ends of partitions."""
        future: Future[dict[KafkaTopicPartition, int]] = Future()
        consumer, some = self._consumer, list(partitions)

        def ask() -> None:
            try:
                future.set_result(self._request(consumer, some, _LATEST))
            except BaseException as error:
                future.set_exception(error)

        # The AdminClient could be asked without a thread, but aborts the process when partitions are without leaders.
        threading.Thread(target=ask, name="scurry-kafka-offsets", daemon=True).start()
        return Offsets(future)

    def _request(
        self, consumer: Any, partitions: list[KafkaTopicPartition], when: int
    ) -> dict[KafkaTopicPartition, int]:
        asked = [self._module.TopicPartition(*partition, when) for partition in partitions]
        found = consumer.offsets_for_times(asked, _REQUEST_SECONDS)
        for each in found:
            if each.error is not None:
                raise self._module.KafkaException(each.error)
        return {KafkaTopicPartition(each.topic, each.partition): each.offset for each in found}

    def answered(self) -> None:
        """The cluster is there."""
        self._known = True
        self._admin.poll(0)
        self._trouble.clear()

    def unreachable(self, error: Exception) -> SourceConnectionError:
        """Return the error of a cluster that does not answer."""
        self._admin.poll(0)
        reason = self._trouble.reason(error)
        return SourceConnectionError(f"the Kafka cluster at {self.servers} cannot be read: {reason}")

    def commit(self, offsets: Mapping[KafkaTopicPartition, int]) -> None:
        """Commit offsets of the group, without waiting; what fails is committed with the next ones."""
        if self._group is None or not offsets:
            return
        positions = [self._module.TopicPartition(*partition, offset) for partition, offset in offsets.items()]
        request = [self._module.ConsumerGroupTopicPartitions(self._group, positions)]
        self._committing = self._admin.alter_consumer_group_offsets(request, request_timeout=10.0)

    def close(self) -> None:
        """Wait shortly for offsets under way."""
        wait(self._committing.values(), 5.0)
