"""What Flink refuses in BATCH."""

from __future__ import annotations

from scurry.errors import ValidationError
from scurry.functions.definition import Session
from scurry.relational.plan import Plan, WindowTable, walk

__all__ = ["check_batch"]


def check_batch(plan: Plan, session: Session) -> Plan:
    """Return the plan itself.

    Raises:
        ValidationError: BATCH does not support a part of it.
    """
    if not session.is_streaming:
        for node in walk(plan):
            if isinstance(node, WindowTable) and node.kind == "SESSION":
                raise ValidationError("Unaligned windows like session are not supported in batch mode yet.")
    return plan
