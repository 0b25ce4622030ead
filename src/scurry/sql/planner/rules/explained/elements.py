"""Rows of elements and of functions, whose columns Flink numbers."""

from __future__ import annotations

from dataclasses import replace

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.nodes import Plan, Project, Unnest
from scurry.sql.plan.schema import Schema
from scurry.sql.types import ArrayType, MultisetType, RowType


def numbered_elements(plan: Plan, session: EvaluationContext) -> Plan:
    """Name the columns of elements as Flink does, and give them their own names above."""
    plan = plan.with_inputs(tuple(numbered_elements(each, session) for each in plan.inputs))
    if not isinstance(plan, Unnest):
        return plan
    names = _names(plan)
    shown = replace(plan, element_schema=Schema.of(names, plan.element_schema.types))
    return Project(shown, builders.columns(plan), plan.schema.names)


def _names(plan: Unnest) -> tuple[str, ...]:
    count, kind = len(plan.element_schema), plan.collection.type
    if plan.ordinality:
        values = ("EXPR$0",) if count == 2 else tuple(f"f{place}" for place in range(count - 1))
        return (*values, "ORDINALITY")
    if isinstance(kind, ArrayType | MultisetType) and isinstance(kind.element_type, RowType):
        return tuple(field.name for field in kind.element_type.fields)
    return tuple(f"f{place}" for place in range(count))
