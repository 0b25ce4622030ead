"""Plans as EXPLAIN shows them."""

from __future__ import annotations

import pytest

from scurry.errors import ValidationError
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.planner.explain import explain, plan_text
from scurry.sql.planner.explain.physical import physical_tree_text
from scurry.sql.planner.explain.reading import NO_TABLES
from scurry.sql.planner.rules import optimized
from scurry.sql.types import IntType, TimestampType, VarCharType
from support.queries import Tables


@pytest.fixture
def tables() -> Tables:
    found = Tables()
    found.add("t", {"a": IntType(), "s": VarCharType(0x7FFFFFFF), "ts": TimestampType(3)})
    return found


SCAN = "LogicalTableScan(table=[[default_catalog, default_database, t]])"

TEXTS = {
    "SELECT a + 1 AS b FROM t WHERE s = 'x'": [
        "LogicalProject(b=[+($0, 1)])",
        "+- LogicalFilter(condition=[=($1, _UTF-16LE'x')])",
        f"   +- {SCAN}",
    ],
    "SELECT a FROM t ORDER BY a DESC LIMIT 2": [
        "LogicalSort(sort0=[$0], dir0=[DESC-nulls-last], fetch=[2])",
        "+- LogicalProject(a=[$0])",
        f"   +- {SCAN}",
    ],
    "SELECT s, COUNT(DISTINCT a) FILTER (WHERE a > 1) AS n FROM t GROUP BY ROLLUP (s)": [
        "LogicalAggregate(group=[{0}], groups=[[{0}, {}]], n=[COUNT(DISTINCT $1) FILTER $2])",
        "+- LogicalProject(s=[$1], a=[$0], $f2=[IS TRUE(>($0, 1))])",
        f"   +- {SCAN}",
    ],
    "SELECT x.a FROM t AS x LEFT JOIN t AS y ON x.a = y.a": [
        "LogicalProject(a=[$0])",
        "+- LogicalJoin(condition=[=($0, $3)], joinType=[left])",
        f"   :- {SCAN}",
        f"   +- {SCAN}",
    ],
    "SELECT a FROM t UNION ALL SELECT 1": [
        "LogicalUnion(all=[true])",
        ":- LogicalProject(a=[$0])",
        f":  +- {SCAN}",
        "+- LogicalProject(EXPR$0=[1])",
        "   +- LogicalValues(tuples=[[{ 0 }]])",
    ],
    "SELECT window_end FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND))": [
        "LogicalProject(window_end=[$4])",
        "+- LogicalTableFunctionScan(invocation=[TUMBLE(TABLE(#0), DESCRIPTOR(_UTF-16LE'ts'), 5000:INTERVAL SECOND)], "
        "rowType=[RecordType(INTEGER a, VARCHAR(2147483647) s, TIMESTAMP(3) ts, TIMESTAMP(3) window_start, "
        "TIMESTAMP(3) window_end, TIMESTAMP(3) window_time)])",
        "   +- LogicalProject(a=[$0], s=[$1], ts=[$2])",
        f"      +- {SCAN}",
    ],
}


@pytest.mark.parametrize("query", TEXTS)
def test_text(tables: Tables, query: str) -> None:
    assert plan_text(tables.plan(query)).splitlines() == TEXTS[query]


def test_explain_shows_the_query_as_written_and_as_executed(tables: Tables) -> None:
    plan = tables.plan("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM t)")
    text = explain([plan], [optimized(plan, EvaluationContext())], reading=None)
    written, executed = text.split("== Optimized Execution Plan ==")
    assert written.startswith("== Abstract Syntax Tree ==")
    assert "EXISTS({" in written
    assert "joinType=[LeftSemiJoin]" in executed


def test_session_windows_are_refused_in_batch(tables: Tables) -> None:
    query = "SELECT a FROM TABLE(SESSION(TABLE t PARTITION BY a, DESCRIPTOR(ts), INTERVAL '5' SECOND))"
    with pytest.raises(ValidationError, match="Unaligned windows like session are not supported in batch mode yet"):
        optimized(tables.plan(query), EvaluationContext())


def test_group_windows_of_processing_time_are_refused_in_batch(tables: Tables) -> None:
    plan = tables.plan("SELECT COUNT(*) FROM (SELECT PROCTIME() AS p FROM t) GROUP BY TUMBLE(p, INTERVAL '5' SECOND)")
    with pytest.raises(ValidationError, match="Window can not be defined over a proctime attribute column"):
        optimized(plan, EvaluationContext())


STREAMING = EvaluationContext(is_streaming=True)
SOURCE = "TableSourceScan(table=[[default_catalog, default_database, t]], fields=[{}])"

EXECUTED = {
    "SELECT a + 1 AS b FROM t WHERE s = 'x' AND a > 0": [
        "Calc(select=[+(a, 1) AS b], "
        """where=[AND(=(s, _UTF-16LE'x':VARCHAR(2147483647) CHARACTER SET "UTF-16LE"), >(a, 0))])""",
        f"+- {SOURCE.format('a, s')}",
    ],
    "SELECT s, COUNT(*) AS n FROM t GROUP BY s": [
        "GroupAggregate(groupBy=[s], select=[s, COUNT(*) AS n])",
        "+- Exchange(distribution=[hash[s]])",
        f"   +- {SOURCE.format('s')}",
    ],
    "SELECT x.a, y.a FROM t AS x LEFT JOIN t AS y ON x.a = y.a AND x.s > y.s": [
        "Calc(select=[a, a0])",
        "+- Join(joinType=[LeftOuterJoin], where=[AND(=(a, a0), >(s, s0))], select=[a, s, a0, s0], "
        "leftInputSpec=[NoUniqueKey], rightInputSpec=[NoUniqueKey])",
        "   :- Exchange(distribution=[hash[a]])",
        f"   :  +- {SOURCE.format('a, s')}",
        "   +- Exchange(distribution=[hash[a]])",
        f"      +- {SOURCE.format('a, s')}",
    ],
    "SELECT /*+ STATE_TTL('x' = '1 s') */ COUNT(*) AS n FROM t AS x": [
        "GroupAggregate(select=[COUNT(*) AS n], stateTtlHints=[[[STATE_TTL options:[1000ms]]]])",
        "+- Exchange(distribution=[single])",
        "   +- Calc(select=[])",
        f"      +- {SOURCE.format('a')}",
    ],
    "SELECT a FROM t UNION ALL (SELECT a FROM t LIMIT 3)": [
        "Union(all=[true], union=[a])",
        f":- {SOURCE.format('a')}",
        "+- Limit(offset=[0], fetch=[3])",
        "   +- Exchange(distribution=[single])",
        f"      +- {SOURCE.format('a')}",
    ],
}  # fmt: skip


@pytest.mark.parametrize("query", EXECUTED)
def test_operators_of_a_query_in_streaming(tables: Tables, query: str) -> None:
    assert (
        physical_tree_text(optimized(tables.plan(query, STREAMING), STREAMING), NO_TABLES).splitlines()
        == EXECUTED[query]
    )
