"""KafkaSink against a real broker."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from scurry.common import Types
from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.sink import Committer, WriterContext
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import DeliveryGuarantee
from scurry.datastream.connectors.kafka import KafkaRecordSerializationSchema, KafkaSink, KafkaSinkBuilder
from scurry.errors import JobError, SinkCommitError, SinkConnectionError
from support.kafka.broker import Kafka

pytestmark = pytest.mark.kafka

Environments = Callable[..., StreamExecutionEnvironment]
EXACTLY_ONCE, AT_LEAST_ONCE = DeliveryGuarantee.EXACTLY_ONCE, DeliveryGuarantee.AT_LEAST_ONCE


def sink(kafka: Kafka, topic: str, guarantee: DeliveryGuarantee = EXACTLY_ONCE) -> KafkaSinkBuilder:
    schema = KafkaRecordSerializationSchema.builder().set_topic(topic)
    schema.set_key_serialization_schema(SimpleStringSchema()).set_value_serialization_schema(SimpleStringSchema())
    builder = KafkaSink.builder().set_bootstrap_servers(kafka.address).set_record_serializer(schema.build())
    return builder.set_delivery_guarantee(guarantee)


def write(sink: KafkaSink, batch_id: int, tasks: Sequence[list[str]]) -> list[Any]:
    """What the tasks of a batch hand to the committer."""
    committables = []
    for subtask, values in enumerate(tasks):
        writer = pickle.loads(pickle.dumps(sink)).create_writer(WriterContext(subtask, len(tasks), batch_id, "id"))
        writer.write(values, None)
        committables += pickle.loads(pickle.dumps(writer.prepare_commit()))
    return committables


def committer(sink: KafkaSink, topic: str) -> Committer:
    return sink.create_committer(f"of-{topic}")


@pytest.mark.parametrize("guarantee", DeliveryGuarantee)
def test_records_arrive_with_keys_and_timestamps(
    kafka: Kafka, env_of: Environments, guarantee: DeliveryGuarantee
) -> None:
    topic = kafka.topic(3)
    stream = env_of().from_collection(["a", "b", "c", "a"], Types.STRING())
    stream.sink_to(sink(kafka, topic, guarantee).build())
    stream._env.execute("writing")
    messages = kafka.messages(topic)
    assert sorted(message.value() for message in messages) == [b"a", b"a", b"b", b"c"]
    assert all(message.key() == message.value() for message in messages)
    assert len({message.partition() for message in messages if message.key() == b"a"}) == 1


def test_headers_and_topics_are_chosen_by_record(kafka: Kafka, env_of: Environments) -> None:
    topics = [kafka.topic(), kafka.topic()]
    schema = KafkaRecordSerializationSchema.builder().set_topic_selector(lambda value: topics[int(value)])
    schema.set_value_serialization_schema(SimpleStringSchema())
    schema.set_header_provider(lambda value: [("origin", b"test")])
    builder = KafkaSink.builder().set_bootstrap_servers(kafka.address).set_record_serializer(schema.build())
    env = env_of()
    env.from_collection(["0", "1", "1"], Types.STRING()).sink_to(builder.set_delivery_guarantee(EXACTLY_ONCE).build())
    env.execute("selecting")
    assert [kafka.read(topic) for topic in topics] == [["0"], ["1", "1"]]
    assert kafka.messages(topics[0])[0].headers() == [("origin", b"test")]


def test_a_repeated_batch_is_written_once(kafka: Kafka) -> None:
    topic = kafka.topic()
    built = sink(kafka, topic).build()
    first = committer(built, topic)
    first.commit(7, write(built, 7, [["a"], ["b"]]))
    first.commit(7, write(built, 7, [["a"], ["b"]]))
    first.commit(8, write(built, 8, [["c"]]))
    assert kafka.read(topic) == ["a", "b", "c"]


def test_a_batch_repeated_after_a_crash_by_other_tasks_is_written_once(kafka: Kafka) -> None:
    topic = kafka.topic()
    built = sink(kafka, topic).build()
    committer(built, topic).commit(7, write(built, 7, [["a"], ["b"], ["c"]]))
    after_crash = committer(built, topic)
    after_crash.commit(7, write(built, 7, [["c", "b"], ["a"]]))
    after_crash.commit(8, write(built, 8, [["d"]]))
    assert kafka.read(topic) == ["a", "b", "c", "d"]


def test_a_batch_that_was_not_committed_leaves_nothing(kafka: Kafka, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver dies in the middle of a transaction: its successor aborts it, and writes the batch."""
    from scurry.connectors.kafka.producer import TopicProducer

    topic = kafka.topic()
    built = sink(kafka, topic).build()
    dying: Any = committer(built, topic)
    dying.commit(0, write(built, 0, [["a"]]))
    session = dying._session
    session._producer.client.begin_transaction()
    session._producer.send([(topic, None, b"half a batch", 0, None)])
    TopicProducer.flush(session._producer)
    after_crash = committer(built, topic)
    after_crash.commit(1, write(built, 1, [["b"]]))
    assert kafka.read(topic) == ["a", "b"]


