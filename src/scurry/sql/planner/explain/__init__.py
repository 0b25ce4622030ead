"""Plans as text, in the words of Flink's EXPLAIN."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scurry.sql.plan.nodes import Plan
from scurry.sql.planner.explain.advice import Advice
from scurry.sql.planner.explain.batch.execution import executed as of_batch
from scurry.sql.planner.explain.expressions import INFIX, expression_text
from scurry.sql.planner.explain.logical import plan_text, written_text
from scurry.sql.planner.explain.physical import operators, physical_text, physical_tree_text
from scurry.sql.planner.explain.reading import BATCH, NO_TABLES, ScanDescriptions
from scurry.sql.planner.explain.shared import shared_texts
from scurry.sql.planner.explain.trees import Operator, tree_text

__all__ = [
    "Operator",
    "ScanDescriptions",
    "explain",
    "explain_executed",
    "expression_text",
    "operators",
    "physical_text",
    "plan_text",
]


def explain(
    plans: Sequence[Plan],
    executed: Sequence[Plan],
    reading: ScanDescriptions | None,
    modes: Callable[[Plan], str] | None = None,
    advises: bool = False,
    having: Sequence[bool] = (),
) -> str:
    """Return the output of EXPLAIN for the plans of a statement.

    Args:
        plans: One per sink, or that of a query.
        executed: The same as they are executed.
        reading: How tables are read in STREAMING, where operators exchange their rows by key; None in BATCH.
        modes: Returns the changes of a node, to be shown in the physical plan; None to leave them out.
        advises: Whether to show what would make the physical plan faster.
        having: For each plan whether its query ends with HAVING; empty if none does.
    """
    advice = Advice() if advises else None
    physical = [physical_tree_text(plan, reading or BATCH, modes, advice) for plan in executed]
    parts = [
        (
            "Abstract Syntax Tree",
            [
                written_text(plan, (reading or NO_TABLES).written, ends)
                for plan, ends in zip(plans, having or [False] * len(plans), strict=True)
            ],
        ),
        ("Optimized Physical Plan", physical)
        if advice is None
        else ("Optimized Physical Plan With Advice", [*physical, advice.text()]),
        (
            "Optimized Execution Plan",
            shared_texts([of_batch(operators(plan, BATCH, INFIX)) for plan in executed], is_batch=True)
            if reading is None
            else _executed_texts(executed, reading),
        ),
    ]
    return "\n\n".join(f"== {title} ==\n" + "\n\n".join(texts) for title, texts in parts) + "\n"


def explain_executed(executed: Sequence[Plan], reading: ScanDescriptions | None) -> str:
    """Return the explanation of plans that are compiled already.

    Args:
        executed: One per sink.
        reading: How tables are read in STREAMING; None in BATCH.
    """
    return "== Optimized Execution Plan ==\n" + "\n\n".join(_executed_texts(executed, reading)) + "\n"


def _executed_texts(executed: Sequence[Plan], reading: ScanDescriptions | None) -> list[str]:
    if reading is None:
        return [tree_text(operators(plan, None, INFIX), lambda each: (each.text, each.inputs)) for plan in executed]
    return shared_texts([operators(plan, reading, INFIX) for plan in executed])
