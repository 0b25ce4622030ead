"""Queries and what stands in FROM."""

from __future__ import annotations

import pytest

from scurry.sql.syntax import parse
from scurry.sql.syntax.nodes import (
    Alias,
    DerivedTable,
    GroupingSets,
    Hint,
    HintOption,
    Identifier,
    Join,
    MatchRecognize,
    NumericLiteral,
    OrderBy,
    PatternConcatenation,
    PatternQuantifier,
    PatternVariable,
    Query,
    RowConstructor,
    Select,
    SetOperation,
    Snapshot,
    StringLiteral,
    TableExpression,
    TableFunction,
    TableReference,
    Unnest,
    Values,
    With,
)

A, B, C, T, U = (Identifier((name,)) for name in "abctu")
ONE = NumericLiteral("1")


def select(text: str) -> Select:
    parsed = parse(text)
    assert isinstance(parsed, Select)
    return parsed


def from_(text: str) -> TableExpression:
    table = select(f"SELECT * FROM {text}").from_
    assert table is not None
    return table


def test_a_select_has_its_clauses() -> None:
    parsed = select(
        "SELECT DISTINCT a AS x, b FROM t WHERE a GROUP BY b HAVING c WINDOW w AS (PARTITION BY a) QUALIFY b"
    )
    assert [each.alias for each in parsed.items] == [Identifier(("x",)), None]
    assert (parsed.distinct, parsed.from_, parsed.where, parsed.having, parsed.qualify) == (
        True, TableReference(T), A, C, B,
    )  # fmt: skip
    assert parsed.group_by is not None
    assert parsed.group_by.items == (B,)
    assert parsed.windows[0].window.partition_by == (A,)


def test_grouping_sets_are_elements_of_group_by() -> None:
    group_by = select("SELECT * FROM t GROUP BY a, ROLLUP (b), GROUPING SETS ((a, b), ())").group_by
    assert group_by is not None
    assert group_by.items == (
        A,
        GroupingSets("ROLLUP", (B,)),
        GroupingSets("GROUPING SETS", (RowConstructor((A, B)), RowConstructor(()))),
    )


def test_limits_and_keys_are_around_the_query() -> None:
    ordered = parse("SELECT a FROM t ORDER BY a DESC NULLS LAST, b LIMIT 1 OFFSET 2")
    assert isinstance(ordered, OrderBy)
    assert [(each.descending, each.nulls) for each in ordered.items] == [(True, "LAST"), (False, None)]
    assert (ordered.fetch, ordered.offset) == (ONE, NumericLiteral("2"))


def test_limit_and_fetch_are_the_same() -> None:
    assert parse("SELECT 1 LIMIT 1") == parse("SELECT 1 FETCH FIRST 1 ROW ONLY")


def test_a_limit_of_all_is_none() -> None:
    assert parse("SELECT 1 LIMIT ALL") == parse("SELECT 1")


def test_intersect_binds_before_union() -> None:
    union = parse("SELECT 1 UNION ALL SELECT 1 INTERSECT SELECT 1")
    one = parse("SELECT 1")
    assert isinstance(one, Query)
    assert union == SetOperation("UNION", True, one, SetOperation("INTERSECT", False, one, one))


def test_parentheses_around_queries_leave_no_trace() -> None:
    assert parse("((SELECT 1) UNION (SELECT 1))") == parse("SELECT 1 UNION SELECT 1")


def test_order_by_of_a_union_is_around_it() -> None:
    ordered = parse("SELECT 1 UNION SELECT 1 ORDER BY 1")
    assert isinstance(ordered, OrderBy)
    assert isinstance(ordered.query, SetOperation)


def test_with_has_its_tables() -> None:
    parsed = parse("WITH x (a) AS (SELECT 1), y AS (SELECT 1) SELECT * FROM x")
    assert isinstance(parsed, With)
    assert [(str(each.name), each.columns) for each in parsed.tables] == [("x", (A,)), ("y", ())]


