"""The canonical text of parts of table definitions."""

from __future__ import annotations

from collections.abc import Iterable

from scurry.sql.syntax import nodes
from scurry.sql.syntax.unparse.dispatch import identifier, names, string, write
from scurry.sql.syntax.unparse.literals import nullable_type


def block(lines: Iterable[str], separator: str = ",") -> str:
    """Return lines in parentheses, each indented on a line of its own."""
    text = f"{separator}\n".join([f"  {line}" for line in lines])
    return f"(\n{text}\n)" if text else "(\n)"


def properties(items: tuple[nodes.Property, ...]) -> str:
    """Return the text of properties, with their parentheses."""
    return block([f"{string(each.key.value)} = {string(each.value.value)}" for each in items])


def keys(items: tuple[nodes.StringLiteral, ...]) -> str:
    """Return the text of keys, with their parentheses."""
    return block([string(each.value) for each in items])


def partition(fields: tuple[nodes.PartitionField, ...]) -> str:
    texts = []
    for field in fields:
        value = "" if field.value is None else f" = {write(field.value)}"
        texts.append(identifier(field.column) + value)
    return f"PARTITION ({', '.join(texts)})"


def schema(node: nodes.TableSchema) -> str:
    """Return the text of a schema, with its parentheses."""
    lines = [*map(column, node.columns), *map(_constraint, node.constraints)]
    if node.watermark is not None:
        watermark = node.watermark
        lines.append(f"WATERMARK FOR {identifier(watermark.column)} AS {write(watermark.expression)}")
    return block(lines)


def column(node: nodes.Column) -> str:
    text = identifier(node.name)
    if isinstance(node, nodes.PhysicalColumn):
        text += f" {nullable_type(node.type)}"
        if node.constraint is not None:
            text += f" {_constraint(node.constraint)}"
    elif isinstance(node, nodes.ComputedColumn):
        text += f" AS {write(node.expression)}"
    elif isinstance(node, nodes.MetadataColumn):
        text += f" {nullable_type(node.type)} METADATA"
        text += "" if node.key is None else f" FROM {string(node.key)}"
        text += " VIRTUAL" if node.virtual else ""
    if node.comment is not None:
        text += f" COMMENT {string(node.comment)}"
    if node.position is not None:
        after = node.position.after
        text += " FIRST" if after is None else f" AFTER {identifier(after)}"
    return text


def _constraint(node: nodes.TableConstraint | nodes.ColumnConstraint) -> str:
    text = "" if node.name is None else f"CONSTRAINT {identifier(node.name)} "
    text += node.kind
    if isinstance(node, nodes.TableConstraint):
        text += f" {names(node.columns)}"
    if node.enforced is None:
        return text
    return f"{text} {'ENFORCED' if node.enforced else 'NOT ENFORCED'}"


def distribution(node: nodes.Distribution) -> str:
    """Return the text of a distribution, without the keyword before it."""
    parts = []
    if node.columns:
        parts.append(f"BY {node.kind or ''}{names(node.columns)}")
    if node.buckets is not None:
        parts.append(f"INTO {node.buckets} BUCKETS")
    return " ".join(parts)


def like_clause(node: nodes.TableLikeClause) -> str:
    text = f"LIKE {identifier(node.table)}"
    if not node.options:
        return text
    return f"{text} {block([f'{each.strategy} {each.feature}' for each in node.options], '')}"
