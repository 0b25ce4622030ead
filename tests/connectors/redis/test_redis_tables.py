"""Tables over keys of a real Redis: hashes, strings and sets, written by key, read and looked up."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from scurry.errors import JobError, ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.servers.redis import RedisServer

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with RedisServer() as made:
        yield made


@pytest.fixture
def client(server: RedisServer) -> Iterator[redis.Redis]:
    with redis.Redis(port=server.port) as made:
        made.flushall()
        yield made


@pytest.fixture
def env() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    made.get_config().set("scurry.runner", "local")
    return made


def with_options(server: RedisServer, more: str = "") -> str:
    return f"WITH ('connector' = 'redis', 'url' = 'redis://127.0.0.1:{server.port}'{more})"


def rows(env: TableEnvironment, query: str) -> list[tuple[object, ...]]:
    with env.execute_sql(query).collect() as found:
        return sorted(map(tuple, found))


def test_a_hash_has_the_columns_of_the_last_row_of_its_key(
    env: TableEnvironment, server: RedisServer, client: redis.Redis
) -> None:
    env.execute_sql(
        "CREATE TABLE totals (shop STRING, item INT, total DECIMAL(10, 2), `at` TIMESTAMP(3), "
        "PRIMARY KEY (shop, item) NOT ENFORCED) " + with_options(server, ", 'key.prefix' = 't:'")
    )
    env.execute_sql(
        "INSERT INTO totals SELECT shop, item, SUM(CAST(price AS DECIMAL(10, 2))), "
        "MAX(TIMESTAMP '2026-01-02 03:04:05.678') FROM "
        "(VALUES ('a', 1, 1.5), ('a', 1, 2.25), ('b', 2, 4)) AS v (shop, item, price) GROUP BY shop, item"
    ).wait()
    assert client.hgetall("t:a:1") == {
        b"shop": b"a", b"item": b"1", b"total": b"3.75", b"at": b"2026-01-02 03:04:05.678",
    }  # fmt: skip
    found = rows(env, "SELECT shop, item, CAST(total AS STRING), CAST(`at` AS STRING) FROM totals")
    assert found == [
        ("a", 1, "3.75", "2026-01-02 03:04:05.678"),
        ("b", 2, "4.00", "2026-01-02 03:04:05.678"),
    ]


def test_a_row_that_goes_takes_its_key_with_it(env: TableEnvironment, server: RedisServer, client: redis.Redis) -> None:
    env.execute_sql(f"CREATE TABLE t (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) {with_options(server)}")
    env.execute_sql(
        "INSERT INTO t SELECT k, n FROM (SELECT k, COUNT(*) AS n FROM "
        "(VALUES ('a'), ('b'), ('a')) AS v (k) GROUP BY k) WHERE n < 2"
    ).wait()
    assert client.keys() == [b"b"]


def test_strings_and_sets(env: TableEnvironment, server: RedisServer, client: redis.Redis) -> None:
    env.execute_sql(
        "CREATE TABLE names (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) "
        + with_options(server, ", 'data-type' = 'string', 'key.prefix' = 'name*', 'ttl' = '1 h'")
    )
    env.execute_sql("INSERT INTO names VALUES (1, 'tea'), (2, ''), (3, CAST(NULL AS STRING))").wait()
    assert client.get("name*1") == b"tea"
    assert 0 < client.pttl("name*1") <= 3_600_000
    assert rows(env, "SELECT * FROM names") == [(1, "tea"), (2, "")]
    env.execute_sql(
        "CREATE TABLE members (team STRING, name STRING, PRIMARY KEY (team, name) NOT ENFORCED) "
        + with_options(server, ", 'data-type' = 'set', 'key.prefix' = 'team:'")
    )
    env.execute_sql("INSERT INTO members VALUES ('x', 'ann'), ('x', 'bob'), ('y', 'cy')").wait()
    assert client.smembers("team:x") == {b"ann", b"bob"}
    assert rows(env, "SELECT * FROM members") == [("x", "ann"), ("x", "bob"), ("y", "cy")]


def test_lookups_find_rows_by_key(env: TableEnvironment, server: RedisServer, client: redis.Redis) -> None:
    client.hset("p:1", mapping={"id": "1", "price": "2.5"})
    client.sadd("team:x", "ann", "bob")
    env.execute_sql(
        "CREATE TABLE prices (id INT, price DOUBLE, PRIMARY KEY (id) NOT ENFORCED) "
        + with_options(
            server,
            ", 'key.prefix' = 'p:', 'lookup.cache' = 'PARTIAL', 'lookup.partial-cache.max-rows' = '10'",
        )
    )
    env.execute_sql(
        "CREATE TABLE members (team STRING, name STRING, PRIMARY KEY (team, name) NOT ENFORCED) "
        + with_options(server, ", 'data-type' = 'set', 'key.prefix' = 'team:'")
    )
    env.execute_sql(
        "CREATE VIEW v AS SELECT id, team, PROCTIME() AS t FROM (VALUES (1, 'x'), (2, 'y')) AS v (id, team)"
    )
    join = "SELECT v.id, {} FROM v LEFT JOIN {} FOR SYSTEM_TIME AS OF v.t AS r ON {}"
    assert rows(env, join.format("COALESCE(r.price, -1)", "prices", "v.id = r.id")) == [(1, 2.5), (2, -1.0)]
    found = rows(env, join.format("COALESCE(r.name, '')", "members", "v.team = r.team"))
    assert found == [(1, "ann"), (1, "bob"), (2, "")]
    found = rows(env, join.format("COALESCE(r.name, '')", "members", "v.team = r.team AND r.name = 'bob'"))
    assert found == [(1, "bob"), (2, "")]


def test_what_does_not_fit_fails_with_its_key(env: TableEnvironment, server: RedisServer, client: redis.Redis) -> None:
    client.hset("p:1", mapping={"id": "1", "price": "much"})
    env.execute_sql(
        "CREATE TABLE prices (id INT, price DOUBLE, PRIMARY KEY (id) NOT ENFORCED) "
        + with_options(server, ", 'key.prefix' = 'p:'")
    )
    with pytest.raises(JobError, match="key 'p:1', column 'price'"):
        rows(env, "SELECT * FROM prices")
    env.execute_sql("CREATE TABLE two (a STRING, b STRING, PRIMARY KEY (a, b) NOT ENFORCED) " + with_options(server))
    with pytest.raises(JobError, match="has the delimiter ':' in it"):
        env.execute_sql("INSERT INTO two VALUES ('x:y', 'z')").wait()


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ("a INT", "", "'redis' tables need a PRIMARY KEY"),
        ("a INT, b INT, c INT, PRIMARY KEY (a) NOT ENFORCED", ", 'data-type' = 'string'", "one column beside the prim"),
        ("a INT, b INT, PRIMARY KEY (a) NOT ENFORCED", ", 'data-type' = 'set'", "has a primary key of all columns"),
        ("a INT, b ARRAY<INT>, PRIMARY KEY (a) NOT ENFORCED", "", "column 'b' has no text"),
    ],
)
def test_wrong_tables_are_refused(
    env: TableEnvironment, server: RedisServer, columns: str, options: str, message: str
) -> None:
    env.execute_sql(f"CREATE TABLE t ({columns}) {with_options(server, options)}")
    with pytest.raises(ValidationError) as error:
        env.execute_sql("SELECT * FROM t")
    assert message in str(error.value)
