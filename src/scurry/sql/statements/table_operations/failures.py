"""Errors of expressions, in the words of Flink's Table API, with the line of the program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from scurry.errors import ValidationError
from scurry.errors.suggestions import similar_names
from scurry.sql.functions.aggregate.catalogue import lookup_aggregate
from scurry.sql.functions.catalogue import lookup
from scurry.sql.statements.table_operations.summary import ARITHMETIC, COMPARISONS, flink_name
from scurry.sql.syntax import nodes
from scurry.sql.types import CharType, DataType, NullType, VarCharType

#: Texts rare in column names but common in string expressions of Flink 1.x, such as `'a, b.count as c'`.
_TEXT_OF_AN_EXPRESSION = re.compile(r"[,.()<>=+*/]| as ", re.IGNORECASE)

TypeOf = Callable[[nodes.Node], DataType | None]


def placed(node: nodes.Node) -> str:
    """Return where in the program an expression is made, as the end of a message."""
    place = node.span.describe()
    return f" {place}" if place else ""


def unknown_column(name: nodes.Identifier, known: Sequence[str]) -> ValidationError:
    """Return the error for a column that is not there."""
    close = similar_names(name.last, known)
    advice = f" Did you mean {' or '.join(close)}?" if close else ""
    if _TEXT_OF_AN_EXPRESSION.search(name.last):
        advice = " Expressions in texts have been removed from Flink: write col('a'), col('b') + 1, col('c').count ..."
    return ValidationError(
        f"Cannot resolve field [{name.last}], input field list:[{', '.join(known)}].{advice}{placed(name)}"
    )


def column_names(node: nodes.Node) -> Iterator[nodes.Identifier]:
    if isinstance(node, nodes.Identifier):
        yield node
        return
    if isinstance(node, nodes.Query | nodes.TypeSpec | nodes.Descriptor):
        return
    named: list[nodes.Node] = []
    if isinstance(node, nodes.Call | nodes.NamedArgument):
        named = [node.name]
    elif isinstance(node, nodes.FieldAccess):
        named = [node.field]
    if isinstance(node, nodes.FunctionCall) and isinstance(node.over, nodes.Identifier):
        named.append(node.over)
    for child in nodes.children(node):
        if not any(child is each for each in named):
            yield from column_names(child)


def refuse_wrong_calls(node: nodes.Node, type_of: TypeOf, is_known: Callable[[nodes.Expression], bool]) -> None:
    """Raise an error for the innermost call of a function whose arguments it does not take.

    Args:
        type_of: Returns the type of an expression, None if it has none by itself.
        is_known: Whether a call is one whose arguments are checked elsewhere: an aggregate, a user-defined function.

    Raises:
        ValidationError: There is one.
    """
    if isinstance(node, nodes.Query | nodes.TypeSpec | nodes.Identifier):
        return
    for child in nodes.children(node):
        refuse_wrong_calls(child, type_of, is_known)
    if isinstance(node, nodes.FieldAccess) and isinstance(node.field, nodes.Identifier) and type_of(node) is None:
        kind = type_of(node.operand)
        if kind is not None:
            field = CharType(max(1, len(node.field.last))).not_null().as_summary_string()
            raise ValidationError(f"Invalid function call:\nget({kind.as_summary_string()}, {field}){placed(node)}")
    if isinstance(node, nodes.Cast) and type_of(node) is None:
        _refuse_cast(node, type_of)
    if isinstance(node, nodes.In) and isinstance(node.values, tuple):
        _refuse_if_they_differ("in", (node.operand, *node.values), node, type_of)
    if not isinstance(node, nodes.Call) or node.over is not None or is_known(node):
        return
    name = node.name.last
    found = type_of(node)
    if name == "RANGE_TO":
        raise ValidationError(
            f"Could not get a type inference for function: rangeTo. It goes into with_columns(...).{placed(node)}"
        )
    if found is None and lookup(name) is None:
        is_of_window = name.rpartition("_")[0] in ("TUMBLE", "HOP", "SESSION")
        if lookup_aggregate(name) is None and not name.startswith("*") and not is_of_window:
            raise ValidationError(f"Undefined function: {name}{placed(node)}")
        return
    types = [type_of(each) for each in node.arguments]
    known = [each for each in types if each is not None]
    strange = (name in COMPARISONS and _differ(known)) or (name in ARITHMETIC and any(map(_is_text, known)))
    if len(known) == len(types) and (found is None or strange):
        shown = ", ".join(each.as_summary_string() for each in known)
        raise ValidationError(f"Invalid function call:\n{flink_name(name)}({shown}){placed(node)}")


def _refuse_cast(node: nodes.Cast, type_of: TypeOf) -> None:
    from scurry.sql.validator import data_type

    kind = type_of(node.operand)
    if kind is not None:
        name = "TRY_CAST" if node.is_try else "cast"
        shown = f"{name}({kind.as_summary_string()}, {data_type(node.type).as_summary_string()})"
        raise ValidationError(f"Invalid function call:\n{shown}{placed(node)}")


def _refuse_if_they_differ(name: str, operands: Sequence[nodes.Node], node: nodes.Node, type_of: TypeOf) -> None:
    types = [type_of(each) for each in operands]
    known = [each for each in types if each is not None]
    if len(known) == len(types) and _differ(known):
        shown = ", ".join(each.as_summary_string() for each in known)
        raise ValidationError(f"Invalid function call:\n{name}({shown}){placed(node)}")


def _is_text(kind: DataType) -> bool:
    return isinstance(kind, CharType | VarCharType)


def _differ(types: list[DataType]) -> bool:
    """Return whether texts are compared with other values."""
    if any(isinstance(each, NullType) for each in types):
        return False
    return len(set(map(_is_text, types))) > 1
