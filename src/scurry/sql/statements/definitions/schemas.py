"""Schemas of definitions: columns with their types, computed columns resolved, watermark and key checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import partial

from scurry._dataclasses import dataclass
from scurry.errors import ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.catalog.schema import (
    Column,
    ComputedColumn,
    MetadataColumn,
    PhysicalColumn,
    ResolvedExpression,
    ResolvedSchema,
    UniqueConstraint,
    WatermarkSpec,
)
from scurry.sql.catalog.table_options import explained
from scurry.sql.plan.advice import watermark_of
from scurry.sql.plan.schema import Schema
from scurry.sql.statements.names import full_function
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.text import resolved_text
from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser import parse_expression
from scurry.sql.syntax.span import NO_SPAN, Span
from scurry.sql.types import DataType, LocalZonedTimestampType, TimeAttribute, TimestampType
from scurry.sql.types.families import without_time_attribute
from scurry.sql.validator import data_type, validate_expression


@dataclass(frozen=True)
class PendingColumn:
    """A column as a definition has it, before its expression has a type.

    Attributes:
        data_type: Its type; None for a computed column.
        expression: What it is computed by; None unless it is computed.
        text: How the expression is shown; None for Flink's canonical form.
        comment: Its description.
        metadata_key: The metadata it is; its own name if the definition does not say.
        is_metadata: Whether it is metadata.
        virtual: Whether metadata is only read.
        span: Where the name stands.
        inherited: Whether it comes from another table or a query; a primary key does not make it NOT NULL.
    """

    name: str
    data_type: DataType | None = None
    expression: nodes.Expression | None = None
    comment: str | None = None
    text: str | None = None
    metadata_key: str | None = None
    is_metadata: bool = False
    virtual: bool = False
    span: Span = NO_SPAN
    inherited: bool = False

    @property
    def kind(self) -> str:
        """Return Flink's word for the kind of column."""
        return (
            "regular"
            if self.expression is None and not self.is_metadata
            else "generated"
            if not self.is_metadata
            else "metadata"
        )

    @staticmethod
    def of(column: Column) -> PendingColumn:
        """Return the definition of a column that is resolved already."""
        if isinstance(column, ComputedColumn):
            return PendingColumn(
                column.name, None, parse_expression(column.expression.text), column.comment, column.expression.text
            )
        plain = without_time_attribute(column.data_type)
        if isinstance(column, MetadataColumn):
            return PendingColumn(
                column.name,
                plain,
                None,
                column.comment,
                metadata_key=column.metadata_key,
                is_metadata=True,
                virtual=column.virtual,
            )
        return PendingColumn(column.name, plain, None, column.comment)


@dataclass(frozen=True)
class Definition:
    """The parts of a schema.

    Attributes:
        columns: The columns, in order.
        watermark: Name of the event-time column and its watermark, or None.
        key: The primary key, or None.
        watermark_span: Where the column of the watermark stands.
        key_spans: Where the columns of the key stand.
        watermark_text: How the watermark is shown; None for Flink's canonical form.
    """

    columns: Sequence[PendingColumn]
    watermark: tuple[str, nodes.Expression] | None = None
    key: UniqueConstraint | None = None
    watermark_span: Span = NO_SPAN
    key_spans: Mapping[str, Span] = field(default_factory=dict)
    watermark_text: str | None = None

    @staticmethod
    def of(schema: ResolvedSchema) -> Definition:
        """Return the definition of a schema that is resolved already."""
        specs = schema.get_watermark_specs()
        watermark = None
        if specs:
            watermark = (specs[0].rowtime_attribute, parse_expression(specs[0].watermark_expression.text))
        columns = list(map(PendingColumn.of, schema.get_columns()))
        return Definition(columns, watermark, schema.get_primary_key())


def at_place(span: Span) -> str:
    """Return ` at line 1, column 42`, or nothing if the place is not known."""
    return f" at line {span.line}, column {span.column}" if span.text else ""


def pending_columns(columns: Sequence[nodes.Column]) -> list[PendingColumn]:
    """Return the columns of a statement.

    Raises:
        ValidationError: Two have the same name, or a type is none.
    """
    found: dict[str, PendingColumn] = {}
    for column in columns:
        pending = _pending(column)
        if pending.name in found:
            raise ValidationError(
                f"A {found[pending.name].kind} Column named '{pending.name}' already exists in the table."
            )
        found[pending.name] = pending
    return list(found.values())


def _pending(column: nodes.Column) -> PendingColumn:
    name, span = column.name.last, column.name.span
    if isinstance(column, nodes.PhysicalColumn):
        kind = data_type(column.type)
        if column.constraint is not None and column.constraint.kind == "PRIMARY KEY":
            kind = kind.not_null()
        return PendingColumn(name, kind, None, column.comment, span=span)
    if isinstance(column, nodes.MetadataColumn):
        kind = data_type(column.type)
        return PendingColumn(
            name,
            kind,
            None,
            column.comment,
            metadata_key=column.key,
            is_metadata=True,
            virtual=column.virtual,
            span=span,
        )
    if isinstance(column, nodes.ComputedColumn):
        return PendingColumn(name, None, column.expression, column.comment, span=span)
    raise ValidationError(f"Column {name!r} has no type; only CREATE TABLE ... AS takes columns without one")


