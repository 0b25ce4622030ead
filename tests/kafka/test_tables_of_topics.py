"""Tables of topics on a real broker: `'connector' = 'kafka'` and `'upsert-kafka'`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scurry.errors import ScurryError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.kafka.broker import Kafka
from support.statements.tables import rows

pytestmark = pytest.mark.kafka


@pytest.fixture
def env() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.get_config().set("table.local-time-zone", "UTC").set("scurry.runner", "local")
    return made


def define(env: TableEnvironment, kafka: Kafka, name: str, columns: str, **options: str) -> None:
    given = {"connector": "kafka", "properties.bootstrap.servers": kafka.address, **options}
    listed = ", ".join(f"'{key.replace('_', '.')}' = '{value}'" for key, value in given.items())
    env.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({listed})")


def bounded(topic: str, **options: str) -> dict[str, str]:
    return {
        "topic": topic,
        "scan.startup.mode": "earliest-offset",
        "scan.bounded.mode": "latest-offset",
        **options,
    }


def test_keys_values_and_metadata_are_columns(env: TableEnvironment, kafka: Kafka) -> None:
    topic = kafka.topic(2)
    columns = (
        "k_id INT, name STRING, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', h MAP<STRING, BYTES> METADATA FROM "
        "'headers', part BIGINT METADATA FROM 'partition' VIRTUAL, off BIGINT METADATA FROM 'offset' VIRTUAL, "
        "topic STRING METADATA VIRTUAL, kind STRING METADATA FROM 'timestamp-type' VIRTUAL"
    )
    options = {
        "key.format": "raw", "key.fields": "k_id", "key.fields-prefix": "k_", "value.fields-include": "EXCEPT_KEY",
        "value.format": "json",
    }  # fmt: skip
    define(env, kafka, "t", columns, **bounded(topic, **options))
    instant = "TO_TIMESTAMP_LTZ(1700000000123, 3)"
    none = "CAST(NULL AS MAP<STRING, BYTES>)"
    env.execute_sql(f"INSERT INTO t VALUES (7, 'a', {instant}, MAP['x', x'01']), (8, 'b', {instant}, {none})").wait()
    found = rows(env, "SELECT k_id, name, CAST(ts AS STRING), h['x'], part IN (0, 1), off, topic, kind FROM t")
    assert [row[:4] for row in found] == [
        (7, "a", "2023-11-14 22:13:20.123", b"\x01"),
        (8, "b", "2023-11-14 22:13:20.123", None),
    ]
    assert all(row[4] and row[6:] == (topic, "CreateTime") for row in found)
    assert rows(env, "SELECT COUNT(*) FROM t") == [(2,)]


def test_messages_of_protobuf_are_written_and_read(env: TableEnvironment, kafka: Kafka) -> None:
    message = "google.protobuf.descriptor_pb2.EnumDescriptorProto"
    options = {"format": "protobuf", "protobuf.message-class-name": message}
    columns = "name STRING, `value` ARRAY<ROW<name STRING, number INT>>"
    define(env, kafka, "t", columns, **bounded(kafka.topic(), **options))
    null = "CAST(NULL AS ARRAY<ROW<name STRING, number INT>>)"
    env.execute_sql(f"INSERT INTO t VALUES ('c', ARRAY[ROW('RED', 0), ROW('BLUE', 5)]), ('d', {null})").wait()
    assert rows(env, "SELECT name, `value`[2].name, `value`[2].number FROM t") == [("c", "BLUE", 5), ("d", None, None)]


def test_ranges_of_offsets_are_read(env: TableEnvironment, kafka: Kafka) -> None:
    topic = kafka.topic()
    define(env, kafka, "t", "a INT", **bounded(topic, format="csv"))
    env.execute_sql("INSERT INTO t VALUES 0, 1, 2, 3, 4").wait()
    between = {
        "scan.startup.mode": "specific-offsets", "scan.startup.specific-offsets": "partition:0,offset:1",
        "scan.bounded.mode": "specific-offsets", "scan.bounded.specific-offsets": "partition:0,offset:3",
    }  # fmt: skip
    define(env, kafka, "u", "a INT", topic=topic, format="csv", **between)
    assert rows(env, "SELECT a FROM u") == [(1,), (2,)]


def test_upserts_have_the_key_in_the_message(env: TableEnvironment, kafka: Kafka) -> None:
    topic = kafka.topic()
    formats = {"key.format": "json", "value.format": "json"}
    columns = "id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED"
    define(env, kafka, "t", columns, connector="upsert-kafka", topic=topic, **formats)
    env.execute_sql("INSERT INTO t VALUES (1, 'a'), (1, 'b')").wait()
    raw = {"key.format": "raw", "key.fields": "k", "value.fields-include": "EXCEPT_KEY", "value.format": "raw"}
    define(env, kafka, "u", "k STRING, v STRING", **bounded(topic, **raw))
    assert rows(env, "SELECT k, v FROM u") == [
        ('{"id":1}', '{"id":1,"name":"a"}'),
        ('{"id":1}', '{"id":1,"name":"b"}'),
    ]


def test_upserts_and_deletions_are_read_as_changes_by_key(kafka: Kafka, tmp_path: Path) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local").set("parallelism.default", "2")
    one, other, third = ({"id": id, "v": value} for id, value in ((1, 5), (2, 6), (1, 7)))
    messages = [(None, one), (None, other), (one, third), (other, None)]
    lines = [json.dumps({"before": old, "after": new, "op": "u" if old and new else "d" if old else "c"})
             for old, new in messages]  # fmt: skip
    (tmp_path / "f").write_text("\n".join(lines) + "\n")
    env.execute_sql(
        "CREATE TABLE c (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'filesystem', "
        f"'path' = '{tmp_path}', 'format' = 'debezium-json')"
    )
    formats = {"key.format": "json", "value.format": "json", "scan.bounded.mode": "latest-offset"}
    columns = "id INT, v INT, PRIMARY KEY (id) NOT ENFORCED"
    define(env, kafka, "t", columns, connector="upsert-kafka", topic=kafka.topic(2), **formats)
    env.execute_sql("INSERT INTO t SELECT * FROM c").wait()
    with env.execute_sql("SELECT * FROM t").collect() as found:
        by_id: dict[int, list[tuple[str, int]]] = {1: [], 2: []}
        for row in found:
            by_id[row[0]].append((str(row.get_row_kind()), row[1]))
    assert by_id == {1: [("+I", 5), ("-U", 5), ("+U", 7)], 2: [("+I", 6), ("-D", 6)]}
    with env.execute_sql("SELECT COUNT(*), SUM(v) FROM t").collect() as found:
        assert tuple(list(found)[-1]) == (1, 7)


def test_streaming_reads_new_messages_through_the_enumerator_of_streams(kafka: Kafka) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    topic = kafka.topic(2)
    kafka.write(topic, ['{"a": 1}', '{"a": 2}'])
    kafka.write(topic, ['{"a": 3}'], 1)
    define(env, kafka, "t", "a INT", **bounded(topic, format="json"))
    assert rows(env, "SELECT a FROM t WHERE a > 1") == [(2,), (3,)]


def test_a_message_that_cannot_be_read_is_named_with_its_place(kafka: Kafka) -> None:
    topic = kafka.topic(1)
    kafka.write(topic, ['{"n": 1}', "no json", '{"n": 3}'])
    streaming = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    streaming.get_config().set("scurry.runner", "local").set("parallelism.default", "1")
    define(streaming, kafka, "t", "n INT", **bounded(topic, format="json"))
    with pytest.raises(ScurryError, match=rf"{topic}.*offset 1"):
        rows(streaming, "SELECT n FROM t")
    define(streaming, kafka, "u", "n INT", **bounded(topic, format="json"), **{"json.ignore-parse-errors": "true"})
    assert rows(streaming, "SELECT n FROM u") == [(1,), (3,)]


def test_keys_that_wait_are_written_once(env: TableEnvironment, kafka: Kafka) -> None:
    topic = kafka.topic(1)
    options = {
        "connector": "upsert-kafka", "topic": topic, "key.format": "json", "value.format": "json",
        "sink.buffer-flush.max-rows": "100", "sink.buffer-flush.interval": "10 s",
    }  # fmt: skip
    define(env, kafka, "t", "k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED", **options)
    env.execute_sql("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (1, 'c')").wait()
    assert kafka.read(topic) == ['{"k":1,"v":"c"}', '{"k":2,"v":"b"}']
