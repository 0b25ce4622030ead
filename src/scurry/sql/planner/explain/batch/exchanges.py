"""Exchanges and sorts of BATCH, as text."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.sql.plan.nodes import SortKey
from scurry.sql.planner.explain.ordering import order_text
from scurry.sql.planner.explain.trees import Operator


def exchanged(rows: Operator, keys: Sequence[int], names: Sequence[str] | None = None) -> Operator:
    """Return rows where those with equal keys are together, or all of them if there are no keys.

    Args:
        keys: Positions of the keys.
        names: The columns of the rows; None for those of the plan.
    """
    if rows.distribution == tuple(keys):
        return rows
    named = names or rows.plan.schema.names
    shown = f"hash[{', '.join(named[key] for key in keys)}]" if keys else "single"
    return Operator(f"Exchange(distribution=[{shown}])", rows.plan, (rows,), distribution=tuple(keys))


def broadcast(rows: Operator) -> Operator:
    """Return rows that every task has."""
    return Operator("Exchange(distribution=[broadcast])", rows.plan, (rows,))


def sorted_rows(rows: Operator, keys: Sequence[int], names: Sequence[str] | None = None) -> Operator:
    """Return rows in the order of some columns."""
    return ordered(rows, [SortKey(key) for key in keys], names) if keys else rows


def ordered(rows: Operator, keys: Sequence[SortKey], names: Sequence[str] | None = None) -> Operator:
    """Return rows in an order, where they are."""
    text = f"Sort(orderBy=[{order_text(keys, names or rows.plan.schema.names)}])"
    return Operator(text, rows.plan, (rows,), distribution=rows.distribution)
