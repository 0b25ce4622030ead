"""Recognise temporal joins: FOR SYSTEM_TIME AS OF event time."""

from __future__ import annotations

from scurry.errors import UnsupportedError, ValidationError
from scurry.sql.functions.definition import Session
from scurry.sql.plan.advice import time_attribute_of
from scurry.sql.plan.expressions import Expression, InputReference
from scurry.sql.plan.join_keys import split_condition
from scurry.sql.plan.nodes import Join, Plan, TemporalJoin
from scurry.sql.plan.physical.joins import EventTimeTemporalJoin, JoinKey
from scurry.sql.planner.rules.streaming.lookup_joins import lookup_join
from scurry.sql.planner.unique_keys import unique_keys
from scurry.sql.types.families import is_proctime, is_rowtime

__all__ = ["join_keys", "temporal_joins"]


def temporal_joins(plan: Plan, session: Session) -> Plan:
    """Make physical joins of joins with versions.

    Raises:
        ValidationError: Flink refuses the join.
    """
    plan = plan.with_inputs(tuple(temporal_joins(each, session) for each in plan.inputs))
    return _temporal_join(plan) if isinstance(plan, TemporalJoin) else plan


def _temporal_join(plan: TemporalJoin) -> Plan:
    if plan.kind not in ("INNER", "LEFT"):
        raise ValidationError(f"Unknown join type {plan.kind}")
    kind = plan.period.type
    if not isinstance(plan.period, InputReference) or not (is_rowtime(kind) or is_proctime(kind)):
        raise ValidationError(
            "Temporal table join currently only supports 'FOR SYSTEM_TIME AS OF' left table's time attribute field"
        ).with_hint(
            time_attribute_of(plan.left, plan.period.index)
            if isinstance(plan.period, InputReference)
            else "write a column of the left table that has a watermark, or is PROCTIME()"
        )
    keys, rest = join_keys(plan)
    if not keys:
        raise ValidationError("Currently the join key in Temporal Table Join can not be empty.")
    if is_proctime(kind):
        found = lookup_join(plan, keys, rest)
        if found is not None:
            return found
    if not unique_keys(plan.right):
        raise ValidationError(
            "Temporal Table Join requires primary key in versioned table, but no primary key can be found."
        )
    _check_compared(plan, keys)
    if is_proctime(kind):
        raise UnsupportedError("Processing-time temporal join is not supported yet.")
    return EventTimeTemporalJoin(plan.left, plan.right, plan.kind, keys, rest, plan.period.index, _version_time(plan))


def join_keys(plan: Join | TemporalJoin) -> tuple[tuple[JoinKey, ...], Expression | None]:
    """Return the columns that a join compares, and the rest of its condition."""
    equal, rest = split_condition(plan.condition, len(plan.left.schema))
    keys = []
    for each in equal:
        assert isinstance(each.left, InputReference) and isinstance(each.right, InputReference)
        keys.append(JoinKey(each.left.index, each.right.index, each.null_equals_null))
    return tuple(keys), rest


def _check_compared(plan: TemporalJoin, keys: tuple[JoinKey, ...]) -> None:
    found = unique_keys(plan.right)
    compared = {key.right for key in keys}
    if not any(key <= compared for key in found):
        left, right = plan.left.schema.names, plan.right.schema.names
        shortest = min(found, key=lambda each: len(each))
        key = ", ".join(right[column] for column in sorted(shortest))
        shown = ", ".join(f"{left[each.left]}={right[each.right]}" for each in keys)
        raise ValidationError(
            f"Temporal table's primary key [{key}] must be included in the equivalence condition of temporal join, "
            f"but current temporal join condition is [{shown}]."
        )


def _version_time(plan: TemporalJoin) -> int:
    types = plan.right.schema.types
    found = next((place for place, each in enumerate(types) if is_rowtime(each)), None)
    if found is None:
        raise ValidationError(
            "Event-Time Temporal Table Join requires both primary key and row time attribute in versioned table, "
            "but no row time attribute can be found."
        )
    left, right = plan.period.type.nullable(), types[found].nullable()
    if left != right:
        raise ValidationError(
            "Event-Time Temporal Table Join requires same rowtime type in left table and versioned table, but the "
            f"rowtime types are {left.as_summary_string()} and {right.as_summary_string()}."
        )
    return found
