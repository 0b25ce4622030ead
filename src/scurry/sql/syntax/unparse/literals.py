"""The canonical text of literals and types."""

from __future__ import annotations

from scurry.sql.syntax import nodes
from scurry.sql.syntax.unparse.dispatch import identifier, quoted, string


def literal(node: nodes.Expression) -> str:
    if isinstance(node, nodes.NumericLiteral):
        return node.text
    if isinstance(node, nodes.StringLiteral):
        return _string(node)
    if isinstance(node, nodes.StringChain):
        return _chain(node)
    if isinstance(node, nodes.BinaryLiteral):
        return f"X'{node.digits}'"
    if isinstance(node, nodes.BooleanLiteral):
        return {True: "TRUE", False: "FALSE", None: "UNKNOWN"}[node.value]
    if isinstance(node, nodes.NullLiteral):
        return "NULL"
    if isinstance(node, nodes.DateLiteral):
        return f"DATE {string(node.text)}"
    if isinstance(node, nodes.TimeLiteral):
        return f"TIME {string(node.text)}"
    if isinstance(node, nodes.TimestampLiteral):
        return f"{node.type_name} {string(node.text)}"
    assert isinstance(node, nodes.IntervalLiteral), node
    sign = "-" if node.negative else ""
    return f"INTERVAL {sign}{string(node.text)} {qualifier(node.qualifier)}"


def _string(node: nodes.StringLiteral) -> str:
    """Return the text of a string, with escapes where it is more than printable ASCII."""
    if node.charset is not None:
        return f"_{node.charset}{string(node.value)}"
    if all(" " <= character <= "\x7f" or character in "\n\r" for character in node.value):
        return string(node.value)
    units = node.value.encode("utf-16-be", "surrogatepass")
    characters = [int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2)]
    return "u&'" + "".join(map(_escaped, characters)) + "'"


def _escaped(character: int) -> str:
    if not 32 <= character < 128:
        return f"\\{character:04x}"
    return {"'": "''", "\\": "\\\\"}.get(chr(character), chr(character))


def _chain(node: nodes.StringChain) -> str:
    """Return the parts of a string on lines of their own; only the first shows prefix and character set."""
    first, *more = node.parts
    texts = [literal(first)]
    for part in more:
        if isinstance(part, nodes.StringLiteral):
            texts.append(string(part.value))
        else:
            assert isinstance(part, nodes.BinaryLiteral)
            texts.append(string(part.digits))
    return "\n".join(texts)


def qualifier(node: nodes.IntervalQualifier) -> str:
    """Return the text of the units of an interval."""
    if node.named:
        return quoted(node.start)
    text = node.start
    if node.start == "SECOND" and node.precision is not None and node.fractional_precision is not None:
        return f"SECOND({node.precision}, {node.fractional_precision})"
    if node.precision is not None:
        text += f"({node.precision})"
    if node.end is not None:
        text += f" TO {node.end}"
        if node.fractional_precision is not None:
            text += f"({node.fractional_precision})"
    return text


def type_spec(node: nodes.TypeSpec) -> str:
    """Return the text of a type without NULL or NOT NULL after it."""
    if isinstance(node, nodes.BasicTypeSpec):
        return _basic(node)
    if isinstance(node, nodes.IntervalTypeSpec):
        return f"INTERVAL {qualifier(node.qualifier)}"
    if isinstance(node, nodes.NamedTypeSpec):
        return identifier(node.name)
    if isinstance(node, nodes.ArrayTypeSpec | nodes.MultisetTypeSpec):
        kind = "ARRAY" if isinstance(node, nodes.ArrayTypeSpec) else "MULTISET"
        if node.standard:
            return f"{nullable_type(node.element)} {kind}"
        return f"{kind}< {nullable_type(node.element)} >"
    if isinstance(node, nodes.MapTypeSpec):
        return f"MAP< {nullable_type(node.key)}, {nullable_type(node.value)} >"
    if isinstance(node, nodes.RowTypeSpec):
        return _row(node)
    if isinstance(node, nodes.StructuredTypeSpec):
        return f"STRUCTURED< {', '.join([string(node.class_name), *map(_field, node.fields)])} >"
    assert isinstance(node, nodes.RawTypeSpec), node
    return f"RAW({string(node.class_name)}, {string(node.serializer)})"


def nullable_type(node: nodes.TypeSpec) -> str:
    """Return the text of a type; that it may be NULL is not said, as it is the default."""
    return type_spec(node) + (" NOT NULL" if not node.nullable else "")


def _basic(node: nodes.BasicTypeSpec) -> str:
    text = node.name
    arguments = [str(number) for number in (node.precision, node.scale) if number is not None]
    if arguments:
        text += f"({', '.join(arguments)})"
    if node.time_zone:
        text += f" {node.time_zone}"
    if node.charset:
        text += f" CHARACTER SET {quoted(node.charset)}"
    return text


def _row(node: nodes.RowTypeSpec) -> str:
    fields = ", ".join(map(_field, node.fields))
    if node.parentheses:
        return f"ROW({fields})"
    return f"ROW< {fields} >" if fields else "ROW<>"


def _field(node: nodes.RowFieldSpec) -> str:
    comment = "" if node.comment is None else f" {string(node.comment)}"
    return f"{identifier(node.name)} {nullable_type(node.type)}{comment}"
