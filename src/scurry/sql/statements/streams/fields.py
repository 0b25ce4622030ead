"""Tables of streams whose columns are listed as expressions: names, positions, aliases and time attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.common.typeinfo import TypeInformation
from scurry.errors import ValidationError
from scurry.graph.nodes import Node
from scurry.sql.catalog.entries import ContextResolvedTable, InlineTable
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.schema import (
    Column,
    MetadataColumn,
    PhysicalColumn,
    ResolvedExpression,
    ResolvedSchema,
    WatermarkSpec,
)
from scurry.sql.operators.records.incoming import Field
from scurry.sql.plan.nodes import Plan
from scurry.sql.statements.planning import check_sources
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.streams.source import ProgramStreamSource
from scurry.sql.statements.streams.types import StreamType, stream_type
from scurry.sql.syntax import nodes
from scurry.sql.types import TimeAttribute, TimestampType
from scurry.sql.validator import validate_query
from scurry.sql.validator.session_catalog import TableCatalog

_TIME = TimestampType(3)


def table_of_fields(
    session: TableSession,
    node: Node,
    type_info: TypeInformation | None,
    fields: Sequence[tuple[Any, Sequence[str]]],
    name: str,
) -> Plan:
    """Return the plan of the table of a stream.

    Args:
        fields: For each column its expression and its aliases.
        name: The name of the table, which no catalog has.

    Raises:
        ValidationError: A field is not there.
    """
    derived = stream_type(type_info)
    parsed = [_Field.of(expression, aliases) for expression, aliases in fields]
    by_name = derived.is_composite and any(each.name in derived.names for each in parsed if not each.attribute)
    columns: list[Column] = []
    read: list[Field] = []
    items: list[nodes.SelectItem] = []
    for place, each in enumerate(parsed):
        if each.attribute == "proctime":
            call = nodes.Call(nodes.Identifier(("PROCTIME",)), ())
            items.append(nodes.SelectItem(call, nodes.Identifier((each.alias,))))
            continue
        if each.attribute == "rowtime":
            kind = _TIME.as_time_attribute(TimeAttribute.ROWTIME)
            columns.append(MetadataColumn(each.alias, kind, metadata_key="rowtime", virtual=False))
            read.append(Field(each.alias, _TIME, None))
        else:
            at = _place(each.name, place, derived, by_name)
            columns.append(PhysicalColumn(each.alias, derived.types[at].nullable()))
            read.append(Field(each.alias, derived.types[at].nullable(), at))
        items.append(nodes.SelectItem(nodes.Identifier((each.alias,))))
    specs = [
        WatermarkSpec(column.name, ResolvedExpression("`SOURCE_WATERMARK`()", _TIME))
        for column in columns
        if isinstance(column, MetadataColumn)
    ]
    schema = ResolvedSchema(columns, specs[:1])
    make = {
        "is_composite": derived.is_composite,
        "attributes": derived.attributes,
        "insert_only": True,
        "time_zone": "UTC",
    }
    source = ProgramStreamSource(session, node, read, make, bool(specs), True, False)
    identifier = ObjectIdentifier.anonymous(name)
    resolved = ContextResolvedTable(identifier, InlineTable(schema, source=source), temporary=True)
    query = nodes.Select(tuple(items), nodes.TableReference(nodes.Identifier(identifier.path)))
    plan = validate_query(query, TableCatalog(session.catalog(), resolved), session.for_functions())
    check_sources(session, plan)
    return plan


class _Field:
    """A field of an expression: its name, the name of its column, and the time attribute that it is."""

    def __init__(self, name: str, alias: str, attribute: str | None) -> None:
        self.name = name
        self.alias = alias
        self.attribute = attribute

    @staticmethod
    def of(expression: Any, aliases: Sequence[str]) -> _Field:
        """Return the field of an expression.

        Raises:
            ValidationError: The expression is no field.
        """
        attribute = None
        if isinstance(expression, nodes.Call) and expression.name.last.lower() in ("rowtime", "proctime"):
            attribute = expression.name.last.lower()
            expression = expression.arguments[0]
        if not isinstance(expression, nodes.Identifier):
            raise ValidationError(
                f"Field reference expression or alias on field expression expected, got {expression}: compute columns "
                "with select, or with Schema.column_by_expression"
            )
        return _Field(expression.last, aliases[0] if aliases else expression.last, attribute)


def _place(name: str, place: int, derived: StreamType, by_name: bool) -> int:
    """Return the position of the value of a field.

    Raises:
        ValidationError: The field does not exist.
    """
    listed = ", ".join(derived.names)
    if by_name:
        if name not in derived.names:
            raise ValidationError(f"{name} is not a field of the stream. Expected: {listed}")
        return derived.names.index(name)
    if place >= len(derived.names):
        raise ValidationError(
            "Number of expressions does not match number of input fields.\n"
            f"Available fields: [{listed}]\nCould not map: {name}"
        )
    return place