def resolve_schema(session: TableSession, definition: Definition) -> ResolvedSchema:
    """Give every column its type, and check watermark and key.

    Raises:
        ValidationError: An expression is wrong, or watermark or key name columns that do not fit.
    """
    columns = _with_key(definition)
    read = [column for column in columns if column.data_type is not None]
    schema = Schema.of((c.name for c in read), [c.data_type for c in read if c.data_type is not None])
    names = [column.name for column in columns]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise ValidationError(f"Schema must not contain duplicate column names. Found duplicates: [{', '.join(twice)}]")
    resolved = [_resolved(session, column, schema) for column in columns]
    specs: list[WatermarkSpec] = []
    if definition.watermark is not None:
        resolved, spec = _with_watermark(session, definition, resolved)
        specs.append(spec)
    return ResolvedSchema(resolved, specs, definition.key)


def _with_key(definition: Definition) -> list[PendingColumn]:
    columns, key = list(definition.columns), definition.key
    if key is None:
        return columns
    twice = [name for name in dict.fromkeys(key.columns) if key.columns.count(name) > 1]
    if twice:
        raise ValidationError(
            f"Invalid primary key '{key.name}'. A primary key must not contain duplicate columns. Found: "
            f"[{', '.join(twice)}]"
        )
    by_name = {column.name: index for index, column in enumerate(columns)}
    for name in key.columns:
        place = at_place(definition.key_spans.get(name, NO_SPAN))
        if name not in by_name:
            error = ValidationError(f"Primary key column '{name}' is not defined in the schema{place}")
            error.span = definition.key_spans.get(name)
            raise error.with_hint(did_you_mean(name, by_name))
        column = columns[by_name[name]]
        if column.kind != "regular" or column.data_type is None:
            raise ValidationError(
                f"Could not create a PRIMARY KEY with column '{name}'{place}.\n"
                "A PRIMARY KEY constraint must be declared on physical columns."
            )
        if column.inherited and column.data_type.is_nullable:
            raise ValidationError(f"Invalid primary key '{key.name}'. Column '{name}' is nullable.")
        columns[by_name[name]] = replace(column, data_type=column.data_type.not_null())
    return columns


def _resolved(session: TableSession, column: PendingColumn, schema: Schema) -> Column:
    if column.expression is not None:
        expression = _expression(session, column.expression, schema)
        if column.text is not None:
            expression = replace(expression, text=column.text)
        return ComputedColumn(column.name, expression.data_type, column.comment, expression=expression)
    assert column.data_type is not None
    if column.is_metadata:
        return MetadataColumn(
            column.name, column.data_type, column.comment, metadata_key=column.metadata_key, virtual=column.virtual
        )
    return PhysicalColumn(column.name, column.data_type, column.comment)


def _expression(session: TableSession, expression: nodes.Expression, schema: Schema) -> ResolvedExpression:
    try:
        typed = validate_expression(expression, schema, session.catalog(), session.for_functions())
    except ValidationError as error:
        message = str(error).removeprefix("SQL validation failed. ")
        raise explained(error, _unknown_identifier(message)) from None
    named = nodes.transform(expression, partial(full_function, session))
    return ResolvedExpression(resolved_text(named), typed.type)


def _unknown_identifier(message: str) -> str:
    """Return a message on a column as Flink words it where there is no table yet."""
    place, colon, rest = message.partition(": Column '")
    name, quote, _ = rest.partition("' not found")
    return f"{place}: Unknown identifier '{name}'" if colon and quote else message


def _with_watermark(
    session: TableSession, definition: Definition, columns: list[Column]
) -> tuple[list[Column], WatermarkSpec]:
    assert definition.watermark is not None
    name, expression = definition.watermark
    names = [column.name for column in columns]
    if name not in names:
        place = at_place(definition.watermark_span)
        listed = ", ".join(f"'{each}'" for each in names)
        error = ValidationError(
            f"The rowtime attribute field '{name}' is not defined in the table schema,{place}\n"
            f"Available fields: [{listed}]"
        )
        error.span = definition.watermark_span
        raise error.with_hint(did_you_mean(name, names))
    column = columns[names.index(name)]
    kind = column.data_type
    if not isinstance(kind, TimestampType | LocalZonedTimestampType) or kind.precision > 3:
        error = ValidationError(
            "Invalid data type of time field for watermark definition. The field must be of type TIMESTAMP(p) or "
            "TIMESTAMP_LTZ(p), the supported precision 'p' is from 0 to 3, but the time field type is "
            f"{kind.as_summary_string()}"
        )
        error.span = definition.watermark_span
        raise error.with_hint(f"compute the time in a column of its own: {watermark_of(name, kind)}")
    resolved = _expression(session, expression, Schema.of(names, [each.data_type for each in columns]))
    made = resolved.data_type
    if not isinstance(made, TimestampType | LocalZonedTimestampType) or made.precision > 3:
        raise ValidationError(
            "Invalid data type of expression for watermark definition. The field must be of type TIMESTAMP(p) or "
            "TIMESTAMP_LTZ(p), the supported precision 'p' is from 0 to 3, but the watermark expression type is "
            f"{made.as_summary_string()}"
        )
    if definition.watermark_text is not None:
        resolved = replace(resolved, text=definition.watermark_text)
    rowtime = column.copy(kind.as_time_attribute(TimeAttribute.ROWTIME))
    marked = [rowtime if each is column else each for each in columns]
    return marked, WatermarkSpec(name, resolved)
