"""Expressions travel to workers, however deeply they are nested."""

from __future__ import annotations

import pickle
import sys
from functools import reduce

from scurry.sql.plan.expressions import Call, Expression, InputReference, Literal
from scurry.sql.types import BigIntType

BIGINT = BigIntType()


def call(function: str, *arguments: Expression) -> Call:
    return Call(function, arguments, BIGINT, span="here")


def test_a_tree_of_calls_is_the_same_afterwards() -> None:
    column, one = InputReference(0, BIGINT), Literal(1, BIGINT)
    tree = call("+", call("ABS", column), call("PI"), call("-", one, call("*", column, one)))
    copied = pickle.loads(pickle.dumps(tree))
    assert copied == tree
    assert copied.arguments[2].span == "here"


def test_its_depth_does_not_matter() -> None:
    def within(below: Expression, number: int) -> Expression:
        return call("+", below, Literal(number, BIGINT))

    column: Expression = InputReference(0, BIGINT)
    deep = reduce(within, range(10 * sys.getrecursionlimit()), column)
    copied, depth = pickle.loads(pickle.dumps(deep)), 0
    while isinstance(copied, Call):
        copied, depth = copied.arguments[0], depth + 1
    assert depth == 10 * sys.getrecursionlimit()
