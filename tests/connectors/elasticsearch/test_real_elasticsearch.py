"""Tables of Elasticsearch 7.10 and OpenSearch 2.19, on their servers."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from scurry.common import Configuration, Types
from scurry.common.types import Row
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.elasticsearch import Elasticsearch7SinkBuilder, ElasticsearchEmitter
from scurry.errors import JobError, SourceNotFoundError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.servers.opensearch import ElasticsearchServer, OpenSearchServer

pytestmark = [pytest.mark.servers, pytest.mark.nightly]


@pytest.fixture(scope="module", params=[OpenSearchServer, ElasticsearchServer])
def server(request: pytest.FixtureRequest) -> Iterator[OpenSearchServer]:
    with request.param() as made:
        yield made


@pytest.fixture
def env() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.get_config().set("table.local-time-zone", "UTC").set("scurry.runner", "local")
    return made


def define(env: TableEnvironment, server: OpenSearchServer, columns: str, index: str, **options: str) -> None:
    connector = "opensearch" if server.product == "opensearch" else options.pop("connector", "elasticsearch-7")
    given = {"connector": connector, "hosts": server.url, "index": index} | {
        key.replace("__", "-").replace("_", "."): value for key, value in options.items()
    }
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    env.execute_sql(f"CREATE TABLE `{index}` ({columns}) WITH ({listed})")


def rows(env: TableEnvironment, query: str) -> list[Row]:
    with env.execute_sql(query).collect() as found:
        return list(found)


COLUMNS = (
    "i INT, s STRING, d DECIMAL(10, 2), f DOUBLE, b BOOLEAN, dt DATE, ts TIMESTAMP(3), a ARRAY<INT>, "
    "r ROW<x INT, y STRING>, PRIMARY KEY (i) NOT ENFORCED"
)


def test_what_is_written_is_read(env: TableEnvironment, server: OpenSearchServer) -> None:
    server.ask("PUT", "/types", {"settings": {"number_of_shards": 3}})
    define(env, server, COLUMNS, "types")
    values = ", ".join(
        f"({n}, 's{n}', CAST(1.25 AS DECIMAL(10, 2)), 0.5e0, TRUE, DATE '2024-02-29', TIMESTAMP '2024-02-29 01:02:03', "
        f"ARRAY[1, {n}], ROW({n}, 'y'))"
        for n in range(2500)
    )
    env.execute_sql(f"INSERT INTO types VALUES {values}").wait()
    server.ask("POST", "/types/_refresh")
    found = sorted(
        rows(env, "SELECT i, s, CAST(d AS STRING), b, CAST(ts AS STRING), a, r FROM types"), key=lambda r: r[0]
    )
    assert found == [Row(n, f"s{n}", "1.25", True, "2024-02-29 01:02:03.000", [1, n], Row(n, "y")) for n in range(2500)]


def test_newer_rows_replace_older_ones_by_version(env: TableEnvironment, server: OpenSearchServer) -> None:
    columns = "k STRING, v STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED"
    define(env, server, columns, "versions", sink_version_column="n")
    for v, n in (("new", 7), ("old", 6), ("same", 7)):
        env.execute_sql(f"INSERT INTO versions VALUES ('a', '{v}', {n})").wait()
    server.ask("POST", "/versions/_refresh")
    assert rows(env, "SELECT v, n FROM versions") == [Row("same", 7)]


def test_a_document_that_the_mapping_refuses_fails_or_is_left_out(
    env: TableEnvironment, server: OpenSearchServer
) -> None:
    server.ask("PUT", "/strict", {"mappings": {"properties": {"v": {"type": "integer"}}}})
    define(env, server, "v STRING", "strict", failure__handler="ignore")
    env.execute_sql("INSERT INTO strict VALUES ('1'), ('x'), ('3')").wait()
    server.ask("POST", "/strict/_refresh")
    assert sorted(row[0] for row in rows(env, "SELECT v FROM strict")) == ["1", "3"]
    env.execute_sql("DROP TABLE strict")
    define(env, server, "v STRING", "strict")
    with pytest.raises(JobError, match="is refused: 400 (mapper|document)_parsing_exception"):
        env.execute_sql("INSERT INTO strict VALUES ('x')").wait()


def test_lookups_by_id_and_by_a_text(server: OpenSearchServer) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    define(env, server, "k INT, v STRING, w STRING, PRIMARY KEY (k) NOT ENFORCED", "looked")
    env.execute_sql("INSERT INTO looked VALUES (1, 'a b', 'x'), (2, 'a b', 'y'), (3, 'c', 'z')").wait()
    server.ask("POST", "/looked/_refresh")
    env.execute_sql(
        "CREATE TEMPORARY VIEW s AS SELECT *, PROCTIME() AS p FROM (VALUES (1, 'a b'), (9, 'b')) AS x(k, v)"
    )
    for key, expected in (("k", [Row(1, "x")]), ("v", [Row(1, "x"), Row(1, "y")])):
        query = f"SELECT s.k, t.w FROM s JOIN looked FOR SYSTEM_TIME AS OF s.p AS t ON t.{key} = s.{key}"
        assert sorted(rows(env, query), key=str) == expected


def test_an_index_that_is_not_there(env: TableEnvironment, server: OpenSearchServer) -> None:
    define(env, server, "v STRING", "nowhere")
    began = time.monotonic()
    with pytest.raises(SourceNotFoundError, match="no index 'nowhere'"):
        rows(env, "SELECT * FROM nowhere")
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("connector", ["elasticsearch-6", "elasticsearch-8"])
def test_other_versions_connectors_write(env: TableEnvironment, server: OpenSearchServer, connector: str) -> None:
    if server.product == "opensearch":
        pytest.skip("OpenSearch has a connector of its own")
    own = {"document__type": "_doc"} if connector == "elasticsearch-6" else {}
    define(env, server, "k INT, PRIMARY KEY (k) NOT ENFORCED", connector, connector=connector, **own)
    env.execute_sql(f"INSERT INTO `{connector}` VALUES (1), (2)").wait()
    server.ask("POST", f"/{connector}/_refresh")
    assert rows(env, f"SELECT COUNT(*) FROM `{connector}`")[-1] == Row(2)


def test_the_sink_of_streams(server: OpenSearchServer) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))
    sink = (
        Elasticsearch7SinkBuilder()
        .set_hosts(server.url)
        .set_emitter(ElasticsearchEmitter.dynamic_index("where", "id"))
        .build()
    )
    records = [{"where": f"stream-{n % 2}", "id": str(n // 2), "n": str(n)} for n in range(100)]
    env.from_collection(records, Types.MAP(Types.STRING(), Types.STRING())).sink_to(sink)
    env.execute()
    server.ask("POST", "/stream-*/_refresh")
    counted = {index: server.ask("GET", f"/{index}/_count")["count"] for index in ("stream-0", "stream-1")}
    assert counted == {"stream-0": 50, "stream-1": 50}
