"""TO_CHANGELOG and FROM_CHANGELOG: what one makes, the other takes back, in STREAMING and in BATCH."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from scurry.errors import EvaluationError, JobError, ValidationError
from scurry.table import EnvironmentSettings, Table, TableEnvironment
from scurry.table.expressions import col, descriptor, map_
from support.cases import cases

KINDS = ("INSERT", "UPDATE_BEFORE", "UPDATE_AFTER", "DELETE")


def environment(streaming: bool = True, parallelism: int = 1) -> TableEnvironment:
    settings = EnvironmentSettings.in_streaming_mode() if streaming else EnvironmentSettings.in_batch_mode()
    env = TableEnvironment.create(settings)
    env.get_config().set("scurry.runner", "local").set("parallelism.default", str(parallelism))
    return env


def changes_of(table: Table) -> list[tuple[Any, ...]]:
    with table.execute().collect() as rows:
        return [(row.get_row_kind().name, *row) for row in rows]


def final(changes: list[tuple[Any, ...]]) -> Counter[Any]:
    rows: Counter[Any] = Counter()
    for kind, *row in changes:
        rows[tuple(row)] += 1 if kind in ("INSERT", "UPDATE_AFTER") else -1
    return +rows


def random_changes(seed: int) -> list[tuple[str, str, int | None]]:
    """Return changes that only take back rows that are there."""
    chosen = random.Random(seed)
    there: list[tuple[str, int | None]] = []
    found: list[tuple[str, str, int | None]] = []
    for _ in range(chosen.randint(1, 40)):
        row = (chosen.choice("abc"), chosen.choice([1, 2, 3, None]))
        what = chosen.random()
        if not there or what < 0.5:
            there.append(row)
            found.append(("INSERT", *row))
        else:
            gone = there.pop(chosen.randrange(len(there)))
            if what < 0.75:
                found.append(("DELETE", *gone))
            else:
                there.append(row)
                found += [("UPDATE_BEFORE", *gone), ("UPDATE_AFTER", *row)]
    return found


def table_of(env: TableEnvironment, rows: list[Any]) -> Table:
    from scurry.table import DataTypes

    fields = [DataTypes.FIELD("op", DataTypes.STRING()), DataTypes.FIELD("k", DataTypes.STRING())]
    return env.from_elements(rows, DataTypes.ROW([*fields, DataTypes.FIELD("v", DataTypes.INT())]))


@pytest.mark.parametrize("seed", range(cases(24)))
def test_rows_that_become_changes_become_the_same_rows(seed: int) -> None:
    rows = random_changes(seed)
    changes = table_of(environment(), rows).from_changelog()
    assert changes_of(changes) == rows
    assert changes_of(changes.to_changelog()) == [("INSERT", *row) for row in rows]


@pytest.mark.parametrize("seed", range(cases(24)))
def test_batch_has_the_rows_that_all_changes_leave(seed: int) -> None:
    rows = random_changes(seed)
    found = changes_of(table_of(environment(streaming=False), rows).from_changelog())
    assert final(found) == final(rows)


@pytest.mark.parametrize("query", [
    "SELECT k, SUM(v) AS s, COUNT(*) AS n FROM FROM_CHANGELOG(input => TABLE r) GROUP BY k",
    "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM FROM_CHANGELOG("
    "input => TABLE r)) WHERE n <= 2",
    "SELECT x.k, x.v, y.v AS w FROM FROM_CHANGELOG(input => TABLE r) AS x LEFT JOIN (SELECT k, MAX(v) AS v FROM "
    "FROM_CHANGELOG(input => TABLE r) GROUP BY k) AS y ON x.k = y.k AND x.v < y.v",
    "SELECT k, v FROM FROM_CHANGELOG(input => TABLE r) WHERE v > 1 UNION ALL SELECT 'z', CAST(COUNT(*) AS INT) FROM r",
    "SELECT v FROM FROM_CHANGELOG(input => TABLE r) EXCEPT ALL SELECT 2",
])  # fmt: skip
@pytest.mark.parametrize("seed", range(cases(9)))
def test_a_query_is_itself_through_its_changelog(query: str, seed: int) -> None:
    rows = random_changes(seed)
    answers = []
    for streaming, parallelism in ((True, 1), (True, 3), (False, 1)):
        env = environment(streaming, parallelism)
        env.create_temporary_view("r", table_of(env, rows))
        asked = env.sql_query(query)
        answers += [final(changes_of(asked)), final(changes_of(asked.to_changelog().from_changelog()))]
    assert all(each == answers[0] for each in answers)


def test_codes_without_a_kind_are_dropped_and_others_share_one() -> None:
    rows = table_of(environment(), random_changes(3)).from_changelog()
    mapping = map_("INSERT, UPDATE_AFTER", "false", "DELETE", "true").as_argument("op_mapping")
    flagged = changes_of(rows.to_changelog(descriptor("gone").as_argument("op"), mapping))
    shown = {"INSERT": "false", "UPDATE_AFTER": "false", "DELETE": "true"}
    assert flagged == [("INSERT", shown[kind], *row) for kind, *row in random_changes(3) if kind in shown]


def test_a_filter_above_sees_the_code() -> None:
    rows = table_of(environment(), [("INSERT", "a", 1), ("DELETE", "a", 1)]).from_changelog()
    assert changes_of(rows.to_changelog().filter(col("op") == "DELETE")) == [("INSERT", "DELETE", "a", 1)]


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize(("code", "message"), [("oops", "invalid op code 'oops'"), (None, "NULL op code")])
def test_a_row_with_no_such_code_fails_the_job(streaming: bool, code: str | None, message: str) -> None:
    rows = table_of(environment(streaming), [("INSERT", "a", 1), (code, "b", 2)]).from_changelog()
    with pytest.raises((EvaluationError, JobError), match=message):
        changes_of(rows)


def test_a_mapping_without_insert_leaves_nothing_in_batch() -> None:
    rows = table_of(environment(streaming=False), [("INSERT", "a", 1)])
    assert changes_of(rows.from_changelog().to_changelog(map_("DELETE", "d").as_argument("op_mapping"))) == []


def test_rows_of_a_table_by_key_are_written_in_the_order_they_have() -> None:
    env = environment()
    env.create_temporary_view("r", table_of(env, random_changes(5)))
    env.execute_sql("CREATE TABLE s (k STRING, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'print')")
    plan = env.explain_sql("INSERT INTO s SELECT k, v FROM FROM_CHANGELOG(input => TABLE r)")
    assert "upsertMaterialize" not in plan


def test_an_argument_that_is_not_there_names_those_that_are() -> None:
    env = environment()
    env.create_temporary_view("r", table_of(env, [("INSERT", "a", 1)]))
    with pytest.raises(ValidationError, match="its arguments are: input, op, op_mapping, on_time, uid"):
        env.sql_query("SELECT * FROM FROM_CHANGELOG(input => TABLE r, mapping => MAP['a', 'INSERT'])")
