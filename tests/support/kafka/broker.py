"""A Kafka broker in a process of its own, and what tests do with its topics without scurry."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from scurry.testing.kafka import PASSWORD, USER, KafkaBroker
from support import TESTS
from support.modules import load_module

TOOLS = TESTS.parent / "tools"


def tool_named(name: str) -> ModuleType:
    return load_module(TOOLS / f"{name}.py", f"{name}_tool")


class Kafka:
    """The broker, and what tests do with its topics without scurry."""

    def __init__(self, directory: Path) -> None:
        self.broker = KafkaBroker(directory)
        self.user, self.password = USER, PASSWORD
        self.address: str = self.broker.address
        self._numbers = itertools.count()

    def client(self, **more: Any) -> dict[str, Any]:
        properties = {name.replace("_", "."): value for name, value in more.items()}
        return {"bootstrap.servers": self.address, "log_level": 2, **properties}

    @cached_property
    def admin(self) -> Any:
        """Asks and changes the broker; what it is asked for is dropped with it, so it is kept."""
        from confluent_kafka.admin import AdminClient

        return AdminClient(self.client())

    def topic(self, partitions: int = 1, prefix: str = "topic") -> str:
        """Makes a topic of its own for a test."""
        from confluent_kafka.admin import NewTopic  # type: ignore[attr-defined]

        name = f"{prefix}-{next(self._numbers)}"
        self.admin.create_topics([NewTopic(name, partitions, 1)])[name].result()
        return name

    def write(self, topic: str, values: Sequence[str], partition: int = 0, first_timestamp: int = 1000,
              step: int = 1, **properties: Any) -> None:  # fmt: skip
        """Writes values with ascending timestamps; with a transactional id, in one transaction."""
        from confluent_kafka import Producer

        producer = Producer(self.client(enable_idempotence=True, **properties))  # else retries change the order
        if "transactional_id" in properties:
            producer.init_transactions(30)
            producer.begin_transaction()
        for number, value in enumerate(values):
            producer.produce(topic, value.encode(), partition=partition, timestamp=first_timestamp + number * step)
            producer.poll(0)
        if "transactional_id" in properties:
            producer.commit_transaction(30)
        producer.flush()

    def abort(self, topic: str, values: Sequence[str], partition: int = 0) -> None:
        """Writes values in a transaction that is aborted."""
        from confluent_kafka import Producer

        producer = Producer(self.client(transactional_id=f"aborting-{topic}"))
        producer.init_transactions(30)
        producer.begin_transaction()
        for value in values:
            producer.produce(topic, value.encode(), partition=partition)
        producer.flush()
        producer.abort_transaction(30)

    def messages(self, topic: str) -> list[Any]:
        """All committed messages of a topic, by partition."""
        from confluent_kafka import Consumer, TopicPartition

        consumer = Consumer(self.client(group_id="reading-back", enable_partition_eof=True, enable_auto_commit=False,
                                        isolation_level="read_committed"))  # fmt: skip
        left = set(consumer.list_topics(topic, timeout=30).topics[topic].partitions)
        consumer.assign([TopicPartition(topic, partition, 0) for partition in left])
        found = []
        while left:
            message = consumer.poll(30)
            assert message is not None, f"no end of {topic} within 30 s"
            if message.error():
                left.discard(message.partition())
            else:
                found.append(message)
        consumer.close()
        return sorted(found, key=lambda message: (message.partition(), message.offset()))

    def read(self, topic: str) -> list[str]:
        """The committed values of a topic, sorted."""
        return sorted(message.value().decode() for message in self.messages(topic))

    def group(self, name: str) -> dict[tuple[str, int], int]:
        """The offsets a group has committed."""
        from confluent_kafka import ConsumerGroupTopicPartitions

        asked = self.admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(name)])
        return {(each.topic, each.partition): each.offset for each in asked[name].result().topic_partitions}
