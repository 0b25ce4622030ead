"""Tables and streams of ClickHouse on its engine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from scurry.common import Configuration, Row, RowKind, WatermarkStrategy
from scurry.connectors.clickhouse.client import ClickHouse, ClickHouseTable
from scurry.connectors.clickhouse.server import hosts_of
from scurry.connectors.clickhouse.sink import ClickHouseSink as RowSink
from scurry.connectors.sink import WriterContext
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import DeliveryGuarantee
from scurry.datastream.connectors.clickhouse import ClickHouseSink, ClickHouseSource
from scurry.errors import ScurryError
from scurry.sql.connectors.clickhouse.upserts import UpsertSink
from scurry.sql.connectors.contract import Changes
from scurry.table import DataTypes, EnvironmentSettings, TableEnvironment
from support.servers.clickhouse import PASSWORD, USER, ClickHouseServer

pytestmark = pytest.mark.servers

LOCAL = Configuration.from_dict({"scurry.runner": "local"})
ALL = """
    k STRING, i INT, l BIGINT, b BOOLEAN, d DOUBLE, m DECIMAL(10, 2), day_ DATE, at_ TIMESTAMP(6),
    moment TIMESTAMP_LTZ(3), bytes_ BYTES, list_ ARRAY<STRING>, map_ MAP<STRING, INT>, row_ ROW<x INT, y STRING>
"""
ALL_THERE = """
    k String, i Nullable(Int32), l Int64, b Bool, d Float64, m Decimal(10, 2), day_ Date32, at_ DateTime64(6),
    moment DateTime64(3), bytes_ String, list_ Array(Nullable(String)), map_ Map(String, Nullable(Int32)),
    row_ Tuple(x Nullable(Int32), y Nullable(String))
