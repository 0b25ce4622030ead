"""Tables and streams of Cassandra, on its server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from cassandra.cluster import Cluster

from scurry.common import Configuration, Types
from scurry.common.types import Row
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.cassandra import CassandraSink, ClusterBuilder, ConsistencyLevel
from scurry.errors import JobError, ScurryError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.servers.cassandra import CassandraServer

pytestmark = [pytest.mark.servers, pytest.mark.nightly]


@pytest.fixture(scope="module")
def server() -> Iterator[CassandraServer]:
    with CassandraServer() as made:
        yield made


@pytest.fixture(scope="module")
def cluster(server: CassandraServer) -> Iterator[Any]:
    made = Cluster(["127.0.0.1"], port=server.port, protocol_version=4, connect_timeout=20)
    session = made.connect()
    session.default_timeout = 60
    session.execute("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    yield session
    made.shutdown()


@pytest.fixture
def session(cluster: Any) -> Any:
    cluster.execute("DROP TABLE IF EXISTS shop.t")
    return cluster


@pytest.fixture(params=["batch", "streaming"])
def env(request: pytest.FixtureRequest) -> TableEnvironment:
    settings = EnvironmentSettings.new_instance()
    settings = settings.in_batch_mode() if request.param == "batch" else settings.in_streaming_mode()
    made = TableEnvironment.create(settings.build())
    made.get_config().set("table.local-time-zone", "UTC").set("scurry.runner", "local")
    return made


def define(env: TableEnvironment, server: CassandraServer, columns: str, **options: str) -> None:
    given = {"connector": "cassandra", "hosts": "127.0.0.1", "port": str(server.port), "keyspace": "shop"}
    given |= {"table-name": "t"} | {key.replace("__", "-").replace("_", "."): value for key, value in options.items()}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    env.execute_sql(f"CREATE TABLE t ({columns}) WITH ({listed})")


def rows(env: TableEnvironment, query: str) -> list[Row]:
    with env.execute_sql(query).collect() as found:
        return list(found)


def test_what_is_written_is_read(env: TableEnvironment, server: CassandraServer, session: Any) -> None:
    session.execute(
        "CREATE TABLE shop.t (i int PRIMARY KEY, l bigint, s text, d decimal, f double, b boolean, dt date, tm time, "
        "ts timestamp, z timestamp, a list<int>, m map<text, int>, bin blob)"
    )
    define(
        env,
        server,
        "i INT, l BIGINT, s STRING, d DECIMAL(10, 2), f DOUBLE, b BOOLEAN, dt DATE, tm TIME, ts TIMESTAMP(3), "
        "z TIMESTAMP_LTZ(3), a ARRAY<INT>, m MAP<STRING, INT>, bin BYTES, PRIMARY KEY (i) NOT ENFORCED",
    )
    env.execute_sql(
        "INSERT INTO t SELECT 1, 2, 'a', CAST(1.25 AS DECIMAL(10, 2)), 0.5e0, TRUE, DATE '2024-02-29', "
        "TIME '01:02:03', TIMESTAMP '2024-02-29 01:02:03.123', TO_TIMESTAMP_LTZ(5, 3), ARRAY[1, 2], MAP['k', 4], "
        "X'0102'"
    ).wait()
    texts = ", ".join(f"CAST({name} AS STRING)" for name in ("d", "dt", "tm", "ts", "z"))
    (found,) = rows(env, f"SELECT i, l, s, f, b, {texts}, a, m, bin FROM t")
    assert list(found)[:10] == [
        1, 2, "a", 0.5, True, "1.25", "2024-02-29", "01:02:03", "2024-02-29 01:02:03.123", "1970-01-01 00:00:00.005",
    ]  # fmt: skip
    assert (found[10], found[11], bytes(found[12])) == ([1, 2], {"k": 4}, b"\x01\x02")


@pytest.mark.parametrize("ranges", ["1", "7"])
def test_ranges_together_have_every_row_once(
    env: TableEnvironment, server: CassandraServer, session: Any, ranges: str
) -> None:
    session.execute("CREATE TABLE shop.t (a int, b int, c int, v int, PRIMARY KEY ((a, b), c))")
    insert = session.prepare("INSERT INTO shop.t (a, b, c, v) VALUES (?, ?, ?, ?)")
    for n in range(300):
        session.execute(insert, [n % 10, n % 7, n, n])
    define(env, server, "v INT", scan_partition_num=ranges, scan_fetch__size="20")
    assert sorted(row[0] for row in rows(env, "SELECT v FROM t")) == list(range(300))


def streaming() -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    return env


def test_changes_of_a_key_leave_the_last(server: CassandraServer, session: Any) -> None:
    session.execute("CREATE TABLE shop.t (k bigint PRIMARY KEY, n bigint)")
    env = streaming()
    define(env, server, "k BIGINT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED", sink_buffer__flush_max__rows="2")
    values = ", ".join(f"({n % 5})" for n in range(300))
    env.execute_sql(f"INSERT INTO t SELECT k, COUNT(*) FROM (VALUES {values}) AS x(k) GROUP BY k").wait()
    assert {row.k: row.n for row in session.execute("SELECT * FROM shop.t")} == dict.fromkeys(range(5), 60)


def test_rows_that_are_gone_are_deleted(server: CassandraServer, session: Any) -> None:
    session.execute("CREATE TABLE shop.t (n bigint PRIMARY KEY, k text)")
    env = streaming()
    define(env, server, "n BIGINT, k STRING, PRIMARY KEY (n) NOT ENFORCED", sink_buffer__flush_max__rows="1")
    env.execute_sql(
        "INSERT INTO t SELECT n, MAX(k) FROM (SELECT k, COUNT(*) AS n FROM (VALUES ('a'), ('a'), ('a')) AS x(k) "
        "GROUP BY k) GROUP BY n"
    ).wait()
    assert [(row.n, row.k) for row in session.execute("SELECT * FROM shop.t")] == [(3, "a")]


def test_rows_are_looked_up_by_the_partition_key(server: CassandraServer, session: Any) -> None:
    session.execute("CREATE TABLE shop.t (k int, c int, w text, PRIMARY KEY (k, c))")
    session.execute("INSERT INTO shop.t (k, c, w) VALUES (1, 1, 'x')")
    session.execute("INSERT INTO shop.t (k, c, w) VALUES (1, 2, 'y')")
    env = streaming()
    define(env, server, "k INT, c INT, w STRING")
    env.execute_sql("CREATE TEMPORARY VIEW s AS SELECT *, PROCTIME() AS p FROM (VALUES (1, 'x'), (2, 'y')) AS x(k, w)")
    join = "SELECT s.k, t.w FROM s JOIN t FOR SYSTEM_TIME AS OF s.p ON"
    assert sorted(rows(env, f"{join} t.k = s.k"), key=str) == [Row(1, "x"), Row(1, "y")]
    with pytest.raises(ScurryError, match="needs all columns of its partition key: k"):
        rows(env, f"{join} t.w = s.w")


@pytest.mark.parametrize(
    ("options", "message"),
    [({"keyspace": "none"}, "no keyspace 'none' ('keyspace')"),
     ({"table__name": "none"}, "no table 'none' ('table-name')"),
     ({"port": "9"}, "no node of Cassandra answers at 127.0.0.1:9 ('hosts', 'port')")],
)  # fmt: skip
def test_what_is_not_there_is_named_within_5_seconds(
    server: CassandraServer, session: Any, options: dict[str, str], message: str
) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("scurry.runner", "local")
    define(env, server, "v INT", **options)
    began = time.monotonic()
    with pytest.raises(ScurryError) as failed:
        rows(env, "SELECT * FROM t")
    assert message in str(failed.value)
    assert time.monotonic() - began < 10


def write(server: CassandraServer, records: list[Any], query: str, staged: bool = False, **cluster: Any) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))
    stream = env.from_collection([Row(*each) for each in records], Types.ROW([Types.STRING(), Types.INT()]))
    builder = CassandraSink.add_sink(stream).set_query(query)
    if cluster:
        builder.set_cluster_builder(ClusterBuilder("127.0.0.1", server.port, **cluster))
    else:
        builder.set_host("127.0.0.1", server.port)
    if staged:
        builder.enable_write_ahead_log()
    builder.set_max_concurrent_requests(7).enable_ignore_null_fields().build().name("words").set_parallelism(1)
    env.execute()


@pytest.mark.parametrize("staged", [False, True])
def test_a_stream_executes_the_query(server: CassandraServer, session: Any, staged: bool) -> None:
    session.execute("CREATE TABLE shop.t (word text PRIMARY KEY, n int)")
    session.execute("INSERT INTO shop.t (word, n) VALUES ('kept', 7)")
    records = [(f"w{n % 50}", n) for n in range(500)] + [("kept", None)]
    write(server, records, "INSERT INTO shop.t (word, n) VALUES (?, ?)", staged, consistency_level=ConsistencyLevel.ONE)
    expected = {f"w{n}": 450 + n for n in range(50)} | {"kept": 7}
    assert {row.word: row.n for row in session.execute("SELECT * FROM shop.t")} == expected


def test_a_wrong_query_is_an_error(server: CassandraServer, session: Any) -> None:
    with pytest.raises(JobError, match="Cassandra refuses"):
        write(server, [("a", 1)], "INSERT INTO shop.nowhere (word, n) VALUES (?, ?)")
