"""Whatever a statement is, it has rows, or raises an error of scurry."""

from __future__ import annotations

import random

import pytest

from scurry.errors import ScurryError, UnsupportedError, ValidationError
from scurry.sql.functions.aggregate.catalogue import aggregate_names
from scurry.sql.functions.catalogue import names
from scurry.table import EnvironmentSettings, TableEnvironment


def made(mode: str) -> TableEnvironment:
    batch = EnvironmentSettings.in_batch_mode()
    env = TableEnvironment.create(batch if mode == "BATCH" else EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    env.execute_sql("CREATE TEMPORARY VIEW a AS SELECT * FROM (VALUES (1, 2), (2, 3)) AS t(x, y)")
    env.execute_sql("CREATE TEMPORARY VIEW b AS SELECT * FROM (VALUES (1, 20), (3, 30)) AS t(x, z)")
    return env


def rows(env: TableEnvironment, query: str) -> list[tuple[object, ...]]:
    with env.execute_sql(query).collect() as found:
        return [tuple(row) for row in found]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("SELECT ARRAY[1, 2] FROM a JOIN b ON a.x = b.x AND a.y > 100", []),
        ("SELECT MAP[1, 2], ROW(1, 'a'), ARRAY[ROW(1, 2)] FROM a JOIN b ON a.x = b.x AND a.y > 100", []),
        ("SELECT a.x FROM a LEFT JOIN b ON a.x = (SELECT x FROM b WHERE b.x = a.y)", [(1,), (2,)]),
        ("SELECT a.x, b.x FROM a LEFT JOIN b ON a.x = (SELECT MIN(x) FROM b)", [(1, 1), (1, 3), (2, None)]),
        ("SELECT b.x FROM a RIGHT JOIN b ON b.x IN (SELECT x FROM a)", [(1,), (1,), (3,)]),
        ("SELECT a.x FROM a FULL JOIN b ON EXISTS (SELECT 1 FROM b AS c WHERE c.x = a.x)", [(1,), (1,), (2,)]),
        ("SELECT COLLECT(ARRAY[1, 2])", [({(1, 2): 1},)]),
        ("SELECT COLLECT(MAP[1, x]) FROM a", [({((1, 1),): 1, ((1, 2),): 1},)]),
        ("SELECT MAP[ARRAY[1], 2], MAP[x'01', 2]", [({(1,): 2}, {b"\x01": 2})]),
        ("SELECT CARDINALITY(MAP[ROW(1, ARRAY[2]), 2, ROW(1, ARRAY[2]), 3])", [(1,)]),
    ],
)
def test_queries_that_failed_inside_have_rows(query: str, found: list[tuple[object, ...]]) -> None:
    assert sorted(rows(made("BATCH"), query), key=repr) == sorted(found, key=repr)


def test_a_subquery_about_both_sides_of_an_outer_join_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="outer join"):
        rows(made("BATCH"), "SELECT a.x FROM a LEFT JOIN b ON a.x = (SELECT MAX(x) FROM b AS c WHERE c.x = b.x)")


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize("prefix", ["", "EXPLAIN "])
def test_a_time_of_nine_digits_in_a_far_year_is_refused_with_its_place(prefix: str, mode: str) -> None:
    query = f"{prefix}SELECT MAP[TIMESTAMP '9999-12-31 23:59:59.999999999', 1]"
    with pytest.raises(ValidationError, match=r"From line 1, column \d+ .*: TIMESTAMP literal .* is out of range"):
        made(mode).execute_sql(query)


_VALUES = (
    "1",
    "-1",
    "0",
    "CAST(NULL AS INT)",
    "x",
    "y",
    "2147483647",
    "CAST(x AS BIGINT)",
    "1.5",
    "CAST(1.5 AS DECIMAL(38, 18))",
    "1e300",
    "CAST('NaN' AS DOUBLE)",
    "CAST(x AS FLOAT)",
    "'a'",
    "''",
    "CAST(NULL AS STRING)",
    "'2024-01-01'",
    "'[1]'",
    "'$.a'",
    "'('",
    "x'00ff'",
    "TRUE",
    "CAST(NULL AS BOOLEAN)",
    "DATE '2024-02-29'",
    "DATE '9999-12-31'",
    "TIME '23:59:59'",
    "TIMESTAMP '2024-01-01 00:00:00.123'",
    "TIMESTAMP '9999-12-31 23:59:59.999999'",
    "TIMESTAMP '0001-01-01 00:00:00'",
    "TO_TIMESTAMP_LTZ(0, 3)",
    "INTERVAL '1' DAY",
    "INTERVAL '1' MONTH",
    "ARRAY[1, 2]",
    "ARRAY['a', CAST(NULL AS STRING)]",
    "ARRAY[ARRAY[x]]",
    "MAP['a', 1]",
    "MAP[ROW(1, 'a'), ARRAY[1]]",
    "ROW(1, 'a')",
    "ROW(x, ARRAY[y])",
    "COALESCE(x, y)",
)
_SHAPES = (
    "SELECT {e} FROM a",
    "SELECT x FROM a WHERE ({e}) IS NULL",
    "SELECT COUNT(*) FROM a GROUP BY {e}",
    "SELECT a.x FROM a LEFT JOIN b ON a.x = b.x AND ({e}) IS NOT NULL",
    "SELECT DISTINCT {e} FROM a WHERE y > 100",
    "SELECT COLLECT({e}) FROM a",
    "SELECT MAX({e}), COUNT(DISTINCT {e}) FROM a",
    "SELECT ARRAY[{e}], ROW({e}, 1) FROM a",
    "SELECT MAP[{e}, {e}] FROM a",
    "SELECT CAST({e} AS STRING) FROM a",
    "SELECT x FROM a ORDER BY {e}",
    "SELECT {e} = {e}, {e} < {e} FROM a",
    "SELECT ({e}) IN (SELECT x FROM b) FROM a",
    "EXPLAIN SELECT {e} FROM a WHERE x > 1",
    "SELECT CASE WHEN x = 1 THEN {e} END FROM a",
)


@pytest.mark.parametrize("mode", ["BATCH", "STREAMING"])
@pytest.mark.parametrize("seed", range(3))
def test_random_statements_raise_nothing_but_errors_of_scurry(mode: str, seed: int) -> None:
    chance, env, failed = random.Random(seed), made(mode), []
    functions = sorted({*names(), *aggregate_names()})
    for _ in range(25 if mode == "STREAMING" else 60):
        arguments = ", ".join(chance.choices(_VALUES, k=chance.choice((1, 1, 2, 2, 3))))
        expression = f"{chance.choice(functions)}({arguments})" if chance.random() < 0.7 else chance.choice(_VALUES)
        query = chance.choice(_SHAPES).replace("{e}", expression)
        try:
            rows(env, query)
        except ScurryError:
            continue
        except Exception as error:
            failed.append(f"{query}: {error!r}")
    assert failed == []
