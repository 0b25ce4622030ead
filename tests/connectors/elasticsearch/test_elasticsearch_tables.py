"""Tables of Elasticsearch and OpenSearch, on a server in this process."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from typing import Any

import pytest

from scurry.common.types import Row
from scurry.connectors.elasticsearch.search import Search
from scurry.connectors.http.client import HttpSettings
from scurry.errors import ScurryError, UnsupportedError, ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.servers.fake_elasticsearch import FakeElasticsearch

CONNECTORS = ("elasticsearch-6", "elasticsearch-7", "elasticsearch-8", "opensearch")


@pytest.fixture
def server() -> Iterator[FakeElasticsearch]:
    with FakeElasticsearch() as fake:
        yield fake


@pytest.fixture(params=["batch", "streaming"])
def env(request: pytest.FixtureRequest) -> TableEnvironment:
    settings = EnvironmentSettings.new_instance()
    settings = settings.in_batch_mode() if request.param == "batch" else settings.in_streaming_mode()
    made = TableEnvironment.create(settings.build())
    made.get_config().set("table.local-time-zone", "UTC").set("scurry.runner", "local")
    return made


def define(
    env: TableEnvironment, server: FakeElasticsearch, columns: str, connector: str = "elasticsearch-7", **options: str
) -> None:
    given = {"connector": connector, "hosts": server.url, "index": "i"} | {
        key.replace("__", "-").replace("_", "."): value for key, value in options.items()
    }
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    env.execute_sql(f"CREATE TABLE t ({columns}) WITH ({listed})")


def rows(env: TableEnvironment, query: str) -> list[Row]:
    with env.execute_sql(query).collect() as found:
        return list(found)


def streaming() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    made.get_config().set("scurry.runner", "local")
    return made


@pytest.mark.parametrize("connector", CONNECTORS)
def test_rows_are_documents_by_their_primary_key(
    env: TableEnvironment, server: FakeElasticsearch, connector: str
) -> None:
    own = {"document__type": "_doc"} if connector == "elasticsearch-6" else {}
    define(env, server, "k INT, d DATE, v STRING, PRIMARY KEY (k, d) NOT ENFORCED", connector, **own)
    env.execute_sql("INSERT INTO t VALUES (1, DATE '2024-02-29', 'a'), (2, DATE '2024-03-01', 'b')").wait()
    assert server.contents("i") == {
        "1_2024-02-29": {"k": 1, "d": "2024-02-29", "v": "a"},
        "2_2024-03-01": {"k": 2, "d": "2024-03-01", "v": "b"},
    }
    types = {target.get("_type") for request in server.requests for _, target in request}
    assert types == ({"_doc"} if own else {None})


def test_an_id_has_the_order_of_its_key(env: TableEnvironment, server: FakeElasticsearch) -> None:
    define(env, server, "a INT, b STRING, c INT, PRIMARY KEY (c, b, a) NOT ENFORCED")
    env.execute_sql("INSERT INTO t VALUES (1, 'x', 2)").wait()
    assert server.contents("i") == {"2_x_1": {"a": 1, "b": "x", "c": 2}}


def test_what_is_written_is_read(env: TableEnvironment, server: FakeElasticsearch) -> None:
    columns = (
        "i INT, s STRING, d DECIMAL(10, 2), f DOUBLE, b BOOLEAN, dt DATE, ts TIMESTAMP(3), "
        "z TIMESTAMP_LTZ(3), a ARRAY<INT>, r ROW<x INT, y STRING>, bin VARBINARY(10)"
    )
    define(env, server, columns)
    env.execute_sql(
        "INSERT INTO t SELECT 1, 'ä', CAST(1.25 AS DECIMAL(10, 2)), 0.5e0, TRUE, DATE '2024-02-29', "
        "TIMESTAMP '2024-02-29 01:02:03.123', TO_TIMESTAMP_LTZ(0, 3), ARRAY[1, 2], ROW(3, 'y'), X'0102'"
    ).wait()
    (found,) = rows(
        env, "SELECT i, s, d, f, b, CAST(dt AS STRING), CAST(ts AS STRING), CAST(z AS STRING), a, r, bin FROM t"
    )
    assert [str(each) for each in found[:8]] == [
        "1", "ä", "1.25", "0.5", "True", "2024-02-29", "2024-02-29 01:02:03.123", "1970-01-01 00:00:00.000",
    ]  # fmt: skip
    assert (found[8], found[9], bytes(found[10])) == ([1, 2], Row(3, "y"), b"\x01\x02")


def test_without_a_key_each_row_is_a_document(env: TableEnvironment, server: FakeElasticsearch) -> None:
    define(env, server, "v INT")
    env.execute_sql("INSERT INTO t VALUES (1), (1), (2)").wait()
    assert sorted(each["v"] for each in server.contents("i").values()) == [1, 1, 2]


def test_changes_of_a_query_update_and_delete(server: FakeElasticsearch) -> None:
    env = streaming()
    define(env, server, "k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED")
    server.documents["i"] = {"a": ({"k": "a", "n": 9, "other": True}, 1)}
    env.execute_sql(
        "INSERT INTO t SELECT k, COUNT(*) FROM (VALUES ('a'), ('b'), ('a'), ('c')) AS x(k) GROUP BY k HAVING k <> 'c'"
    ).wait()
    assert server.contents("i") == {"a": {"k": "a", "n": 2, "other": True}, "b": {"k": "b", "n": 1}}


def test_rows_that_are_gone_are_deleted(server: FakeElasticsearch) -> None:
    env = streaming()
    define(env, server, "n BIGINT, k STRING, PRIMARY KEY (n) NOT ENFORCED", sink_bulk__flush_max__actions="1")
    env.execute_sql(
        "INSERT INTO t SELECT n, MAX(k) FROM (SELECT k, COUNT(*) AS n FROM (VALUES ('a'), ('a'), ('a')) AS x(k) "
        "GROUP BY k) GROUP BY n"
    ).wait()
    assert server.contents("i") == {"3": {"n": 3, "k": "a"}}


def test_updates_without_a_key_are_refused(server: FakeElasticsearch) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    define(env, server, "n BIGINT")
    with pytest.raises(ValidationError, match="please declare primary key for sink table"):
        env.execute_sql("INSERT INTO t SELECT COUNT(*) FROM (VALUES (1), (2)) AS x(k)")


@pytest.mark.parametrize(
    ("index", "name"),
    [("logs-{level}", "logs-warn"), ("{d|yyyy.MM}-x", "2024.02-x"), ("a-{ts|yyyy-MM-dd HH}", "a-2024-02-29 01"),
     ("a-{d|}", "a-2024_02_29"), ("plain", "plain"), ("z-{z|yyyy-MM-dd HH:mm}", "z-1970-01-01 00:01")],
)  # fmt: skip
def test_the_index_is_made_of_a_column(env: TableEnvironment, server: FakeElasticsearch, index: str, name: str) -> None:
    define(env, server, "level STRING, d DATE, ts TIMESTAMP(3), z TIMESTAMP_LTZ(3)", index=index)
    env.execute_sql(
        "INSERT INTO t VALUES ('warn', DATE '2024-02-29', TIMESTAMP '2024-02-29 01:02:03', TO_TIMESTAMP_LTZ(90000, 3))"
    ).wait()
    assert list(server.documents) == [name]


def test_the_index_is_made_of_the_clock(env: TableEnvironment, server: FakeElasticsearch) -> None:
    define(env, server, "v INT", index="logs-{now()|yyyy}")
    env.execute_sql("INSERT INTO t VALUES (1)").wait()
    assert list(server.documents) == [f"logs-{datetime.datetime.now(datetime.UTC).year}"]


def test_an_older_version_does_not_replace_a_newer_row(env: TableEnvironment, server: FakeElasticsearch) -> None:
    define(env, server, "k INT, v STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED", sink_version_column="n")
    env.execute_sql("INSERT INTO t VALUES (1, 'new', 7)").wait()
    env.execute_sql("INSERT INTO t VALUES (1, 'old', 6), (2, 'x', 1)").wait()
    assert server.contents("i") == {"1": {"k": 1, "v": "new", "n": 7}, "2": {"k": 2, "v": "x", "n": 1}}


@pytest.mark.parametrize("slices", ["1", "3", "7"])
def test_slices_together_have_every_document_once(
    env: TableEnvironment, server: FakeElasticsearch, slices: str
) -> None:
    server.documents["i"] = {str(n): ({"v": n, "ignored": [1]}, 1) for n in range(50)}
    define(env, server, "v INT", scan_partition_num=slices, scan_fetch__size="8")
    assert sorted(row[0] for row in rows(env, "SELECT v FROM t")) == list(range(50))
    assert server.open_scrolls == 0


def test_an_answer_without_some_shards_fails_the_reading(env: TableEnvironment, server: FakeElasticsearch) -> None:
    server.documents["i"] = {"1": ({"v": 1}, 1)}
    server.failed_shards = 1
    define(env, server, "v INT")
    assert "without 1 of 2 shards: [{'reason': {'type': 'node_disconnected'}}]" in failure(
        lambda: rows(env, "SELECT v FROM t")
    )


def test_a_lookup_without_some_shards_fails(server: FakeElasticsearch) -> None:
    env = streaming()
    server.documents["i"] = {"1": ({"k": 1, "v": "a", "w": "x"}, 1)}
    server.failed_shards = 2
    define(env, server, "k INT, v STRING, w STRING")
    assert "without 2 of 2 shards" in failure(lambda: joined(env, "v"))


def test_a_search_that_the_server_has_ended_is_not_an_index_that_is_not_there(server: FakeElasticsearch) -> None:
    server.documents["i"] = {str(n): ({"v": n}, 1) for n in range(4)}
    pages = Search(HttpSettings((server.url,)), "i").pages(0, 1, 2, ["v"])
    assert len(next(pages)) == 2
    server.end_scrolls()
    assert "has ended a search of index 'i', of which no page was fetched for 5m" in failure(lambda: next(pages))


def test_columns_that_a_document_lacks_are_null(env: TableEnvironment, server: FakeElasticsearch) -> None:
    server.documents["i"] = {"1": ({"v": 1}, 1)}
    define(env, server, "v INT, w STRING")
    assert rows(env, "SELECT w, v FROM t") == [Row(None, 1)]
    assert rows(env, "SELECT COUNT(*) FROM t")[-1][0] == 1


def test_a_document_that_does_not_fit_is_named(env: TableEnvironment, server: FakeElasticsearch) -> None:
    server.documents["i"] = {"1": ({"v": "x"}, 1)}
    define(env, server, "v INT")
    with pytest.raises(ScurryError, match="document i/1") as failed:
        rows(env, "SELECT v FROM t")
    assert "json.ignore-parse-errors" in str(failed.value) + str(getattr(failed.value, "__notes__", ""))


def joined(env: TableEnvironment, key: str) -> list[Row]:
    env.execute_sql("CREATE TEMPORARY VIEW s AS SELECT *, PROCTIME() AS p FROM (VALUES (1, 'a'), (2, 'b')) AS x(k, v)")
    return sorted(rows(env, f"SELECT s.k, t.w FROM s JOIN t FOR SYSTEM_TIME AS OF s.p ON t.{key} = s.{key}"), key=str)


def test_lookups_by_the_primary_key_ask_for_ids(server: FakeElasticsearch) -> None:
    env = streaming()
    define(env, server, "k INT, v STRING, w STRING, PRIMARY KEY (k) NOT ENFORCED")
    server.documents["i"] = {"1": ({"k": 1, "v": "a", "w": "x"}, 1)}
    assert joined(env, "k") == [Row(1, "x")]
    assert {re.sub(r".*/_doc/", "", path) for path in server.paths} == {"1", "2"}


def test_lookups_by_the_primary_key_name_the_type_of_elasticsearch_6(server: FakeElasticsearch) -> None:
    env = streaming()
    server.document_type = "person"
    own = {"document__type": "person"}
    define(env, server, "k INT, v STRING, w STRING, PRIMARY KEY (k) NOT ENFORCED", "elasticsearch-6", **own)
    server.documents["i"] = {"1": ({"k": 1, "v": "a", "w": "x"}, 1)}
    assert joined(env, "k") == [Row(1, "x")]


def test_lookups_by_another_column_search_for_its_whole_value(server: FakeElasticsearch) -> None:
    env = streaming()
    server.mapping = {"v": {"type": "text", "fields": {"keyword": {"type": "keyword"}}}}
    define(env, server, "k INT, v STRING, w STRING, PRIMARY KEY (k) NOT ENFORCED")
    server.documents["i"] = {str(n): ({"k": n, "v": "a", "w": f"x{n}"}, 1) for n in range(2)}
    assert joined(env, "v") == [Row(1, "x0"), Row(1, "x1")]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"hosts": "localhost"}, ValidationError, "Could not parse host in option 'hosts'"),
        ({"hosts": "http://ann:szy7w@h:1"}, ValidationError, "neither user nor path"),
        ({"username": "ann"}, ValidationError, "'username' and 'password' must be set at the same time"),
        ({"failure__handler": "org.x.H"}, UnsupportedError, "classes of Java do not run here"),
        ({"sink_delivery__guarantee": "exactly-once"}, UnsupportedError, "no transactions"),
        ({"format": "csv"}, ValidationError, "documents are JSON objects"),
        ({"index": "{a}-{b}"}, ValidationError, "only support single dynamic index pattern"),
        ({"index": "{nam}"}, ValidationError, "Unknown field 'nam'"),
        ({"index": "{name|yyyy}"}, ValidationError, "time-related pattern only"),
        ({"index": "{now()|yyyy}"}, ValidationError, "only works on append only stream"),
        ({"sink_version_column": "name"}, ValidationError, "of type BIGINT or INT"),
        ({"sink_bulk__flush_backoff_delay": "0 s"}, ValidationError, "must be at least 1"),
        ({"sink_bulk__flush_max__size": "many"}, ValidationError, "sink.bulk-flush.max-size"),
        ({"scan_fetch__sise": "1"}, ValidationError, "did you mean 'scan.fetch-size'"),
    ],
)
def test_wrong_options_are_refused(
    env: TableEnvironment, server: FakeElasticsearch, options: dict[str, str], error: type[Exception], message: str
) -> None:
    define(env, server, "k INT, name STRING, PRIMARY KEY (k) NOT ENFORCED", **options)
    with pytest.raises(error) as refused:
        env.execute_sql("INSERT INTO t VALUES (1, 'a')").wait()
    told = str(refused.value) + str(getattr(refused.value, "__notes__", ""))
    assert message in told
    assert "szy7w" not in told


def test_a_pattern_cannot_be_read(env: TableEnvironment, server: FakeElasticsearch) -> None:
    define(env, server, "level STRING", index="logs-{level}")
    with pytest.raises(ValidationError, match=r"'index' = 'logs-\*'"):
        rows(env, "SELECT * FROM t")


@pytest.mark.parametrize("kind", ["BYTES", "ARRAY<INT>", "ROW<a INT>"])
def test_keys_without_a_text_are_refused(env: TableEnvironment, server: FakeElasticsearch, kind: str) -> None:
    define(env, server, f"k {kind}, PRIMARY KEY (k) NOT ENFORCED")
    with pytest.raises(ValidationError, match="primary key on columns of illegal types: k"):
        rows(env, "SELECT * FROM t")


def failure(action: Any) -> str:
    with pytest.raises(ScurryError) as failed:
        action()
    return str(failed.value)


def test_an_index_that_is_not_there_is_named(env: TableEnvironment, server: FakeElasticsearch) -> None:
    define(env, server, "v INT")
    assert "has no index 'i' ('index')" in failure(lambda: rows(env, "SELECT * FROM t"))


def test_a_wrong_password_is_named(env: TableEnvironment, server: FakeElasticsearch) -> None:
    server.password = "right"
    define(env, server, "v INT", username="ann", password="wrongszy7w")
    for action in (lambda: rows(env, "SELECT * FROM t"), lambda: env.execute_sql("INSERT INTO t VALUES (1)").wait()):
        told = failure(action)
        assert "check 'username' and 'password'" in told
        assert "szy7w" not in told
