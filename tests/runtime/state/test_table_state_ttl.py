"""`table.exec.state.ttl` and the hint STATE_TTL: what operators of tables forget, and when."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scurry.common.types import RowKind
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.nodes import Aggregate, Limit, Plan, Scan
from scurry.sql.plan.physical.changes import ChangelogNormalize
from scurry.sql.plan.physical.joins import EventTimeTemporalJoin, RegularJoin
from scurry.sql.plan.physical.over import NonTimeOverAggregate, OverAggregate
from scurry.sql.plan.physical.ranks import Deduplicate
from scurry.sql.planner.rules import optimized
from scurry.sql.types import IntType, LocalZonedTimestampType, TimeAttribute, TimestampType, VarCharType
from support.queries import Tables
from support.runtime.table_operator import TableOperator

KEY, NUMBER = VarCharType(9), IntType()
ROWTIME = TimestampType(3).as_time_attribute(TimeAttribute.ROWTIME)
PROCTIME = LocalZonedTimestampType(3).as_time_attribute(TimeAttribute.PROCTIME)


@pytest.fixture
def tables() -> Tables:
    found = Tables()
    found.add("l", {"k": KEY, "v": NUMBER, "rt": ROWTIME, "pt": PROCTIME})
    found.add("r", {"rk": KEY, "rv": NUMBER, "rrt": ROWTIME}, key=("rk",))
    return found


def operator(tables: Tables, query: str, kind: type[Plan], ttl: str | None = "100 ms") -> TableOperator:
    session = EvaluationContext(is_streaming=True, options=(("table.exec.state.ttl", ttl),) if ttl else ())
    return TableOperator(optimized(tables.plan(query, session), session), kind, session)


def test_a_join_forgets_a_row_of_a_side_that_is_not_written_again(tables: Tables) -> None:
    join = operator(tables, "SELECT v, rv FROM l JOIN r ON k = rk", RegularJoin)
    join.at(0, ("a", 1))
    join.at(60, ("a", 2))
    assert join.at(99, ("a", 7), side=1) == ["+I a 1 a 7", "+I a 2 a 7"]
    assert join.at(120, ("a", 8), side=1) == ["+I a 2 a 8"]
    assert join.at(400) == []
    assert not join.has_state


def test_a_hint_sets_the_ttl_of_each_side_of_a_join(tables: Tables) -> None:
    query = "SELECT /*+ STATE_TTL('l' = '1 s') */ v, rv FROM l JOIN r ON k = rk"
    join = operator(tables, query, RegularJoin)
    join.at(0, ("a", 1))
    join.at(0, ("a", 7), side=1)
    assert join.at(200, ("a", 8), side=1) == ["+I a 1 a 8"]
    assert join.at(250, ("a", 2)) == ["+I a 2 a 8"]


def test_a_side_with_a_hint_of_zero_is_kept_forever(tables: Tables) -> None:
    query = "SELECT /*+ STATE_TTL('l' = '0 s') */ v, rv FROM l JOIN r ON k = rk"
    join = operator(tables, query, RegularJoin)
    join.at(0, ("a", 1))
    assert join.at(10_000, ("a", 8), side=1) == ["+I a 1 a 8"]


def test_a_pair_writes_the_row_of_an_outer_side_again(tables: Tables) -> None:
    join = operator(tables, "SELECT v, rv FROM l LEFT JOIN r ON k = rk", RegularJoin)
    join.at(0, ("a", 1))
    join.at(80, ("a", 7), side=1)
    assert join.at(150, ("a", 8), side=1)[-1] == "+I a 1 a 8"
    assert join.at(260, ("a", 9), side=1) == []


def test_a_hint_sets_the_ttl_of_groups(tables: Tables) -> None:
    query = "SELECT /*+ STATE_TTL('l' = '1 s') */ k, COUNT(*) FROM l GROUP BY k"
    groups = operator(tables, query, Aggregate)
    groups.at(0, ("a",))
    assert groups.at(900, ("a",)) == ["-U a 1", "+U a 2"]
    assert groups.at(2000, ("a",)) == ["+I a 1"]


def test_deduplication_forgets_that_a_row_was_emitted_whatever_came_since(tables: Tables) -> None:
    query = """SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY pt) n FROM l) WHERE n = 1"""
    first = operator(tables, query, Deduplicate)
    assert first.at(0, ("a", 1, 0)) == ["+I a 1 0"]
    assert first.at(60, ("a", 2, 60)) == []
    assert first.at(110, ("a", 3, 110)) == ["+I a 3 110"]


def test_limit_begins_again(tables: Tables) -> None:
    limit = operator(tables, "SELECT k FROM l LIMIT 1", Limit)
    assert limit.at(0, ("a",), ("b",)) == ["+I a"]
    assert limit.at(50, ("c",)) == []
    assert limit.at(150, ("d",)) == ["+I d"]


def test_an_event_time_aggregation_forgets_a_key_between_one_and_one_and_a_half_times_the_ttl(tables: Tables) -> None:
    query = "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY rt) FROM l"
    over = operator(tables, query, OverAggregate)
    assert over.at(0, ("a", 1, 10), watermark=10) == ["+I a 1 10 1"]
    assert over.at(140, ("a", 1, 20), watermark=20) == ["+I a 1 20 2"]
    assert over.at(300, ("a", 1, 30), watermark=30) == ["+I a 1 30 1"]


def test_rows_that_wait_for_the_watermark_are_not_forgotten(tables: Tables) -> None:
    query = "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY rt) FROM l"
    over = operator(tables, query, OverAggregate)
    over.at(0, ("a", 1, 10))
    over.at(1000)
    assert over.at(1001, watermark=10) == ["+I a 1 10 1"]


@pytest.mark.parametrize("frame", ["", "ROWS BETWEEN 5 PRECEDING AND CURRENT ROW"])
def test_a_processing_time_aggregation_forgets_an_idle_key(frame: str, tables: Tables) -> None:
    query = f"SELECT k, COUNT(*) OVER (PARTITION BY k ORDER BY pt {frame}) FROM l"
    over = operator(tables, query, OverAggregate)
    over.at(0, ("a", 0))
    assert [each.split()[-1] for each in over.at(90, ("a", 90))] == ["2"]
    assert [each.split()[-1] for each in over.at(300, ("a", 300))] == ["1"]


def test_an_aggregation_in_any_order_forgets_an_idle_key(tables: Tables) -> None:
    over = operator(tables, "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY v) FROM l", NonTimeOverAggregate)
    over.at(0, ("a", 1))
    assert over.at(90, ("a", 2)) == ["+I a 2 3"]
    assert over.at(300, ("a", 5)) == ["+I a 5 5"]


def test_a_temporal_join_forgets_the_versions_of_an_idle_key(tables: Tables) -> None:
    query = "SELECT k, rv FROM l LEFT JOIN r FOR SYSTEM_TIME AS OF rt ON k = rk"
    join = operator(tables, query, EventTimeTemporalJoin)
    join.at(0, ("a", 7, 5), side=1)
    assert join.at(90, ("a", 10), watermark=10) == ["+I a 10 a 7 5"]
    assert join.at(160, ("a", 20), watermark=20) == ["+I a 20 a 7 5"]
    join.at(500)
    assert join.at(501, ("a", 30), watermark=30) == ["+I a 30 None None None"]


def normalized(tables: Tables, ttl: str | None) -> TableOperator:
    session = EvaluationContext(is_streaming=True, options=(("table.exec.state.ttl", ttl),) if ttl else ())
    scan: Any = optimized(tables.plan("SELECT * FROM r", session), session)
    assert isinstance(scan, Scan)
    return TableOperator(ChangelogNormalize(replace(scan, changes="UPSERT"), (0,)), ChangelogNormalize, session)


def test_a_normalized_row_that_is_not_written_again_is_forgotten(tables: Tables) -> None:
    changes = normalized(tables, "100 ms")
    assert changes.at(0, ("a", 1, 0)) == ["+I a 1 0"]
    assert changes.at(150, (RowKind.UPDATE_AFTER, "a", 2, 0)) == ["+I a 2 0"]
    assert changes.at(300, (RowKind.DELETE, "a", 2, 0)) == []


@pytest.mark.parametrize(("ttl", "found"), [(None, []), ("1 h", ["-U a 1 0", "+U a 1 0"])])
def test_an_equal_row_is_told_again_only_with_a_ttl(tables: Tables, ttl: str | None, found: list[str]) -> None:
    changes = normalized(tables, ttl)
    changes.at(0, ("a", 1, 0))
    assert changes.at(1, ("a", 1, 0)) == found
