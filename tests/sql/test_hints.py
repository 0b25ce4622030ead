"""Hints after SELECT: which ones are known, what they name, and what they say."""

from __future__ import annotations

import re

import pytest

from scurry.errors import ValidationError
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.nodes import Aggregate, Join, walk
from scurry.sql.types import IntType
from support.queries import Tables


@pytest.fixture
def tables() -> Tables:
    found = Tables()
    found.add("t", {"id": IntType()})
    return found


RETRY = "'retry-predicate' = '{}', 'retry-strategy' = '{}', 'fixed-delay' = '{}', 'max-attempts' = '{}'"
JOIN = "SELECT /*+ {} */ t.id FROM t JOIN t AS u ON t.id = u.id"
HINTS = {
    "STATE_TTL()": "Invalid STATE_TTL hint, expecting at least one key-value options specified.",
    "STATE_TTL(t)": "Invalid list options in STATE_TTL hint, only support key-value options.",
    "STATE_TTL('t' = '-1 d')": "Invalid STATE_TTL hint value: ",
    "STATE_TTL('x' = '1 d', 'y' = '1 d')": "cannot match the name of input tables or views: \n`x, y` in `STATE_TTL`",
    "NOSUCH('t' = '1 d')": "Hint: NOSUCH should be registered in the HintStrategyTable",
    "BROADCAST()": "Invalid hint: BROADCAST, expecting at least one table or view specified in hint BROADCAST.",
    "BROADCAST(x)": "cannot match the name of input tables or views: \n`x` in `BROADCAST`",
    "LOOKUP('async' = 'true')": "Invalid LOOKUP hint: incomplete required option(s): [Key: 'table'",
    "LOOKUP('table' = 'x')": "cannot match the name of input tables or views: \n`x` in `LOOKUP`",
    "LOOKUP('table' = 't', 'async' = 'so')": "Could not parse value 'so' for key 'async'.",
    "LOOKUP('table' = 't', 'fixed-delay' = '1 s')": "retry options can be both null or all not null",
    f"LOOKUP('table' = 't', {RETRY.format('x', 'fixed_delay', '1 s', 3)})": "unsupported retry-predicate 'x', only",
    f"LOOKUP('table' = 't', {RETRY.format('lookup_miss', 'x', '1 s', 3)})": "parse value 'x' for key 'retry-strategy'",
    f"LOOKUP('table' = 't', {RETRY.format('lookup_miss', 'fixed_delay', 's', 3)})": "value 's' for key 'fixed-delay'",
    f"LOOKUP('table' = 't', {RETRY.format('lookup_miss', 'fixed_delay', '1 s', 0)})": "positive integer but was 0",
}


@pytest.mark.parametrize("hint", HINTS)
def test_a_hint_that_means_nothing_is_refused(hint: str, tables: Tables) -> None:
    with pytest.raises(ValidationError, match=re.escape(HINTS[hint])):
        tables.plan(JOIN.format(hint))


@pytest.mark.parametrize("name", ["t", "c.d.t"])
@pytest.mark.parametrize("query", ["SELECT {} COUNT(*) FROM t WHERE id > 1", "SELECT {} DISTINCT id FROM t"])
def test_a_state_ttl_names_the_input_of_an_aggregation(query: str, name: str, tables: Tables) -> None:
    path = name.replace("c.d", "default_catalog.default_database")
    session = EvaluationContext(is_streaming=True)
    plan = tables.plan(query.format(f"/*+ STATE_TTL('{path}' = '5 s') */"), session)
    found = [each.state_ttl for each in walk(plan) if isinstance(each, Aggregate)]
    assert found == [5000]
    with pytest.raises(ValidationError, match="`x` in `STATE_TTL`"):
        tables.plan(query.format("/*+ STATE_TTL('x' = '5 s') */"), session)


def test_a_state_ttl_is_for_the_joins_of_its_own_query(tables: Tables) -> None:
    query = """SELECT /*+ STATE_TTL('a' = '1 s', 'b' = '2 s'), STATE_TTL('b' = '9 s', 'c' = '3 s') */ COUNT(*)
        FROM t AS a JOIN t AS b ON a.id = b.id JOIN (SELECT t.id FROM t JOIN t AS a ON t.id = a.id) AS c ON a.id = c.id
        GROUP BY a.id"""
    plan = tables.plan(query, EvaluationContext(is_streaming=True))
    assert [each.state_ttl for each in walk(plan) if isinstance(each, Join)] == [
        (None, 3000), (1000, 2000), (None, None),
    ]  # fmt: skip
    assert [each.state_ttl for each in walk(plan) if isinstance(each, Aggregate)] == [None]


def test_a_hint_of_a_query_without_joins_and_groups_means_nothing(tables: Tables) -> None:
    assert tables.plan("SELECT /*+ STATE_TTL('x' = '1 d'), BROADCAST(x) */ id FROM t")
