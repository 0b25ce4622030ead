"""Rows of elements and of functions, whose columns Flink numbers."""

from __future__ import annotations

from dataclasses import replace

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.calls import all_of
from scurry.sql.plan.join_keys import conjuncts
from scurry.sql.plan.nodes import Filter, Plan, Project, Unnest
from scurry.sql.plan.rewriting import input_references
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


def conditions_of_elements(plan: Plan, session: EvaluationContext) -> Plan:
    """Choose elements where they are read, by conditions on them alone."""
    plan = plan.with_inputs(tuple(conditions_of_elements(each, session) for each in plan.inputs))
    if not isinstance(plan, Filter) or not isinstance(plan.input, Unnest) or plan.input.outer:
        return plan
    elements, width = plan.input, len(plan.input.input.schema)
    own = [each for each in conjuncts(plan.condition) if min(input_references(each), default=-1) >= width]
    if not own or elements.condition is not None:
        return plan
    chosen = replace(elements, condition=all_of(own, session))
    rest = all_of([each for each in conjuncts(plan.condition) if each not in own], session)
    return chosen if rest is None else Filter(chosen, rest)


def _names(plan: Unnest) -> tuple[str, ...]:
    count, kind = len(plan.element_schema), plan.collection.type
    if plan.ordinality:
        values = ("EXPR$0",) if count == 2 else tuple(f"f{place}" for place in range(count - 1))
        return (*values, "ORDINALITY")
    if isinstance(kind, ArrayType | MultisetType) and isinstance(kind.element_type, RowType):
        return tuple(field.name for field in kind.element_type.fields)
    return tuple(f"f{place}" for place in range(count))
