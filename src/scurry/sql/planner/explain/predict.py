"""Calls of ML_PREDICT and VECTOR_SEARCH as EXPLAIN shows them: names of models and tables, none of their options."""

from __future__ import annotations

from scurry.common.redaction import redacted
from scurry.sql.plan.models import MLPredict, VectorSearch
from scurry.sql.planner.explain.expressions import PrefixText
from scurry.sql.planner.explain.joins import JOIN_TYPES
from scurry.sql.planner.explain.types import record_text


def predict_text(plan: MLPredict) -> str:
    """Return the attributes of a node."""
    features = ", ".join(_text(plan.input.schema.names[place]) for place in plan.features)
    pairs = [_text(each) for pair in redacted(dict(plan.config or ())).items() for each in pair]
    config = "DEFAULT()" if plan.config is None else f"MAP({', '.join(pairs)})"
    return (
        f"invocation=[ML_PREDICT(TABLE(#0), Model(MODEL {plan.model.name}), DESCRIPTOR({features}), {config})], "
        f"rowType=[{record_text(plan.schema)}]"
    )


def call_of_search(plan: VectorSearch, query: str) -> str:
    """Return the attributes of a call as it is written."""
    pairs = [_text(each) for pair in redacted(dict(plan.config or ())).items() for each in pair]
    config = f", MAP({', '.join(pairs)})" if plan.config else ""
    column = _text(plan.right.schema.names[plan.column])
    return (
        f"invocation=[VECTOR_SEARCH(TABLE(#0), DESCRIPTOR({column}), {query}, {plan.top_k}{config})], "
        f"rowType=[{record_text(plan.function_schema)}]"
    )


def search_text(plan: VectorSearch, text: PrefixText) -> str:
    """Return a search as it is executed."""
    kind = JOIN_TYPES["LEFT" if plan.outer else "INNER"]
    config = ", ".join(f"{key}={value}" for key, value in sorted(redacted(dict(plan.config or ())).items()))
    parts = [
        f"table=[{'.'.join(plan.table.path)}]",
        f"joinType=[{kind}]",
        f"columnToSearch=[{plan.right.schema.names[plan.column]}]",
        f"columnToQuery=[{text(plan.query, plan.input.schema.names)}]",
        f"topK=[{plan.top_k}]",
        *([f"config=[{{{config}}}]"] if config else []),
        f"select=[{', '.join(plan.schema.names)}]",
    ]
    return f"VectorSearchTableFunction({', '.join(parts)})"


def _text(value: str) -> str:
    return f"_UTF-16LE'{value}'"
