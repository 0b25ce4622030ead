"""Nodes are hashed once: a look-up of each node of a deep plan is no walk through all nodes below it."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from scurry.sql.plan.expressions import InputReference
from scurry.sql.plan.nodes import Plan, Project
from scurry.sql.plan.schema import Schema
from scurry.sql.types import IntType

_ONE = Schema.of(("a",), (IntType(),))


class _Counted(str):
    """A name that counts how often it is hashed."""

    hashed = 0

    def __hash__(self) -> int:
        _Counted.hashed += 1
        return super().__hash__()


@dataclass(frozen=True)
class _Rows(Plan):
    name: str

    @property
    def schema(self) -> Schema:
        return _ONE


def _deep(rows: Plan, levels: int) -> Plan:
    for _ in range(levels):
        rows = Project(rows, (InputReference(0, IntType()),), ("a",))
    return rows


def _kinds(kind: type[Plan] = Plan) -> Iterator[type[Plan]]:
    for each in kind.__subclasses__():
        yield each
        yield from _kinds(each)


def test_a_node_is_hashed_once() -> None:
    plan, found = _deep(_Rows(_Counted("t")), 50), {}
    before = _Counted.hashed
    while plan.inputs:
        found[plan] = True
        (plan,) = plan.inputs
    assert len(found) == 50
    assert _Counted.hashed == before + 1


@pytest.mark.parametrize("kind", sorted(dict.fromkeys(_kinds()), key=str))
def test_all_kinds_of_nodes_are_hashed_once(kind: type[Plan]) -> None:
    assert kind.__hash__ is Plan.__hash__


def test_equal_plans_have_one_hash() -> None:
    assert hash(_deep(_Rows("t"), 9)) == hash(_deep(_Rows("t"), 9))
    assert {_deep(_Rows("t"), 9): 1}.get(_deep(_Rows("t"), 9)) == 1
    assert _deep(_Rows("t"), 9) != _deep(_Rows("u"), 9)


def test_a_hash_is_not_sent_to_other_processes() -> None:
    plan = _deep(_Rows("t"), 9)
    hash(plan)
    sent = pickle.loads(pickle.dumps(plan))
    assert sent == plan
    assert "_hash" not in vars(sent)
