"""Joins and set operations."""

from __future__ import annotations

from scurry.errors import ValidationError
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.schema import Schema
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.table_operations.failures import placed
from scurry.sql.statements.table_operations.summary import summary
from scurry.sql.syntax import nodes
from scurry.sql.types.common_type import find_common_type
from scurry.table._operations.fields import operation
from scurry.table.expression import Expression, expression_of


def joined(session: TableSession, left: Plan, right: Plan, kind: str, predicate: Expression | None) -> Plan:
    """Return the plan of a join.

    Args:
        session: The session.
        left: The first table.
        right: The second table, whose columns have other names.
        kind: INNER, LEFT, RIGHT or FULL.
        predicate: The condition; None for TRUE.

    Raises:
        ValidationError: A name is in both tables, or the condition is wrong.
    """
    if predicate is None:
        _refuse_names_of_both(left.schema.names, right.schema.names)
    _refuse_ambiguous(left.schema.names, right.schema.names)
    made = operation(session, [] if predicate is None else [predicate])
    condition = None
    if predicate is not None:
        condition = made.condition(predicate._node, left.schema + right.schema, "Join")
        _refuse_without_equality(condition, left.schema, right.schema)
    elif kind != "INNER":
        condition = expression_of(True)._node
    join = nodes.Join("CROSS" if condition is None else kind, made.table(left), made.table(right), condition=condition)
    return made.planned(nodes.Select((nodes.SelectItem(nodes.Star()),), join))


def joined_lateral(
    session: TableSession, left: Plan, call: Expression, kind: str, predicate: Expression | None
) -> Plan:
    """Return the plan of each row with the rows that a table function returns for it.

    Args:
        session: The session.
        left: The table.
        call: The call of the function.
        kind: INNER or LEFT.
        predicate: A condition for the pairs; None for TRUE.

    Raises:
        ValidationError: It is no table function, or a name is in both.
    """
    if not isinstance(call._node, nodes.Call):
        raise ValidationError(
            "A lateral join only accepts an expression which defines a table function call that might be followed by "
            f"some alias. Got: {call}"
        )
    condition = expression_of(True) if predicate is None else predicate
    made = operation(session, [call, condition])
    if made.user_function(call._node) is None and call._node.name.last.upper() != "UNNEST":
        raise ValidationError(f"Undefined function: {call._node.name.last}{placed(call._node)}")
    function = made.call(call._node, left.schema)
    _refuse_ambiguous(left.schema.names, call._names)
    right: nodes.TableExpression = nodes.TableFunction(function, lateral=True)
    if call._names:
        names = tuple(nodes.Identifier((name,)) for name in call._names)
        right = nodes.Alias(right, nodes.Identifier(("*function*",)), names)
    join = nodes.Join(kind, made.table(left), right, condition=condition._node)
    return made.planned(nodes.Select((nodes.SelectItem(nodes.Star()),), join))


def combined(session: TableSession, left: Plan, right: Plan, operator: str, all: bool) -> Plan:
    """Return the plan of a set operation.

    Args:
        session: The session.
        left: The first table.
        right: The second table.
        operator: UNION, INTERSECT or EXCEPT.
        all: Whether equal rows stay.

    Raises:
        ValidationError: The columns of the tables differ in number or type, or STREAMING does not have the operation.
    """
    if session.is_streaming and not (operator == "UNION" and all):
        name = "MINUS" if operator == "EXCEPT" else operator
        raise ValidationError(
            f"The {name} operation on two unbounded tables is currently not supported. In SQL it is: "
            f"SELECT * FROM a {operator} {'ALL ' if all else ''}SELECT * FROM b"
        )
    called = "minus" if operator == "EXCEPT" else operator.lower()
    if len(left.schema) != len(right.schema):
        raise ValidationError(
            f"The {called} operation on two tables of different column sizes: "
            f"{len(left.schema)} and {len(right.schema)} is not supported"
        )
    for place, (one, other) in enumerate(zip(left.schema.types, right.schema.types, strict=True)):
        if find_common_type([one, other]) is None:
            raise ValidationError(
                f"Incompatible types for {called} operation. Could not find a common type at position {place} for "
                f"'{one.as_summary_string()}' and '{other.as_summary_string()}'."
            )
    made = operation(session, [])
    return made.planned(nodes.SetOperation(operator, all, made.rows(left), made.rows(right)))


def _refuse_ambiguous(left: tuple[str, ...], right: tuple[str, ...]) -> None:
    for name in left:
        if name in right:
            raise ValidationError(f"Ambiguous column name: {name}. Rename it in one of the tables.")


def _refuse_names_of_both(left: tuple[str, ...], right: tuple[str, ...]) -> None:
    both = [name for name in left if name in right]
    if both:
        raise ValidationError(
            f"join relations with ambiguous names: [{', '.join(both)}]. Rename the columns in one of the tables."
        )


def _refuse_without_equality(condition: nodes.Expression, left: Schema, right: Schema) -> None:
    """Refuse a condition that no equality of both sides is a part of.

    Raises:
        ValidationError: The condition has no equality.
    """
    waiting: list[nodes.Node] = [condition]
    while waiting:
        node = waiting.pop()
        if isinstance(node, nodes.BooleanLiteral):
            return
        if not isinstance(node, nodes.Call):
            continue
        if node.name.names == ("AND",):
            waiting += node.arguments
        elif node.name.names == ("=",):
            sides = [each.last if isinstance(each, nodes.Identifier) else None for each in node.arguments]
            if any(one in left.names and other in right.names for one, other in (sides, sides[::-1])):
                return
    raise ValidationError(
        f"Invalid join condition: {summary(condition)}. At least one equi-join predicate is required."
        f"{placed(condition)}"
    )
