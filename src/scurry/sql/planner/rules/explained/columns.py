"""Columns that Flink does not prune."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from scurry._dataclasses import dataclass
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.nodes import (
    Filter,
    Join,
    Limit,
    OneInput,
    Over,
    Plan,
    Project,
    Scan,
    Sort,
    Unnest,
    Values,
    WindowTable,
)
from scurry.sql.plan.schema import Schema
from scurry.sql.planner.explain.reading import reads_all


@dataclass(frozen=True)
class _Kept(OneInput):
    """Marks rows of which all columns are kept."""

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema


def kept_columns(plan: Plan, session: EvaluationContext) -> Plan:
    """Mark rows that Flink does not prune: of which elements are read, of limited tables, in BATCH those of OVER.

    Pruning keeps all columns of marked rows.
    """
    plan = plan.with_inputs(tuple(kept_columns(each, session) for each in plan.inputs))
    if isinstance(plan, Unnest) or (isinstance(plan, Limit) and _is_table(plan.input)):
        return plan.with_inputs(tuple(map(_Kept, plan.inputs)))
    if isinstance(plan, Limit) and isinstance(plan.input, Sort) and _is_table(plan.input.input):
        return replace(plan, input=_Kept(plan.input.with_inputs((_Kept(plan.input.input),))))
    if not session.is_streaming and isinstance(plan, Filter) and _is_over(plan.input):
        return replace(plan, input=_Kept(plan.input))
    if isinstance(plan, Values) and plan.rows and len(plan.schema) > 1:
        return _Kept(plan)
    if isinstance(plan, Over) and isinstance(plan.input, WindowTable):
        return replace(plan, input=_selected(plan.input))
    if isinstance(plan, Join):
        return plan.with_inputs(
            tuple(_selected(each) if isinstance(each, WindowTable) else each for each in plan.inputs)
        )
    return plan


def _selected(plan: Plan) -> Plan:
    """Return rows with windows as a query of them, of which only columns that are used are kept."""
    return Project(plan, builders.columns(plan), plan.schema.names)


def without_marks(plan: Plan) -> Plan:
    """Return a plan without the marks of `kept_columns`."""
    inputs = tuple(map(without_marks, plan.inputs))
    return inputs[0] if isinstance(plan, _Kept) else plan.with_inputs(inputs)


def _is_table(plan: Plan) -> bool:
    return isinstance(plan, Scan) and reads_all(plan)


def _is_over(plan: Plan) -> bool:
    return isinstance(plan, Over) or (isinstance(plan, Project) and isinstance(plan.input, Over))
