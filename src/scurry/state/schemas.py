"""Schemas of the states in a written savepoint, by which jobs check whether the state fits."""

from __future__ import annotations

from typing import Any

from scurry.graph.plan import JobPlan, OperatorPlan
from scurry.graph.settings import JobSettings
from scurry.runtime.state.registry import StateRegistry
from scurry.runtime.state.schema import own_schemas
from scurry.runtime.state.types import ANY

__all__ = ["schemas_of"]


def schemas_of(plan: OperatorPlan, registry: StateRegistry) -> dict[str, Any]:
    """Return the schemas (as JSON) of the states that an operator and its functions have written, by name."""
    # in a plan of its own, the operator's inputs have no declared type: its own state is identified by layout
    own = own_schemas(JobPlan(JobSettings(plan.name, 1)), plan)
    # a broadcast state that is given by its name has no type that a job could contradict
    written = {name: schema for name, schema in registry.news().items() if not _is_unknown(schema)}
    return {name: schema.to_json() for name, schema in own.items()} | written


def _is_unknown(schema: dict[str, Any]) -> bool:
    return schema.get("kind") == "broadcast" and schema.get("type") == ["MAP", ANY, ANY]
