"""Tables of rows that are written as expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.errors import ArgumentError, ValidationError
from scurry.sql.plan.nodes import Plan, Values
from scurry.sql.plan.schema import Schema
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes
from scurry.sql.types import RowType
from scurry.table._operations.fields import operation
from scurry.table.expression import Expression


def values_of_expressions(session: TableSession, rows: Sequence[Any], row_type: RowType) -> Plan:
    """Return the plan of rows whose values are converted to the columns' types.

    Args:
        session: The session.
        rows: Calls of `row`, or the values of the only column.
        row_type: The columns.

    Raises:
        ArgumentError: Some rows are no expressions.
        ValidationError: A row has another number of values, or a value cannot be converted.
    """
    if not all(isinstance(each, Expression) for each in rows):
        raise ArgumentError("It doesn't support part of the elements are Expression, while the others are not.")
    types = row_type.field_types()
    made = operation(session, rows)
    converted = []
    for row in rows:
        values = _values(row)
        if len(values) != len(types):
            raise ValidationError(
                f"All rows in a fromValues(...) clause must have the same fields number. Row {row} has a different "
                f"length than the expected size: {len(types)}."
            )
        casts = [Expression(value).cast(kind)._node for value, kind in zip(values, types, strict=True)]
        converted.append(tuple(made.value(each) for each in casts))
    return Values(Schema.of(row_type.field_names(), types), tuple(converted))


def _values(row: Expression) -> list[nodes.Expression]:
    node = row._node
    if isinstance(node, nodes.Call) and node.name.names == ("ROW",):
        return [each for each in node.arguments if isinstance(each, nodes.Expression)]
    return [node]
