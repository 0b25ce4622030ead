"""The condition of a join with versions, which Flink's plans have beside the keys."""

from __future__ import annotations

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.calls import all_of
from scurry.sql.plan.expressions import Call, Expression, InputReference
from scurry.sql.plan.nodes import TemporalJoin
from scurry.sql.plan.physical.joins import EventTimeTemporalJoin
from scurry.sql.planner.unique_keys import unique_keys
from scurry.sql.types import BooleanType

_TRUTH = BooleanType(False)


def versions_condition(plan: TemporalJoin, join: EventTimeTemporalJoin) -> Expression | None:
    """Return the condition of a join as Flink shows it: with its times, and the keys of the versions."""
    width = len(plan.left.schema)
    left, right = builders.columns(plan.left), builders.columns(plan.right)

    def of_right(places: list[int]) -> tuple[Expression, ...]:
        return tuple(InputReference(width + place, right[place].type) for place in places)

    key = min(unique_keys(plan.right), key=lambda each: (len(each), sorted(each)))
    times = (left[join.left_time], *of_right([join.right_time]))
    found = Call(
        "__TEMPORAL_JOIN_CONDITION",
        (
            *times,
            Call("__TEMPORAL_JOIN_CONDITION_PRIMARY_KEY", of_right(sorted(key)), _TRUTH),
            Call("__TEMPORAL_JOIN_LEFT_KEY", tuple(left[each.left] for each in join.keys), _TRUTH),
            Call("__TEMPORAL_JOIN_RIGHT_KEY", of_right([each.right for each in join.keys]), _TRUTH),
        ),
        _TRUTH,
    )
    return all_of([*([] if plan.condition is None else [plan.condition]), found], EvaluationContext())
