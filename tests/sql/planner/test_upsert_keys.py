"""Whether Flink 2.3 makes changes by the key of a table of those of a query, whose rows may come in another order."""

from __future__ import annotations

import pytest

from scurry.errors import ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment

VIEWS = (
    "a AS SELECT id, MAX(v) AS v, MIN(k) AS k, COUNT(*) AS n FROM d GROUP BY id",
    "b AS SELECT k, MAX(v) AS v, COUNT(*) AS n FROM d GROUP BY k",
    "c AS SELECT id, k, MAX(v) AS v, COUNT(DISTINCT w) AS n FROM d GROUP BY id, k",
)
RECORDED = [
    (True, "select id, count(*) over (partition by v order by n) from a", "id int, n bigint", "id"),
    (False, "select id, count(*) over (partition by id order by n) from a", "id int, n bigint", "id"),
    (False, "select id, count(*) over (order by n) from a", "id int, n bigint", "id"),
    (False, "select id, k, count(*) over (partition by id order by n) from c", "id int, k string, n bigint", "id, k"),
    (True, "select a.id, b.v from a join b on a.k = b.k", "id int, v int", "id"),
    (True, "select a.id, b.v from a left join b on a.k = b.k", "id int, v int", "id"),
    (True, "select a.id, c.k, c.v from a join c on a.id = c.id", "id int, k string, v int", "id, k"),
    (True, "select a.id, c.k, c.v from a join c on a.id = c.id and a.k = c.k", "id int, k string, v int", "id, k"),
    (True, "select a.id, c.k, c.v from a join c on a.id = c.id and a.k = c.k", "id int, k string, v int", "id"),
    (True, "select a.id, c.k, c.v from a join c on a.v = c.v", "id int, k string, v int", "id, k"),
    (True, "select id, v from a where k in (select k from b)", "id int, v int", "id"),
    (False, "select id, v from a where id in (select id from c)", "id int, v int", "id"),
    (True, "select id, v from a where not exists (select * from b where b.k=a.k)", "id int, v int", "id"),
    (
        True,
        "select id, v from (select *, row_number() over (partition by k order by v desc) as r from a) where r <= 3",
        "id int, v int",
        "id",
    ),
    (
        False,
        "select id, k, v from (select *, row_number() over (partition by k order by v desc) as r from c) where r <= 3",
        "id int, k string, v int",
        "id, k",
    ),
    (
        False,
        "select id, k, v from (select *, row_number() over (partition by k order by v desc) as r from a) where r = 1",
        "id int, k string, v int",
        "k",
    ),
    (
        True,
        "select id, k, v from (select *, row_number() over (partition by k order by v desc) as r from a) where r = 1",
        "id int, k string, v int",
        "id",
    ),
    (
        False,
        "select k, r, v from (select *, row_number() over (partition by k order by v desc) as r from a) where r <= 3",
        "k string, r bigint, v int",
        "k, r",
    ),
    (True, "select id, v from a order by v desc limit 3", "id int, v int", "id"),
    (False, "select id, v from a where v > 3", "id int, v int", "id"),
    (False, "select id, v from a where id > 3", "id int, v int", "id"),
    (True, "select a.id, c.v from a join c on a.id = c.id and c.k = 'x'", "id int, v int", "id"),
    (True, "select id, v from a union select id, v from a", "id int, v int", "id"),
    (
        True,
        "select id, v, count(*) over (partition by id order by v) from (select a.id, c.v from a join c on a.id = c.id)",
        "id int, v int, n bigint",
        "id, v",
    ),
    (
        False,
        "select a.id, x.n from a left join (select id, count(*) as n from c group by id) x on a.id = x.id",
        "id int, n bigint",
        "id",
    ),
    (
        False,
        "select k, n from (select *, row_number() over (partition by k order by n desc) as r from b) where r=1",
        "k string, n bigint",
        "k",
    ),
]


@pytest.fixture
def env() -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("table.exec.sink.require-on-conflict", "false")
    env.execute_sql("CREATE TABLE d (id INT, k STRING, v INT, w INT) WITH ('connector' = 'datagen')")
    for view in VIEWS:
        env.execute_sql(f"CREATE VIEW {view}")
    return env


@pytest.mark.parametrize(("materializes", "query", "columns", "key"), RECORDED)
def test_changes_by_another_key_are_materialized_as_in_flink(
    env: TableEnvironment, materializes: bool, query: str, columns: str, key: str
) -> None:
    env.execute_sql(f"CREATE TABLE sink ({columns}, PRIMARY KEY ({key}) NOT ENFORCED) WITH ('connector' = 'blackhole')")
    assert ("upsertMaterialize=[true]" in env.explain_sql(f"INSERT INTO sink {query}")) is materializes


def test_a_statement_has_to_say_what_becomes_of_rows_whose_changes_come_in_another_order(
    env: TableEnvironment,
) -> None:
    env.get_config().set("table.exec.sink.require-on-conflict", "true")
    env.execute_sql("CREATE TABLE sink (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'blackhole')")
    with pytest.raises(ValidationError, match="Please specify an ON CONFLICT clause"):
        env.explain_sql("INSERT INTO sink SELECT a.id, b.v FROM a JOIN b ON a.k = b.k")


def test_top_n_takes_rows_before_updates_where_a_filter_needs_them(env: TableEnvironment) -> None:
    grouped = "SELECT k, MAX(v) AS v FROM d GROUP BY k HAVING COUNT(*) > 1"
    ranked = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM ({grouped})"
    assert "strategy=[RetractStrategy]" in env.explain_sql(f"SELECT k, v FROM ({ranked}) WHERE n = 1")
