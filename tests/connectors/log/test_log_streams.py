"""Streams read and write topics of a log as they do Kafka's: positions, groups, keys, headers, guarantees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Types
from scurry.common.serialization import SimpleStringSchema
from scurry.common.watermark_strategy import WatermarkStrategy
from scurry.connectors.log.catalog import TopicSettings
from scurry.connectors.log.directory import PATH_VARIABLE, LogDirectory
from scurry.connectors.log.sink import FileLogSink as Sink
from scurry.connectors.log.sink import LogCommitter
from scurry.connectors.sink import WriterContext
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import DeliveryGuarantee
from scurry.datastream.connectors.kafka import (
    ConsumerRecord,
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaRecordDeserializationSchema,
    KafkaRecordSerializationSchema,
    KafkaTopicPartition,
)
from scurry.datastream.connectors.log import FileLog, FileLogSink, FileLogSource, FileLogSourceBuilder
from scurry.errors import ArgumentError, JobError, SinkCommitError, SourceNotFoundError

Ends = KafkaOffsetsInitializer


def environment(tmp_path: Path, **settings: Any) -> StreamExecutionEnvironment:
    given = {"scurry.runner": "local", "execution.checkpointing.dir": str(tmp_path / "checkpoints"), **settings}
    return StreamExecutionEnvironment(Configuration.from_dict(given))


def builder(log: FileLog, topic: str = "t") -> FileLogSourceBuilder:
    values = FileLogSource.builder().set_path(log.path).set_topics(topic)
    return values.set_value_only_deserializer(SimpleStringSchema()).set_bounded(Ends.latest())


def read(log: FileLog, change: Callable[[FileLogSourceBuilder], object] = lambda made: None) -> list[Any]:
    made = builder(log)
    change(made)
    env = StreamExecutionEnvironment(Configuration.from_dict({"scurry.runner": "local"}))
    stream = env.from_source(made.build(), WatermarkStrategy.no_watermarks(), "log")
    with stream.execute_and_collect() as found:
        return sorted(found)


def topic(made: FileLogSourceBuilder, name: str) -> FileLogSourceBuilder:
    made._subscription = None
    return made.set_topics(name)


def serializer(topic: str = "out") -> Any:
    values = KafkaRecordSerializationSchema.builder().set_topic(topic)
    return values.set_value_serialization_schema(SimpleStringSchema())


@pytest.fixture
def log(tmp_path: Path) -> FileLog:
    made = FileLog(str(tmp_path / "log"))
    made.create_topic("t", 2)
    made.append("t", ["a", "b"], timestamps=[10, 20], partition=0)
    made.append("t", ["c", None], timestamps=[30, 40], partition=1)
    return made


def test_values_are_read_once(log: FileLog) -> None:
    assert read(log) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (Ends.earliest(), ["a", "b", "c"]),
        (Ends.latest(), []),
        (Ends.timestamp(20), ["b", "c"]),
        (Ends.offsets({KafkaTopicPartition("t", 0): 1}), ["b", "c"]),
        (Ends.committed_offsets(KafkaOffsetResetStrategy.EARLIEST), ["b", "c"]),
    ],
)
def test_reading_starts_where_it_is_told(log: FileLog, start: Ends, expected: list[str]) -> None:
    LogDirectory(log.path).commit("g", {KafkaTopicPartition("t", 0): 1})
    assert read(log, lambda made: made.set_group_id("g").set_starting_offsets(start)) == expected


def test_reading_ends_where_it_is_told(log: FileLog) -> None:
    assert read(log, lambda made: made.set_bounded(Ends.timestamp(20))) == ["a"]


def test_topics_by_pattern(log: FileLog) -> None:
    log.append("other", ["x"])

    def pattern(made: FileLogSourceBuilder) -> None:
        made._subscription = None
        made.set_topic_pattern("o.*|t")

    assert read(log, pattern) == ["a", "b", "c", "x"]


class Complete(KafkaRecordDeserializationSchema):
    def deserialize(self, record: ConsumerRecord) -> Any:
        return tuple(record)


def test_complete_records_have_key_headers_and_place(log: FileLog, tmp_path: Path) -> None:
    made = serializer("keyed").set_key_serialization_schema(SimpleStringSchema())
    made.set_header_provider(lambda value: [("of", value.encode())])
    env = environment(tmp_path)
    sink = FileLogSink.builder().set_path(log.path).set_record_serializer(made.build()).build()
    env.from_collection(["x"], Types.STRING()).sink_to(sink)
    env.execute()
    (found,) = read(log, lambda source: topic(source, "keyed").set_deserializer(Complete()))
    assert found[:3] == ("keyed", 0, 0)
    assert found[4:] == (b"x", b"x", (("of", b"x"),))
    assert log.read("keyed") == [ConsumerRecord(*found)]


def test_a_group_has_the_offsets_of_what_is_done(log: FileLog, tmp_path: Path) -> None:
    env = environment(tmp_path)
    source = builder(log).set_unbounded(Ends.latest()).set_group_id("g").build()
    env.from_source(source, WatermarkStrategy.no_watermarks(), "log").print()
    env.execute()
    assert LogDirectory(log.path).committed("g") == {KafkaTopicPartition("t", 0): 2, KafkaTopicPartition("t", 1): 2}


@pytest.mark.parametrize("guarantee", list(DeliveryGuarantee))
def test_from_log_to_log(log: FileLog, guarantee: DeliveryGuarantee, tmp_path: Path) -> None:
    env = environment(tmp_path)
    sink = FileLogSink.builder().set_path(log.path).set_record_serializer(serializer().build())
    stream = env.from_source(builder(log).build(), WatermarkStrategy.no_watermarks(), "log")
    stream.map(str.upper, Types.STRING()).sink_to(sink.set_delivery_guarantee(guarantee).build())
    env.execute()
    assert {record.value for record in log.read("out")} == {b"A", b"B", b"C"}
    assert len(log.read("out")) == 3
    assert {record.timestamp for record in log.read("out")} == {10, 20, 30}
    assert not list(Path(log.path).glob("staged/*/*"))


def test_a_topic_for_each_record(log: FileLog, tmp_path: Path) -> None:
    env = environment(tmp_path)
    made = KafkaRecordSerializationSchema.builder().set_topic_selector(lambda value: f"to-{value}")
    schema = made.set_value_serialization_schema(SimpleStringSchema()).build()
    sink = FileLogSink.builder().set_path(log.path).set_record_serializer(schema)
    sink.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    env.from_source(builder(log).build(), WatermarkStrategy.no_watermarks(), "log").sink_to(sink.build())
    env.execute()
    assert {topic for topic in log.topics() if topic.startswith("to-")} == {"to-a", "to-b", "to-c"}


# ---------------------------------------------------------------- writers and committer


def staged(sink: Sink, values: list[str], batch: int, subtask: int = 0) -> list[Any]:
    writer = sink.create_writer(WriterContext(subtask, 2, batch, "job/s"))
    writer.write(values)
    return writer.prepare_commit()


@pytest.fixture
def exact(log: FileLog) -> Sink:
    return Sink(log.path, serializer().build(), True, settings=TopicSettings(2))


def test_a_batch_is_visible_with_its_commit_and_once(log: FileLog, exact: Sink) -> None:
    committer = exact.create_committer("job/s")
    assert log.topics()["out"] == 2  # the topic is there before the first record
    parts = staged(exact, ["a"], 0) + staged(exact, ["b"], 0, 1)
    assert log.read("out") == []
    committer.commit(0, parts)
    assert {record.value for record in log.read("out")} == {b"a", b"b"}
    again = exact.create_committer("job/s")
    again.commit(0, parts)
    again.commit(0, staged(exact, ["of another attempt"], 0))
    assert len(log.read("out")) == 2
    assert not list(Path(log.path).glob("staged/*/*"))


def test_what_failed_attempts_staged_goes_with_the_next_commit(log: FileLog, exact: Sink) -> None:
    committer = exact.create_committer("job/s")
    staged(exact, ["of a killed task"], 0)
    later = staged(exact, ["of the next batch"], 1)
    committer.commit(0, staged(exact, ["a"], 0))
    assert [record.value for record in log.read("out")] == [b"a"]
    committer.commit(1, later)
    assert len(log.read("out")) == 2


def test_a_task_that_fails_leaves_nothing(log: FileLog, exact: Sink) -> None:
    writer = exact.create_writer(WriterContext(0, 1, 0, "job/s"))
    writer.write(["x"] * 20_000)
    assert list(Path(log.path).glob("staged/*/*"))
    writer.abort()
    assert not list(Path(log.path).glob("staged/*/*"))


def test_staged_records_that_are_gone_are_an_error(log: FileLog, exact: Sink) -> None:
    parts = staged(exact, ["a"], 0)
    next(Path(log.path).glob("staged/*/*")).unlink()
    with pytest.raises(SinkCommitError, match="is gone"):
        LogCommitter(log.path, "job/s").commit(0, parts)
    assert FileLog(log.path).topics().get("out", 2) == 2 and not log.read("out")


@pytest.mark.parametrize(("way", "expected"), [("fixed", [[0, 4], [0, 4]]), ("round-robin", [[2, 2], [2, 2]])])
def test_partitioners(way: str, expected: list[list[int]], log: FileLog) -> None:
    for subtask in (0, 1):
        sink = Sink(log.path, serializer(f"out-{subtask}").build(), False, way, TopicSettings(2))
        staged(sink, ["a", "b", "c", "d"], 0, subtask)
        ends = sorted(end for _, end in log.offsets(f"out-{subtask}"))
        assert ends == expected[subtask]


def test_keys_keep_their_partition_and_others_take_turns(log: FileLog) -> None:
    schema = serializer("keyed").set_key_serialization_schema(SimpleStringSchema()).build()
    sink = Sink(log.path, schema, False, settings=TopicSettings(3))
    for batch in range(3):
        staged(sink, ["21", "foobar", "abc", "x", "y"], batch)
    places = {(record.key, record.partition) for record in log.read("keyed")}
    assert len(places) == 5 and len({partition for _, partition in places}) > 1
    plain = Sink(log.path, serializer("plain").build(), False, settings=TopicSettings(3))
    for batch in range(3):
        staged(plain, ["a"], batch)
    assert log.offsets("plain") == [(0, 1)] * 3


# ---------------------------------------------------------------- mistakes


def test_a_missing_topic_names_the_closest_and_the_directory(log: FileLog) -> None:
    log.create_topic("orders")
    with pytest.raises(SourceNotFoundError, match=f"no topic 'order' at {log.path}; did you mean 'orders'"):
        builder(log, "order").build().channels(1)


def test_records_that_retention_deleted_fail_the_job(log: FileLog) -> None:
    log.create_topic("short", properties={"retention.bytes": "1", "segment.bytes": "1"})
    source = builder(log, "short").set_starting_offsets(Ends.earliest()).build()
    for value in "abc":
        log.append("short", [value])
    assert [value for block in source.scan.messages(("short", 0, 2, 3)) for value in block][0][5] == b"c"
    with pytest.raises(SourceNotFoundError, match="no longer exists"):
        list(source.scan.messages(("short", 0, 0, 3)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda made: made.set_property("auto.offset.reset", "first"), "auto.offset.reset is earliest"),
        (lambda made: made.set_property("scurry.channels", "many"), "scurry.channels must be a whole number"),
        (lambda made: made.set_starting_offsets(Ends.committed_offsets()), "call set_group_id"),
    ],
)
def test_wrong_settings_of_sources_are_refused(
    change: Callable[[FileLogSourceBuilder], FileLogSourceBuilder], message: str, log: FileLog
) -> None:
    with pytest.raises(ArgumentError, match=message):
        change(builder(log)).build()


def test_wrong_settings_of_sinks_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"num.partitions must be a whole number, at least 1, got '0'"):
        FileLogSink.builder().set_record_serializer(serializer().build()).set_property("num.partitions", "0").build()
    with pytest.raises(ArgumentError, match="default, fixed, round-robin"):
        FileLogSink.builder().set_partitioner("hash")
    with pytest.raises(ArgumentError, match="call set_record_serializer"):
        FileLogSink.builder().build()


def test_a_malformed_message_names_its_place(log: FileLog) -> None:
    class Numbers(SimpleStringSchema):
        def deserialize(self, message: bytes) -> Any:
            return str(int(message))

    with pytest.raises(JobError, match=r"topic 't', partition [01], offset 0: malformed record '[ac]'"):
        read(log, lambda made: made.set_value_only_deserializer(Numbers()))


def test_programs_that_name_no_directory_share_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(PATH_VARIABLE, raising=False)
    assert FileLog().path == str(tmp_path / "scurry-log")
    monkeypatch.setenv(PATH_VARIABLE, str(tmp_path / "elsewhere"))
    made = FileLogSource.builder().set_topics("t").set_value_only_deserializer(SimpleStringSchema()).build()
    assert made.scan.path == str(tmp_path / "elsewhere")  # type: ignore[attr-defined]