def test_values_are_rows_with_or_without_parentheses() -> None:
    assert parse("VALUES 1, (1), ROW(1)") == Values((RowConstructor((ONE,)),) * 3)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("t JOIN u ON a", "INNER"),
        ("t INNER JOIN u ON a", "INNER"),
        ("t LEFT OUTER JOIN u ON a", "LEFT"),
        ("t RIGHT JOIN u ON a", "RIGHT"),
        ("t FULL JOIN u ON a", "FULL"),
    ],
)
def test_joins_have_a_kind_and_a_condition(text: str, kind: str) -> None:
    assert from_(text) == Join(kind, TableReference(T), TableReference(U), condition=A)


def test_joins_are_taken_from_left_to_right_and_commas_last() -> None:
    t, u, c = TableReference(T), TableReference(U), TableReference(C)
    assert from_("t, u CROSS JOIN c") == Join("COMMA", t, Join("CROSS", u, c))
    assert from_("t NATURAL JOIN u JOIN c USING (a, b)") == Join(
        "INNER", Join("INNER", t, u, natural=True), c, using=(A, B)
    )


def test_aliases_may_rename_columns() -> None:
    assert from_("t AS u (a, b)") == from_("t u (a, b)") == Alias(TableReference(T), U, (A, B))


def test_hints_after_a_table_are_its_options() -> None:
    options = HintOption(StringLiteral("v"), "k", key_is_string=True)
    assert from_("t /*+ OPTIONS('k' = 'v') */") == TableReference(T, (Hint("OPTIONS", (options,)),))


def test_hints_after_select_are_of_the_query() -> None:
    hints = select("SELECT /*+ BROADCAST(a), STATE_TTL('t' = '1d') */ * FROM t").hints
    assert [each.name for each in hints] == ["BROADCAST", "STATE_TTL"]


def test_a_snapshot_is_taken_at_a_time() -> None:
    assert from_("t FOR SYSTEM_TIME AS OF a AS u") == Alias(Snapshot(TableReference(T), A), U)


def test_table_functions_are_the_same_with_and_without_table() -> None:
    assert from_("TABLE(f(a))") == from_("f(a)")
    lateral = from_("LATERAL TABLE(f(a))")
    assert isinstance(lateral, TableFunction)
    assert lateral.lateral


def test_unnest_may_number_its_rows() -> None:
    assert from_("UNNEST(a) WITH ORDINALITY") == Unnest((A,), with_ordinality=True)


def test_queries_in_from_may_be_nested_and_combined() -> None:
    derived = from_("((SELECT 1) UNION (SELECT 1) LIMIT 1)")
    assert isinstance(derived, DerivedTable)
    assert derived.query == parse("SELECT 1 UNION SELECT 1 LIMIT 1")


def test_joins_may_stand_in_parentheses() -> None:
    assert from_("t CROSS JOIN (u CROSS JOIN c)") == Join(
        "CROSS", TableReference(T), Join("CROSS", TableReference(U), TableReference(C))
    )


def test_match_recognize_has_its_pattern() -> None:
    match = from_("t MATCH_RECOGNIZE (ORDER BY a MEASURES b AS c PATTERN (a b+? c{2,}) DEFINE b AS c) AS u")
    assert isinstance(match, Alias)
    assert isinstance(match.table, MatchRecognize)
    assert match.table.pattern == PatternConcatenation(
        PatternConcatenation(PatternVariable(A), PatternQuantifier(PatternVariable(B), 1, -1, reluctant=True)),
        PatternQuantifier(PatternVariable(C), 2, -1),
    )


def test_the_span_of_a_query_is_its_text() -> None:
    text = "SELECT a FROM (SELECT b FROM t) AS u ORDER BY a"
    parsed = parse(text)
    assert parsed.span.source == text
    assert isinstance(parsed, OrderBy)
    assert parsed.query.span.source == "SELECT a FROM (SELECT b FROM t) AS u"


def test_a_long_union_needs_no_recursion() -> None:
    assert isinstance(parse(" UNION ALL ".join(["SELECT 1"] * 2000)), SetOperation)
