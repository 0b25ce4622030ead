"""MATCH_RECOGNIZE finds what real Flink finds, in STREAMING and BATCH, and is refused in Flink's words.

`tests/fixtures/flink/match_recognize/cases.jsonl` has what Flink 2.3 has answered: patterns, their results or refusals.
"""

from __future__ import annotations

import json
import random
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Row
from scurry.common.time import Instant
from scurry.errors import ScurryError, ValidationError
from support import TESTS
from support.statements.tables import environment, files, read, rows, until, write

CASES = TESTS / "fixtures" / "flink" / "match_recognize" / "cases.jsonl"
RECORDED = [json.loads(line) for line in CASES.read_text().splitlines()]
COLUMNS = (
    "sym STRING, price INT, qty INT, e BIGINT, ts AS TO_TIMESTAMP_LTZ(e, 3), "
    "WATERMARK FOR ts AS ts - INTERVAL '60' SECOND"
)
ROWS = [
    *[("x", price, qty, 1000 * at) for at, (price, qty) in enumerate(
        [(12, 1), (17, 2), (13, 3), (11, 4), (15, 1), (20, 2), (18, 5), (14, 1), (19, 2)], 1)],
    *[("y", price, 1, 1000 * at) for at, price in enumerate([5, 4, 3, 6, 7, 2, 9], 1)],
]  # fmt: skip


def shown(value: Any) -> str:
    """Return a value as Flink's rows show it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Row):
        return "+I[" + ", ".join(map(shown, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}={each}" for key, each in value.items()) + "}"
    if isinstance(value, Instant):
        at = datetime.fromtimestamp(value.seconds, UTC)
        return at.isoformat().replace("+00:00", "Z")
    text = str(value)
    is_time = len(text) >= 19 and text[:4].isdigit() and text[4] == "-"
    return text.replace(" ", "T").removesuffix(":00") if is_time else text


def answer(case: dict[str, Any], tmp_path: Path) -> list[str]:
    written = case.get("rows", ROWS)
    lines = (",".join("" if value is None else str(value) for value in row) for row in written)
    (tmp_path / "rows.csv").write_text("".join(f"{line}\n" for line in lines))
    env = environment(case.get("mode") != "batch", **{"parallelism.default": "1", "table.local-time-zone": "UTC"})
    options = {"format": "csv", "csv.null-literal": ""}
    files(env, "ticker", case.get("columns", COLUMNS), tmp_path / "rows.csv", **options)
    for statement in case.get("setup", ()):
        env.execute_sql(statement)
    with env.execute_sql(case["sql"]).collect() as results:
        return [", ".join(map(shown, row)) for row in results]


@pytest.mark.parametrize("case", [case for case in RECORDED if "result" in case], ids=lambda case: case["id"])
def test_matches_are_those_of_flink(case: dict[str, Any], tmp_path: Path) -> None:
    assert sorted(answer(case, tmp_path)) == sorted(case["result"])


@pytest.mark.parametrize("case", [case for case in RECORDED if "error" in case], ids=lambda case: case["id"])
def test_what_flink_refuses_is_refused_in_its_words(case: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ScurryError) as refused:
        answer(case, tmp_path)
    without_classes = re.sub(r" in class '[\w.$]+'", "", case["error"])
    assert without_classes in str(refused.value)


QUERY = """
    SELECT * FROM t MATCH_RECOGNIZE (
      PARTITION BY k ORDER BY ts
      MEASURES FIRST(A.n) AS a, LAST(A.n) AS l, COUNT(A.n) AS c, B.n AS b
      AFTER MATCH SKIP PAST LAST ROW
      PATTERN (A+ B) WITHIN INTERVAL '1' MINUTE
      DEFINE A AS A.v > 0 AND (LAST(A.v, 1) IS NULL OR A.v >= LAST(A.v, 1)), B AS B.v < A.v)