def test_a_driver_that_was_replaced_cannot_write(kafka: Kafka) -> None:
    topic = kafka.topic()
    built = sink(kafka, topic).build()
    zombie = committer(built, topic)
    zombie.commit(0, write(built, 0, [["a"]]))
    committer(built, topic).commit(1, write(built, 1, [["b"]]))
    with pytest.raises(SinkCommitError, match="another run of this job writes"):
        zombie.commit(1, write(built, 1, [["b, again"]]))
    assert kafka.read(topic) == ["a", "b"]


def test_a_restarted_job_goes_on_with_a_new_producer(kafka: Kafka) -> None:
    topic = kafka.topic()
    built = sink(kafka, topic).build()
    same = committer(built, topic)
    same.commit(0, write(built, 0, [["a"]]))
    same.restarted()
    same.commit(0, write(built, 0, [["a"]]))
    same.commit(1, write(built, 1, [["b"]]))
    same.finish()
    assert kafka.read(topic) == ["a", "b"]


def test_sinks_of_other_jobs_do_not_share_batch_numbers(kafka: Kafka) -> None:
    topic = kafka.topic()
    built = sink(kafka, topic).build()
    built.create_committer(f"one-{topic}").commit(5, write(built, 5, [["a"]]))
    built.create_committer(f"two-{topic}").commit(0, write(built, 0, [["b"]]))
    assert kafka.read(topic) == ["a", "b"]


def test_more_records_than_a_parcel_or_a_producers_queue_holds_keep_their_order(kafka: Kafka) -> None:
    topic = kafka.topic()
    values = [str(number) for number in range(40_000)]
    built = sink(kafka, topic).set_property("queue.buffering.max.messages", "10000").build()
    committables = write(built, 0, [values[:30_000], values[30_000:]])
    committer(built, topic).commit(0, committables)
    assert [message.value().decode() for message in kafka.messages(topic)] == values


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize("guarantee", [EXACTLY_ONCE, AT_LEAST_ONCE])
def test_a_missing_topic_is_one_clear_error(kafka: Kafka, env_of: Environments, guarantee: DeliveryGuarantee) -> None:
    env = env_of()
    env.from_collection(["a"], Types.STRING()).sink_to(sink(kafka, "no-such-topic", guarantee).build())
    with pytest.raises((JobError, SinkConnectionError), match="topic 'no-such-topic' at .*create it"):
        env.execute("missing topic")


@pytest.mark.parametrize("guarantee", [EXACTLY_ONCE, AT_LEAST_ONCE])
def test_an_unreachable_host_is_one_clear_error(
    kafka: Kafka, env_of: Environments, guarantee: DeliveryGuarantee
) -> None:
    env = env_of()
    builder = sink(kafka, "t", guarantee).set_bootstrap_servers("127.0.0.1:1")
    env.from_collection(["a"], Types.STRING()).sink_to(builder.set_property("default.api.timeout.ms", "1500").build())
    with pytest.raises((JobError, SinkConnectionError), match="127.0.0.1:1 cannot be written to: .*Connection refused"):
        env.execute("unreachable")


def test_wrong_credentials_are_one_clear_error(kafka: Kafka, env_of: Environments) -> None:
    env = env_of()
    builder = sink(kafka, "t").set_bootstrap_servers(kafka.broker.sasl_address)
    for name, value in {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": kafka.user,
                        "sasl.password": "abracadabra"}.items():  # fmt: skip
        builder.set_property(name, value)
    env.from_collection(["a"], Types.STRING()).sink_to(builder.build())
    with pytest.raises((JobError, SinkConnectionError), match="Invalid username or password") as refused:
        env.execute("wrong credentials")
    assert "abracadabra" not in str(refused.value)


@pytest.mark.parametrize("guarantee", [EXACTLY_ONCE, AT_LEAST_ONCE])
def test_a_record_that_does_not_fit_the_schema_is_one_clear_error(
    kafka: Kafka, env_of: Environments, guarantee: DeliveryGuarantee
) -> None:
    env, topic = env_of(), kafka.topic()
    env.from_collection([1], Types.INT()).sink_to(sink(kafka, topic, guarantee).build())
    with pytest.raises(JobError, match="SimpleStringSchema.*str"):
        env.execute("wrong schema")
    assert kafka.read(topic) == []
