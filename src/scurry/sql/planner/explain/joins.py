"""Joins of STREAMING as text, in the words of Flink's EXPLAIN."""

from __future__ import annotations

from dataclasses import replace

from scurry.sql.plan.expressions import Call, Expression
from scurry.sql.plan.join_keys import conjuncts
from scurry.sql.plan.physical.joins import LookupJoin, RegularJoin, StreamingJoin, WindowJoin
from scurry.sql.planner.explain.expressions import PrefixText, all_of_text
from scurry.sql.planner.explain.names import distinct_names
from scurry.sql.planner.explain.windows import window_text
from scurry.sql.types import BooleanType

_TRUTH = BooleanType(False)
#: Flink's names of the kinds of joins.
JOIN_TYPES = {
    "INNER": "InnerJoin",
    "LEFT": "LeftOuterJoin",
    "RIGHT": "RightOuterJoin",
    "FULL": "FullOuterJoin",
    "SEMI": "LeftSemiJoin",
    "ANTI": "LeftAntiJoin",
}


def shown_conditions(condition: Expression | None) -> list[Expression]:
    """Return the parts of a condition of a join as Flink has them: where NULL equals NULL, it is asked for."""
    found = list(conjuncts(condition))
    if len(found) < 2:
        return found
    return [_expanded(each) for each in found]


def _expanded(condition: Expression) -> Expression:
    if not isinstance(condition, Call) or condition.function != "IS NOT DISTINCT FROM":
        return condition
    equal = replace(condition, function="=")
    if not all(each.type.is_nullable for each in condition.arguments):
        return equal
    nulls = tuple(Call("IS NULL", (each,), _TRUTH) for each in condition.arguments)
    return Call("OR", (equal, Call("AND", nulls, _TRUTH)), _TRUTH)


def streaming_join_text(plan: StreamingJoin, text: PrefixText) -> str:
    """Return a join of two inputs, with its expressions as a text has them."""
    names = distinct_names([*plan.left.schema.names, *plan.right.schema.names])
    width = len(plan.left.schema)
    conditions = [text(each, names) for each in shown_conditions(plan.written)]
    conditions = conditions or [
        text.operation(
            "IS NOT DISTINCT FROM" if key.null_equals_null else "=", [names[key.left], names[key.right + width]]
        )
        for key in plan.keys
    ]
    if plan.rest is not None and plan.written is None:
        conditions += [text(each, names) for each in conjuncts(plan.rest)]
    parts = _windows(plan) if isinstance(plan, WindowJoin) and plan.written is not None else []
    parts += [f"joinType=[{JOIN_TYPES[plan.kind]}]", *plan.details, f"where=[{all_of_text(conditions, text)}]"]
    parts += [f"select=[{', '.join(names[: len(plan.schema)])}]", *plan.shown_after]
    if isinstance(plan, RegularJoin) and plan.state_ttl != (None, None):
        ttl = zip(("LEFT", "RIGHT"), plan.state_ttl, strict=True)
        shown = ", ".join(f"{side}={value}ms" for side, value in ttl if value is not None)
        parts.append(f"stateTtlHints=[[[STATE_TTL options:{{{shown}}}]]]")
    return f"{plan.operator}({', '.join(parts)})"


def _windows(plan: WindowJoin) -> list[str]:
    """Return the windows of both sides as text."""
    found = []
    for side, rows, bounds in (("left", plan.left, plan.left_window), ("right", plan.right, plan.right_window)):
        start, end = (rows.schema.names[column] for column in bounds)
        shown = window_text(plan.window, [f"win_start=[{start}]", f"win_end=[{end}]"])
        found.append(f"{side}Window=[{shown}]")
    return found


def lookup_join_text(plan: LookupJoin, text: PrefixText) -> str:
    """Return a lookup join, with its expressions as a text has them."""
    names, asked = plan.input.schema.names, plan.table.schema.names
    lookup = ", ".join(f"{asked[column]}={names[key]}" for key, column in plan.keys)
    parts = [f"table=[{'.'.join(plan.table.path)}]", f"joinType=[{JOIN_TYPES[plan.kind]}]", f"lookup=[{lookup}]"]
    both = distinct_names([*names, *plan.right_schema.names])
    conditions = [] if plan.condition is None else [text(plan.condition, asked)]
    conditions += [] if plan.rest is None else [text(plan.rest, both)]
    parts += [f"where=[{all_of_text(conditions, text)}]"] if conditions else []
    parts.append(f"select=[{', '.join(both)}]")
    if plan.retry is not None:
        parts.append(f"retry=[lookup_miss, FIXED_DELAY, {plan.retry.delay}ms, {plan.retry.retries}]")
    return f"LookupJoin({', '.join(parts)})"
