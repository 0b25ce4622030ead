"""Rules of STREAMING, in the order of `STREAMING_RULES`: they translate logical nodes to physical ones."""

from __future__ import annotations

from collections.abc import Callable

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.nodes import Plan
from scurry.sql.planner.rules.merge_projections import unneeded_aggregates
from scurry.sql.planner.rules.streaming.aggregates import expand_grouping_sets, over_aggregates, two_phase_aggregates
from scurry.sql.planner.rules.streaming.equal_columns import equal_columns
from scurry.sql.planner.rules.streaming.joins import interval_joins, regular_joins, temporal_joins, window_joins
from scurry.sql.planner.rules.streaming.ranks import ranks
from scurry.sql.planner.rules.streaming.set_operations import set_operations
from scurry.sql.planner.rules.streaming.window_aggregates import window_aggregates
from scurry.sql.planner.rules.streaming.window_ranks import window_ranks

__all__ = ["STREAMING_RULES"]

STREAMING_RULES: tuple[Callable[[Plan, EvaluationContext], Plan], ...] = (
    set_operations,
    # Again: INTERSECT and EXCEPT have DISTINCT.
    unneeded_aggregates,
    window_aggregates,
    window_ranks,
    expand_grouping_sets,
    equal_columns,
    temporal_joins,
    window_joins,
    # Again: rows of window joins have columns of windows.
    window_aggregates,
    window_ranks,
    interval_joins,
    ranks,
    over_aggregates,
    regular_joins,
    two_phase_aggregates,
)
