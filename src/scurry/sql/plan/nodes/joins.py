"""Nodes that pair the rows of two inputs, and the retries of lookups."""

from __future__ import annotations

from functools import cached_property

from scurry._dataclasses import dataclass
from scurry.sql.plan.expressions import Expression
from scurry.sql.plan.nodes.base import TwoInputs
from scurry.sql.plan.schema import Schema


@dataclass(frozen=True)
class LookupRetry:
    """The retry strategy for keys without rows in the table.

    Attributes:
        delay: After how many milliseconds the table is asked again.
        retries: How often, after the first time.
    """

    delay: int
    retries: int


@dataclass(frozen=True)
class Join(TwoInputs):
    """Pairs of rows for which a condition is TRUE, and for outer joins the rows without a partner.

    Attributes:
        kind: INNER, LEFT, RIGHT, FULL, SEMI or ANTI. SEMI and ANTI have the columns of the left side only.
        condition: The condition, over the columns of both sides; None for a cross join.
        state_ttl: Milliseconds after which STREAMING forgets rows of each side, as a hint says; None as the session.
    """

    kind: str
    condition: Expression | None
    state_ttl: tuple[int | None, int | None] = (None, None)

    @cached_property
    def schema(self) -> Schema:
        return joined_schema(self.left.schema, self.right.schema, self.kind)


@dataclass(frozen=True)
class Correlate(TwoInputs):
    """For each row of the left side, the rows that the right side has for it.

    Attributes:
        correlation: The number by which references to the left row in the right side name it.
        kind: INNER, LEFT, SEMI or ANTI.
    """

    correlation: int
    kind: str

    @cached_property
    def schema(self) -> Schema:
        return joined_schema(self.left.schema, self.right.schema, self.kind)


@dataclass(frozen=True)
class TemporalJoin(TwoInputs):
    """Pairs of rows with the version that the right side had at a point of time: `FOR SYSTEM_TIME AS OF`.

    Attributes:
        kind: INNER or LEFT.
        condition: The condition, over the columns of both sides.
        period: The point of time, over the columns of the left side.
        retry: What is done if the right side is a table that is asked and has no row; None for nothing.
    """

    kind: str
    condition: Expression | None
    period: Expression
    retry: LookupRetry | None = None

    @cached_property
    def schema(self) -> Schema:
        return joined_schema(self.left.schema, self.right.schema, self.kind)


def joined_schema(left: Schema, right: Schema, kind: str) -> Schema:
    """Return the columns of a join of two sides."""
    if kind in ("SEMI", "ANTI"):
        return left
    first = left.nullable() if kind in ("RIGHT", "FULL") else left
    second = right.nullable() if kind in ("LEFT", "FULL") else right
    return first + second
