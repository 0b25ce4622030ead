"""Recognise rows that are joined with the different values of their own columns, which each of them has."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.sql.plan.expressions import InputReference
from scurry.sql.plan.nodes import Aggregate, Filter, Limit, Over, Plan, Project, Scan, Sort


def are_own_keys(keys: Plan, rows: Plan, columns: Sequence[int]) -> bool:
    """Return whether the rows of a plan are all different values that some columns have in a table.

    Args:
        keys: The plan: `SELECT DISTINCT` of a table.
        rows: Rows of a table.
        columns: For each column of the plan, the column of the rows that equals it.

    Returns:
        Whether both read the same columns of the same table, so that the plan has each row's values.
    """
    if not isinstance(keys, Aggregate) or not keys.is_simple or keys.calls or len(columns) != len(keys.keys):
        return False
    read = [_column_of_table(keys.input, key, with_all_rows=True) for key in keys.keys]
    same = [_column_of_table(rows, column, with_all_rows=False) for column in columns]
    return None not in read and read == same


def _column_of_table(plan: Plan, column: int, with_all_rows: bool) -> tuple[Scan, int] | None:
    """Return the table and the position in it of which a column is; None if it is computed, or rows are left out."""
    if isinstance(plan, Scan):
        return plan, column
    if isinstance(plan, Project):
        source = plan.expressions[column]
        return _column_of_table(plan.input, source.index, with_all_rows) if isinstance(source, InputReference) else None
    if isinstance(plan, Over):
        return _column_of_table(plan.input, column, with_all_rows) if column < len(plan.input.schema) else None
    if isinstance(plan, Filter | Limit | Sort) and not with_all_rows:
        return _column_of_table(plan.input, column, with_all_rows)
    return None
