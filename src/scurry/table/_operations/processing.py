"""Process table functions called by tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scurry.errors import ValidationError
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.functions.user.process import ProcessSignature
from scurry.sql.plan.nodes import Plan
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.table_operations import Operation
from scurry.sql.syntax import nodes
from scurry.table.expression import Expression, expression_of

_FUNCTION = "*function*"
_OF_CHANGES = ("FROM_CHANGELOG", "TO_CHANGELOG")


class TableGiven:
    """A table as an argument of a process table function."""

    def __init__(self, plan: Plan, keys: Sequence[str] | None, name: str | None = None) -> None:
        self.plan = plan
        self.keys = keys
        self.name = name


def processed(session: TableSession, function: Any, arguments: Sequence[Any]) -> Plan:
    """Return the plan of a call of a process table function.

    Args:
        session: The session.
        function: What `udptf` returned, a `ProcessTableFunction`, or the name of one that is registered.
        arguments: Tables, expressions and values; those without a name stand for the arguments that are left.

    Raises:
        ValidationError: It is no such function, or an argument is wrong.
    """
    if isinstance(function, str) and function.upper() in _OF_CHANGES:
        sources = [each for each in arguments if isinstance(each, TableGiven)]
        if len(sources) != 1 or sources[0].keys is not None:
            raise ValidationError(f"{function.upper()} takes one table, without partition_by")
        others = [each for each in arguments if not isinstance(each, TableGiven)]
        return changelog(session, function.upper(), sources[0].plan, others)
    found, name = _function(session, function)
    tables: dict[str, Plan] = {}
    operation = Operation(session, {_FUNCTION: found}, tables)
    signature = found.signature
    assert signature is not None, "process table functions have a signature"
    given = {nodes.Identifier((each,)): value for each, value in _named(signature, arguments, operation)}
    arguments_ = tuple(nodes.NamedArgument(each, value) for each, value in given.items())
    if not any(each.name.last == "uid" for each in arguments_):
        uid = nodes.NamedArgument(nodes.Identifier(("uid",)), nodes.StringLiteral(name))
        arguments_ = (*arguments_, uid)
    call = nodes.Call(nodes.Identifier((_FUNCTION,)), arguments_)
    return operation.planned(nodes.Select((nodes.SelectItem(nodes.Star()),), nodes.TableFunction(call)))


def changelog(session: TableSession, name: str, plan: Plan, arguments: Sequence[Any]) -> Plan:
    """Return the plan of a call of TO_CHANGELOG or FROM_CHANGELOG.

    Args:
        session: The session.
        name: The function.
        plan: Its table.
        arguments: Expressions; those without a name stand for the arguments that are left.

    Raises:
        ValidationError: An argument is wrong.
    """
    operation = Operation(session, tables={})
    values = list(map(_node, arguments))
    used = {_name_of(each) for each in values}
    left = iter([each for each in ("op", "op_mapping") if each not in used])
    given = [nodes.NamedArgument(nodes.Identifier(("input",)), nodes.TableArgument(operation.table(plan), None))]
    for value in values:
        if not isinstance(value, nodes.NamedArgument):
            place = next(left, None)
            if place is None:
                raise ValidationError(f"{name} takes two arguments beside its table: op and op_mapping")
            value = nodes.NamedArgument(nodes.Identifier((place,)), value)
        given.append(value)
    call = nodes.Call(nodes.Identifier((name,)), tuple(given))
    return operation.planned(nodes.Select((nodes.SelectItem(nodes.Star()),), nodes.TableFunction(call)))


def _function(session: TableSession, function: Any) -> tuple[UserFunction, str]:
    """Return a function, and its identity in a job."""
    from scurry.table.udf import ProcessTableFunction, udptf

    if isinstance(function, str):
        names = tuple(each.strip("`") for each in function.split("."))
        found = Operation(session).user_function(nodes.Call(nodes.Identifier(names)))
        name = names[-1]
    else:
        declared = udptf(function) if isinstance(function, ProcessTableFunction) else function
        make = getattr(declared, "_user_function", None)
        found = None if make is None else make()
        name = "" if found is None else found.name
    if found is None or found.kind != "process table":
        raise ValidationError(f"{function!r} is no process table function: udptf declares one")
    return found, name


def _named(
    signature: ProcessSignature, arguments: Sequence[Any], operation: Operation
) -> Iterator[tuple[str, nodes.Expression]]:
    """Return the arguments with their names."""
    values = [each if isinstance(each, TableGiven) else _node(each) for each in arguments]
    used = {name for each in values if (name := _name_of(each)) is not None}
    tables = iter([each.name for each in signature.tables if each.name not in used])
    others = iter([*(each.name for each in signature.scalars if each.name not in used), "on_time", "uid"])
    for each in values:
        if isinstance(each, TableGiven):
            name = each.name or next(tables, None)
            table: Any = operation.table(each.plan)
            keys = None if each.keys is None else tuple(nodes.Identifier((key,)) for key in each.keys)
            value: nodes.Expression = nodes.TableArgument(table, keys)
        elif isinstance(each, nodes.NamedArgument):
            name, value = each.name.last, each.value
        else:
            name, value = next(others, None), each
        if name is None:
            raise ValidationError(
                f"Too many arguments; the arguments are: {', '.join(one.name for one in signature.arguments)}"
            )
        yield name, value


def _node(argument: Any) -> nodes.Expression:
    if argument is None:
        return nodes.Default()
    return argument._node if isinstance(argument, Expression) else expression_of(argument)._node


def _name_of(argument: Any) -> str | None:
    if isinstance(argument, TableGiven):
        return argument.name
    return argument.name.last if isinstance(argument, nodes.NamedArgument) else None
