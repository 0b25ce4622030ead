"""Expressions as columns of a SELECT."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.errors import ArgumentError, ValidationError
from scurry.sql.plan.nodes import Plan, Values
from scurry.sql.plan.schema import Schema
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.table_operations import Names, Operation
from scurry.sql.statements.table_operations.columns import expanded, stands_for_several
from scurry.sql.statements.table_operations.failures import column_names, placed, unknown_column
from scurry.sql.syntax import nodes
from scurry.sql.types import RowType
from scurry.table.expression import Expression, expression_of
from scurry.table.expressions import col

if TYPE_CHECKING:
    from scurry.sql.plan.nodes import Plan


@dataclass(frozen=True)
class Keys:
    """The grouping keys of an aggregation.

    Attributes:
        names: The columns among the keys.
        is_property: Says whether an expression is a property of the window that is grouped by, as its start.
    """

    names: tuple[str, ...]
    is_property: Callable[[nodes.Expression], bool]

    @classmethod
    def of(
        cls, keys: Sequence[nodes.Expression], is_property: Callable[[nodes.Expression], bool] | None = None
    ) -> Keys:
        """Return the keys of a GROUP BY.

        Args:
            keys: Their expressions.
            is_property: Says whether an expression is a property of a window; None if there is no window.
        """
        names = tuple(each.last for each in keys if isinstance(each, nodes.Identifier))
        return cls(names, is_property or (lambda _: False))


#: The functions that `start`, `end`, `rowtime` and `proctime` of a window's alias call.
WINDOW_PROPERTIES = ("START", "END", "ROWTIME", "PROCTIME")


def expression(value: Any) -> Expression:
    """Return an expression as it is, a text as the column of that name, another value as a literal."""
    if isinstance(value, str):
        return col(value)
    return value if isinstance(value, Expression) else expression_of(value)


def operation(session: TableSession, expressions: Sequence[Expression]) -> Operation:
    """Return an operation with some expressions."""
    functions = {name: function for each in expressions for name, function in each._functions.items()}
    tables = {name: plan for each in expressions for name, plan in each._tables.items()}
    return Operation(session, functions, tables)


def items(made: Operation, chosen: Sequence[Expression], schema: Schema) -> tuple[nodes.SelectItem, ...]:
    """Return the items of a SELECT, named as the Table API names them.

    Raises:
        ValidationError: One names what is not there, or a name is given twice.
    """
    names = Names(made.is_aggregate)
    found = []
    for each in chosen:
        refuse_window_properties(each._node)
        columns = made.columns(each._node, schema)
        for node in columns:
            alias = each._names[0] if each._names and len(columns) == 1 else names.by_place if each._is_text else None
            found += _fields(made, node, alias, schema, names)
    return _of_different_names(found)


def grouped_items(
    made: Operation, chosen: Sequence[nodes.Expression], aliases: Sequence[str | None], schema: Schema, keys: Keys
) -> tuple[nodes.SelectItem, ...]:
    """Return the items of a SELECT of groups, named as the Table API names them.

    Args:
        made: The operation.
        chosen: The columns.
        aliases: The names they were given.
        schema: The columns of the rows.
        keys: What is grouped by.

    Raises:
        ValidationError: One names what is no key, outside of an aggregate, or a name is given twice.
    """
    columns = {column.name: column for column in schema.columns}
    of_keys = Schema(tuple(columns[name] for name in keys.names))
    names = Names(lambda node: made.is_aggregate(node) or keys.is_property(node))
    found = []
    for node, alias in zip(chosen, aliases, strict=True):
        parts = expanded(node, of_keys) if stands_for_several(node) else [node]
        for part in parts:
            (column,) = made.columns(part, schema)
            name = names.name(column, alias if len(parts) == 1 else None)
            found.append(nodes.SelectItem(column, nodes.Identifier((name,))))
    known = [*keys.names, *names.numbered]
    for item in found:
        for used in _outside_aggregates(item.expression, names):
            if used.last not in keys.names:
                raise unknown_column(used, known)
    return _of_different_names(found)


def _outside_aggregates(node: nodes.Node, names: Names) -> Iterator[nodes.Identifier]:
    """Iterate over the columns that an expression names outside of aggregates and properties of windows."""
    if isinstance(node, nodes.Expression) and names.is_numbered(node):
        return
    parts = [child for child in nodes.children(node) if isinstance(child, nodes.Expression)]
    if isinstance(node, nodes.Identifier) or not parts:
        yield from column_names(node)
    elif isinstance(node, nodes.Call):
        for child in parts[1:]:  # not its name
            yield from _outside_aggregates(child, names)
    elif not isinstance(node, nodes.FieldAccess):
        for child in parts:
            yield from _outside_aggregates(child, names)
    else:
        yield from _outside_aggregates(node.operand, names)


def _of_different_names(found: list[nodes.SelectItem]) -> tuple[nodes.SelectItem, ...]:
    taken = [item.alias.last for item in found if item.alias is not None]
    for place, name in enumerate(taken):
        if name in taken[:place]:
            raise ValidationError(f"Ambiguous column name: {name}")
    return tuple(found)


def _fields(
    made: Operation, node: nodes.Expression, alias: str | None, schema: Schema, names: Names
) -> list[nodes.SelectItem]:
    """Return an expression as an item; a flattened row as one for each of its fields."""
    if not (isinstance(node, nodes.FieldAccess) and isinstance(node.field, nodes.Star)):
        return [nodes.SelectItem(node, nodes.Identifier((names.name(node, alias),)))]
    fields = made.fields(node.operand, schema)
    if fields is None:
        return [nodes.SelectItem(node.operand, nodes.Identifier((names.name(node.operand, alias),)))]
    parts = [nodes.FieldAccess(node.operand, nodes.Identifier((field,)), span=node.span) for field in fields]
    return [nodes.SelectItem(each, nodes.Identifier((names.name(each, None),))) for each in parts]


def project(session: TableSession, plan: Plan, chosen: Sequence[Expression], **clauses: Any) -> Plan:
    """Return the plan of a SELECT of some columns.

    Args:
        session: The session.
        plan: The rows.
        chosen: The columns.
        **clauses: Further clauses of the SELECT.
    """
    made = operation(session, chosen)
    if not clauses and any(made.has_aggregates(each._node) for each in chosen):
        return aggregate(session, plan, [], chosen)
    return made.planned(nodes.Select(items(made, chosen, plan.schema), made.table(plan), **clauses))


def aggregate(session: TableSession, plan: Plan, keys: Sequence[Expression], chosen: Sequence[Expression]) -> Plan:
    """Return the plan of a SELECT of keys and aggregates.

    Args:
        session: The session.
        plan: The rows.
        keys: The keys; with an alias, they are columns of that name.
        chosen: The columns.
    """
    plan, plain = grouped_by_columns(session, plan, keys)
    made = operation(session, [*plain, *chosen])
    grouping = tuple(node for each in plain for node in made.columns(each._node, plan.schema))
    for each in chosen:
        refuse_window_properties(each._node)
    aliases = [
        each._names[0] if each._names else f"_c{place}" if each._is_text else None for place, each in enumerate(chosen)
    ]
    selected = grouped_items(made, [each._node for each in chosen], aliases, plan.schema, Keys.of(grouping))
    group_by = nodes.GroupBy(grouping) if grouping else None
    return made.planned(nodes.Select(selected, made.table(plan), group_by=group_by))


def grouped_by_columns(session: TableSession, plan: Plan, keys: Sequence[Expression]) -> tuple[Plan, list[Expression]]:
    """Return a plan in which keys with an alias are columns, and the keys as expressions over it."""
    named = [each for each in keys if each._names]
    if named:
        plan = project(session, plan, [*map(col, plan.schema.names), *named])
    return plan, [col(each._names[0]) if each._names else each for each in keys]


def refuse_window_properties(node: nodes.Node) -> None:
    """Raise an error for properties that only tables with windows have: the start of a window, an aggregate over one.

    Raises:
        ValidationError: There is one.
    """
    if isinstance(node, nodes.Query):
        return
    if isinstance(node, nodes.Call) and node.name.names[0] in WINDOW_PROPERTIES and len(node.arguments) == 1:
        raise ValidationError(f"Window properties can only be used on windowed tables.{placed(node)}")
    if isinstance(node, nodes.FunctionCall) and isinstance(node.over, nodes.Identifier) and not node.over.span.text:
        raise ValidationError(f"Could not resolve over call.{placed(node)}")
    for child in nodes.children(node):
        refuse_window_properties(child)


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
