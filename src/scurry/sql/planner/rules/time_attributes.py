"""Time attributes among the columns with such a type."""

from __future__ import annotations

from scurry._dataclasses import dataclass
from scurry.sql.evaluation.constants import only_result
from scurry.sql.plan.changelog_functions import FromChangelog, ToChangelog
from scurry.sql.plan.expressions import FLIPPED, Call, Expression, InputReference, Literal
from scurry.sql.plan.join_keys import conjuncts
from scurry.sql.plan.matching import Match, MatchTime
from scurry.sql.plan.models import MLPredict, VectorSearch
from scurry.sql.plan.nodes import (
    Aggregate,
    Correlate,
    Filter,
    Join,
    Limit,
    Over,
    Plan,
    Project,
    Scan,
    SetOperation,
    Sort,
    TableFunctionScan,
    TemporalJoin,
    Unnest,
    Values,
    WindowTable,
    walk,
)
from scurry.sql.plan.physical.aggregates import Expand
from scurry.sql.plan.physical.changes import ChangelogNormalize, ReplicateRows
from scurry.sql.plan.physical.joins import EventTimeTemporalJoin, IntervalJoin, LookupJoin, WindowJoin
from scurry.sql.plan.physical.over import OverAggregate
from scurry.sql.plan.physical.ranks import Deduplicate, Rank, TemporalSort
from scurry.sql.plan.physical.windows import (
    GroupWindowAggregate,
    SessionTable,
    WindowAggregate,
    Windowed,
    WindowRank,
    window_properties,
)
from scurry.sql.plan.process_tables import ProcessTableFunction
from scurry.sql.types import DayTimeIntervalType
from scurry.sql.types.families import is_time_attribute

#: Operations whose rows are those of their input, whose columns come first with the time that they have there.
_PASSING = (
    ChangelogNormalize,
    Deduplicate,
    Expand,
    Filter,
    Limit,
    LookupJoin,
    MLPredict,
    Over,
    OverAggregate,
    Rank,
    ReplicateRows,
    SessionTable,
    Sort,
    TableFunctionScan,
    TemporalSort,
    Unnest,
    VectorSearch,
    WindowRank,
    WindowTable,
)
#: Operations that make times, or read them.
_MAKING = (ProcessTableFunction, Scan, Values)
#: Operations that find pairs in the order of time.
_PAIRING = (Correlate, IntervalJoin, Join, TemporalJoin, EventTimeTemporalJoin, WindowJoin)
_OF_WINDOWS = (SessionTable, WindowAggregate, WindowTable, Windowed)


@dataclass(frozen=True)
class TimeBound:
    """A comparison of a left time with a right time plus some milliseconds."""

    left: int
    right: int
    operator: str
    distance: int


def stays_time(plan: Plan, column: int) -> bool:
    """Return whether a column is a time attribute.

    Its type may still say so where it is none any more: a regular join emits a pair when it is found, in no order of
    time; a group changes whenever a row comes; of the measures of a pattern only the time of the match is one.
    """
    if not is_time_attribute(plan.schema[column].type):
        return False
    if isinstance(plan, Match):
        place = column - len(plan.partition_by)
        if place >= 0:
            return isinstance(plan.measures[place], MatchTime)
        return stays_time(plan.input, plan.partition_by[column])
    if isinstance(plan, Project):
        expression = only_result(plan.expressions[column])
        if isinstance(expression, InputReference):
            return stays_time(plan.input, expression.index)
        return not _is_computed_of_time(expression)
    if isinstance(plan, GroupWindowAggregate):
        return column >= len(plan.keys) + len(plan.calls)
    if isinstance(plan, Aggregate | WindowAggregate):
        return _is_of_window(plan, column)
    if isinstance(plan, _PAIRING):
        if isinstance(plan, Join) and _is_regular(plan):
            return False
        width = len(plan.left.schema)
        return stays_time(plan.left, column) if column < width else stays_time(plan.right, column - width)
    if isinstance(plan, SetOperation):
        return all(stays_time(each, column) for each in plan.inputs)
    if isinstance(plan, ToChangelog):
        return column > len(plan.input.schema) or stays_time(plan.input, column - 1)
    if isinstance(plan, FromChangelog):
        return stays_time(plan.input, plan.columns_kept[column])
    if isinstance(plan, _PASSING):
        if column < len(plan.inputs[0].schema):
            return stays_time(plan.inputs[0], column)
        # what OVER computes of times is none
        return not isinstance(plan, Over | OverAggregate)
    return isinstance(plan, _MAKING)


def _is_computed_of_time(expression: Expression) -> bool:
    """Return whether a value is computed of times, as by COALESCE or CASE, which is none."""
    return (
        isinstance(expression, Call)
        and expression.function != "CAST"
        and any(is_time_attribute(each.type) for each in expression.arguments)
    )


def _is_of_window(plan: Aggregate | WindowAggregate, column: int) -> bool:
    """Return whether a column of groups is the time of their window."""
    if isinstance(plan, WindowAggregate):
        place = column - len(plan.keys)
        return 0 <= place < len(plan.columns)
    properties = window_properties(plan.input)
    return (
        properties is not None
        and column < len(plan.keys)
        and plan.keys[column] in properties.columns
        and properties.is_grouped_by(plan.keys)
    )


def _is_regular(plan: Join) -> bool:
    """Return whether a join is neither an interval join nor, perhaps, one of windows."""
    if plan.kind not in ("SEMI", "ANTI"):
        operators = {each.operator for each in time_bounds(plan).values()}
        if "=" in operators or (operators & {"<", "<="} and operators & {">", ">="}):
            return False
    return not all(any(isinstance(each, _OF_WINDOWS) for each in walk(side)) for side in plan.inputs)


def time_bounds(plan: Join) -> dict[Expression, TimeBound]:
    """Return the bounds on time attributes of both sides in a join, by condition."""
    found = {each: _bound(each, plan) for each in conjuncts(plan.condition)}
    return {
        each: bound
        for each, bound in found.items()
        if bound is not None and stays_time(plan.left, bound.left) and stays_time(plan.right, bound.right)
    }


def _bound(condition: Expression, plan: Join) -> TimeBound | None:
    if not isinstance(condition, Call) or condition.function not in FLIPPED:
        return None
    first, second = map(_shifted_time, condition.arguments)
    if first is None or second is None:
        return None
    width = len(plan.left.schema)
    (one, before), (other, after) = first, second
    if one < width <= other:
        return TimeBound(one, other - width, condition.function, after - before)
    if other < width <= one:
        return TimeBound(other, one - width, FLIPPED[condition.function], before - after)
    return None


def _shifted_time(expression: Expression) -> tuple[int, int] | None:
    """Return a time attribute and by how many milliseconds an expression is later; None if it is nothing such."""
    if isinstance(expression, InputReference):
        return (expression.index, 0) if is_time_attribute(expression.type) else None
    if not isinstance(expression, Call) or expression.function not in ("+", "-"):
        return None
    one, other = expression.arguments
    if expression.function == "+" and isinstance(one, Literal):
        one, other = other, one
    if not isinstance(other, Literal) or not isinstance(other.type, DayTimeIntervalType) or other.value is None:
        return None
    found = _shifted_time(one)
    if found is None:
        return None
    return found[0], found[1] + (other.value if expression.function == "+" else -other.value)
