"""KafkaSource against a real broker."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from scurry.common import Duration, Time, Types, WatermarkStrategy
from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.source import BatchLimits, ChunkSizer
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaSource,
    KafkaSourceBuilder,
    KafkaTopicPartition,
)
from scurry.datastream.formats.json import JsonRowDeserializationSchema
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.errors import JobError, SourceConnectionError, SourceNotFoundError
from support.chunks import present
from support.kafka.broker import Kafka

pytestmark = pytest.mark.kafka

Environments = Callable[..., StreamExecutionEnvironment]


def source(kafka: Kafka, *topics: str, address: str | None = None) -> KafkaSourceBuilder:
    builder = KafkaSource.builder().set_bootstrap_servers(address or kafka.address)
    if topics:
        builder.set_topics(*topics)
    builder.set_value_only_deserializer(SimpleStringSchema())
    return builder.set_bounded(KafkaOffsetsInitializer.latest())


def collect(env: StreamExecutionEnvironment, source: Any, strategy: Any = None) -> list[Any]:
    with env.from_source(source, strategy, "kafka").execute_and_collect() as results:
        return list(results)


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_all_partitions_of_all_topics_are_read(kafka: Kafka, env_of: Environments, mode: str) -> None:
    first, second = kafka.topic(2), kafka.topic()
    kafka.write(first, ["a", "b"])
    kafka.write(first, ["c"], partition=1)
    kafka.write(second, ["d"])
    found = collect(env_of(mode), source(kafka, first, second).build())
    assert sorted(found) == ["a", "b", "c", "d"]


def test_single_partitions_can_be_read(kafka: Kafka, env_of: Environments) -> None:
    topic = kafka.topic(3)
    for partition in range(3):
        kafka.write(topic, [f"from {partition}"], partition)
    wanted = {KafkaTopicPartition(topic, 0), KafkaTopicPartition(topic, 2)}
    assert sorted(collect(env_of(), source(kafka).set_partitions(wanted).build())) == ["from 0", "from 2"]


def test_topics_can_be_read_by_pattern(kafka: Kafka, env_of: Environments) -> None:
    first, second = kafka.topic(prefix="patterned"), kafka.topic(prefix="patterned")
    kafka.write(first, ["a"])
    kafka.write(second, ["b"])
    assert sorted(collect(env_of(), source(kafka).set_topic_pattern(r"patterned-\d+").build())) == ["a", "b"]


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (KafkaOffsetsInitializer.earliest(), ["a", "b", "c"]),
        (KafkaOffsetsInitializer.latest(), []),
        (KafkaOffsetsInitializer.timestamp(1001), ["b", "c"]),
        (KafkaOffsetsInitializer.timestamp(5000), []),
    ],
)
def test_where_reading_starts(
    kafka: Kafka, env_of: Environments, start: KafkaOffsetsInitializer, expected: list[str]
) -> None:
    topic = kafka.topic()
    kafka.write(topic, ["a", "b", "c"])
    assert collect(env_of(), source(kafka, topic).set_starting_offsets(start).build()) == expected


def test_a_group_goes_on_where_it_has_committed(kafka: Kafka, env_of: Environments) -> None:
    topic = kafka.topic()
    kafka.write(topic, ["a", "b"])
    committed = KafkaOffsetsInitializer.committed_offsets
    grouped = source(kafka, topic).set_group_id(f"group-of-{topic}")
    assert collect(env_of(), grouped.build()) == ["a", "b"]
    assert kafka.group(f"group-of-{topic}") == {(topic, 0): 2}
    kafka.write(topic, ["c"])
    assert collect(env_of(), grouped.set_starting_offsets(committed()).build()) == ["c"]


def test_small_batches_read_the_same_records_once(kafka: Kafka, env_of: Environments) -> None:
    topic = kafka.topic(2)
    values = [str(number) for number in range(2000)]
    kafka.write(topic, values[:1500])
    kafka.write(topic, values[1500:], partition=1)
    env = env_of(**{"scurry_batch_max__records": 170})
    assert sorted(collect(env, source(kafka, topic).build()), key=int) == values


@pytest.mark.parametrize(("partitions", "size"), [(1, 1000), (3, 200)])
def test_batches_keep_to_a_limit_of_bytes(kafka: Kafka, env_of: Environments, partitions: int, size: int) -> None:
    topic, values, limit = kafka.topic(partitions), ["x" * size] * (60_000 // partitions // size), 7_000
    for partition in range(partitions):
        kafka.write(topic, values, partition)
    env = env_of(scurry_batch_max__bytes=str(limit))
    env.from_source(source(kafka, topic).build(), WatermarkStrategy.no_watermarks(), "kafka").filter(
        lambda value: False
    ).print()
    client: Any = env.execute_async()
    result = client.get_job_execution_result().result()
    read = [checkpoint.records for checkpoint in client.checkpoints() if checkpoint.records]
    metrics = result.get_metrics()
    assert metrics["kafka.numBytesIn"] == sum(read) * size == len(values) * partitions * size
    assert read[0] == partitions  # one of each: nothing is known of their size
    assert limit * 0.9 < max(read) * size <= limit
    assert metrics["kafka.pendingRecords"] == 0


def test_ranges_with_gaps_end_where_they_should(kafka: Kafka, env_of: Environments) -> None:
    """Markers and aborted records take offsets, also the last ones before an end."""
    topic = kafka.topic()
    for number in range(3):
        kafka.write(topic, [f"committed {number}"] * 5, transactional_id=f"gaps-{topic}")
        kafka.abort(topic, ["aborted"] * 7)
    builder = source(kafka, topic).set_property("isolation.level", "read_committed")
    expected = [f"committed {number}" for number in range(3) for _ in range(5)]
    for limit in (1000, 4, 1):
        env = env_of(**{"scurry_batch_max__records": limit})
        assert collect(env, builder.build()) == expected


def test_without_read_committed_aborted_records_are_read_as_in_flink(kafka: Kafka, env_of: Environments) -> None:
    topic = kafka.topic()
    kafka.abort(topic, ["aborted"])
    assert collect(env_of(), source(kafka, topic).build()) == ["aborted"]


def test_a_range_can_be_read_again(kafka: Kafka) -> None:
    topic = kafka.topic()
    kafka.write(topic, [str(number) for number in range(100)])
    built = source(kafka, topic).build()
    for start, end in ((0, 50), (50, 70), (10, 60), (60, 100), (60, 100)):
        chunks = present(built.read([(topic, 0, start, end)], ChunkSizer()))
        found = [(value, time) for values, times in chunks for value, time in zip(values, times or [], strict=True)]
        assert found == [(str(number), 1000 + number) for number in range(start, end)]


def test_each_partition_has_a_watermark_of_its_own(kafka: Kafka, env_of: Environments) -> None:
    """Partitions an hour apart: nothing is late although one is read to its end before the other."""
    topic = kafka.topic(2)
    kafka.write(topic, ["late"] * 3000, partition=0, first_timestamp=3_600_000)
    kafka.write(topic, ["early"] * 3000, partition=1)
    env = env_of(**{"scurry_batch_max__records": 2500})
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(1))
    stream = env.from_source(source(kafka, topic).build(), strategy, "kafka")
    ones = stream.map(lambda value: (value, 1), output_type=Types.TUPLE([Types.STRING(), Types.INT()]))
    windows = ones.key_by(lambda pair: pair[0]).window(TumblingEventTimeWindows.of(Time.seconds(1)))
    with windows.reduce(lambda one, other: (one[0], one[1] + other[1])).execute_and_collect() as results:
        assert sorted(results) == [("early", 1000)] * 3 + [("late", 1000)] * 3


def test_a_streaming_source_reads_what_comes_and_stops_at_its_end(kafka: Kafka, env_of: Environments) -> None:
    topic = kafka.topic()
    kafka.write(topic, ["a"])
    end = KafkaOffsetsInitializer.offsets({KafkaTopicPartition(topic, 0): 3})
    built = source(kafka, topic).set_unbounded(end).build()
    with env_of().from_source(built, None, "kafka").execute_and_collect() as results:
        assert next(results) == "a"
        kafka.write(topic, ["b", "c", "d"])
        assert list(results) == ["b", "c"]


def test_a_topic_that_appears_later_is_found(kafka: Kafka) -> None:
    builder = KafkaSource.builder().set_bootstrap_servers(kafka.address).set_topic_pattern("appearing-.*")
    builder.set_value_only_deserializer(SimpleStringSchema()).set_property("partition.discovery.interval.ms", "50")
    enumerator = builder.build().create_enumerator(1, BatchLimits())
    assert enumerator.next_batch() == []
    enumerator.committed()
    topic = kafka.topic(prefix="appearing")
    kafka.write(topic, ["a"])
    works: list[Any] = []
    give_up = time.monotonic() + 120
    while not works and time.monotonic() < give_up:
        works = [assignment.work for assignment in enumerator.next_batch() if assignment.work]
        time.sleep(0.02)
    enumerator.close()
    assert works == [[(topic, 0, 0, 1)]]


def test_sources_of_an_alignment_group_wait_for_each_other(kafka: Kafka, env_of: Environments) -> None:
    """A record of one is a second further than its last, of the other a tenth; a batch reads ten of each."""
    fast, slow = kafka.topic(), kafka.topic()
    kafka.write(fast, [f"fast {number * 1000}" for number in range(50)], step=1000)
    kafka.write(slow, [f"slow {number * 100}" for number in range(500)], step=100)
    env = env_of(**{"scurry_batch_max__records": 10})
    drift, batch = 2000, 10_000
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    aligned = strategy.with_watermark_alignment("topics", Duration.of_millis(drift))
    streams = [env.from_source(source(kafka, topic).build(), aligned, topic) for topic in (fast, slow)]
    reached = {"fast": 0, "slow": 0}
    ahead = 0
    with streams[0].union(streams[1]).execute_and_collect() as results:
        for result in results:
            name, at = result.split()
            reached[name] = int(at)
            ahead = max(ahead, reached["fast"] - reached["slow"])
    assert reached == {"fast": 49_000, "slow": 49_900}
    assert ahead <= drift + batch + 1000  # unaligned it would be over when the other has come to 5000


# ---------------------------------------------------------------- errors


def test_a_malformed_record_is_reported_with_its_place(kafka: Kafka, env_of: Environments) -> None:
    topic = kafka.topic()
    kafka.write(topic, ['{"n": 1}', "{oops"])
    schema = JsonRowDeserializationSchema.builder().type_info(Types.ROW_NAMED(["n"], [Types.INT()])).build()
    built = source(kafka, topic).set_value_only_deserializer(schema).build()
    with pytest.raises(JobError, match=rf"topic '{topic}', partition 0, offset 1: malformed record '{{oops'"):
        collect(env_of(), built)


def test_a_record_of_another_schema_is_reported_with_its_place_and_field(kafka: Kafka, env_of: Environments) -> None:
    topic = kafka.topic()
    kafka.write(topic, ['{"n": 1}', '{"n": "one"}'])
    schema = JsonRowDeserializationSchema.builder().type_info(Types.ROW_NAMED(["n"], [Types.INT()])).build()
    built = source(kafka, topic).set_value_only_deserializer(schema).build()
    with pytest.raises(JobError, match=rf"topic '{topic}', partition 0, offset 1: malformed record .*n.*one"):
        collect(env_of(), built)


def test_a_missing_topic_is_one_clear_error(kafka: Kafka, env_of: Environments) -> None:
    with pytest.raises(SourceNotFoundError, match=f"there is no topic 'no-such-topic' at {kafka.address}"):
        collect(env_of(), source(kafka, "no-such-topic").build())


def test_an_unreachable_host_is_one_clear_error(kafka: Kafka, env_of: Environments) -> None:
    builder = source(kafka, "t", address="127.0.0.1:1").set_property("default.api.timeout.ms", "2000")
    with pytest.raises(SourceConnectionError, match=r"cluster at 127.0.0.1:1 cannot be read: .*Connection refused"):
        collect(env_of(), builder.build())


def test_wrong_credentials_are_one_clear_error_without_the_password(kafka: Kafka, env_of: Environments) -> None:
    builder = source(kafka, "t", address=kafka.broker.sasl_address)
    builder.set_properties({"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"})
    builder.set_properties({"sasl.username": kafka.user, "sasl.password": "abracadabra"})
    with pytest.raises(SourceConnectionError, match="Authentication failed: Invalid username or password") as refused:
        collect(env_of(), builder.build())
    assert "abracadabra" not in str(refused.value)


def test_credentials_of_java_programs_are_let_in(kafka: Kafka, env_of: Environments) -> None:
    topic = kafka.topic()
    kafka.write(topic, ["a"])
    login = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    builder = source(kafka, topic, address=kafka.broker.sasl_address)
    builder.set_properties({
        "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{login} username="{kafka.user}" password="{kafka.password}";',
    })  # fmt: skip
    # the broker's other address, which its metadata names, lets these in as well
    assert collect(env_of(), builder.build()) == ["a"]


def test_records_that_were_deleted_before_they_were_read_are_an_error(kafka: Kafka) -> None:
    from confluent_kafka import TopicPartition

    topic = kafka.topic()
    kafka.write(topic, ["a", "b", "c"])
    for future in kafka.admin.delete_records([TopicPartition(topic, 0, 2)]).values():
        future.result()
    with pytest.raises(SourceNotFoundError, match="offset 0 no longer exists"):
        list(source(kafka, topic).build().read([(topic, 0, 0, 3)], ChunkSizer()))
    lenient = source(kafka, topic).set_property("auto.offset.reset", "earliest").build()
    assert [values for values, _ in present(lenient.read([(topic, 0, 0, 3)], ChunkSizer()))] == [["c"]]
