"""Queries inside expressions.

The rule `subqueries` turns them into joins before a plan is executed.
"""

from __future__ import annotations

from scurry._dataclasses import dataclass
from scurry.sql.plan.expressions import Expression
from scurry.sql.plan.nodes import Plan
from scurry.sql.types import DataType


@dataclass(frozen=True)
class Subquery(Expression):
    """A query inside an expression.

    Attributes:
        correlation: The number by which it refers to the row of the expression.
    """

    type: DataType
    plan: Plan
    correlation: int


@dataclass(frozen=True)
class ScalarSubquery(Subquery):
    """The value of a query of one column and at most one row; NULL if there is no row."""


@dataclass(frozen=True)
class Exists(Subquery):
    """EXISTS: whether a query has rows."""


@dataclass(frozen=True)
class QuantifiedSubquery(Subquery):
    """Quantified comparison: TRUE if `operands operator row` is TRUE for a row of a query, NULL if at most NULL.

    Attributes:
        operands: What is compared with the columns of the query, which have the same types.
        operator: The name of the comparison; `=` is IN.
    """

    operands: tuple[Expression, ...]
    operator: str = "="
