"""A Kafka broker for tests; it needs Java and `scurry[kafka]`."""

from __future__ import annotations

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from scurry.common import SimpleStringSchema, WatermarkStrategy
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaSource
from scurry.testing.kafka import KafkaBroker, fetch

assert any(jar.name.startswith("kafka-clients") for jar in fetch().iterdir())  # from Maven Central, once

broker = KafkaBroker()
broker.start()
admin = AdminClient({"bootstrap.servers": broker.address})
admin.create_topics([NewTopic("words", 1, 1)])["words"].result()
producer = Producer({"bootstrap.servers": broker.address})
producer.produce("words", "to be")
producer.flush()

broker.kill()  # as a failing machine would
broker.start()  # with its data

words = (
    KafkaSource.builder()
    .set_bootstrap_servers(broker.address)
    .set_topics("words")
    .set_bounded(KafkaOffsetsInitializer.latest())
    .set_value_only_deserializer(SimpleStringSchema())
    .build()
)
env = StreamExecutionEnvironment.get_execution_environment()
with env.from_source(words, WatermarkStrategy.no_watermarks(), "words").execute_and_collect() as read:
    assert list(read) == ["to be"]
broker.stop()
