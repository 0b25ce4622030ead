"""Streams of a real NATS server, as streams and as tables."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import nats
import pytest

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.common.serialization import SimpleStringSchema
from scurry.common.typeinfo import TypeInformation
from scurry.connectors.log.directory import LogDirectory
from scurry.connectors.sink import WriterContext
from scurry.connectors.source import BatchLimits
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import DeliveryGuarantee
from scurry.datastream.connectors.nats import NatsMessage, NatsSink, NatsSource
from scurry.errors import (
    ArgumentError,
    ConnectorError,
    JobError,
    SinkConnectionError,
    SourceConnectionError,
    SourceNotFoundError,
)
from scurry.table import EnvironmentSettings, TableEnvironment
from support.servers.nats import NatsServer
from support.servers.process import free_ports

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def server() -> Iterator[NatsServer]:
    with NatsServer() as made:
        yield made


@pytest.fixture
def url(server: NatsServer) -> str:
    return f"nats://127.0.0.1:{server.port}"


def with_stream(url: str, name: str, messages: list[tuple[str, str]], delete_up_to: int = 0, **settings: Any) -> None:
    async def make() -> None:
        connection = await nats.connect(url)
        jetstream = connection.jetstream()
        await jetstream.add_stream(name=name, subjects=[f"{name}.*"], **settings)
        for subject, text in messages:
            await jetstream.publish(f"{name}.{subject}", text.encode(), headers={"h": "v"})
        if delete_up_to:
            await jetstream.purge_stream(name, seq=delete_up_to)
        await connection.close()

    asyncio.run(make())


def environment() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))


def read(builder: Any) -> list[Any]:
    stream = environment().from_source(builder.set_bounded().build(), WatermarkStrategy.no_watermarks(), "messages")
    with stream.execute_and_collect() as found:
        return list(found)


def source(url: str, stream: str) -> Any:
    builder = NatsSource.builder().set_servers(url).set_stream(stream)
    return builder.set_value_only_deserializer(SimpleStringSchema())


def sink(url: str, subject: str) -> Any:
    builder = NatsSink.builder().set_servers(url).set_subject(subject)
    return builder.set_value_serialization_schema(SimpleStringSchema())


def test_what_a_sink_publishes_is_read(url: str) -> None:
    with_stream(url, "there", [])
    texts = [str(number) for number in range(3000)]
    env = environment()
    env.from_collection(texts, Types.STRING()).sink_to(sink(url, "there.a").build())
    env.execute()
    assert sorted(read(source(url, "there")), key=int) == texts


class Whole:
    def deserialize(self, message: NatsMessage) -> Any:
        return message.subject, message.sequence, message.data, dict(message.headers)

    def get_produced_type(self) -> TypeInformation:
        return Types.PICKLED_BYTE_ARRAY()


def test_complete_messages_of_some_subjects_begin_where_they_should(url: str) -> None:
    with_stream(url, "some", [("a", "1"), ("b", "2"), ("a", "3"), ("b", "4")])
    whole = NatsSource.builder().set_servers(url).set_stream("some").set_subject("some.a").set_deserializer(Whole())
    assert read(whole) == [("some.a", 1, b"1", {"h": "v"}), ("some.a", 3, b"3", {"h": "v"})]
    assert read(source(url, "some").set_starting_position(3)) == ["3", "4"]
    assert read(source(url, "some").set_starting_position("latest")) == []
    assert read(source(url, "some").set_starting_position("timestamp:1")) == ["1", "2", "3", "4"]


def test_a_range_is_read_again_without_what_was_deleted_in_it(url: str) -> None:
    with_stream(url, "holes", [("a", str(number)) for number in range(1, 6)])

    async def delete() -> None:
        connection = await nats.connect(url)
        await connection.jetstream().delete_msg("holes", 5)
        await connection.close()

    asyncio.run(delete())
    made = source(url, "holes").build()
    (assignment,) = made.create_enumerator(1, BatchLimits()).next_batch()
    for _ in range(2):
        (block,) = made.scan.messages(assignment.work[0])
        assert [message.sequence for message in block] == [1, 2, 3, 4]


def test_deleted_messages_that_were_not_read_are_named(url: str) -> None:
    with_stream(url, "gone", [("a", str(number)) for number in range(5)], delete_up_to=4)
    enumerator = source(url, "gone").build().create_enumerator(1, BatchLimits())
    enumerator.restore({"splits": [["gone", 1]], "channels": 1, "final": []})
    with pytest.raises(SourceNotFoundError, match="sequence 2 was deleted before .* first one that is left has"):
        enumerator.next_batch()
    enumerator.close()
    assert read(source(url, "gone")) == ["3", "4"]


def test_a_repeated_batch_leaves_no_duplicates(url: str) -> None:
    with_stream(url, "ids", [])
    made = sink(url, "ids.a").build()
    for _ in range(2):
        writer = made.create_writer(WriterContext(0, 1, 7, "job/1"))
        writer.write(["a", "b"])
        writer.prepare_commit()
    assert read(source(url, "ids")) == ["a", "b"]


def test_a_repeated_batch_with_other_records_loses_none(url: str) -> None:
    with_stream(url, "others", [])
    made = sink(url, "others.a").build()
    for texts in (["a", "a"], ["b", "a", "c", "a"]):
        writer = made.create_writer(WriterContext(0, 1, 7, "job/2"))
        writer.write(texts)
        writer.prepare_commit()
    assert sorted(read(source(url, "others"))) == ["a", "a", "b", "c"]


@pytest.mark.parametrize("dies_at", [2, 3])
def test_exactly_once_finds_what_an_earlier_driver_published(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dies_at: int
) -> None:
    name = f"once-{dies_at}"
    with_stream(url, name, [], duplicate_window=0.1)
    made = (
        sink(url, f"{name}.a")
        .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .set_staging_dir(str(tmp_path / "staging"))
        .build()
    )
    notes = [0]

    def note(log: LogDirectory, *given: Any) -> None:
        notes[0] += 1
        if notes[0] == dies_at:
            raise KeyboardInterrupt  # what was published is in the stream, and not noted
        noted(log, *given)

    noted = LogDirectory.commit
    monkeypatch.setattr(LogDirectory, "commit", note)
    for batch, texts in enumerate([["a", "a"], ["b", "c"], ["d"]]):
        for attempt in (texts, ["of another attempt"]):
            writer = made.create_writer(WriterContext(0, 1, batch, "job/1"))
            writer.write(attempt)
            committer = made.create_committer("job/1")
            with suppress(KeyboardInterrupt):
                committer.commit(batch, writer.prepare_commit())
            committer.finish()
            time.sleep(0.3)  # longer than the stream knows ids
    assert notes[0] > dies_at
    assert read(source(url, name)) == ["a", "a", "b", "c", "d"]


def test_exactly_once_needs_a_stream_that_keeps_messages(url: str, tmp_path: Path) -> None:
    with_stream(url, "work", [], retention="workqueue")
    builder = sink(url, "work.a").set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    committer = builder.set_staging_dir(str(tmp_path)).build().create_committer("job/1")
    with pytest.raises(ConnectorError, match="use a stream with retention=limits, or AT_LEAST_ONCE"):
        committer.commit(0, [[("work.a", None, b"a", 0, None)]])


def test_a_server_that_is_not_there_fails_the_first_exactly_once_batch(tmp_path: Path) -> None:
    builder = sink(f"nats://127.0.0.1:{free_ports(1)[0]}", "a").set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    committer = builder.set_staging_dir(str(tmp_path)).build().create_committer("job/1")
    with pytest.raises(SinkConnectionError, match="check servers, and that one runs there"):
        committer.commit(0, [[("a", None, b"a", 0, None)]])


def test_a_long_range_is_read_in_parts(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_stream(url, "long", [("a", str(number)) for number in range(7)])
    monkeypatch.setattr("scurry.connectors.nats.streams.MOST_AHEAD", 3)
    scan = source(url, "long").set_bounded().build().scan
    (part,) = scan.parts()
    assert [[message.sequence for message in block] for block in scan.messages(part)] == [[1, 2, 3], [4, 5, 6], [7]]


def test_tables_read_in_batch_and_in_streaming(url: str) -> None:
    with_stream(url, "letters", [])
    for settings in (EnvironmentSettings.in_streaming_mode(), EnvironmentSettings.in_batch_mode()):
        env = TableEnvironment.create(settings)
        env.get_config().set("scurry.runner", "local")
        env.execute_sql(
            "CREATE TABLE letters (text STRING, headers MAP<STRING, BYTES> METADATA, subject STRING METADATA VIRTUAL, "
            "`sequence` BIGINT METADATA VIRTUAL) "
            f"WITH ('connector' = 'nats', 'servers' = '{url}', 'stream' = 'letters', 'subject' = 'letters.a', "
            "'format' = 'json', 'scan.bounded.mode' = 'latest-offset')"
        )
        if settings.is_streaming_mode():
            env.execute_sql("INSERT INTO letters VALUES ('tea', MAP['h', ENCODE('v', 'UTF-8')])").wait()
        with env.execute_sql("SELECT text, headers['h'], subject, `sequence` FROM letters").collect() as rows:
            assert list(map(tuple, rows)) == [("tea", b"v", "letters.a", 1)]


def test_what_cannot_work_is_refused(url: str) -> None:
    with pytest.raises(SourceNotFoundError, match="stream not found; check stream"):
        source(url, "none").build().create_enumerator(1, BatchLimits()).next_batch()
    with pytest.raises(SourceConnectionError, match="check servers, and that one runs there"):
        source(f"nats://ann:wzy7w@127.0.0.1:{free_ports(1)[0]}", "s").build().create_enumerator(
            1, BatchLimits()
        ).next_batch()
    with pytest.raises(ArgumentError, match="needs a staging directory, because NATS has no transactions"):
        sink(url, "a").set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).build()
    with pytest.raises(ArgumentError, match="a position is"):
        source(url, "a").set_starting_position(0)


def test_a_subject_that_no_stream_stores_fails_the_job(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scurry.connectors.queues.positions.patiently.__defaults__", (0.0,))
    env = environment()
    env.from_collection(["a"], Types.STRING()).sink_to(sink(url, "nowhere").build())
    with pytest.raises(JobError, match="no stream stores messages of subject 'nowhere'"):
        env.execute()
