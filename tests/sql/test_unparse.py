"""The canonical text: Flink's, and the same tree when it is read again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.sql.syntax import parse, unparse
from scurry.sql.syntax.nodes import (
    Between,
    BinaryOperation,
    Call,
    Case,
    Expression,
    Identifier,
    In,
    IsTest,
    ItemAccess,
    Like,
    NullLiteral,
    NumericLiteral,
    RowConstructor,
    Select,
    SelectItem,
    SetOperation,
    StringLiteral,
    Subquery,
    TableReference,
    UnaryOperation,
    Values,
    WhenClause,
)

# Recorded from Flink 2.3's parser.
CANONICAL = {
    "select a, sum(b) s from t where c > 1 group by a": (
        "SELECT `a`, SUM(`b`) AS `s`\nFROM `t`\nWHERE `c` > 1\nGROUP BY `a`"
    ),
    "select to_date(a), Upper(b), `upper`(c), CURRENT_DATE": (
        "SELECT `to_date`(`a`), UPPER(`b`), `upper`(`c`), CURRENT_DATE"
    ),
    "select a - (b - c), (a - b) - c, not (a and b), (a is null) = b, a = not b": (
        "SELECT `a` - (`b` - `c`), `a` - `b` - `c`, NOT (`a` AND `b`), (`a` IS NULL) = `b`, `a` = (NOT `b`)"
    ),
    "select a between b and c, a between (b and c) and d": (
        "SELECT `a` BETWEEN ASYMMETRIC `b` AND `c`, `a` BETWEEN ASYMMETRIC (`b` AND `c`) AND `d`"
    ),
    "select case a when 1 then 2 end, trim(a), interval '1' days, a in (1, 2)": (
        "SELECT CASE WHEN `a` = 1 THEN 2 ELSE NULL END, TRIM(BOTH ' ' FROM `a`), INTERVAL '1' DAY, `a` IN (1, 2)"
    ),
    "select cast(a as row<b int not null, c string>), cast(a as array<int>), cast(a as dec(3, 2))": (
        "SELECT CAST(`a` AS ROW< `b` INTEGER NOT NULL, `c` STRING >), CAST(`a` AS ARRAY< INTEGER >), "
        "CAST(`a` AS DECIMAL(3, 2))"
    ),
    "select sum(a) over w + 1, count(distinct a) filter (where b)\n"
    "from t window w as (order by a desc rows 1 preceding)": (
        "SELECT (SUM(`a`) OVER `w`) + 1, COUNT(DISTINCT `a`) FILTER (WHERE `b`)\nFROM `t`\n"
        "WINDOW `w` AS (ORDER BY `a` DESC ROWS 1 PRECEDING)"
    ),
    "select 'tab\tand é', 'it''s'": "SELECT u&'tab\\0009and \\00e9', 'it''s'",
    "select * from a join (b cross join c) on d, lateral table(f(x)) as g (h)": (
        "SELECT *\nFROM `a`\nINNER JOIN (`b` CROSS JOIN `c`) ON `d`,\nLATERAL TABLE(`f`(`x`)) AS `g` (`h`)"
    ),
    "select * from tumble(data => table t, size => interval '1' hour)": (
        "SELECT *\nFROM TABLE(TUMBLE(`data` => (TABLE `t`), `size` => INTERVAL '1' HOUR))"
    ),
    "select 1 from t group by tumble(ts, interval '1' hour)": (
        "SELECT 1\nFROM `t`\nGROUP BY $TUMBLE(`ts`, INTERVAL '1' HOUR)"
    ),
    "select 1 union all (select 2 order by 1) except select 3": (
        "SELECT 1\nUNION ALL\n(SELECT 2\nORDER BY 1)\nEXCEPT\nSELECT 3"
    ),
    "with a as (select 1) select * from a order by 1 limit 2 offset 3": (
        "WITH `a` AS (SELECT 1) SELECT *\nFROM `a`\nORDER BY 1\nOFFSET 3 ROWS\nFETCH NEXT 2 ROWS ONLY"
    ),
    "select * from a match_recognize (pattern (x y+ z*? (p | q)) define y as y.a > 1)": (
        "SELECT *\nFROM `a` MATCH_RECOGNIZE(\nPATTERN (`x` `y` + `z` * ? (`p` | `q`))\nDEFINE `y` AS `y`.`a` > 1)"
    ),
    "select * from a /*+ OPTIONS('k'='v') */ for system_time as of b.c as d": (
        "SELECT *\nFROM `a`\n/*+ `OPTIONS`('k' = 'v') */ FOR SYSTEM_TIME AS OF `b`.`c` AS `d`"
    ),
    "create table t (a int not null, b as a + 1, watermark for c as c) with ('k' = 'v')": (
        "CREATE TABLE `t` (\n  `a` INTEGER NOT NULL,\n  `b` AS `a` + 1,\n  WATERMARK FOR `c` AS `c`\n)\n"
        "WITH (\n  'k' = 'v'\n)"
    ),
    "create view v (a) comment 'c' as select 1": "CREATE VIEW `v` (`a`)\nCOMMENT 'c'\nAS\nSELECT 1",
    "alter table t drop (a, b)": "ALTER TABLE `t` DROP (\n  `a`,\n  `b`\n)",
    "insert into t partition (a = 1) (b) values (2)": "INSERT INTO `t` PARTITION (`a` = 1)\n(`b`)\nVALUES ROW(2)",
}


@pytest.mark.parametrize("text", CANONICAL)
def test_the_canonical_text_is_flinks(text: str) -> None:
    assert unparse(parse(text)) == CANONICAL[text]


@pytest.mark.parametrize("text", CANONICAL)
def test_the_canonical_text_is_read_as_the_same_tree(text: str) -> None:
    tree = parse(text)
    assert parse(unparse(tree)) == tree


def test_the_canonical_text_of_the_canonical_text_is_itself() -> None:
    # Strings with escapes are the exception: they are then of a character set.
    for text in CANONICAL.values():
        assert "u&" in text or unparse(parse(text)) == text


def test_a_subquery_has_parentheses_also_where_flink_writes_none_and_could_not_read_its_text() -> None:
    assert unparse(parse("select 1 from t having exists (select 2)")).endswith("HAVING EXISTS (SELECT 2)")
    assert unparse(parse("select (select 1 union select 2)")) == "SELECT (SELECT 1\nUNION\nSELECT 2)"


def test_types_and_tables_have_a_text_too() -> None:
    assert unparse(TableReference(Identifier(("a", "b")))) == "`a`.`b`"


def test_long_chains_are_written_without_recursion() -> None:
    chain = parse("SELECT " + " + ".join(["a"] * 5000))
    assert unparse(chain).count("+") == 4999
    union = parse(" UNION ".join(["SELECT 1"] * 3000))
    assert unparse(union).count("UNION") == 2999


names = st.sampled_from(["a", "b c", "select", "x`y", "Größe"]).map(lambda name: Identifier((name,)))
numbers = st.integers(-50, 50).map(lambda number: NumericLiteral(str(number)))
strings = st.text(st.characters(exclude_categories=["Cs"]), max_size=4).map(StringLiteral)
leaves: st.SearchStrategy[Expression] = st.one_of(names, numbers, strings, st.just(NullLiteral()))
OPERATORS = ["OR", "AND", "=", "<>", "<", "+", "-", "*", "/", "||", "IS DISTINCT FROM", "OVERLAPS", "MEMBER OF"]


def sign(operand: Expression) -> Expression:
    # A sign before a number becomes part of it.
    return operand if isinstance(operand, NumericLiteral) else UnaryOperation("-", operand)


def grow(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    values = st.lists(inner, min_size=1, max_size=3).map(tuple)
    query = st.builds(lambda value: Select((SelectItem(value),)), inner)
    rows = st.builds(lambda some: Values(tuple(RowConstructor((each,)) for each in some)), values)
    union = st.builds(lambda one, two: SetOperation("UNION", True, one, two), query, st.one_of(query, rows))
    return st.one_of(
        st.builds(BinaryOperation, st.sampled_from(OPERATORS), inner, inner),
        st.builds(lambda operand: UnaryOperation("NOT", operand), inner),
        st.builds(sign, inner),
        st.builds(IsTest, inner, st.sampled_from(["NULL", "TRUE", "JSON VALUE"]), st.booleans()),
        st.builds(Between, inner, inner, inner, st.booleans(), st.booleans()),
        st.builds(Like, inner, inner, st.just(None), st.sampled_from(["LIKE", "SIMILAR TO"]), st.booleans()),
        # A single query in the list is the query itself.
        st.builds(In, inner, st.one_of(values.filter(lambda some: not isinstance(some[0], Subquery)), query, union)),
        st.builds(lambda when, then, other: Case((WhenClause(when, then),), other), inner, inner, inner),
        st.builds(ItemAccess, names, inner),
        st.builds(Call, names, values),
        st.builds(Subquery, st.one_of(query, rows)),
    )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.recursive(leaves, grow, max_leaves=10))
def test_any_expression_is_read_as_it_was_written(expression: Expression) -> None:
    select = Select((SelectItem(expression),))
    assert parse(unparse(select)) == select
