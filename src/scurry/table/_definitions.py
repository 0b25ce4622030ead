"""Conversion of schemas that programs describe to those of statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scurry.table.schema import Schema

if TYPE_CHECKING:
    from scurry.sql.statements.definitions.schemas import Definition


def definition_of_schema(schema: Schema) -> Definition:
    """Return the statements' definition of a schema that a program describes."""
    from scurry.sql.statements.definitions.schemas import Definition, PendingColumn
    from scurry.sql.syntax.parser import parse_expression

    columns = [
        PendingColumn(
            column.name,
            column.data_type,
            None if column.expression is None else parse_expression(column.expression),
            text=column.expression,
            metadata_key=column.metadata_key,
            is_metadata=column.is_metadata,
            virtual=column.virtual,
        )
        for column in schema._columns
    ]
    watermark = schema._watermark
    if watermark is None:
        return Definition(columns, None, schema._key)
    expression = parse_expression(watermark.expression)
    return Definition(columns, (watermark.name, expression), schema._key, watermark_text=watermark.expression)