"""
BY_TIME = "k STRING, n INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"


def row(second: int, k: str, v: int | None) -> dict[str, Any]:
    return {"k": k, "n": second, "v": v, "ts": f"2024-01-01 00:{second // 60:02d}:{second % 60:02d}"}


def test_streaming_finds_what_batch_finds_however_rows_are_cut_and_shuffled(tmp_path: Path) -> None:
    chance = random.Random(5)
    some = [row(at, chance.choice("abc"), chance.choice([None, *range(6)])) for at in range(10, 500)]
    shuffled = [some[at] for at in sorted(range(len(some)), key=lambda at: at + chance.random() * 3)]
    for number in range(7):
        write(tmp_path / "in", f"f{number}", *shuffled[70 * number : 70 * (number + 1)])
    found = []
    for streaming, parallelism in ((True, "1"), (True, "3"), (False, "2")):
        env = environment(streaming, **{"parallelism.default": parallelism})
        files(env, "t", BY_TIME, tmp_path / "in")
        found.append(rows(env, QUERY))
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > 20


def test_partial_matches_are_in_savepoints_and_continue_at_another_parallelism(tmp_path: Path) -> None:
    def start(**settings: Any) -> Any:
        env = environment(**settings)
        files(env, "t", BY_TIME, tmp_path / "in", **{"source.monitor-interval": "20 ms"})
        files(env, "written", "k STRING, a INT, l INT, c BIGINT, b INT", tmp_path / "out")
        return env.execute_sql(f"INSERT INTO written {QUERY}").get_job_client()

    def written() -> list[tuple[Any, ...]]:
        return sorted((each["k"], each["a"], each["l"], each["c"], each["b"]) for each in read(tmp_path / "out"))

    first = [row(1, "a", 1), row(2, "a", 2), row(3, "b", 7), row(4, "b", 1), row(30, "a", 3), row(58, "c", 1)]
    write(tmp_path / "in", "f1", *first)
    job = start(**{"parallelism.default": "1"})
    until(lambda: written() == [("b", 3, 3, 1, 4)])
    savepoint = job.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    write(tmp_path / "in", "f2", row(59, "a", 1), row(117, "c", 5), row(119, "c", 0), row(300, "d", 0))
    settings = {"execution.state-recovery.path": savepoint, "table.exec.source.idle-timeout": "50 ms"}
    resumed = start(**settings, **{"parallelism.default": "3"})
    try:
        until(lambda: written() == [("a", 1, 30, 3, 59), ("b", 3, 3, 1, 4), ("c", 117, 117, 1, 119)])
    finally:
        resumed.cancel().result()


def test_explain_shows_the_operator_as_flink_does(tmp_path: Path) -> None:
    env = environment()
    files(env, "ticker", COLUMNS, tmp_path)
    explained = env.explain_sql(
        """
        SELECT * FROM ticker MATCH_RECOGNIZE (
          PARTITION BY sym ORDER BY ts, price DESC
          MEASURES A.price AS a, LAST(B.price) + 1 AS b, SUM(A.price) AS s, FIRST(A.qty, 1) AS f
          AFTER MATCH SKIP TO LAST B
          PATTERN (A+ B) WITHIN INTERVAL '1' HOUR SUBSET U = (A, B)
          DEFINE A AS A.price < 17, B AS B.price > LAST(A.price, 1) AND B.qty > A.qty)
        """
    )
    assert (
        "Match(partitionBy=[sym], orderBy=[ts ASC, price DESC], measures=[FINAL(A.price) AS a, "
        "FINAL(+(LAST(B.price, 0), 1)) AS b, FINAL(SUM(A.price)) AS s, FINAL(FIRST(A.qty, 1)) AS f], "
        "rowsPerMatch=[ONE ROW PER MATCH], after=[SKIP TO LAST _UTF-16LE'B'], "
        "pattern=[(PATTERN_QUANTIFIER(_UTF-16LE'A', 1, -1, false), _UTF-16LE'B')], subset=[U = (A, B)], "
        "define=[{A=<(PREV(A.$1, 0), 17), B=AND(>(PREV(B.$1, 0), LAST(A.$1, 1)), >(PREV(B.$2, 0), LAST(A.$2, 0)))}])"
    ) in explained
    assert "LogicalMatch(partition=[[0]], order=[[4 ASC-nulls-first, 1 DESC-nulls-last]]" in explained


def test_an_updating_table_is_refused(tmp_path: Path) -> None:
    env = environment()
    files(env, "ticker", COLUMNS, tmp_path)
    env.execute_sql("CREATE VIEW counts AS SELECT sym, MAX(ts) AS ts, COUNT(*) AS n FROM ticker GROUP BY sym")
    with pytest.raises(ValidationError) as refused:
        env.execute_sql(
            "SELECT * FROM counts MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts MEASURES A.n AS a "
            "PATTERN (A B) DEFINE A AS TRUE)"
        )
    assert str(refused.value).startswith(
        "Match Recognize doesn't support consuming update changes which is produced by node GroupAggregate("
    )


def divided(*prices: int) -> dict[str, Any]:
    """A pattern whose second condition has no value for a price of 0."""
    return {
        "sql": "SELECT * FROM ticker MATCH_RECOGNIZE (ORDER BY ts MEASURES A.e AS a AFTER MATCH SKIP PAST LAST ROW "
        "PATTERN (A B) DEFINE A AS A.price = 1, B AS 10 / B.price > 0)",
        "rows": [("x", price, 1, 1000 * at) for at, price in enumerate(prices)],
    }


def test_a_condition_without_a_value_fails_the_query_with_its_variable_and_row(tmp_path: Path) -> None:
    case = divided(1, 0)
    case["sql"] = case["sql"].replace("ORDER BY ts", "PARTITION BY sym ORDER BY ts")
    with pytest.raises(ScurryError, match=r"(?s)by zero.*condition of variable B.*sym = 'x', ts = 1970-01-01T00:00:01"):
        answer(case, tmp_path)


def test_a_condition_that_no_match_asks_for_does_not_fail(tmp_path: Path) -> None:
    assert answer(divided(0, 1, 2, 0, 0), tmp_path) == ["1000"]


def test_averages_are_explained_as_the_sums_and_counts_that_they_are_computed_of(tmp_path: Path) -> None:
    env = environment()
    files(env, "ticker", COLUMNS, tmp_path)
    plan = env.explain_sql(
        "SELECT * FROM ticker MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts MEASURES AVG(A.price) AS a "
        "PATTERN (A{2}) DEFINE A AS AVG(A.qty) IS NOT NULL)"
    )
    assert "patternDefinitions=[[IS NOT NULL(CAST(/(SUM(A.$2), COUNT(A.$2))):INT)]]" in plan
