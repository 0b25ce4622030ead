"""VECTOR_SEARCH of tables that are read whole."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scurry.errors import ScurryError, UnsupportedError, ValidationError
from scurry.table import TableEnvironment
from support.vector_tables import TABLES

CALL = "VECTOR_SEARCH(TABLE V, DESCRIPTOR(g), Q.d, 2)"
HALF = 1 / math.sqrt(2)


def rows(env: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in env.execute_sql(query).collect()]


def test_each_row_has_the_nearest_rows_with_their_cosine_best_first(env: TableEnvironment) -> None:
    found = rows(env, f"SELECT a, e, score FROM Q, LATERAL TABLE({CALL})")
    assert [row[:2] for row in found] == [(1, 1), (1, 3), (2, 2), (2, 3)]
    assert [row[2] for row in found] == pytest.approx([1, HALF, 1, HALF])


def test_the_columns_are_those_of_both_tables_and_the_score(env: TableEnvironment) -> None:
    assert rows(env, f"SELECT * FROM Q CROSS JOIN LATERAL TABLE({CALL}) WHERE a = 1")[0] == (
        1,
        [3.0, 0.0],
        1,
        "right",
        [1.0, 0.0],
        1.0,
    )


def test_a_left_join_keeps_rows_whose_vector_is_null(env: TableEnvironment) -> None:
    found = rows(env, f"SELECT a, e, score FROM Q LEFT JOIN LATERAL TABLE({CALL}) ON TRUE")
    assert [row[:2] for row in found] == [(1, 1), (1, 3), (2, 2), (2, 3), (3, None)]
    assert found[-1] == (3, None, None)


def test_arguments_have_names_in_any_order(env: TableEnvironment) -> None:
    call = (
        "VECTOR_SEARCH(TOP_K => 1, CONFIG => MAP['async', 'true', 'timeout', '100s'], COLUMN_TO_QUERY => Q.d, "
        "SEARCH_TABLE => TABLE V, COLUMN_TO_SEARCH => DESCRIPTOR(g))"
    )
    assert rows(env, f"SELECT a, e FROM Q, LATERAL TABLE({call})") == [(1, 1), (2, 2)]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("cosine", [(1, 1.0), (3, HALF), (2, 0.0)]),
        ("dot_product", [(1, 3.0), (3, 3.0), (2, 0.0)]),
        ("euclidean", [(1, 1 / 3), (3, 1 / (1 + math.sqrt(5))), (2, 1 / (1 + math.sqrt(13)))]),
    ],
)
def test_the_table_says_what_near_means(
    env: TableEnvironment, files: Path, metric: str, expected: list[tuple[int, float]]
) -> None:
    env.execute_sql(
        "CREATE TABLE M (e INT, g ARRAY<DOUBLE>) WITH ('connector' = 'filesystem', "
        f"'path' = '{files}', 'format' = 'json', 'vector-search.metric' = '{metric}')"
    )
    found = rows(
        env, "SELECT e, score FROM Q, LATERAL TABLE(VECTOR_SEARCH(TABLE M, DESCRIPTOR(g), Q.d, 9)) WHERE a = 1"
    )
    assert [row[0] for row in found] == [row[0] for row in expected]
    assert [row[1] for row in found] == pytest.approx([row[1] for row in expected])


def test_a_vector_may_be_written_in_the_query(env: TableEnvironment) -> None:
    call = "VECTOR_SEARCH(TABLE V, DESCRIPTOR(g), ARRAY[0.5, 2.0], 1)"
    assert rows(env, f"SELECT f FROM TABLE({call})") == [("up",)]
    assert rows(env, "SELECT a, f FROM Q, LATERAL TABLE(VECTOR_SEARCH(TABLE V, DESCRIPTOR(g), ARRAY[Q.a, 0], 1))") == [
        (1, "right"),
        (2, "right"),
        (3, "right"),
    ]


def test_columns_have_other_names_and_conditions(env: TableEnvironment) -> None:
    query = f"SELECT a, x, s FROM Q, LATERAL TABLE({CALL}) AS T(x, y, z, s) WHERE s > 0.9 AND a < 2"
    assert rows(env, query) == [(1, 1, 1.0)]
    assert rows(env, f"SELECT a, x FROM Q JOIN LATERAL TABLE({CALL}) AS T(x, y, z, s) ON a = x") == [(1, 1), (2, 2)]


def test_the_score_has_a_name_that_no_column_has(env: TableEnvironment, files: Path) -> None:
    env.execute_sql(
        "CREATE TABLE S (score INT, score0 INT, g ARRAY<FLOAT>) "
        f"WITH ('connector' = 'filesystem', 'path' = '{files}', 'format' = 'json')"
    )
    table = env.sql_query("SELECT * FROM Q, LATERAL TABLE(VECTOR_SEARCH(TABLE S, DESCRIPTOR(g), Q.d, 1))")
    assert table.get_schema().get_field_names() == ["a", "d", "score", "score0", "g", "score1"]


def test_computed_columns_are_computed_of_what_is_found(env: TableEnvironment, files: Path) -> None:
    env.execute_sql(
        "CREATE TABLE C (e INT, g ARRAY<FLOAT>, h AS e * 10) "
        f"WITH ('connector' = 'filesystem', 'path' = '{files}', 'format' = 'json')"
    )
    query = "SELECT a, h FROM Q, LATERAL TABLE(VECTOR_SEARCH(TABLE C, DESCRIPTOR(g), Q.d, 1))"
    assert rows(env, query) == [(1, 10), (2, 20)]
    query = "VECTOR_SEARCH((SELECT f AS name, g FROM V), DESCRIPTOR(g), Q.d, 1)"
    assert rows(env, f"SELECT a, name FROM Q, LATERAL TABLE({query})") == [(1, "right"), (2, "up")]


def test_rows_in_memory_are_searched(env: TableEnvironment) -> None:
    frame = pd.DataFrame({"k": [7, 8], "v": [[1.0, 0.0], [0.0, 1.0]]})
    env.create_temporary_view("P", env.from_pandas(frame))
    query = "SELECT a, k FROM Q, LATERAL TABLE(VECTOR_SEARCH(TABLE P, DESCRIPTOR(v), Q.d, 1))"
    assert rows(env, query) == [(1, 7), (2, 8)]


def test_a_table_without_rows_has_no_nearest(env: TableEnvironment, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    env.execute_sql(
        "CREATE TABLE N (e INT, g ARRAY<FLOAT>) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path / 'none'}', 'format' = 'json')"
    )
    assert rows(env, "SELECT a, e FROM Q, LATERAL TABLE(VECTOR_SEARCH(TABLE N, DESCRIPTOR(g), Q.d, 1))") == []


def failure(env: TableEnvironment, query: str) -> str:
    with pytest.raises(ScurryError) as failed:
        rows(env, query)
    text, error = [], failed.value
    while error is not None:
        text += [str(error), *getattr(error, "__notes__", ())]
        error = error.__cause__  # type: ignore[assignment]
    return "\n".join(text)


def test_a_vector_of_another_length_is_an_error_with_its_row(env: TableEnvironment) -> None:
    said = failure(env, "SELECT * FROM Q, LATERAL TABLE(VECTOR_SEARCH(TABLE V, DESCRIPTOR(g), ARRAY[Q.a, 0, 0], 1))")
    assert "a vector of the query has 3 elements, those of the table have 2" in said
    assert "VECTOR_SEARCH of default_catalog.default_database.V" in said
    assert "'a': 1" in said


def test_vectors_of_several_lengths_in_the_table_are_an_error(env: TableEnvironment, files: Path) -> None:
    (files / "more.json").write_text('{"e": 9, "f": "long", "g": [1, 2, 3]}\n')
    said = failure(env, f"SELECT * FROM Q, LATERAL TABLE({CALL})")
    assert re.search(r"a vector of the table has \d elements, others of the table have \d", said)


@pytest.mark.parametrize(("key", "value"), [("max-rows", "3"), ("max-bytes", "10")])
def test_a_table_that_is_too_large_is_not_kept(env: TableEnvironment, files: Path, key: str, value: str) -> None:
    env.execute_sql(
        "CREATE TABLE L (e INT, g ARRAY<FLOAT>) WITH ('connector' = 'filesystem', "
        f"'path' = '{files}', 'format' = 'json', 'vector-search.{key}' = '{value}')"
    )
    said = failure(env, "SELECT * FROM Q, LATERAL TABLE(VECTOR_SEARCH(TABLE L, DESCRIPTOR(g), Q.d, 1))")
    assert f"has more than {value} " in said and f"'vector-search.{key}'" in said


def test_a_table_that_does_not_end_is_refused(env: TableEnvironment) -> None:
    env.execute_sql("CREATE TABLE G (e INT, g ARRAY<FLOAT>) WITH ('connector' = 'datagen')")
    with pytest.raises(UnsupportedError, match=r"G' cannot be searched: .* its rows do not end"):
        rows(env, "SELECT * FROM Q, LATERAL TABLE(VECTOR_SEARCH(TABLE G, DESCRIPTOR(g), Q.d, 1))")


RECORDED = [
    json.loads(line)
    for line in Path(__file__).with_name("flink_refusals.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("each", RECORDED, ids=lambda each: str(each["query"]))
def test_calls_are_refused_as_in_flink(recorded: TableEnvironment, each: dict[str, str]) -> None:
    """What Flink 2.3 said for the same call; the tables of `recorded` are those of record.py."""
    with pytest.raises((ValidationError, UnsupportedError)) as refused:
        recorded.explain_sql(each["query"])
    assert each["says"] in str(refused.value)


@pytest.fixture
def recorded(env: TableEnvironment, tmp_path: Path) -> TableEnvironment:
    env.drop_temporary_view("Q")
    env.execute_sql("DROP TABLE V")
    for table in TABLES:
        env.execute_sql(table.replace("PATH", str(tmp_path)))
    return env


def test_explain_shows_the_search(env: TableEnvironment) -> None:
    text = env.explain_sql(f"SELECT * FROM Q LEFT JOIN LATERAL TABLE({CALL[:-1]}, MAP['timeout', '9 s'])) ON TRUE")
    assert (
        "LogicalCorrelate(correlation=[$cor0], joinType=[left], requiredColumns=[{1}])" in text
        and "   +- LogicalTableFunctionScan(invocation=[VECTOR_SEARCH(TABLE(#0), DESCRIPTOR(_UTF-16LE'g'), $cor0.d, 2, "
        "MAP(_UTF-16LE'timeout', _UTF-16LE'9 s'))], rowType=[RecordType(INTEGER e, VARCHAR(2147483647) f, "
        "FLOAT ARRAY g, DOUBLE score)])\n"
        "      +- LogicalProject(e=[$0], f=[$1], g=[$2])\n"
        "         +- LogicalTableScan(table=[[default_catalog, default_database, V]])\n"
        in text
    )
    assert (
        "VectorSearchTableFunction(table=[default_catalog.default_database.V], joinType=[LeftOuterJoin], "
        "columnToSearch=[g], columnToQuery=[EXPR$1], topK=[2], config=[{timeout=9 s}], "
        "select=[EXPR$0, EXPR$1, e, f, g, score])" in text
    )


def test_only_inserted_rows_search_as_in_flink(env: TableEnvironment) -> None:
    query = f"SELECT * FROM (SELECT a, LAST_VALUE(d) AS d FROM Q GROUP BY a) AS Q, LATERAL TABLE({CALL})"
    if "batch" in repr(env):
        assert len(rows(env, query)) == 4
        return
    with pytest.raises(
        ValidationError, match="StreamPhysicalVectorSearchTableFunction doesn't support consuming update changes"
    ):
        env.explain_sql(query)


def test_a_compiled_plan_searches(env: TableEnvironment, tmp_path: Path) -> None:
    env.execute_sql(
        f"CREATE TABLE R (a INT, e INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path / 'r'}', "
        "'format' = 'csv')"
    )
    env.execute_sql("CREATE VIEW P AS SELECT CAST(f AS INT) AS a, g AS d FROM (SELECT e AS f, g FROM V)")
    query = "INSERT INTO R SELECT a, e FROM P, LATERAL TABLE(VECTOR_SEARCH(TABLE V, DESCRIPTOR(g), P.d, 1))"
    env.compile_plan_sql(query).execute().wait()
    assert sorted(rows(env, "SELECT * FROM R")) == [(1, 1), (2, 2), (3, 3)]


def test_a_table_may_have_a_processing_time(env: TableEnvironment, files: Path) -> None:
    env.execute_sql(
        "CREATE TABLE T (e INT, g ARRAY<FLOAT>, p AS PROCTIME()) "
        f"WITH ('connector' = 'filesystem', 'path' = '{files}', 'format' = 'json')"
    )
    query = "SELECT a, p IS NOT NULL FROM Q, LATERAL TABLE(VECTOR_SEARCH(TABLE T, DESCRIPTOR(g), Q.d, 1))"
    assert rows(env, query) == [(1, True), (2, True)]
    assert len(rows(env, "SELECT * FROM Q, LATERAL TABLE(VECTOR_SEARCH(TABLE T, DESCRIPTOR(g), Q.d, 1))")[0]) == 6
