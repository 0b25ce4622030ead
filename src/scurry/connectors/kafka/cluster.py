"""The driver's connection to a cluster: requests about topics, partitions and offsets."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, wait
from typing import Any

from scurry.connectors.kafka import client
from scurry.connectors.kafka.client import Trouble, announce_wait, committed, confluent
from scurry.connectors.kafka.partitions import KafkaTopicPartition
from scurry.connectors.kafka.properties import ClientProperties
from scurry.errors import SourceConnectionError

#: Timeout of a cluster's first answer; later it may be unavailable for longer.
FIRST_ANSWER_SECONDS = 15.0
RETRY_SECONDS = 0.5
_REQUEST_SECONDS = 5.0

#: Special timestamps of Kafka's protocol.
_LATEST, _EARLIEST = -1, -2

_DEFAULTS = {"group.id": "scurry", "isolation.level": "read_uncommitted"}  # Java's default level, hence Flink's


class Offsets:
    """Requested offsets that are available when the brokers have answered."""

    def __init__(self, future: Future[dict[KafkaTopicPartition, int]]) -> None:
        self._future = future

    def here(self, seconds: float) -> bool:
        """Wait up to this many seconds; return whether they are available."""
        return not wait([self._future], seconds).not_done

    def result(self) -> dict[KafkaTopicPartition, int]:
        """Return the offsets.

        Raises:
            KafkaException: A broker could not answer.
        """
        return self._future.result()


class Cluster:
    """Send requests to a cluster; wait longer for answers once it has answered."""

    def __init__(self, properties: ClientProperties, group: str | None) -> None:
        """Create a client, which connects with its first request.

        Args:
            properties: The client's properties.
            group: The consumer group whose offsets are read and committed.
        """
        self._module = confluent()
        self._trouble = Trouble()
        self._properties = properties
        self.servers = properties.servers
        self._group = group
        self.renew()
        self._known = False
        self._committer: Any = None

    def renew(self) -> None:
        """Replace the client: after a failure, librdkafka asks the former leaders of partitions indefinitely."""
        self._admin = self._module.admin.AdminClient(self._trouble.watched(self._properties.client()))
        configuration = self._properties.client(_DEFAULTS, enable_auto_commit=False)
        self._consumer = self._module.Consumer(self._trouble.watched(configuration))

    # ---------------------------------------------------------------- blocking requests

    def topics(self) -> dict[str, int]:
        """Return the number of partitions of every topic.

        Raises:
            SourceConnectionError: The cluster does not answer, or denies access.
        """
        metadata = self._patiently(lambda: self._admin.list_topics(timeout=1.0))
        return {name: len(topic.partitions) for name, topic in metadata.topics.items() if topic.error is None}

    def earliest(self, partitions: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, int]:
        """Return the earliest available offsets."""
        return self._offsets(partitions, _EARLIEST)

    def latest(self, partitions: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, int]:
        """Return the end offsets; with `read_committed`, the last stable offsets, before any open transaction."""
        return self._offsets(partitions, _LATEST)

    def at(self, partitions: Iterable[KafkaTopicPartition], timestamp: int) -> dict[KafkaTopicPartition, int]:
        """Return the offsets of the first records with this timestamp or a later one; -1 without such a record."""
        return self._offsets(partitions, timestamp)

    def committed(self, partitions: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, int]:
        """Return the offsets that the group has committed; partitions without any are omitted."""
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
        began, reported = time.monotonic(), False
        give_up = began + patience
        while True:
            try:
                answer = ask()
            except self._module.KafkaException as error:
                self._trouble.heard(error.args[0])
                self._admin.poll(0)
                if self._trouble.refused or time.monotonic() > give_up:
                    raise self.unreachable(error) from None
                if not reported and time.monotonic() > began + client.SILENCE_SECONDS:
                    reported = True
                    announce_wait(self.servers, patience)
                time.sleep(RETRY_SECONDS)
                self.renew()
            else:
                self.answered()
                return answer

    # ---------------------------------------------------------------- asynchronous requests

    def ask_latest(self, partitions: Iterable[KafkaTopicPartition]) -> Offsets:
        """Request the end offsets of partitions."""
        future: Future[dict[KafkaTopicPartition, int]] = Future()
        consumer, some = self._consumer, list(partitions)

        def ask() -> None:
            try:
                future.set_result(self._request(consumer, some, _LATEST))
            except BaseException as error:
                future.set_exception(error)

        # The AdminClient would need no thread, but aborts the process when partitions have no leader.
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
        """Note that the cluster has answered."""
        self._known = True
        self._admin.poll(0)
        self._trouble.clear()

    def unreachable(self, error: Exception) -> SourceConnectionError:
        """Return the error for a cluster that does not answer."""
        self._admin.poll(0)
        reason = self._trouble.reason_of_silence(error)
        return SourceConnectionError(f"the Kafka cluster at {self.servers} cannot be read: {reason}")

    def commit(self, offsets: Mapping[KafkaTopicPartition, int]) -> None:
        """Commit offsets of the group without waiting for the result."""
        if self._group is None or not offsets:
            return
        if self._committer is None:
            # The AdminClient aborts the process when the group's coordinator moves while it waits for an answer.
            configuration = self._properties.client(group_id=self._group, enable_auto_commit=False)
            self._committer = self._module.Consumer(self._trouble.watched(configuration))
        positions = [self._module.TopicPartition(*partition, offset) for partition, offset in offsets.items()]
        self._committer.commit(offsets=positions, asynchronous=True)
        self._committer.poll(0)  # for what has happened since

    def close(self) -> None:
        """Wait briefly for commits in flight."""
        if self._committer is not None:
            closing = threading.Thread(target=self._committer.close, name="scurry-kafka-commits", daemon=True)
            closing.start()
            closing.join(5.0)
