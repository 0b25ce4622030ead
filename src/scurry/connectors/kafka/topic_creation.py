"""Creation of topics that a program writes without anybody having made them."""

from __future__ import annotations

from scurry.connectors.kafka.client import Trouble, confluent
from scurry.connectors.kafka.producer import TopicProducer
from scurry.connectors.kafka.properties import ClientProperties
from scurry.errors import SinkConnectionError

_ANSWER_SECONDS = 15.0


def ensure_topic(properties: ClientProperties, topic: str, creates: bool = True) -> None:
    """Create a topic with the brokers' default number of partitions and replicas, unless it exists.

    Args:
        properties: The clients' properties.
        topic: The topic.
        creates: Whether it may be created.

    Raises:
        SinkConnectionError: The cluster does not answer, denies access, or does not create it.
    """
    producer = TopicProducer(properties, None)
    try:
        producer.connect()  # waits as long as any sink for a cluster that is away
        if topic in producer.client.list_topics(timeout=_ANSWER_SECONDS).topics:
            return
    finally:
        producer.close()
    if not creates:
        raise SinkConnectionError(f"topic {topic!r} at {properties.servers} is missing; create it")
    module, trouble = confluent(), Trouble()
    admin = module.admin.AdminClient(trouble.watched(properties.client()))
    try:
        admin.create_topics([module.admin.NewTopic(topic)], request_timeout=_ANSWER_SECONDS)[topic].result()
    except module.KafkaException as error:
        if error.args[0].code() != module.KafkaError.TOPIC_ALREADY_EXISTS:
            reason = trouble.reason(error.args[0].str())
            raise SinkConnectionError(f"topic {topic!r} at {properties.servers} cannot be created: {reason}") from None
