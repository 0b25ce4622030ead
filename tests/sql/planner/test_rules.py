"""Rules: plans before and after them, as text."""

from __future__ import annotations

import pytest

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.planner.explain import plan_text
from scurry.sql.planner.rules import Rule, optimized
from scurry.sql.planner.rules.merge_projections import merge_projections
from scurry.sql.planner.rules.order_joins import order_joins
from scurry.sql.planner.rules.prune_columns import prune_columns
from scurry.sql.planner.rules.push_filters import push_filters
from scurry.sql.planner.rules.subqueries import subqueries_to_joins
from scurry.sql.types import IntType, VarCharType
from support.queries import Tables


@pytest.fixture
def tables() -> Tables:
    found = Tables()
    found.add("t", {"a": IntType(), "b": IntType(False), "s": VarCharType(0x7FFFFFFF)})
    found.add("u", {"a": IntType(), "c": IntType()})
    return found


def rewritten(tables: Tables, query: str, *rules: Rule) -> list[str]:
    plan = tables.plan(query)
    for rule in rules:
        plan = rule(plan, EvaluationContext())
    text = plan_text(plan).replace("default_catalog, default_database, ", "")
    return text.splitlines()


def test_a_condition_on_one_side_moves_below_a_join_and_one_on_both_into_it(tables: Tables) -> None:
    query = "SELECT 1 FROM t, u WHERE t.a = u.a AND t.b > 1 AND u.c < 2"
    assert rewritten(tables, query, push_filters) == [
        "LogicalProject(EXPR$0=[1])",
        "+- LogicalJoin(condition=[=($0, $3)], joinType=[inner])",
        "   :- LogicalFilter(condition=[>($1, 1)])",
        "   :  +- LogicalTableScan(table=[[t]])",
        "   +- LogicalFilter(condition=[<($1, 2)])",
        "      +- LogicalTableScan(table=[[u]])",
    ]


def test_a_condition_above_a_left_join_moves_to_the_left_only(tables: Tables) -> None:
    query = "SELECT 1 FROM t LEFT JOIN u ON t.a = u.a WHERE t.b > 1 AND u.c IS NULL"
    assert rewritten(tables, query, push_filters)[1:3] == [
        "+- LogicalFilter(condition=[IS NULL($4)])",
        "   +- LogicalJoin(condition=[=($0, $3)], joinType=[left])",
    ]


def test_a_condition_that_refuses_null_makes_a_left_join_an_inner_one(tables: Tables) -> None:
    query = "SELECT 1 FROM t LEFT JOIN u ON t.a = u.a WHERE u.c > 1"
    assert "joinType=[inner]" in rewritten(tables, query, push_filters)[1]


def test_what_all_branches_of_an_or_have_in_common_joins(tables: Tables) -> None:
    query = "SELECT 1 FROM t, u WHERE (t.a = u.a AND b = 1 AND c = 2) OR (t.a = u.a AND b = 3 AND c = 4)"
    assert rewritten(tables, query, push_filters)[1] == (
        "+- LogicalJoin(condition=[AND(=($0, $3), OR(AND(=($1, 1), =($4, 2)), AND(=($1, 3), =($4, 4))))], "
        "joinType=[inner])"
    )


def test_a_condition_on_a_key_moves_below_the_aggregation(tables: Tables) -> None:
    query = "SELECT s, n FROM (SELECT s, COUNT(*) AS n FROM t GROUP BY s) WHERE s = 'x' AND n > 1"
    assert rewritten(tables, query, push_filters, merge_projections) == [
        "LogicalFilter(condition=[>($1, 1)])",
        "+- LogicalAggregate(group=[{0}], n=[COUNT()])",
        "   +- LogicalProject(s=[$2])",
        "      +- LogicalFilter(condition=[=($2, _UTF-16LE'x')])",
        "         +- LogicalTableScan(table=[[t]])",
    ]


def test_only_the_columns_that_are_used_are_read(tables: Tables) -> None:
    assert rewritten(tables, "SELECT a FROM t WHERE s = 'x'", prune_columns, merge_projections) == [
        "LogicalProject(a=[$0])",
        "+- LogicalFilter(condition=[=($1, _UTF-16LE'x')])",
        "   +- LogicalTableScan(table=[[t]], fields=[a, s])",
    ]


def test_exists_becomes_a_semi_join_on_what_is_compared(tables: Tables) -> None:
    query = "SELECT b FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND c > b)"
    assert rewritten(tables, query, subqueries_to_joins, prune_columns, merge_projections) == [
        "LogicalProject(b=[$1])",
        "+- LogicalJoin(condition=[AND(=($2, $0), >($3, $1))], joinType=[semi])",
        "   :- LogicalTableScan(table=[[t]], fields=[a, b])",
        "   +- LogicalTableScan(table=[[u]])",
    ]


def test_not_in_becomes_an_anti_join_that_knows_null(tables: Tables) -> None:
    query = "SELECT b FROM t WHERE a NOT IN (SELECT c FROM u)"
    assert rewritten(tables, query, subqueries_to_joins)[1] == (
        "+- LogicalJoin(condition=[IS NOT FALSE(=($0, $3))], joinType=[anti])"
    )


def test_a_correlated_aggregate_is_grouped_by_what_it_is_compared_with(tables: Tables) -> None:
    query = "SELECT b, (SELECT MAX(c) FROM u WHERE u.a = t.a) AS m FROM t"
    plan = plan_text(optimized(tables.plan(query), EvaluationContext()))
    assert "LogicalAggregate(group=[{1}], EXPR$0=[MAX($0)])" in plan
    assert "joinType=[left]" in plan


def test_a_correlated_count_is_one_join_whose_missing_groups_are_0(tables: Tables) -> None:
    query = "SELECT b, (SELECT COUNT(*) + 1 FROM u WHERE u.a = t.a) AS n FROM t"
    plan = plan_text(optimized(tables.plan(query), EvaluationContext()))
    assert "n=[+(COALESCE($2, 0:BIGINT), 1)]" in plan
    assert plan.count("LogicalJoin") == 1


def test_a_table_waits_for_the_one_that_an_equality_connects_it_with(tables: Tables) -> None:
    query = "SELECT 1 FROM t, u, u AS v WHERE t.a = v.a AND u.c = v.c"
    assert rewritten(tables, query, push_filters, order_joins)[2:] == [
        "   +- LogicalJoin(condition=[=($6, $4)], joinType=[inner])",
        "      :- LogicalJoin(condition=[=($0, $3)], joinType=[inner])",
        "      :  :- LogicalTableScan(table=[[t]])",
        "      :  +- LogicalTableScan(table=[[u]])",
        "      +- LogicalTableScan(table=[[u]])",
    ]
