"""Operators of BATCH as they are executed: joins that choose their strategy when they run, and forwarded rows."""

from __future__ import annotations

from dataclasses import replace

from scurry.sql.planner.explain.trees import Operator


def executed(operator: Operator) -> Operator:
    """Return an operator of the physical plan, and those below it, as the execution plan has them."""
    inputs = tuple(_forwarded(operator, executed(each)) for each in operator.inputs)
    text = operator.text
    is_full = "joinType=[FullOuterJoin]" in text
    if operator.name == "HashJoin" and not is_full and all(each.name == "Exchange" for each in inputs):
        text = text.replace("HashJoin(", "AdaptiveJoin(originalJoin=[ShuffleHashJoin], ", 1)
    return replace(operator, text=text, inputs=inputs)


def _forwarded(reader: Operator, rows: Operator) -> Operator:
    """Return the rows that an operator reads, with an exchange if it relies on where the rows already are."""
    if reader.name == "Exchange":
        return rows
    if rows.name == "Sort" and rows.distribution != ():
        return Operator("Exchange(distribution=[forward])", rows.plan, (rows,), distribution=rows.distribution)
    if reader.text.startswith("HashAggregate(isMerge=[false]") and rows.name != "Exchange" and rows.distribution:
        keys = ", ".join(rows.plan.schema.names[key] for key in rows.distribution)
        text = f"Exchange(distribution=[keep_input_as_is[hash[{keys}]]])"
        return Operator(text, rows.plan, (rows,), distribution=rows.distribution)
    return rows
