"""Models called by tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scurry.errors import ArgumentTypeError
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.plan.nodes import Plan
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.table_operations import Operation
from scurry.sql.syntax import nodes
from scurry.table.expression import Expression


def predicted(
    session: TableSession,
    model: ObjectIdentifier,
    plan: Plan,
    columns: Expression | Sequence[str],
    options: Mapping[str, str] | None,
) -> Plan:
    """Return the plan of a call of ML_PREDICT.

    Args:
        session: The session.
        model: The full name of the model.
        plan: The rows.
        columns: What the model takes: names, or `descriptor(...)`.
        options: The map of the call.

    Raises:
        ValidationError: The columns do not fit the model.
    """
    operation = Operation(session)
    arguments: list[nodes.Expression] = [
        nodes.TableArgument(operation.table(plan)),
        nodes.ModelArgument(nodes.Identifier(model.path)),
        _descriptor(columns),
    ]
    if options:
        texts = [each for pair in options.items() for each in pair]
        arguments.append(nodes.MapConstructor(tuple(map(nodes.StringLiteral, texts))))
    call = nodes.Call(nodes.Identifier(("ML_PREDICT",)), tuple(arguments))
    return operation.planned(nodes.Select((nodes.SelectItem(nodes.Star()),), nodes.TableFunction(call)))


def _descriptor(columns: Expression | Sequence[str]) -> nodes.Descriptor:
    if isinstance(columns, Expression) and isinstance(columns._node, nodes.Descriptor):
        return columns._node
    if isinstance(columns, list | tuple) and columns and all(isinstance(each, str) for each in columns):
        return nodes.Descriptor(tuple(nodes.Identifier((each,)) for each in columns))
    raise ArgumentTypeError(f"input_columns are names or descriptor('name', ...), got {columns!r}")
