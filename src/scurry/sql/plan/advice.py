"""Hints for rewriting a refused plan to one that runs."""

from __future__ import annotations

import re

from scurry.sql import types
from scurry.sql.plan.expressions import InputReference
from scurry.sql.plan.nodes import Filter, Plan, Project, Scan

_DELAY = "INTERVAL '5' SECOND"


def watermark_of(column: str, kind: types.DataType) -> str:
    """Return the clauses of CREATE TABLE that make a column a time attribute."""
    name = column if re.fullmatch(r"[A-Za-z_]\w*", column) else f"`{column}`"
    if isinstance(kind, types.TimestampType | types.LocalZonedTimestampType) and kind.precision <= 3:
        return f"WATERMARK FOR {name} AS {name} - {_DELAY}"
    if isinstance(kind, types.CharType | types.VarCharType):
        made = f"TO_TIMESTAMP({name})"
    elif isinstance(kind, types.BigIntType | types.IntType):
        made = f"TO_TIMESTAMP_LTZ({name}, 3)"
    else:
        made = f"CAST({name} AS TIMESTAMP(3))"
    return f"event_time AS {made}, WATERMARK FOR event_time AS event_time - {_DELAY}"


def time_attribute_of(plan: Plan, column: int) -> str:
    """Return a hint for a column that is used as a time attribute, and is none."""
    name, kind = plan.schema[column].name, plan.schema[column].type
    while isinstance(plan, Project | Filter):
        if isinstance(plan, Project):
            found = plan.expressions[column]
            if not isinstance(found, InputReference):
                break
            column = found.index
        plan = plan.input
    if not isinstance(plan, Scan):
        return f"'{name}' is computed from other rows: use a time attribute, such as window_time"
    return f"add it to CREATE TABLE {plan.path[-1]}: {watermark_of(plan.schema[column].name, kind)}"
