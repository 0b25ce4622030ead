"""Plans as text, in the words of Flink's EXPLAIN."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scurry.relational.explain.advice import Advice
from scurry.relational.explain.logical import expression_text, plan_text
from scurry.relational.explain.physical import Operator, operators, physical_text, physical_tree_text
from scurry.relational.plan import Plan

__all__ = ["Operator", "explain", "explain_executed", "expression_text", "operators", "physical_text", "plan_text"]


def explain(
    plans: Sequence[Plan],
    executed: Sequence[Plan],
    is_streaming: bool,
    modes: Callable[[Plan], str] | None = None,
    advises: bool = False,
) -> str:
    """Return what EXPLAIN shows of the plans of a statement.

    Args:
        plans: One per sink, or that of a query.
        executed: The same as they are executed.
        is_streaming: Whether that is in STREAMING, where operators exchange their rows by key.
        modes: Returns the changes of a node, to be shown in the physical plan; None to leave them out.
        advises: Whether to show what would make the physical plan faster.
    """
    advice = Advice() if advises else None
    physical = [physical_tree_text(plan, is_streaming, modes, advice) for plan in executed]
    parts = [
        ("Abstract Syntax Tree", [plan_text(plan) for plan in plans]),
        ("Optimized Physical Plan", physical)
        if advice is None
        else ("Optimized Physical Plan With Advice", [*physical, advice.text()]),
        ("Optimized Execution Plan", [physical_tree_text(plan, is_streaming) for plan in executed]),
    ]
    return "\n\n".join(f"== {title} ==\n" + "\n\n".join(texts) for title, texts in parts) + "\n"


def explain_executed(executed: Sequence[Plan], is_streaming: bool) -> str:
    """Return what is shown of plans that are compiled already.

    Args:
        executed: One per sink.
        is_streaming: Whether they are executed in STREAMING.
    """
    texts = [physical_tree_text(plan, is_streaming) for plan in executed]
    return "== Optimized Execution Plan ==\n" + "\n\n".join(texts) + "\n"
