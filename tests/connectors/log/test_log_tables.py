"""Tables of topics of a log take the statements of Kafka's tables with one word changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from scurry.datastream.connectors.log import FileLog
from scurry.errors import JobError, ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment

#: Written for Kafka.
ORDERS = """CREATE TABLE orders (
  id INT, item STRING, amount INT,
  part INT METADATA FROM 'partition' VIRTUAL, off BIGINT METADATA FROM 'offset' VIRTUAL,
  ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', heads MAP<STRING, BYTES> METADATA FROM 'headers',
  epoch INT METADATA FROM 'leader-epoch' VIRTUAL, kind STRING METADATA FROM 'timestamp-type' VIRTUAL
) WITH ('connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'localhost:9092',
  'properties.group.id' = 'g', 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset',
  'key.format' = 'raw', 'key.fields' = 'item', 'value.format' = 'json', 'sink.delivery-guarantee' = 'exactly-once',
  'sink.transactional-id-prefix' = 'orders')"""


@pytest.fixture(params=["streaming", "batch"])
def env(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TableEnvironment:
    monkeypatch.setenv("SCURRY_LOG_DIR", str(tmp_path / "log"))
    made = TableEnvironment.create(getattr(EnvironmentSettings, f"in_{request.param}_mode")())
    made.get_config().set("scurry.runner", "local")
    return made


def create(env: TableEnvironment, options: str, key: str = "format") -> None:
    env.execute_sql(f"CREATE TABLE t (a STRING) WITH ('connector' = 'log', 'topic' = 't', '{key}' = 'json', {options})")


def rows(env: TableEnvironment, query: str) -> list[tuple[object, ...]]:
    with env.execute_sql(query).collect() as found:
        return sorted(tuple(row) for row in found)


def test_a_program_for_kafka_runs_with_one_word_changed(env: TableEnvironment) -> None:
    env.execute_sql(ORDERS.replace("'kafka'", "'log'"))
    env.execute_sql(
        "INSERT INTO orders SELECT id, item, amount, TO_TIMESTAMP_LTZ(id * 1000, 3), MAP['a', CAST('b' AS BYTES)] "
        "FROM (VALUES (1, 'tea', 2), (2, 'cup', 3), (3, 'tea', 4)) AS t (id, item, amount)"
    ).wait()
    found = rows(env, "SELECT id, item, amount, part, off, heads['a'], epoch, kind FROM orders")
    assert [row[:5] for row in found] == [(1, "tea", 2, 0, 0), (2, "cup", 3, 0, 1), (3, "tea", 4, 0, 2)]
    assert [row[5:] for row in found] == [(b"b", None, "CreateTime")] * 3
    assert [record.timestamp for record in FileLog().read("orders")] == [1000, 2000, 3000]
    assert {record.key for record in FileLog().read("orders")} == {b"tea", b"cup"}


@pytest.mark.parametrize("env", ["streaming"], indirect=True)
def test_upserts_replace_and_delete_by_key(env: TableEnvironment) -> None:
    log, keys = FileLog(), ['{"k":1}', '{"k":2}', '{"k":1}', '{"k":2}']
    log.append("p", ['{"k":1,"v":"a"}', '{"k":2,"v":"b"}', '{"k":1,"v":"c"}', None], keys)
    for name, column in (("p", "v STRING"), ("q", "n BIGINT")):
        env.execute_sql(
            f"CREATE TABLE {name} (k INT, {column}, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'upsert-log', "
            f"'topic' = '{name}', 'key.format' = 'json', 'value.format' = 'json', "
            "'scan.bounded.mode' = 'latest-offset')"
        )
    with env.execute_sql("SELECT k, v FROM p").collect() as found:
        assert [(row.get_row_kind().name, *row) for row in found] == [
            ("INSERT", 1, "a"),
            ("INSERT", 2, "b"),
            ("UPDATE_BEFORE", 1, "a"),
            ("UPDATE_AFTER", 1, "c"),
            ("DELETE", 2, "b"),
        ]
    env.execute_sql("INSERT INTO q SELECT k, COUNT(*) FROM p GROUP BY k").wait()
    last = {record.key: record.value for record in log.read("q")}
    assert {key: value for key, value in last.items() if value is not None} == {b'{"k":1}': b'{"k":1,"n":1}'}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("'format' = 'json'", "Either 'topic' or 'topic-pattern' must be set."),
        ("'topic' = 't', 'format' = 'json'", "Property group.id is required when using committed offset"),
        ("'topic' = 't', 'format' = 'json', 'scan.startup.mode' = 'x'", "Expected one of: [[earliest-offset,"),
        ("'topic' = 't', 'format' = 'json', 'partitions' = '2'", "Unsupported options found for 'log'"),
    ],
)
def test_wrong_options_are_refused_as_kafkas(options: str, message: str, env: TableEnvironment) -> None:
    env.execute_sql(f"CREATE TABLE t (a INT) WITH ('connector' = 'log', {options})")
    with pytest.raises(ValidationError) as refused:
        env.execute_sql("SELECT * FROM t")
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("'num.partitions' = 'x'", "num.partitions must be a whole number"),
        ("'key.format' = 'raw', 'key.fields' = 'a', 'sink.partitioner' = 'round-robin'", "only works when option"),
        ("'sink.partitioner' = 'hash'", "Expected one of: [[default, fixed, round-robin]]"),
    ],
)
def test_wrong_options_of_sinks_are_refused(options: str, message: str, env: TableEnvironment) -> None:
    create(env, options, "value.format")
    with pytest.raises(ValidationError) as refused:
        env.execute_sql("INSERT INTO t VALUES ('a')")
    assert message in str(refused.value)


def test_a_missing_topic_is_named_with_its_directory(env: TableEnvironment, tmp_path: Path) -> None:
    create(env, "'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset'")
    with pytest.raises((JobError, FileNotFoundError), match=f"there is no topic 't' at {tmp_path}/log"):
        rows(env, "SELECT * FROM t")


def test_settings_of_topics_are_those_of_the_sink_that_creates_them(env: TableEnvironment) -> None:
    create(env, "'num.partitions' = '3', 'sink.partitioner' = 'round-robin'")
    env.execute_sql("INSERT INTO t VALUES ('a'), ('b'), ('c')").wait()
    assert [end for _, end in FileLog().offsets("t")] == [1, 1, 1]
