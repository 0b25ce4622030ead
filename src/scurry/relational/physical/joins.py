"""Nodes of joins in STREAMING."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from scurry.relational.expressions import Expression
from scurry.relational.plan import TwoInputs, joined_schema
from scurry.relational.schema import Schema

__all__ = ["EventTimeTemporalJoin", "JoinKey", "StreamingJoin"]


@dataclass(frozen=True)
class JoinKey:
    """A column of each side that are equal in a pair.

    Attributes:
        left: Position in the left side.
        right: Position in the right side.
        null_equals_null: Whether NULL equals NULL.
    """

    left: int
    right: int
    null_equals_null: bool


@dataclass(frozen=True)
class StreamingJoin(TwoInputs):
    """Pairs of rows, found by key.

    Attributes:
        operator: Flink's name of the operator.
        kind: INNER, LEFT, RIGHT, FULL, SEMI or ANTI. SEMI and ANTI have the columns of the left side only.
        keys: What is equal in each pair.
        rest: The other conditions on a pair, over the columns of both sides; None if there are none.
    """

    operator: ClassVar[str]

    kind: str
    keys: tuple[JoinKey, ...]
    rest: Expression | None

    @cached_property
    def schema(self) -> Schema:
        return joined_schema(self.left.schema, self.right.schema, self.kind)

    @property
    def details(self) -> tuple[str, ...]:
        """What EXPLAIN shows beside kind, conditions and columns."""
        return ()


@dataclass(frozen=True)
class EventTimeTemporalJoin(StreamingJoin):
    """Each left row with the version of the right side at the left row's time, when all rows until then are there.

    Attributes:
        left_time: Position of the time in the left side.
        right_time: Position of the time from which a right row is valid.
    """

    operator = "TemporalJoin"

    left_time: int
    right_time: int
