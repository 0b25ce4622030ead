"""Aggregates in two phases, with mini-batches: Flink's plans, and the table that one phase gives."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ValidationError
from scurry.table import TableEnvironment
from support.statements.tables import changed_rows, environment, files, rows, write

COLUMNS = "k STRING, v INT, d DOUBLE, m DECIMAL(10, 2), s STRING"
#: The aggregates of Flink 2.3's optimised plans, the last one first.
PLANS = {
    "SELECT k, COUNT(*) AS n FROM t GROUP BY k": [
        "GlobalGroupAggregate(groupBy=[k], select=[k, COUNT(count1$0) AS n])",
        "LocalGroupAggregate(groupBy=[k], select=[k, COUNT(*) AS count1$0])",
    ],
    "SELECT k, COUNT(v) AS a, MIN(s) AS b, MAX(d) AS c, SUM(d) AS e FROM t GROUP BY k": [
        "GlobalGroupAggregate(groupBy=[k], select=[k, COUNT(count$0) AS a, MIN(min$1) AS b, MAX(max$2) AS c, "
        "SUM(sum$3) AS e])",
        "LocalGroupAggregate(groupBy=[k], select=[k, COUNT(v) AS count$0, MIN(s) AS min$1, MAX(d) AS max$2, "
        "SUM(d) AS sum$3])",
    ],
    "SELECT SUM(v) AS a, COUNT(DISTINCT k) AS b FROM t": [
        "GlobalGroupAggregate(select=[SUM(sum$0) AS a, COUNT(distinct$0 count$1) AS b])",
        "LocalGroupAggregate(select=[SUM(v) AS sum$0, COUNT(distinct$0 k) AS count$1, DISTINCT(k) AS distinct$0])",
    ],
    "SELECT k, COUNT(DISTINCT s) AS a, SUM(DISTINCT v) AS b, COUNT(*) AS c, MAX(DISTINCT v) AS e FROM t GROUP BY k": [
        "GlobalGroupAggregate(groupBy=[k], select=[k, COUNT(distinct$0 count$0) AS a, "
        "SUM(distinct$1 sum$1) AS b, COUNT(count1$2) AS c, MAX(max$3) AS e])",
        "LocalGroupAggregate(groupBy=[k], select=[k, COUNT(distinct$0 s) AS count$0, "
        "SUM(distinct$1 v) AS sum$1, COUNT(*) AS count1$2, MAX(v) AS max$3, DISTINCT(s) AS distinct$0, "
        "DISTINCT(v) AS distinct$1])",
    ],
    "SELECT DISTINCT k, s FROM t": [
        "GlobalGroupAggregate(groupBy=[k, s], select=[k, s])",
        "LocalGroupAggregate(groupBy=[k, s], select=[k, s])",
    ],
    "SELECT k, AVG(m) AS a, LISTAGG(s) AS b, COLLECT(s) AS c FROM t GROUP BY k": [
        "GlobalGroupAggregate(groupBy=[k], select=[k, AVG((sum$0, count$1)) AS a, LISTAGG((accDelimiter$2, "
        "concatAcc$3)) AS b, COLLECT(collect$4) AS c])",
        "LocalGroupAggregate(groupBy=[k], select=[k, AVG(m) AS (sum$0, count$1), "
        "LISTAGG(s) AS (accDelimiter$2, concatAcc$3), COLLECT(s) AS collect$4])",
    ],
    "SELECT n, COUNT(*) AS a, MAX(x) AS b, SUM(x) AS c, AVG(x) AS d "
    "FROM (SELECT k, COUNT(*) AS n, SUM(v) AS x FROM t GROUP BY k) GROUP BY n": [
        "GlobalGroupAggregate(groupBy=[n], select=[n, COUNT_RETRACT(count1$0) AS a, MAX_RETRACT(max$1) AS b, "
        "SUM_RETRACT((sum$2, count$3)) AS c, AVG_RETRACT((sum$4, count$5)) AS d])",
        "LocalGroupAggregate(groupBy=[n], select=[n, COUNT_RETRACT(*) AS count1$0, MAX_RETRACT(x) AS max$1, "
        "SUM_RETRACT(x) AS (sum$2, count$3), AVG_RETRACT(x) AS (sum$4, count$5)])",
        "GlobalGroupAggregate(groupBy=[k], select=[k, COUNT(count1$0) AS n, SUM(sum$1) AS x])",
        "LocalGroupAggregate(groupBy=[k], select=[k, COUNT(*) AS count1$0, SUM(v) AS sum$1])",
    ],
    "SELECT n, MIN(x) AS b, COUNT(DISTINCT x) AS c "
    "FROM (SELECT k, COUNT(*) AS n, SUM(v) AS x FROM t GROUP BY k) GROUP BY n": [
        "GlobalGroupAggregate(groupBy=[n], select=[n, MIN_RETRACT(min$0) AS b, "
        "COUNT_RETRACT(distinct$0 count$1) AS c])",
        "LocalGroupAggregate(groupBy=[n], select=[n, MIN_RETRACT(x) AS min$0, "
        "COUNT_RETRACT(distinct$0 x) AS count$1, COUNT_RETRACT(*) AS count1$2, DISTINCT(x) AS distinct$0])",
        "GlobalGroupAggregate(groupBy=[k], select=[k, COUNT(count1$0) AS n, SUM(sum$1) AS x])",
        "LocalGroupAggregate(groupBy=[k], select=[k, COUNT(*) AS count1$0, SUM(v) AS sum$1])",
    ],
    "SELECT k, FIRST_VALUE(v) AS a, COUNT(*) AS b FROM t GROUP BY k": [
        "GroupAggregate(groupBy=[k], select=[k, FIRST_VALUE(v) AS a, COUNT(*) AS b])",
    ],
}


def mini_batches(**settings: str) -> TableEnvironment:
    return environment(**{"parallelism.default": "1", "table.exec.mini-batch.enabled": "true", **settings})


def aggregates(env: TableEnvironment, query: str, directory: Path) -> list[str]:
    files(env, "t", COLUMNS, directory)
    text = env.explain_sql(query).split("== Optimized Physical Plan ==")[1].split("== Optimized Execution Plan ==")[0]
    found = [line.strip(" :+-") for line in text.splitlines()]
    return [line for line in found if "GroupAggregate(" in line]


def without_names(lines: list[str]) -> list[str]:
    """Return aggregates without what their results are called."""
    return [line if line.startswith("Local") else re.sub(r" AS [\w$]+", "", line) for line in lines]


@pytest.mark.parametrize("query", PLANS)
def test_plans_are_those_of_flink(query: str, tmp_path: Path) -> None:
    assert without_names(aggregates(mini_batches(), query, tmp_path)) == without_names(PLANS[query])


@pytest.mark.parametrize(
    "settings",
    [
        {"table.optimizer.agg-phase-strategy": "ONE_PHASE"},
        {"table.optimizer.agg-phase-strategy": "TWO_PHASE", "table.exec.mini-batch.enabled": "false"},
    ],
)
def test_aggregates_have_one_phase_if_asked_for_and_without_mini_batches(
    settings: dict[str, str], tmp_path: Path
) -> None:
    found = aggregates(mini_batches(**settings), "SELECT k, COUNT(*) FROM t GROUP BY k", tmp_path)
    assert [line.partition("(")[0] for line in found] == ["GroupAggregate"]


def some_rows(count: int, seed: int) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    choices: dict[str, list[Any]] = {
        "k": ["a", "b", "c"], "v": [-3, -1, 0, 2, 4, 7], "d": [0.5, 1.25, -8], "m": [1.5, 2.25], "s": ["x", "y", "yy"],
    }  # fmt: skip
    return [
        {name: chance.choice(values) if chance.random() > 0.1 else None for name, values in choices.items()}
        for _ in range(count)
    ]


def table(found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    left: list[tuple[Any, ...]] = []
    for kind, *row in found:
        if kind in ("+I", "+U"):
            left.append(tuple(row))
        else:
            left.remove(tuple(row))
    return sorted(left, key=str)


OF_CHANGES = "(SELECT k, s, MOD(COUNT(*), 3) AS n, SUM(v) AS x, MAX(m) AS y FROM t GROUP BY k, s)"


@pytest.mark.parametrize("parallelism", ["1", "3"])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, COUNT(*), COUNT(v), SUM(v), AVG(v), MIN(s), MAX(d), AVG(m), SUM(m) FROM t GROUP BY k",
        "SELECT k, SUM(v) FILTER (WHERE d > 0), COUNT(DISTINCT v) FILTER (WHERE s = 'x'), MIN(m) FILTER (WHERE v > 9) "
        "FROM t GROUP BY k",
        "SELECT COUNT(DISTINCT s), SUM(DISTINCT v), AVG(DISTINCT m), MAX(DISTINCT s), COUNT(DISTINCT 1) FROM t",
        "SELECT k, STDDEV_POP(v), COUNT(*) FROM t GROUP BY k",
        "SELECT k, VAR_SAMP(d) FILTER (WHERE v > 1000), VAR_POP(v) FILTER (WHERE s = 'x'), MIN(k) FROM t GROUP BY k",
        f"SELECT n, COUNT(*), SUM(x), AVG(x), MIN(x), MAX(y), COUNT(DISTINCT x), SUM(y) FROM {OF_CHANGES} GROUP BY n",
        f"SELECT n, MIN(x) FILTER (WHERE s = 'x'), SUM(DISTINCT x), VAR_POP(x) FROM {OF_CHANGES} GROUP BY n",
        f"SELECT COUNT(*), MIN(DISTINCT x) FROM {OF_CHANGES} WHERE n = 1",
        "SELECT k, s, COUNT(*), GROUPING(k) FROM t GROUP BY ROLLUP (k, s)",
        "SELECT DISTINCT k, s FROM t",
    ],
)
def test_the_table_after_all_changes_is_that_of_batch(query: str, parallelism: str, tmp_path: Path) -> None:
    for part in range(3):
        write(tmp_path / "in", f"f{part}", *some_rows(40, part))
    streaming, batch = mini_batches(**{"parallelism.default": parallelism}), environment(False)
    for env in (streaming, batch):
        files(env, "t", COLUMNS, tmp_path / "in")
    assert table(changed_rows(streaming, query)) == rows(batch, query)


def test_lists_have_the_values_that_they_have_in_one_phase(tmp_path: Path) -> None:
    write(tmp_path / "in", "f", *some_rows(60, 1))
    query = "SELECT LISTAGG(s, '/'), COLLECT(v) FROM (SELECT k, s, MAX(v) AS v FROM t GROUP BY k, s)"
    found = []
    for phases in ("ONE_PHASE", "TWO_PHASE"):
        env = mini_batches(**{"table.optimizer.agg-phase-strategy": phases})
        files(env, "t", COLUMNS, tmp_path / "in")
        ((texts, values),) = table(changed_rows(env, query))
        found.append((sorted(texts.split("/")), values))
    assert found[0] == found[1]


def test_a_group_changes_once_for_the_rows_that_are_read_together(tmp_path: Path) -> None:
    env = mini_batches()
    write(tmp_path, "f", {"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "a", "v": 1}, {"k": "a", "v": 3})
    files(env, "t", COLUMNS, tmp_path)
    query = "SELECT k, SUM(v), COUNT(DISTINCT v) FROM t GROUP BY k"
    assert changed_rows(env, query) == [("+I", "a", 5, 2), ("+I", "b", 2, 1)]


def test_a_refused_table_names_the_aggregate_before_it_is_divided_as_flink_does(tmp_path: Path) -> None:
    env = mini_batches()
    files(env, "t", COLUMNS, tmp_path / "in")
    files(env, "written", "k STRING, n BIGINT", tmp_path / "out")
    with pytest.raises(ValidationError, match=r"produced by node GroupAggregate\("):
        env.execute_sql("INSERT INTO written SELECT k, COUNT(*) FROM t GROUP BY k")