"""


@pytest.fixture(scope="module")
def server() -> Iterator[ClickHouseServer]:
    with ClickHouseServer() as made:
        made.ask("CREATE DATABASE shop")
        yield made


def environment(streaming: bool = True) -> TableEnvironment:
    settings = EnvironmentSettings.in_streaming_mode() if streaming else EnvironmentSettings.in_batch_mode()
    env = TableEnvironment.create(settings)
    env.get_config().set("scurry.runner", "local")
    return env


def declare(
    env: TableEnvironment, server: ClickHouseServer, table: str, columns: str, name: str | None = None, **more: str
) -> None:
    options = server.options(table) | {key.replace("__", "-").replace("_", "."): text for key, text in more.items()}
    listed = ", ".join(f"'{key}' = '{text}'" for key, text in options.items())
    env.execute_sql(f"CREATE TABLE {name or table} ({columns}) WITH ({listed})")


def rows(env: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    with env.execute_sql(query).collect() as found:
        return [tuple(row) for row in found]


@pytest.mark.parametrize("streaming", [False, True])
def test_all_types_come_back(server: ClickHouseServer, streaming: bool) -> None:
    env = environment(streaming)
    server.ask(f"CREATE OR REPLACE TABLE shop.kinds ({ALL_THERE}) ENGINE = MergeTree ORDER BY k")
    declare(env, server, "kinds", ALL)
    env.execute_sql("""
        INSERT INTO kinds VALUES
        ('é\\''a', 1, 9223372036854775807, TRUE, 1.5, 1.25, DATE '1950-02-03', TIMESTAMP '1931-01-02 03:04:05.123456',
         TO_TIMESTAMP_LTZ(1234, 3), X'00FF', ARRAY['p', CAST(NULL AS STRING)], MAP['q', 7], ROW(3, 'z')),
        ('b', CAST(NULL AS INT), -1, FALSE, -0.5, -99999999.99, DATE '2020-02-03', TIMESTAMP '2020-01-02 03:04:05',
         TO_TIMESTAMP_LTZ(0, 3), X'', ARRAY['x'], MAP['r', 8], ROW(4, 'y'))
    """).wait()
    found = rows(env, "SELECT k, i, l, b, d, CAST(m AS STRING), CAST(day_ AS STRING), CAST(at_ AS STRING) FROM kinds")
    assert sorted(found) == [
        ("b", None, -1, False, -0.5, "-99999999.99", "2020-02-03", "2020-01-02 03:04:05.000000"),
        ("é\\'a", 1, 2**63 - 1, True, 1.5, "1.25", "1950-02-03", "1931-01-02 03:04:05.123456"),
    ]
    (nested,) = rows(env, "SELECT bytes_, list_, map_, row_, moment = TO_TIMESTAMP_LTZ(1234, 3) FROM kinds WHERE i = 1")
    assert nested == (b"\x00\xff", ["p", None], {"q": 7}, Row(3, "z"), True)
    keys = "SELECT CAST('b' AS STRING) AS k, CAST(-99999999.99 AS DECIMAL(10, 2)) AS m, FALSE AS b, PROCTIME() AS t"
    on = "i.k = x.k AND i.m = x.m AND i.b = x.b AND x.day_ = DATE '2020-02-03'"
    if streaming:
        joined = f"SELECT x.l FROM ({keys}) AS i JOIN kinds FOR SYSTEM_TIME AS OF i.t AS x ON {on}"
        assert rows(env, joined) == [(-1,)]
    assert rows(env, "SELECT l FROM kinds WHERE at_ = TIMESTAMP '2020-01-02 03:04:05'") == [(-1,)]


def test_rows_by_key_replace_each_other_and_are_deleted(server: ClickHouseServer) -> None:
    server.ask("CREATE OR REPLACE TABLE shop.sums (k String, n Int64) ENGINE = ReplacingMergeTree ORDER BY k")
    env = environment()
    declare(env, server, "sums", "k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED")
    env.execute_sql("INSERT INTO sums VALUES ('a', 1), ('it''s', 2)").wait()
    env.execute_sql("""
        INSERT INTO sums SELECT k, n FROM
        (SELECT k, MAX(n) AS n FROM (VALUES ('a', 5), ('it''s', 3), ('c', 9)) AS t (k, n) GROUP BY k) WHERE n > 4
    """).wait()
    assert rows(env, "SELECT * FROM sums WHERE k <> ''") != []
    found = server.ask("SELECT k, n FROM shop.sums FINAL ORDER BY k FORMAT CSV")
    assert found == '"a",5\n"c",9\n"it\'s",2\n'


@pytest.mark.parametrize("ignored", [False, True])
def test_rows_that_are_gone_are_deleted(server: ClickHouseServer, ignored: bool) -> None:
    by = "ENGINE = ReplacingMergeTree ORDER BY (k, d)"
    server.ask(f"CREATE OR REPLACE TABLE shop.left (k String, d Date, m Decimal(9, 2)) {by}")
    server.ask(
        "INSERT INTO shop.left VALUES ('a\\'\\\\', '2020-01-01', 1), ('b', '2020-01-01', 2), ('b', '2020-01-02', 3)"
    )
    fields = [("k", DataTypes.STRING()), ("d", DataTypes.DATE()), ("m", DataTypes.DECIMAL(9, 2))]
    row = DataTypes.ROW([DataTypes.FIELD(name, kind) for name, kind in fields])
    rows = RowSink(ClickHouseTable(hosts_of(server.url, USER, PASSWORD), "shop", "left"), row)
    writer = UpsertSink(rows, ("k", "d", "m"), ignored).create_writer(WriterContext(0, 1, 1, "s"))
    days = pa.array([18262, 18262, 18263], pa.int32()).cast(pa.date32())
    amounts = pa.array([Decimal("1.00"), Decimal("7.00"), Decimal("3.00")], pa.decimal128(9, 2))
    batch = pa.RecordBatch.from_arrays([pa.array(["a'\\", "b", "b"]), days, amounts], names=["k", "d", "m"])
    writer.write([Changes(batch, [RowKind.DELETE.value, RowKind.UPDATE_AFTER.value, RowKind.DELETE.value])])
    writer.prepare_commit()
    found = server.ask("SELECT k, m FROM shop.left FINAL ORDER BY k, d FORMAT CSV")
    assert found == ('"a\'\\",1\n"b",7\n"b",3\n' if ignored else '"b",7\n')


def test_ranges_and_lookups(server: ClickHouseServer) -> None:
    server.ask(
        "CREATE OR REPLACE TABLE shop.items (id Int64, name LowCardinality(String)) ENGINE = MergeTree ORDER BY id"
    )
    server.ask("INSERT INTO shop.items SELECT number, concat('n', toString(number)) FROM numbers(100)")
    env = environment()
    ranges = {"scan_partition_column": "id", "scan_partition_num": "3"}
    ranges |= {"scan_partition_lower__bound": "10", "scan_partition_upper__bound": "89"}
    declare(env, server, "items", "id BIGINT, name STRING", **ranges)
    assert len(rows(env, "SELECT * FROM items")) == 80
    env.execute_sql(
        "CREATE VIEW ids AS SELECT id, PROCTIME() AS t FROM (VALUES (CAST(5 AS BIGINT)), (7), (700)) AS v (id)"
    )
    joined = "SELECT i.id, x.name FROM ids AS i JOIN items FOR SYSTEM_TIME AS OF i.t AS x ON i.id = x.id"
    assert sorted(rows(env, joined)) == [(5, "n5"), (7, "n7")]
    assert rows(env, "SELECT COUNT(*) FROM items")[-1] == (80,)


def test_a_block_is_known_when_it_comes_again(server: ClickHouseServer, tmp_path: Path) -> None:
    server.ask("CREATE OR REPLACE TABLE shop.once (n Int64) ENGINE = MergeTree ORDER BY n PARTITION BY n % 3 "
               "SETTINGS non_replicated_deduplication_window = 100")  # fmt: skip
    table = ClickHouseTable(hosts_of(server.url, USER, PASSWORD), "shop", "once")
    row = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.BIGINT())])
    sink = RowSink(table, row, 4, staging=str(tmp_path / "staged"))
    for attempt in range(
        2
    ):  # the second one is a job that starts again, and repeats its last micro-batch in other order
        numbers = list(range(10)) if not attempt else list(reversed(range(10)))
        writer = sink.create_writer(WriterContext(0, 1, 1, "s"))
        writer.write([Row(number) for number in numbers])
        committer = sink.create_committer("s")
        committer.commit(1, writer.prepare_commit())
        committer.finish()
    assert server.ask("SELECT count(), uniqExact(n) FROM shop.once FORMAT CSV") == "10,10\n"
    blocks = [block for block in (tmp_path / "staged").rglob("*") if block.is_file()]
    assert blocks, "they were staged"


def test_a_stream_writes_and_reads(server: ClickHouseServer, tmp_path: Path) -> None:
    server.ask("CREATE OR REPLACE TABLE shop.people (name String, age Int32) ENGINE = MergeTree ORDER BY name "
               "SETTINGS non_replicated_deduplication_window = 100")  # fmt: skip
    row = DataTypes.ROW([DataTypes.FIELD("name", DataTypes.STRING()), DataTypes.FIELD("age", DataTypes.INT())])

    def common(builder: Any) -> Any:
        builder = builder.set_url(server.url.replace("http:", "clickhouse:")).set_database("shop").set_table("people")
        return builder.set_username(USER).set_password(PASSWORD).set_row_type(row)

    env = StreamExecutionEnvironment.get_execution_environment(LOCAL)
    sink = common(ClickHouseSink.builder()).set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    env.from_collection([Row("Ann", 3), ("Bob", 4)]).sink_to(sink.set_staging_dir(tmp_path).build())
    env.execute()
    source = common(ClickHouseSource.builder()).set_partitions("age", 0, 9, 2).build()
    env = StreamExecutionEnvironment.get_execution_environment(LOCAL)
    found = env.from_source(source, WatermarkStrategy.no_watermarks(), "people").execute_and_collect()
    assert sorted(each.name for each in found) == ["Ann", "Bob"]


@pytest.mark.parametrize(
    ("columns", "there", "values", "message"),
    [
        ("n BIGINT", "n Int32", "1", "column 'n' of shop.bad is Int32, into which not all values of BIGINT fit"),
        ("n INT", "n UInt32", "1", "column 'n' of shop.bad is UInt32"),
        ("m INT", "n Int32", "1", "the table shop.bad of ClickHouse has no column 'm'"),
        ("n INT", "n Int32", "CAST(NULL AS INT)", "column 'n' is Int32 in ClickHouse: it takes no NULL"),
        ("n ARRAY<INT>", "n Array(Int32)", "CAST(NULL AS ARRAY<INT>)", "it takes no NULL"),
        ("n DATE", "n Date", "DATE '1950-01-01'", "column 'n' is Date in ClickHouse: it holds times from 1970-01-01"),
        ("n TIMESTAMP(3)", "n DateTime", "TIMESTAMP '2107-01-01 00:00:00'", "it holds times from 1970-01-01 to 2106"),
        ("n INT", "n Int32, CONSTRAINT c CHECK n > 5", "1", "refuses rows for shop.bad"),
    ],
)
def test_what_does_not_fit_is_refused(
    server: ClickHouseServer, columns: str, there: str, values: str, message: str
) -> None:
    server.ask(f"CREATE OR REPLACE TABLE shop.bad ({there}) ENGINE = MergeTree ORDER BY tuple()")
    env = environment(False)
    declare(env, server, "bad", columns)
    with pytest.raises(ScurryError) as caught:
        env.execute_sql(f"INSERT INTO bad SELECT {values}").wait()
    assert message in str(caught.value)
    assert server.ask("SELECT count() FROM shop.bad FORMAT CSV") == "0\n"


def test_a_row_that_does_not_fit_is_named(server: ClickHouseServer) -> None:
    server.ask(
        "CREATE OR REPLACE TABLE shop.bad (n Int32, CONSTRAINT c CHECK n > 5) ENGINE = MergeTree ORDER BY tuple()"
    )
    env = environment(False)
    declare(env, server, "bad", "n INT")
    with pytest.raises(ScurryError, match="'n': 3"):
        env.execute_sql("INSERT INTO bad VALUES (7), (3), (9)").wait()


@pytest.mark.parametrize(
    ("there", "value", "columns", "message"),
    [
        ("n Int64", "5000000000", "n INT", "column 'n' is int64, declared is INT"),
        ("n String", "unhex('ff')", "n STRING", "Invalid UTF8"),
        ("n UInt64", "18446744073709551615", "n BIGINT", "column 'n' is uint64, declared is BIGINT"),
        ("n String", "'x'", "n INT", "column 'n' is binary, declared is INT"),
    ],
)
def test_a_value_that_does_not_fit_is_malformed(
    server: ClickHouseServer, there: str, value: str, columns: str, message: str
) -> None:
    server.ask(f"CREATE OR REPLACE TABLE shop.odd ({there}) ENGINE = MergeTree ORDER BY n")
    server.ask(f"INSERT INTO shop.odd SELECT {value}")
    env = environment(False)
    declare(env, server, "odd", columns)
    with pytest.raises(ScurryError) as caught:
        rows(env, "SELECT * FROM odd")
    assert message in str(caught.value)
    assert "table shop.odd" in str(caught.value)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"url": "http://127.0.0.1:9"}, "no host of 'url' answers"),
        ({"password": "wr0ng99"}, "check 'username' and 'password'"),
        ({"table-name": "missing"}, "check 'database-name' and 'table-name'"),
        ({"database-name": "missing"}, "check 'database-name' and 'table-name'"),
    ],
)
@pytest.mark.parametrize("statement", ["SELECT * FROM t", "INSERT INTO t VALUES (1)"])
def test_errors_name_the_option(server: ClickHouseServer, changed: dict[str, str], named: str, statement: str) -> None:
    server.ask("CREATE TABLE IF NOT EXISTS shop.there (n Int32) ENGINE = MergeTree ORDER BY n")
    env = environment()
    listed = ", ".join(f"'{key}' = '{text}'" for key, text in (server.options("there") | changed).items())
    env.execute_sql(f"CREATE TABLE t (n INT) WITH ({listed})")
    begin = time.monotonic()
    with pytest.raises(ScurryError) as caught:
        result = env.execute_sql(statement)
        result.wait()
        list(result.collect())
    assert time.monotonic() - begin < 5
    assert named in str(caught.value)
    assert "zy7w" not in str(caught.value)
    assert "wr0ng" not in str(caught.value)


def test_tables_that_cannot_keep_a_promise_are_refused(server: ClickHouseServer, tmp_path: Path) -> None:
    server.ask("CREATE OR REPLACE TABLE shop.simple (n Int32) ENGINE = MergeTree ORDER BY n")
    env = environment()
    declare(
        env, server, "simple", "n INT", "once", sink_delivery__guarantee="exactly-once", sink_staging__dir=str(tmp_path)
    )
    with pytest.raises(ScurryError, match="MODIFY SETTING non_replicated_deduplication_window"):
        env.execute_sql("INSERT INTO once VALUES (1)").wait()
    declare(env, server, "simple", "n INT, PRIMARY KEY (n) NOT ENFORCED", "by_key")
    with pytest.raises(ScurryError, match="make it ReplacingMergeTree"):
        env.execute_sql("INSERT INTO by_key VALUES (1)").wait()


def test_facts_are_those_of_the_table(server: ClickHouseServer) -> None:
    server.ask("CREATE OR REPLACE TABLE shop.`a``b` (`n\\`x` Int32) ENGINE = ReplacingMergeTree ORDER BY tuple()")
    table = ClickHouse(ClickHouseTable(hosts_of(server.url, USER, PASSWORD), "shop", "a`b"))
    facts = table.facts()
    assert facts.replaces
    assert facts.types == {"n`x": "Int32"}
    assert table.remembered_blocks(facts) == 0
