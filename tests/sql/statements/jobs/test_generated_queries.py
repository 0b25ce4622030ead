"""Queries made at random: what their changes leave in STREAMING is what BATCH and SQLite find in the rows left."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from scurry.errors import ValidationError
from scurry.sql.planner.rules import EXCLUDABLE
from scurry.sql.statements.planning import planned
from scurry.sql.statements.queries import plan_query
from scurry.sql.syntax.parser import parse
from scurry.table import TableEnvironment
from support.cases import cases
from support.statements.compared_queries import (
    CONNECTORS,
    DUPLICATES,
    MINI_BATCH,
    OPTIONS,
    PARALLELISM,
    WITHOUT_RULES,
    fed,
    in_batch,
    in_sqlite,
    streamed,
)
from support.statements.generated_queries import TABLES, Query, changes, queries, queries_by_key
from support.statements.tables import environment


def with_tables(streaming: bool, **options: Any) -> TableEnvironment:
    env = environment(streaming, **{"table.exec.sink.require-on-conflict": "false", **options})
    for table in TABLES:
        has_key = table.has_key or options.items() >= DUPLICATES.items()
        key = ", PRIMARY KEY (id) NOT ENFORCED" if has_key else ""
        given = CONNECTORS[table.kind if streaming else "INSERT"]
        env.execute_sql(f"CREATE TABLE {table.name} (id INT, k STRING, v BIGINT{key}) WITH ({given})")
    for name, key in (("by_k", "k"), ("by_row", "k, v")):
        env.execute_sql(
            f"CREATE TABLE {name} (k STRING, v BIGINT, PRIMARY KEY ({key}) NOT ENFORCED) WITH ({CONNECTORS['UPSERT']})"
        )
    return env


TABLES_FED = fed(TABLES, changes)


def check(query: Query, tables: Any, parallelism: list[int], options: dict[str, str]) -> None:
    batches, left = tables
    text = f"SELECT * FROM {query.flink}"
    wanted = in_batch(with_tables(False, **options), text, left)
    assert wanted == in_sqlite(f"SELECT * FROM {query.sqlite}", left)
    assert streamed(with_tables(True, **options), text, batches, parallelism) == wanted


def check_by_key(query: Query, tables: Any, parallelism: list[int], options: dict[str, str]) -> None:
    batches, left = tables
    wanted = in_sqlite(f"SELECT * FROM {query.sqlite}", left)
    env = with_tables(True, **options)
    assert streamed(env, f"INSERT INTO by_k SELECT * FROM {query.flink}", batches, parallelism) == wanted


def check_by_row(query: Query, tables: Any, parallelism: list[int], options: dict[str, str]) -> None:
    batches, left = tables
    text = "SELECT {0} FROM {1} WHERE k IS NOT NULL AND v IS NOT NULL"
    wanted = in_sqlite(text.format("DISTINCT *", query.sqlite), left)
    env = with_tables(True, **options)
    assert streamed(env, f"INSERT INTO by_row {text.format('*', query.flink)}", batches, parallelism) == wanted


@given(query=queries(), tables=TABLES_FED, parallelism=PARALLELISM, options=OPTIONS)
@settings(max_examples=cases(40))
def test_any_cut_restart_and_parallelism_leaves_what_batch_finds(
    query: Query, tables: Any, parallelism: list[int], options: dict[str, str]
) -> None:
    check(query, tables, parallelism, options)


@given(query=queries_by_key(), tables=TABLES_FED, parallelism=PARALLELISM, options=OPTIONS)
@settings(max_examples=cases(20))
def test_a_table_with_the_key_of_the_query_has_its_rows(
    query: Query, tables: Any, parallelism: list[int], options: dict[str, str]
) -> None:
    check_by_key(query, tables, parallelism, options)


@given(query=queries(), tables=TABLES_FED, parallelism=PARALLELISM, options=OPTIONS)
@settings(max_examples=cases(20))
def test_a_table_with_another_key_than_the_query_has_its_rows(
    query: Query, tables: Any, parallelism: list[int], options: dict[str, str]
) -> None:
    check_by_row(query, tables, parallelism, options)


WAYS = [(queries(), check), (queries_by_key(), check_by_key), (queries(), check_by_row)]


def check_many(made: Any, checked: Any, options: Any, examples: int) -> None:
    @given(query=made, tables=TABLES_FED, parallelism=PARALLELISM, options=options)
    @settings(max_examples=examples)
    def run(query: Query, tables: Any, parallelism: list[int], options: dict[str, str]) -> None:
        checked(query, tables, parallelism, options)

    run()


@pytest.mark.nightly
@pytest.mark.parametrize(("made", "checked"), WAYS)
def test_many_queries(made: Any, checked: Any) -> None:
    check_many(made, checked, OPTIONS, 1000)


@pytest.mark.nightly
@pytest.mark.parametrize(("made", "checked"), WAYS)
@pytest.mark.parametrize("rule", [rule.__name__ for rule in EXCLUDABLE])
def test_many_queries_without_a_rule(rule: str, made: Any, checked: Any) -> None:
    without = {"scurry.optimizer.excluded-rules": rule}
    check_many(made, checked, st.sampled_from([without, MINI_BATCH | without]), 200)


@pytest.mark.parametrize("rule", [rule.__name__ for rule in EXCLUDABLE])
def test_queries_reach_every_rule(rule: str) -> None:
    without = {"scurry.optimizer.excluded-rules": rule}
    pairs = [(with_tables(streaming), with_tables(streaming, **without)) for streaming in (True, False)]

    def has_another_plan(query: Query) -> bool:
        statement: Any = parse(f"SELECT * FROM {query.flink}")
        sessions: list[list[Any]] = [[each._session for each in pair] for pair in pairs]
        try:
            plans = [[planned(each, [plan_query(each, statement)]).plans[0] for each in pair] for pair in sessions]
        except ValidationError:  # Flink refuses such a query, too
            return False
        return any(one != other for one, other in plans)

    found = find(queries(), has_another_plan, settings=settings(max_examples=1000, phases=[Phase.generate]))
    assert found.flink


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n FROM a) WHERE n = 1",
        "SELECT k, s FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY s DESC, k) AS n FROM "
        "(SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY v) AS s FROM c)) WHERE n <= 2",
        "SELECT k, s FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY s) AS n FROM "
        "(SELECT l.k, r.v AS s FROM c AS l LEFT JOIN c AS r ON l.v + 1 = r.v)) WHERE n = 1",
        "SELECT k, COUNT(*) FROM (SELECT k FROM a LIMIT 10) GROUP BY k",
    ],
)
def test_ranks_of_rows_that_are_taken_back(query: str) -> None:
    some = [{"id": number, "k": "xy"[number % 2], "v": value} for number, value in enumerate([3, 1, 2, 5, 4])]
    inserted = [("+I", row) for row in some]
    gone = [("-D", some[1]), ("-D", some[4])]
    batches = [[("a", inserted), ("c", inserted)], [("a", gone)]]
    left = {"a": [some[0], some[2], some[3]], "c": some}
    wanted = in_batch(with_tables(False), query, left)
    assert streamed(with_tables(True), query, batches, [1, 2]) == wanted
    assert wanted


def test_a_rank_of_updates_that_another_operator_takes_back() -> None:
    counts = "(SELECT k, COUNT(*) AS v FROM c GROUP BY k)"
    top = f"(SELECT *, ROW_NUMBER() OVER (ORDER BY v DESC) AS n FROM {counts})"
    query = f"SELECT k, v FROM {top} WHERE n = 1 UNION ALL SELECT 'sum' AS k, SUM(v) AS v FROM {counts}"
    rows = [{"id": number, "k": "xyy"[number % 3], "v": 1} for number in range(6)]
    batches = [[("c", [("+I", row)])] for row in rows]
    assert streamed(with_tables(True), query, batches, [1]) == in_batch(with_tables(False), query, {"c": rows})


def test_a_group_is_forgotten_when_a_bundle_takes_its_last_row_back() -> None:
    query = "SELECT k, SUM(v) AS v FROM a GROUP BY k"
    row, later = {"id": 1, "k": "x", "v": 3}, {"id": 2, "k": "x", "v": 4}
    batches = [[("a", [(kind, each)])] for kind, each in (("+I", row), ("-D", row), ("+I", later))]
    assert streamed(with_tables(True, **MINI_BATCH), query, batches, [1]) == [("x", 4)]


def test_a_rule_that_plans_need_cannot_be_excluded() -> None:
    env = with_tables(True, **{"scurry.optimizer.excluded-rules": "push_filters; nonsense"})
    with pytest.raises(
        ValidationError, match="excluded-rules: nonsense cannot be left out; there are merge_projections"
    ):
        env.explain_sql("SELECT * FROM a")


@pytest.mark.parametrize("kind", ["LEFT JOIN", "RIGHT JOIN"])
@pytest.mark.parametrize("condition", ["l.v < r.v", "l.v < 3", "r.v < 2", "l.k <> 'y'"])
def test_pairs_end_when_an_update_makes_another_condition_false(kind: str, condition: str) -> None:
    rows = [{"id": number, "k": key, "v": 1} for number, key in enumerate(["x", "y"])]
    later = [{"id": 3, "k": "x", "v": 4}]
    inserted, updating = ([("+I", row) for row in some] for some in (rows, later))
    batches = [[("a", inserted), ("c", inserted)], [("a", updating)], [("c", updating)]]
    grouped = "(SELECT k, {}(v) AS v FROM {} GROUP BY k)"
    query = (
        f"SELECT {kind[0].lower()}.k, l.v + r.v AS v FROM {grouped.format('SUM', 'c')} AS l "
        f"{kind} {grouped.format('COUNT', 'a')} AS r ON l.k = r.k AND {condition}"
    )
    wanted = in_batch(with_tables(False), query, {"a": rows + later, "c": rows + later})
    assert streamed(with_tables(True), f"INSERT INTO by_k {query}", batches, [1]) == wanted


@pytest.mark.parametrize(
    "query",
    [
        "SELECT l.k, r.v FROM {sums} AS l LEFT JOIN {counts} AS r ON l.k = r.k",
        "SELECT l.k, l.v FROM {sums} AS l LEFT JOIN {counts} AS r ON l.k = r.k AND l.k <> 'y'",
        "SELECT r.k, l.v FROM {counts} AS l RIGHT JOIN {sums} AS r ON l.k = r.k",
        "SELECT k, v FROM {sums} WHERE k IN (SELECT k FROM {counts})",
        "SELECT k, v FROM {sums} AS l WHERE NOT EXISTS (SELECT * FROM {counts} AS r WHERE l.k = r.k)",
    ],
)
@pytest.mark.parametrize("options", [{}, WITHOUT_RULES])
@given(tables=TABLES_FED, parallelism=PARALLELISM)
@settings(max_examples=cases(10))
def test_a_row_that_is_replaced_is_one_partner(
    query: str, options: dict[str, str], tables: Any, parallelism: list[int]
) -> None:
    """In Flink it is two, and the row that it is joined with is lost when it is deleted."""
    batches, left = tables
    grouped = "(SELECT k, {}(v) AS v FROM {} WHERE k IS NOT NULL GROUP BY k)"
    text = query.format(sums=grouped.format("SUM", "c"), counts=grouped.format("COUNT", "d"))
    wanted = in_batch(with_tables(False, **options), text, left)
    assert streamed(with_tables(True, **options), f"INSERT INTO by_k {text}", batches, parallelism) == wanted


def test_the_row_of_an_outer_side_is_left_when_its_updated_partner_is_deleted() -> None:
    query = (
        "INSERT INTO by_k SELECT l.k, r.v FROM (SELECT k FROM c GROUP BY k) AS l "
        "LEFT JOIN (SELECT k, SUM(v) AS v FROM d GROUP BY k) AS r ON l.k = r.k"
    )
    one, two = ({"id": number, "k": "x", "v": 5} for number in (1, 2))
    batches = [[("c", [("+I", one)])], *([("d", [(kind, row)])] for kind in ("+I", "-D") for row in (one, two))]
    assert streamed(with_tables(True), query, batches, [1]) == [("x", None)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n FROM {}) WHERE n = 1",
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n FROM {}) WHERE n = 2",
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY v, k) AS n FROM {}) WHERE n BETWEEN 2 AND 3",
        "SELECT k, v + 0 * n AS v FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY v, k) AS n FROM {}) WHERE n <= 2",
    ],
)
@pytest.mark.parametrize("rows", ["(SELECT DISTINCT k, v FROM c)", "(SELECT k, MIN(v) AS v FROM c GROUP BY k)"])
def test_a_row_that_takes_the_place_of_another_has_another_key(query: str, rows: str) -> None:
    some = [{"id": number, "k": "xyx"[number % 3], "v": value} for number, value in enumerate([5, 4, 3, 1, 2])]
    batches = [[("c", [("+I", row)])] for row in some]
    text = query.format(rows)
    wanted = in_batch(with_tables(False), text, {"c": some})
    assert streamed(with_tables(True), f"INSERT INTO by_row {text}", batches, [1]) == wanted
