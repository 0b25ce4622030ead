"""Joins of BATCH as text: by hash, or in nested loops."""

from __future__ import annotations

from scurry.sql.plan.expressions import InputReference
from scurry.sql.plan.join_keys import split_condition
from scurry.sql.plan.nodes import Aggregate, Join, Plan, Project
from scurry.sql.planner.explain.batch.estimates import is_small, size
from scurry.sql.planner.explain.batch.exchanges import broadcast, exchanged
from scurry.sql.planner.explain.expressions import PrefixText, all_of_text
from scurry.sql.planner.explain.joins import JOIN_TYPES, shown_conditions
from scurry.sql.planner.explain.names import distinct_names
from scurry.sql.planner.explain.trees import Operator


def join_operator(plan: Join, left: Operator, right: Operator, text: PrefixText) -> Operator:
    equal, _ = split_condition(plan.condition, len(plan.left.schema))
    keys = [
        (each.left.index, each.right.index)
        for each in equal
        if isinstance(each.left, InputReference) and isinstance(each.right, InputReference)
    ]
    builds_left = plan.kind not in ("SEMI", "ANTI") and size(plan.left) <= size(plan.right)
    small = _small_side(plan)
    if keys and small is None:
        inputs = (exchanged(left, [key for key, _ in keys]), exchanged(right, [key for _, key in keys]))
        distribution = {"FULL": None, "RIGHT": tuple(len(plan.left.schema) + key for _, key in keys)}.get(
            plan.kind, tuple(key for key, _ in keys)
        )
        return Operator(_text("HashJoin", plan, builds_left, text), plan, inputs, distribution=distribution)
    if small is not None:
        builds_left = small == "left"
    elif plan.kind in ("LEFT", "RIGHT"):
        builds_left = plan.kind == "RIGHT"
    inputs = (broadcast(left), right) if builds_left else (left, broadcast(right))
    return Operator(_text("NestedLoopJoin", plan, builds_left, text), plan, inputs)


def _small_side(plan: Join) -> str | None:
    """Return which side is sent to every task; None if neither is so small."""
    if plan.kind in ("INNER", "RIGHT") and is_small(plan.left) and size(plan.left) <= size(plan.right):
        return "left"
    return "right" if plan.kind not in ("RIGHT", "FULL") and is_small(plan.right) else None


def _text(name: str, plan: Join, builds_left: bool, text: PrefixText) -> str:
    names = distinct_names([*plan.left.schema.names, *plan.right.schema.names])
    where = all_of_text([text(each, names) for each in shown_conditions(plan.condition)], text)
    parts = [f"joinType=[{JOIN_TYPES[plan.kind]}]", f"where=[{where}]"]
    parts += [f"select=[{', '.join(names[: len(plan.schema)])}]", f"build=[{'left' if builds_left else 'right'}]"]
    if name == "NestedLoopJoin" and any(map(_is_one_row, (plan.left, plan.right))):
        parts.append("singleRowJoin=[true]")
    return f"{name}({', '.join(parts)})"


def _is_one_row(plan: Plan) -> bool:
    while isinstance(plan, Project):
        plan = plan.input
    return isinstance(plan, Aggregate) and plan.is_simple and not plan.keys
