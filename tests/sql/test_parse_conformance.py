"""Statements judged by Flink 2.3's own parser: accepted or refused, where, and their canonical text.

The statements are third-party text and stay where they are; skipped where they are not at hand.
"""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import SqlParserError
from scurry.sql.syntax import parse, unparse
from scurry.sql.syntax.nodes import Statement

RECORDINGS = Path(os.environ.get("SCURRY_CONFORMANCE", "")).resolve() / "sql" / "parse" / "public.jsonl"
RECORDED = bool(os.environ.get("SCURRY_CONFORMANCE")) and RECORDINGS.exists()

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not RECORDED, reason="SCURRY_CONFORMANCE names no directory with sql/parse/public.jsonl"),
]
QUERIES = ("SqlSelect", "SqlOrderBy", "SqlWith", "SqlBasicCall:UNION", "SqlBasicCall:INTERSECT", "SqlBasicCall:EXCEPT")


@functools.cache
def judged() -> list[tuple[dict[str, Any], Statement | SqlParserError]]:
    lines = RECORDINGS.read_text(encoding="utf-8").splitlines()
    return [(row["flink"], judge(row["statement"])) for row in map(json.loads, lines)]


def judge(text: str) -> Statement | SqlParserError:
    try:
        return parse(text)
    except SqlParserError as error:
        return error


def accepted(queries: bool) -> list[tuple[str, Statement]]:
    return [
        (flink["unparse"], found)
        for flink, found in judged()
        if flink["ok"] and isinstance(found, Statement) and flink["kind"].startswith(QUERIES) == queries
    ]


def share(right: list[bool]) -> float:
    assert right, "nothing to compare"
    return sum(right) / len(right)


def test_statements_are_accepted_and_refused_as_by_flink() -> None:
    assert share([flink["ok"] == isinstance(found, Statement) for flink, found in judged()]) == 1


def test_wrong_statements_are_refused_at_flinks_place() -> None:
    refused = [(flink, found) for flink, found in judged() if not flink["ok"]]
    places = [(flink["line"], flink["col"]) == (getattr(found, "line", 0), found.column) for flink, found in refused]  # type: ignore[union-attr]
    assert share(places) >= 0.99


def test_wrong_statements_are_refused_in_flinks_words() -> None:
    refused = [(flink["msg"].splitlines()[0], str(found)) for flink, found in judged() if not flink["ok"]]
    assert (
        share([found.splitlines()[0].removeprefix("SQL parse failed. ") == flink for flink, found in refused]) >= 0.97
    )


def test_the_canonical_text_of_queries_is_flinks() -> None:
    # All but two: HAVING EXISTS, which Flink writes so that it cannot be read.
    assert share([unparse(found) == flink for flink, found in accepted(queries=True)]) >= 0.999


def test_the_canonical_text_of_other_statements_is_flinks() -> None:
    assert share([unparse(found) == flink for flink, found in accepted(queries=False)]) == 1


def test_the_canonical_text_is_read_as_the_same_tree() -> None:
    # Flink leaves the columns out of REPLACE TABLE, writes patterns of SHOW in upper case, and several keys of
    # PARTITION BY without parentheses.
    every = [*accepted(queries=True), *accepted(queries=False)]
    assert share([judge(unparse(found)) == found for _, found in every]) >= 0.98
