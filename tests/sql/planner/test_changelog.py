"""Changelog modes, as Flink infers them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scurry.errors import ValidationError
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.nodes import Plan, Project, Scan, Sink
from scurry.sql.planner.changelog import Changelogs, Update
from scurry.sql.planner.rules import optimized
from scurry.sql.types import BigIntType, IntType, VarCharType
from support.queries import Tables

STREAMING = EvaluationContext(is_streaming=True)
EXPLAINED = (Update.ONLY_AFTER, Update.BEFORE_AND_AFTER)


@pytest.fixture
def tables() -> Tables:
    found = Tables()
    found.add("t", {"k": VarCharType(9), "v": IntType(), "b": BigIntType()})
    found.add("c", {"k": VarCharType(9), "v": IntType(), "b": BigIntType()})
    return found


def _changing(plan: Plan) -> Plan:
    """Make `c` a table of changes."""
    if isinstance(plan, Scan):
        return replace(plan, changes="RETRACT") if plan.path[-1] == "c" else plan
    return plan.with_inputs(tuple(map(_changing, plan.inputs)))


def _plan(tables: Tables, query: str) -> Plan:
    return _changing(optimized(tables.plan(query, STREAMING), STREAMING))


def _sink(plan: Plan, **described: Any) -> Sink:
    return Sink(plan, ("default_catalog", "default_database", "s"), None, **described)


@pytest.mark.parametrize(
    ("query", "modes"),
    [
        ("SELECT k, v FROM t WHERE v > 1", ["I", "I"]),
        ("SELECT k, COUNT(*) FROM t GROUP BY k", ["I,UA", "I"]),
        ("SELECT DISTINCT k, v FROM t", ["I,UA", "I"]),
        ("SELECT k, COUNT(*) FROM t GROUP BY k HAVING COUNT(*) > 1", ["I,UB,UA", "I,UB,UA", "I"]),
        ("SELECT n, COUNT(*) FROM (SELECT k, COUNT(*) n FROM t GROUP BY k) GROUP BY n", ["I,UA,D", "I,UB,UA", "I"]),
        ("SELECT k, v FROM c", ["I,UA,D"]),
        ("SELECT k, v FROM c UNION ALL SELECT k, v FROM t", ["I,UA,D", "I,UA,D", "I"]),
        ("SELECT k, v FROM c WHERE v > 1", ["I,UB,UA,D", "I,UB,UA,D"]),
    ],
)  # fmt: skip
def test_modes_of_explained_queries(tables: Tables, query: str, modes: list[str]) -> None:
    plan = _plan(tables, query)
    changelogs = Changelogs([plan], EXPLAINED)
    assert [changelogs.text(each) for each in _without_projections(plan)] == modes


def _without_projections(plan: Plan) -> list[Plan]:
    below = [each for node in plan.inputs for each in _without_projections(node)]
    return below if isinstance(plan, Project) else [plan, *below]


GROUPED = "SELECT k, COUNT(*) FROM t GROUP BY k"


@pytest.mark.parametrize(
    ("sink", "mode"),
    [
        ({"changes": "ALL"}, "I,UB,UA"),
        ({"changes": "UPSERT"}, "I,UA"),
        ({"changes": "UPSERT", "key": (0,)}, "I,UA"),
        ({"changes": "UPSERT", "key": (1,)}, "I,UB,UA"),
    ],
)
def test_a_sink_gets_rows_before_updates_if_it_takes_them_or_has_another_key(
    tables: Tables, sink: dict[str, Any], mode: str
) -> None:
    plan = _plan(tables, GROUPED)
    assert Changelogs([_sink(plan, **sink)]).text(plan) == mode


def test_rows_before_updates_are_made_if_one_of_several_sinks_needs_them(tables: Tables) -> None:
    plan = _plan(tables, GROUPED)
    changelogs = Changelogs([_sink(plan, changes="UPSERT"), _sink(plan, changes="ALL")])
    assert changelogs.updates_before(plan)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (GROUPED, "update changes which is produced by node "
         "GroupAggregate(groupBy=[k], select=[k, COUNT(*) AS EXPR$1])"),
        ("SELECT COUNT(v) FROM t", "update changes which is produced by node "
         "GroupAggregate(select=[COUNT(v) AS EXPR$0])"),
        ("SELECT DISTINCT k, b FROM t", "update changes which is produced by node "
         "GroupAggregate(groupBy=[k, b], select=[k, b])"),
        ("SELECT k, b FROM c WHERE b > 1", "update and delete changes which is produced by node "
         "TableSourceScan(table=[[default_catalog, default_database, c]], fields=[k, b])"),
    ],
)  # fmt: skip
def test_a_sink_of_inserted_rows_refuses_changes(tables: Tables, query: str, reason: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Changelogs([_sink(_plan(tables, query))])
    assert str(raised.value) == f"Table sink 'default_catalog.default_database.s' doesn't support consuming {reason}"
