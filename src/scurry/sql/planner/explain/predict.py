"""Calls of ML_PREDICT as EXPLAIN shows them: the name of the model, and none of its options."""

from __future__ import annotations

from scurry.common.redaction import redacted
from scurry.sql.plan.models import MLPredict
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


def _text(value: str) -> str:
    return f"_UTF-16LE'{value}'"
