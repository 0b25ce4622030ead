"""Statements answer as Flink 2.3 does, from which the transcripts were recorded (`record.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.statements.answers import Answer, answers
from support.statements.files import TRANSCRIPTS

#: Beginnings of statements that Flink and scurry answer differently.
DIFFERENT: dict[str, tuple[str, ...]] = {
    # a value that is NULL is NULL; Flink takes LEAD and LAG for NOT NULL if the default is, and shows -1 or ''
    "batch_lag_defaults": ("SELECT k, LAG(", "SELECT k, LEAD(", "SELECT k, COALESCE(LAG("),
    "stream_lag_defaults": ("SELECT k, LAG(", "SELECT k, LEAD(", "SELECT k, COALESCE(LAG("),
    "batch_over": ("SELECT id, LEAD(v, 2, -1)", "SELECT id, LEAD(g, 1, 'end')"),
    "shop_batch": ("SELECT id, LAG(price)",),
    "shop_streaming": ("SELECT id, LAG(price)",),
    "stream_over": ("SELECT id, LAG(v) OVER (PARTITION BY k ORDER BY ts) AS l, LAG(v, 2, -1)",),
    "stream_windows_and_ranks": ("SELECT id, LAG(v, 1) OVER (PARTITION BY k ORDER BY ts) AS a, LAG(id, 2, 0)",),
    # of the matches of USING (c, d) that have NULL on the optional side, Flink loses one in the next joins
    "batch_using_chains": ("SELECT * FROM t5 AS x0 RIGHT JOIN t5 AS x1 USING (c, d) FULL JOIN t4",),
    # a letter of two UTF-16 units is two wide in Flink's tables
    "odd_files": ("SELECT * FROM odd",),
    # Flink shows COALESCE as a time attribute, and does not take it for one
    "stream_cases_of_times": ("DESCRIBE vd",),
    # Flink refuses a computed constant that is a column of a query, and takes it in ORDER BY; its LAG fails there
    "stream_constant_orders": (
        "SELECT k, v, rn FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY c) AS rn FROM (SELECT k, v, 1 +",
        "SELECT k, v, LAG(v)",
    ),
    # Flink ignores arguments that a function does not have; the projection of `TABLE view` is not shown
    "changelog_functions": (
        "SELECT * FROM TO_CHANGELOG(input => TABLE sums, other",
        "SELECT * FROM TO_CHANGELOG(input => TABLE sums, produces_full_deletes",
        "SELECT * FROM FROM_CHANGELOG(input => TABLE c, invalid_op_handling",
        "EXPLAIN CHANGELOG_MODE SELECT k, COUNT(*)",
    ),
    # changes without columns fail in Flink; a column that a condition compares with a constant is not replaced here
    "changelog_functions_more": ("SELECT * FROM FROM_CHANGELOG(input => (SELECT op FROM c))", "EXPLAIN SELECT op FROM"),
    # changes between two watermarks are no conflict: a micro-batch has one, in Flink a difference of 200 ms makes one
    "on_conflict": (
        "INSERT INTO k SELECT v, id FROM newest_apart ON CONFLICT DO NOTHING",
        "INSERT INTO k SELECT v, id FROM newest_apart ON CONFLICT DO ERROR",
    ),
    # conditions of LEFT JOIN UNNEST fail in Flink
    "stream_refusals_and_more": ("SELECT id, u.e",),
    # in totals over session windows of partitions, Flink puts sessions of several partitions together
    "stream_window_grouping": (
        "SELECT k, COUNT(*) AS c, GROUPING(k) AS a FROM TABLE(SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), "
        "INTERVAL '5' SECOND)) GROUP BY ROLLUP(k)",
    ),
    # parentheses around queries, and numbers of generated names
    "stream_views_elsewhere": ("SHOW CREATE VIEW default_database.v5", "SHOW CREATE VIEW default_database.v13"),
    # Flink compares a column with itself without looking, and prints times of three digits with at least one
    "type_limits": ("SELECT arr < arr", "SELECT CAST(TIME '12:34:56' AS TIME(10))"),
    # a computed column is validated when it is declared; functions of Java are refused where they are called; a
    # materialized table needs a connector, because it is refreshed at once
    "wrong_definitions": (
        "CREATE TABLE w20",
        "CREATE TEMPORARY FUNCTION f2",
        "CREATE MATERIALIZED TABLE mt",
    ),
}

#: How many statements both refuse in different words: failures of jobs, and what scurry does not run.
OTHER_WORDS = {
    "alter": 2,
    "alter_parts": 1,
    "batch_agg": 1,
    "batch_output_names": 1,
    "batch_over": 1,
    "batch_window": 1,
    "batch_zone_changes": 1,
    "batch_zones": 1,
    "changelog_functions": 6,
    "changelog_functions_more": 2,
    "compiled_plan": 1,
    "compiled_plan_missing": 1,
    "csv": 1,
    "ctas": 2,
    "databases": 4,
    "materialized_tables": 4,  # outside of its gateway, Flink does not change a query
    "definition_errors": 1,  # DELETE in STREAMING, of a table that cannot be written
    "files": 1,
    "functions": 4,
    "json": 2,
    "like": 1,
    "odd_files": 2,
    "on_conflict": 2,
    "options": 5,
    "stream_refusals_and_more": 7,
    "stream_window_grouping": 1,
    "wrong_definitions": 18,
    "wrong_statements": 38,
}


def is_known(name: str, answer: Answer) -> bool:
    return answer.statement.startswith(DIFFERENT.get(name, ("no statement begins like this",)))


@pytest.mark.parametrize("name", sorted(path.stem for path in TRANSCRIPTS.glob("*.sql")))
def test_statements_answer_as_in_flink(name: str, tmp_path: Path) -> None:
    different = [answer for answer in answers(name, str(tmp_path)) if not answer.is_same]
    wrong = [answer for answer in different if not answer.both_refuse and not is_known(name, answer)]
    assert not wrong, "\n\n".join(map(str, wrong))
    assert sum(answer.both_refuse for answer in different) <= OTHER_WORDS.get(name, 0)
