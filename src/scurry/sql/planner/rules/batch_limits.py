"""Refuse what Flink refuses in BATCH."""

from __future__ import annotations

from scurry.errors import ValidationError
from scurry.sql.functions.definition import Session
from scurry.sql.plan.nodes import Limit, Plan, Project, Sort, WindowTable, walk
from scurry.sql.types.families import is_proctime

__all__ = ["check_batch"]


def check_batch(plan: Plan, session: Session) -> Plan:
    """Return the plan itself.

    Raises:
        ValidationError: BATCH does not support a part of it.
    """
    if not session.is_streaming:
        for node in walk(plan):
            if isinstance(node, WindowTable):
                _check_window(node)
            if isinstance(node, Limit) and node.fetch is None and _is_sorted(node.input):
                raise ValidationError("Not support limitEnd is max value now!")
    return plan


def _is_sorted(plan: Plan) -> bool:
    return isinstance(plan, Sort) or (isinstance(plan, Project) and _is_sorted(plan.input))


def _check_window(plan: WindowTable) -> None:
    if plan.partition_by is None and is_proctime(plan.input.schema[plan.time].type):
        raise ValidationError("Window can not be defined over a proctime attribute column for batch mode")
    if plan.kind == "SESSION":
        raise ValidationError("Unaligned windows like session are not supported in batch mode yet.")
