"""Traversal and rewriting of expressions and plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from scurry.sql.functions.catalogue import scalar_function
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.plan.expressions import Call, CorrelatedReference, Expression, InputReference, Literal, UserFunctionCall
from scurry.sql.plan.nodes import Plan, Scan, Values
from scurry.sql.plan.schema import Schema

Replacement = Callable[[Expression], Expression]
_Expression = TypeVar("_Expression", bound=Expression)
T = TypeVar("T")


def rewritten(expression: Expression, replacement: Replacement) -> Expression:
    """Replace every part of an expression, the innermost first.

    Args:
        replacement: Returns for each part, whose own parts are replaced already, what stands in its place.

    Returns:
        The new expression; the same object if nothing was replaced.
    """
    return rewritten_all([expression], replacement)[0]


def rewritten_all(expressions: Sequence[Expression], replacement: Replacement) -> list[Expression]:
    """Replace every part of some expressions, as `rewritten` does; shared parts are replaced once."""
    done: dict[int, Expression] = {}
    waiting = [(each, False) for each in reversed(expressions)]
    while waiting:
        part, has_parts_done = waiting.pop()
        if has_parts_done:
            done[id(part)] = replacement(with_parts(part, lambda each: done[id(each)]))
        elif id(part) not in done:
            waiting.append((part, True))
            waiting.extend((each, False) for each in reversed(_direct_parts(part)))
    return [done[id(each)] for each in expressions]


def with_parts(expression: _Expression, replacement: Replacement) -> _Expression:
    if isinstance(expression, Call):  # most of them
        arguments = tuple(map(replacement, expression.arguments))
        unchanged = all(one is other for one, other in zip(arguments, expression.arguments, strict=True))
        return expression if unchanged else replace(expression, arguments=arguments)
    changes = {}
    for name in _parts_of(type(expression)):
        old = getattr(expression, name)
        new = _mapped_value(old, replacement)
        if new is not old:
            changes[name] = new
    return replace(expression, **changes) if changes else expression


def walk_expression(expression: Expression) -> Iterator[Expression]:
    """Iterate over an expression and all its parts, each before its own parts."""
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(reversed(_direct_parts(part)))


def _direct_parts(expression: Expression) -> Sequence[Expression]:
    if isinstance(expression, Call):
        return expression.arguments
    return [part for name in _parts_of(type(expression)) for part in _expressions_in(getattr(expression, name))]


def remembered(expression: Expression, name: str, compute: Callable[[Expression, list[T]], T]) -> T:
    """Return a property of an expression that follows from those of its parts; each part remembers its own.

    Views on views make deep trees whose parts are shared, and every rule asks again.

    Args:
        name: The attribute under which parts remember it.
        compute: Computes it for a part, from those of the direct parts.
    """
    waiting = [expression]
    while waiting:
        part = waiting[-1]
        if name not in part.__dict__:
            parts = _direct_parts(part)
            unknown = [each for each in parts if name not in each.__dict__]
            if unknown:
                waiting += unknown
                continue
            object.__setattr__(part, name, compute(part, [each.__dict__[name] for each in parts]))
        waiting.pop()
    found: T = expression.__dict__[name]
    return found


def input_references(expression: Expression) -> frozenset[int]:
    """Return the positions of the columns that an expression refers to."""
    return remembered(expression, "_references", _references)


def _references(part: Expression, inner: list[frozenset[int]]) -> frozenset[int]:
    if isinstance(part, InputReference):
        return frozenset({part.index})
    return inner[0] if len(inner) == 1 else frozenset().union(*inner)


def called_functions(expression: Expression) -> frozenset[str]:
    """Return the names of the built-in functions and operators that an expression calls."""
    return remembered(expression, "_called", _called)


def _called(part: Expression, inner: list[frozenset[str]]) -> frozenset[str]:
    own = {part.function} if isinstance(part, Call) else set[str]()
    return inner[0] if len(inner) == 1 and own <= inner[0] else frozenset(own).union(*inner)


def is_deterministic(expression: Expression) -> bool:
    """Return whether an expression has the same value each time it is evaluated."""
    return remembered(expression, "_is_deterministic", _deterministic)


def _deterministic(part: Expression, inner: list[bool]) -> bool:
    if isinstance(part, Call):
        return all(inner) and scalar_function(part.function).is_deterministic
    return all(inner) and (not isinstance(part, UserFunctionCall) or bool(part.function.is_deterministic))


def remapped(expression: Expression, positions: Mapping[int, int] | Sequence[int]) -> Expression:
    """Return an expression with the columns it refers to at other positions."""

    def replaced(node: Expression) -> Expression:
        return replace(node, index=positions[node.index]) if isinstance(node, InputReference) else node

    return rewritten(expression, replaced)


def shifted(expression: Expression, by: int) -> Expression:
    """Return an expression with all columns it refers to some positions further."""
    return all_shifted([expression], by)[0]


def all_shifted(expressions: Sequence[Expression], by: int) -> list[Expression]:
    """Return expressions with all columns they refer to some positions further."""
    if not by:
        return list(expressions)

    def replaced(node: Expression) -> Expression:
        return replace(node, index=node.index + by) if isinstance(node, InputReference) else node

    return rewritten_all(expressions, replaced)


def substituted(expression: Expression, columns: Sequence[Expression]) -> Expression:
    """Return an expression with each reference replaced by the expression of that column."""
    return all_substituted([expression], columns)[0]


def all_substituted(expressions: Sequence[Expression], columns: Sequence[Expression]) -> list[Expression]:
    """Return expressions with each reference replaced by the expression of that column."""

    def replaced(node: Expression) -> Expression:
        return columns[node.index] if isinstance(node, InputReference) else node

    return rewritten_all(expressions, replaced)


def correlated(expression: Expression, correlation: int) -> Expression:
    """Return an expression over a row as inner queries refer to it."""

    def replaced(node: Expression) -> Expression:
        if isinstance(node, InputReference):
            return CorrelatedReference(correlation, node.index, node.type)
        return node

    return rewritten(expression, replaced)


def retyped(expression: Expression, schema: Schema) -> Expression:
    """Return an expression with the columns it refers to having the types of a schema."""

    def replaced(node: Expression) -> Expression:
        return replace(node, type=schema[node.index].type) if isinstance(node, InputReference) else node

    return rewritten(expression, replaced)


def is_true(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value is True


def expressions_of(plan: Plan) -> Iterator[Expression]:
    """Iterate over the expressions of a node itself, without those of its inputs."""
    for each in fields(plan):
        yield from _expressions_in(getattr(plan, each.name))


def user_functions_of(plan: Plan) -> Iterator[UserFunction]:
    """Yield the user-defined functions that a node calls."""
    parts = (part for expression in expressions_of(plan) for part in walk_expression(expression))
    for part in (plan, *parts):
        if isinstance(function := getattr(part, "function", None), UserFunction):
            yield function


def calls_user_function(plan: Plan) -> bool:
    """Return whether a node calls a user-defined function."""
    return any(True for _ in user_functions_of(plan))


def with_expressions(plan: Plan, replacement: Replacement) -> Plan:
    """Return a node with each of its expressions as a whole replaced."""
    changes = {}
    for each in fields(plan):
        old = getattr(plan, each.name)
        new = _mapped_value(old, replacement)
        if new is not old:
            changes[each.name] = new
    return replace(plan, **changes) if changes else plan


def correlations_of(plan: Plan) -> set[int]:
    """Return the numbers of the outer rows that a plan refers to anywhere, its subqueries included."""
    found: set[int] = set()
    for expression in expressions_of(plan):
        for part in walk_expression(expression):
            if isinstance(part, CorrelatedReference):
                found.add(part.correlation)
            inner = getattr(part, "plan", None)
            if isinstance(inner, Plan):
                found |= correlations_of(inner)
    for each in plan.inputs:
        found |= correlations_of(each)
    return found


def scans_of(plan: Plan) -> Iterator[Scan]:
    """Iterate over the tables that a plan reads anywhere, in its subqueries and as lookups, too."""
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Scan):
            yield node
            continue
        waiting += node.inputs
        waiting += [table] if isinstance(table := getattr(node, "table", None), Scan) else []
        parts = (part for expression in expressions_of(node) for part in walk_expression(expression))
        waiting += [inner for part in parts if isinstance(inner := getattr(part, "plan", None), Plan)]


def without_inputs(plan: Plan) -> Any:
    """Return a node on inputs of which only the columns are known, as tasks get it."""
    if isinstance(plan, Scan):
        return Values(plan.schema, ())
    return plan.with_inputs(tuple(Values(each.schema, ()) for each in plan.inputs))


_PARTS: dict[type, tuple[str, ...]] = {}


def _parts_of(kind: type) -> tuple[str, ...]:
    found = _PARTS.get(kind)
    if found is None:
        found = _PARTS[kind] = tuple(_part_names(kind))
    return found


def _part_names(kind: Any) -> Iterator[str]:
    return (each.name for each in fields(kind) if each.name not in ("span", "type", "function", "name", "plan"))


def _is_holder(value: Any) -> bool:
    """Return whether a value is a dataclass that is no expression and no plan, such as a sort key."""
    return is_dataclass(value) and not isinstance(value, type | Expression | Plan)


def _expressions_in(value: Any) -> Iterator[Expression]:
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _expressions_in(each)
    elif _is_holder(value):
        for each in fields(value):
            yield from _expressions_in(getattr(value, each.name))


def _mapped_value(value: Any, replacement: Replacement) -> Any:
    if isinstance(value, Expression):
        return replacement(value)
    if isinstance(value, tuple):
        new = tuple(_mapped_value(each, replacement) for each in value)
        return value if all(one is other for one, other in zip(new, value, strict=True)) else new
    if _is_holder(value):
        changes = {}
        for each in fields(value):
            old = getattr(value, each.name)
            changed = _mapped_value(old, replacement)
            if changed is not old:
                changes[each.name] = changed
        return replace(value, **changes) if changes else value
    return value


def grafted(plan: Plan, below: Plan, replacement: Plan) -> Plan:
    """Return a chain of nodes with another one at its end."""
    if plan is below:
        return replacement
    return plan.with_inputs((grafted(plan.inputs[0], below, replacement),))
