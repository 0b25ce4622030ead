"""Rules for EXPLAIN alone: they give plans the shapes that Flink shows, where a job computes the same rows otherwise.

They come in three steps. `WRITTEN` changes plans as they are written, for the abstract syntax tree. `SHAPING` changes
plans before columns are pruned, `SHOWN` when all other rules are done.
"""

from __future__ import annotations

from collections.abc import Callable

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.nodes import Plan
from scurry.sql.planner.rules.explained.aggregates import (
    conditions_of_aggregates,
    copied_keys,
    counted_rows,
    split_distinct,
    without_empty_rows,
)
from scurry.sql.planner.rules.explained.arguments import columns_of_constants
from scurry.sql.planner.rules.explained.averages import averages_of_sums
from scurry.sql.planner.rules.explained.columns import kept_columns, without_marks
from scurry.sql.planner.rules.explained.elements import conditions_of_elements, numbered_elements
from scurry.sql.planner.rules.explained.group_windows import group_windows, windows_of_having, written_group_windows
from scurry.sql.planner.rules.explained.limits import limits_below_projections
from scurry.sql.planner.rules.explained.names import (
    merged_names,
    names_of_joins,
    names_of_keys,
    numbered_joins,
    sorted_names,
)
from scurry.sql.planner.rules.explained.selected import selected_first
from scurry.sql.planner.rules.explained.times import materialized_times
from scurry.sql.planner.rules.explained.unions import nested_unions
from scurry.sql.planner.rules.explained.values import named_columns_of_values, named_values
from scurry.sql.planner.rules.explained.windows import narrowed_windows, numbers_of_ranks, sums_of_windows

__all__ = [
    "SHAPING",
    "SHOWN",
    "WRITTEN",
    "named_columns_of_values",
    "narrowed_windows",
    "split_distinct",
    "windows_of_having",
    "without_marks",
]

Rule = Callable[[Plan, EvaluationContext], Plan]

WRITTEN: tuple[Rule, ...] = (
    merged_names,
    without_empty_rows,
    columns_of_constants,
    names_of_joins,
    names_of_keys,
    sorted_names,
    selected_first,
    written_group_windows,
    nested_unions,
    named_columns_of_values,
)
SHAPING: tuple[Rule, ...] = (
    columns_of_constants,
    names_of_joins,
    names_of_keys,
    sorted_names,
    numbered_joins,
    selected_first,
    averages_of_sums,
    group_windows,
    nested_unions,
    limits_below_projections,
    counted_rows,
    kept_columns,
)
SHOWN: tuple[Rule, ...] = (
    conditions_of_aggregates,
    copied_keys,
    sums_of_windows,
    numbers_of_ranks,
    conditions_of_elements,
    numbered_elements,
    named_values,
    materialized_times,
)
