"""Column functions: expansion of `*`, `with_columns`, `without_columns` and ranges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scurry.errors import ValidationError
from scurry.sql.plan.schema import Schema
from scurry.sql.syntax import nodes

_FUNCTIONS = ("WITH_COLUMNS", "WITHOUT_COLUMNS")


def stands_for_several(node: nodes.Expression) -> bool:
    """Return whether an expression stands for columns: `*`, `with_columns` or `without_columns`."""
    if isinstance(node, nodes.Star):
        return node.qualifier is None
    return isinstance(node, nodes.Call) and node.name.last in _FUNCTIONS


def expanded(node: nodes.Expression, schema: Schema) -> list[nodes.Expression]:
    """Return the expressions that one stands for: itself, or several columns.

    Also what is in the arguments of functions is expanded.

    Raises:
        ValidationError: It names columns that are not there.
    """
    if isinstance(node, nodes.Star) and node.qualifier is None:
        return [nodes.Identifier((name,), span=node.span) for name in schema.names]
    if isinstance(node, nodes.Call) and node.name.last in _FUNCTIONS:
        places = [place for argument in node.arguments for place in _places(argument, schema)]
        if node.name.last == "WITHOUT_COLUMNS":
            left_out = set(places)
            places = [place for place in range(len(schema.names)) if place not in left_out]
        return [nodes.Identifier((schema.names[place],), span=node.span) for place in places]
    return [_with_arguments(node, schema)]


def _with_arguments(node: nodes.Expression, schema: Schema) -> nodes.Expression:
    counts_rows = isinstance(node, nodes.Call) and node.name.last == "COUNT"
    if counts_rows and any(isinstance(each, nodes.Star) for each in nodes.children(node)):
        return node
    changes: dict[str, Any] = {}
    for each in type(node).node_fields:
        value = getattr(node, each.name)
        if isinstance(value, nodes.Expression) and not isinstance(value, nodes.Identifier | nodes.Star):
            found = expanded(value, schema)
            changes[each.name] = found[0] if len(found) == 1 else value
        elif isinstance(value, tuple) and any(isinstance(one, nodes.Expression) for one in value):
            changes[each.name] = tuple(
                new for one in value for new in (expanded(one, schema) if _is_expandable(one) else [one])
            )
    changed = {name: value for name, value in changes.items() if value != getattr(node, name)}
    return nodes.replace(node, **changed) if changed else node


def _is_expandable(node: object) -> bool:
    return isinstance(node, nodes.Expression) and not isinstance(node, nodes.Identifier)


def _places(argument: nodes.Node, schema: Schema) -> Iterator[int]:
    """Iterate over the positions of the columns that an argument of a column function means, from 0."""
    if isinstance(argument, nodes.Star):
        yield from range(len(schema.names))
    elif isinstance(argument, nodes.Call) and argument.name.last == "RANGE_TO":
        first, last = (_place(each, schema) for each in argument.arguments)
        if first > last:
            ends = tuple(map(_shown, argument.arguments))
            raise ValidationError(f"The start:{ends[0]} of rangeTo() must not be larger than the end:{ends[1]}.")
        yield from range(first, last + 1)
    elif isinstance(argument, nodes.Call) and argument.name.last in _FUNCTIONS:
        yield from (list(schema.names).index(each.last) for each in _names(expanded(argument, schema)))
    else:
        yield _place(argument, schema)


def _names(columns: Sequence[nodes.Expression]) -> Iterator[nodes.Identifier]:
    for each in columns:
        assert isinstance(each, nodes.Identifier)
        yield each


def _place(argument: nodes.Node, schema: Schema) -> int:
    if isinstance(argument, nodes.NumericLiteral) and argument.is_integer:
        place = int(argument.text)
        if not 1 <= place <= len(schema.names):
            raise ValidationError(
                f"The column index {place} is not between 1 and {len(schema.names)}, the number of columns."
            )
        return place - 1
    if not isinstance(argument, nodes.Identifier):
        raise ValidationError(
            "The parameters of withColumns() or withoutColumns() only accept column names or column indices."
        )
    if argument.last not in schema.names:
        raise ValidationError(f"Can not find column [{argument.last}], input field list:[{', '.join(schema.names)}].")
    return list(schema.names).index(argument.last)


def _shown(argument: nodes.Node) -> str:
    return argument.text if isinstance(argument, nodes.NumericLiteral) else str(argument)
