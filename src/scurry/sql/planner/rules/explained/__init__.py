"""Rules for EXPLAIN alone: they give plans the shapes that Flink shows, where a job computes the same rows otherwise.

They come in two steps. `SHAPING` changes plans before columns are pruned, `SHOWN` when all other rules are done.
"""

from __future__ import annotations

from collections.abc import Callable

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.nodes import Plan
from scurry.sql.planner.rules.explained.aggregates import conditions_of_aggregates, split_distinct
from scurry.sql.planner.rules.explained.columns import kept_columns, without_marks
from scurry.sql.planner.rules.explained.limits import limits_below_projections
from scurry.sql.planner.rules.explained.windows import sums_of_windows

__all__ = ["SHAPING", "SHOWN", "split_distinct", "without_marks"]

Rule = Callable[[Plan, EvaluationContext], Plan]

SHAPING: tuple[Rule, ...] = (limits_below_projections, kept_columns)
SHOWN: tuple[Rule, ...] = (conditions_of_aggregates, sums_of_windows)
