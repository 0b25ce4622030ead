"""Tables and streams of MongoDB, on mongo-java-server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from bson import Decimal128, Int64, ObjectId
from pymongo import InsertOne, MongoClient, ReplaceOne

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.common.types import Row
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import DeliveryGuarantee
from scurry.datastream.connectors.mongodb import MongoSink, MongoSource
from scurry.errors import ArgumentError, JobError, ScurryError, UnsupportedError, ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.servers.mongodb import MongoServer

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def server() -> Iterator[MongoServer]:
    with MongoServer() as made:
        yield made


@pytest.fixture
def shop(server: MongoServer) -> Iterator[Any]:
    client: Any
    with MongoClient(server.uri) as client:
        client.drop_database("shop")
        yield client.shop


@pytest.fixture(params=["batch", "streaming"])
def env(request: pytest.FixtureRequest) -> TableEnvironment:
    settings = EnvironmentSettings.new_instance()
    settings = settings.in_batch_mode() if request.param == "batch" else settings.in_streaming_mode()
    made = TableEnvironment.create(settings.build())
    made.get_config().set("table.local-time-zone", "UTC").set("scurry.runner", "local")
    return made


def define(env: TableEnvironment, server: MongoServer, columns: str, **options: str) -> None:
    given = {"connector": "mongodb", "uri": server.uri, "database": "shop", "collection": "t"} | {
        key.replace("__", "-").replace("_", "."): value for key, value in options.items()
    }
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    env.execute_sql(f"CREATE TABLE t ({columns}) WITH ({listed})")


def rows(env: TableEnvironment, query: str) -> list[Row]:
    with env.execute_sql(query).collect() as found:
        return list(found)


COLUMNS = (
    "i INT, l BIGINT, s STRING, d DECIMAL(10, 2), f DOUBLE, b BOOLEAN, ts TIMESTAMP(3), z TIMESTAMP_LTZ(3), "
    "a ARRAY<BIGINT>, r ROW<x INT, y STRING>, m MAP<STRING, INT>, bin BYTES"
)
VALUES = (
    "1, 2, 'a', CAST(1.25 AS DECIMAL(10, 2)), 0.5e0, TRUE, TIMESTAMP '2024-02-29 01:02:03.123', "
    "TO_TIMESTAMP_LTZ(5, 3), ARRAY[CAST(1 AS BIGINT)], ROW(3, 'y'), MAP['k', 4], X'0102'"
)


def test_what_is_written_is_read(env: TableEnvironment, server: MongoServer, shop: Any) -> None:
    define(env, server, COLUMNS)
    env.execute_sql(f"INSERT INTO t SELECT {VALUES}").wait()
    (document,) = shop.t.find()
    assert isinstance(document["_id"], ObjectId)
    assert (document["l"], document["d"], document["r"]) == (Int64(2), Decimal128("1.25"), {"x": 3, "y": "y"})
    texts = "CAST(d AS STRING), CAST(ts AS STRING), CAST(z AS STRING)"
    (found,) = rows(env, f"SELECT i, l, s, f, b, {texts}, a, r, m, bin FROM t")
    assert list(found)[:8] == [
        1, 2, "a", 0.5, True, "1.25", "2024-02-29 01:02:03.123", "1970-01-01 00:00:00.005",
    ]  # fmt: skip
    assert (found[8], found[9], found[10], bytes(found[11])) == ([1], Row(3, "y"), {"k": 4}, b"\x01\x02")


def test_rows_are_written_by_their_key(env: TableEnvironment, server: MongoServer, shop: Any) -> None:
    shop.t.insert_one({"_id": "a", "k": "a", "other": 1})
    define(env, server, "k STRING, n INT, PRIMARY KEY (k) NOT ENFORCED")
    env.execute_sql("INSERT INTO t VALUES ('a', 1), ('b', 2)").wait()
    env.execute_sql("INSERT INTO t VALUES ('b', 3)").wait()
    assert list(shop.t.find().sort("_id")) == [
        {"_id": "a", "k": "a", "n": 1, "other": 1}, {"_id": "b", "k": "b", "n": 3},
    ]  # fmt: skip


def test_a_key_of_several_columns_is_a_document(env: TableEnvironment, server: MongoServer, shop: Any) -> None:
    define(env, server, "a INT, b STRING, n INT, PRIMARY KEY (a, b) NOT ENFORCED")
    env.execute_sql("INSERT INTO t VALUES (1, 'x', 2)").wait()
    assert list(shop.t.find()) == [{"_id": {"a": 1, "b": "x"}, "a": 1, "b": "x", "n": 2}]


def test_a_text_in_the_form_of_an_object_id_is_one(env: TableEnvironment, server: MongoServer, shop: Any) -> None:
    identity = "5f5f5f5f5f5f5f5f5f5f5f5f"
    define(env, server, "_id STRING, n INT, PRIMARY KEY (_id) NOT ENFORCED")
    env.execute_sql(f"INSERT INTO t VALUES ('{identity}', 1), ('plain', 2)").wait()
    assert {document["_id"] for document in shop.t.find()} == {ObjectId(identity), "plain"}
    assert sorted(rows(env, "SELECT n, _id FROM t"), key=str) == [Row(1, identity), Row(2, "plain")]


def test_rows_that_are_gone_are_deleted(server: MongoServer, shop: Any) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    define(env, server, "n BIGINT, k STRING, PRIMARY KEY (n) NOT ENFORCED", sink_buffer__flush_max__rows="1")
    env.execute_sql(
        "INSERT INTO t SELECT n, MAX(k) FROM (SELECT k, COUNT(*) AS n FROM (VALUES ('a'), ('a'), ('a')) AS x(k) "
        "GROUP BY k) GROUP BY n"
    ).wait()
    assert list(shop.t.find()) == [{"_id": 3, "n": 3, "k": "a"}]


@pytest.mark.parametrize("ordered", ["true", "false"])
def test_many_changes_of_a_key_leave_the_last(server: MongoServer, shop: Any, ordered: str) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    flush = {"sink_buffer__flush_max__rows": "3", "sink_ordered__writes": ordered}
    define(env, server, "k BIGINT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED", **flush)
    values = ", ".join(f"({n % 5})" for n in range(200))
    env.execute_sql(f"INSERT INTO t SELECT k, COUNT(*) FROM (VALUES {values}) AS x(k) GROUP BY k").wait()
    assert {document["_id"]: document["n"] for document in shop.t.find()} == dict.fromkeys(range(5), 40)


@pytest.mark.parametrize(
    "options",
    [{"strategy": "single"}, {"strategy": "pagination", "record__size": "17"}, {"strategy": "sample", "size": "1 kb"},
     {"strategy": "split-vector", "size": "2 kb", "samples": "3"}, {}],
)  # fmt: skip
def test_ranges_together_have_every_document_once(
    env: TableEnvironment, server: MongoServer, shop: Any, options: dict[str, str]
) -> None:
    # from 32 documents on, sampling by mongo-java-server, which sorts at random, fails now and then
    shop.t.insert_many([{"_id": f"id-{n:04}", "n": n, "text": "x" * 400} for n in range(30)])
    define(env, server, "n INT", **{f"scan_partition_{key}": value for key, value in options.items()})
    assert sorted(row[0] for row in rows(env, "SELECT n FROM t")) == list(range(30))


def test_ids_of_several_types_are_read(env: TableEnvironment, server: MongoServer, shop: Any) -> None:
    identities: list[Any] = [*range(30), *map(str, range(30)), ObjectId(), True]
    shop.t.insert_many([{"_id": each, "n": n} for n, each in enumerate(identities)])
    define(env, server, "n INT", scan_partition_strategy="pagination", scan_partition_record__size="7")
    assert sorted(row[0] for row in rows(env, "SELECT n FROM t")) == list(range(62))


def joined(server: MongoServer, columns: str, on: str, **options: str) -> list[Row]:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    define(env, server, columns, **options)
    env.execute_sql("CREATE TEMPORARY VIEW s AS SELECT *, PROCTIME() AS p FROM (VALUES (1, 'a'), (2, 'b')) AS x(k, v)")
    return sorted(rows(env, f"SELECT s.k, t.w FROM s JOIN t FOR SYSTEM_TIME AS OF s.p ON {on}"), key=str)


def test_documents_are_looked_up(server: MongoServer, shop: Any) -> None:
    shop.t.insert_many([{"_id": 1, "v": "a", "w": "x"}, {"_id": 2, "v": "a", "w": "y"}, {"_id": "b", "w": "z"}])
    assert joined(server, "v STRING, w STRING", "t.v = s.v") == [Row(1, "x"), Row(1, "y")]
    assert joined(server, "_id STRING, w STRING", "t._id = s.v") == [Row(2, "z")]
    cached = {"lookup_cache": "PARTIAL", "lookup_partial__cache_max__rows": "5"}
    assert joined(server, "v STRING, w STRING", "t.v = s.v", **cached) == [Row(1, "x"), Row(1, "y")]


def test_a_collection_that_is_not_there_is_empty_with_a_warning(
    env: TableEnvironment, server: MongoServer, shop: Any, caplog: pytest.LogCaptureFixture
) -> None:
    define(env, server, "n INT")
    assert rows(env, "SELECT n FROM t") == []
    assert "there is no collection shop.t ('database', 'collection')" in caplog.text


def test_a_value_that_does_not_fit_is_named(env: TableEnvironment, server: MongoServer, shop: Any) -> None:
    shop.t.insert_one({"n": "x"})
    define(env, server, "n INT")
    with pytest.raises(ScurryError, match="str of BSON: it is no whole number"):
        rows(env, "SELECT n FROM t")


@pytest.mark.parametrize(
    ("columns", "options", "error", "message"),
    [
        ("n INT", {"uri": "localhost"}, ValidationError, "no connection string of MongoDB"),
        ("n INT", {"uri": "http://a:szy7w@h"}, ValidationError, "no connection string of MongoDB"),
        ("n INT", {"collection": ""}, ValidationError, "a collection has a name"),
        ("n DATE", {}, UnsupportedError, "column 'n' is DATE"),
        ("_id INT, n INT, PRIMARY KEY (n) NOT ENFORCED", {}, ValidationError, "declare PRIMARY KEY (_id)"),
        ("n INT", {"sink_delivery__guarantee": "exactly-once"}, UnsupportedError, "leaves each document once"),
        ("n INT", {"scan_partition_strategy": "magic"}, ValidationError, "scan.partition.strategy"),
        ("n INT", {"scan_fetch__size": "0"}, ValidationError, "must be at least 1"),
        ("n INT", {"sink_max__retries": "-1"}, ValidationError, "must not be negative"),
    ],
)
def test_wrong_options_are_refused(
    env: TableEnvironment, server: MongoServer, columns: str, options: dict[str, str], error: Any, message: str
) -> None:
    define(env, server, columns, **options)
    names = "1, 1" if "_id" in columns else "DATE '2024-02-29'" if "DATE" in columns else "1"
    with pytest.raises(error) as refused:
        env.execute_sql(f"INSERT INTO t VALUES ({names})").wait()
    told = str(refused.value) + str(getattr(refused.value, "__notes__", ""))
    assert message in told
    assert "szy7w" not in told


def test_no_server_is_named_within_5_seconds(server: MongoServer) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("scurry.runner", "local")
    define(
        env, server, "n INT", uri="mongodb://ann:szy7w@127.0.0.1:9/?serverSelectionTimeoutMS=300", sink_max__retries="0"
    )
    began = time.monotonic()
    with pytest.raises(ScurryError) as read:
        rows(env, "SELECT n FROM t")
    with pytest.raises(JobError) as written:
        env.execute_sql("INSERT INTO t VALUES (1)").wait()
    assert time.monotonic() - began < 10
    for told in (str(read.value), str(written.value)):
        assert "no server of MongoDB answers at 'uri'" in told
        assert "szy7w" not in told


def test_a_document_that_is_there_is_refused_without_a_key(
    env: TableEnvironment, server: MongoServer, shop: Any
) -> None:
    shop.t.insert_one({"_id": 1})
    define(env, server, "_id INT, n INT")
    with pytest.raises(JobError, match="MongoDB refuses it: 11000"):
        env.execute_sql("INSERT INTO t VALUES (1, 2)").wait()


def test_streams_read_and_write(server: MongoServer, shop: Any) -> None:
    shop.t.insert_many([{"_id": n, "n": n, "other": "x"} for n in range(20)])
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))
    source = (
        MongoSource.builder()
        .set_uri(server.uri)
        .set_database("shop")
        .set_collection("t")
        .set_projected_fields("n")
        .set_partition_strategy("pagination")
        .set_partition_record_size(6)
        .set_deserialization_schema(lambda document: document["n"], Types.INT())
        .build()
    )
    sink = (
        MongoSink.builder()
        .set_uri(server.uri)
        .set_database("shop")
        .set_collection("u")
        .set_batch_size(7)
        .set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
        .set_serialization_schema(lambda n: ReplaceOne({"_id": n}, {"_id": n, "square": n * n}, upsert=True))
        .build()
    )
    env.from_source(source, WatermarkStrategy.no_watermarks(), "t").sink_to(sink)
    env.execute()
    assert {document["_id"]: document["square"] for document in shop.u.find()} == {n: n * n for n in range(20)}


def test_documents_of_a_stream_are_dicts(server: MongoServer, shop: Any) -> None:
    shop.t.insert_one({"_id": 1, "n": 2})
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))
    source = MongoSource.builder().set_uri(server.uri).set_database("shop").set_collection("t").build()
    with env.from_source(source, WatermarkStrategy.no_watermarks(), "t").execute_and_collect() as found:
        assert list(found) == [{"_id": 1, "n": 2}]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: MongoSource.builder().set_uri("mongodb://h").build(), ArgumentError, "set_database"),
        (lambda: MongoSink.builder().set_uri("mongodb://h").build(), ArgumentError, "set_serialization_schema"),
        (lambda: MongoSource.builder().set_partition_strategy("magic"), ArgumentError, "the strategies are single"),
        (lambda: MongoSource.builder().set_fetch_size(0), ArgumentError, "positive number"),
        (lambda: MongoSink.builder().set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE), UnsupportedError, "by id"),
        (lambda: MongoSink.builder().set_max_retries(-1), ArgumentError, "0 or more"),
    ],
)
def test_wrong_settings_of_builders_are_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_the_uri_is_not_shown(server: MongoServer) -> None:
    sink = MongoSink.builder().set_uri("mongodb://ann:szy7w@h").set_database("d").set_collection("c")
    made = sink.set_serialization_schema(InsertOne).build()
    assert "szy7w" not in repr(made)
