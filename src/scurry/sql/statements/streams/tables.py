"""Tables of streams: `from_data_stream` and `from_changelog_stream`."""

from __future__ import annotations

from dataclasses import replace

from scurry._dataclasses import dataclass
from scurry.common.typeinfo import TypeInformation
from scurry.common.types import RowKind
from scurry.errors import ValidationError
from scurry.graph.nodes import Node
from scurry.sql.catalog.entries import ContextResolvedTable, InlineTable
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.schema import MetadataColumn, ResolvedSchema
from scurry.sql.operators.records.incoming import Field
from scurry.sql.plan.nodes import Plan
from scurry.sql.statements.definitions.schemas import Definition, PendingColumn, resolve_schema
from scurry.sql.statements.planning import check_sources
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.streams.source import ProgramStreamSource
from scurry.sql.statements.streams.types import StreamType, stream_type
from scurry.sql.syntax import nodes
from scurry.sql.types import DataType, LocalZonedTimestampType, RawType, TimestampType, VarBinaryType
from scurry.sql.validator import validate_query
from scurry.sql.validator.session_catalog import TableCatalog, is_source_watermark

_ROWTIME = "rowtime"


@dataclass(frozen=True)
class StreamedTable:
    """A table made of a stream.

    Attributes:
        schema: Its columns; None for those of the plan.
        unchanged: Whether its rows are the records of the stream as they are.
    """

    plan: Plan
    schema: ResolvedSchema | None
    unchanged: bool


def table_of_stream(
    session: TableSession,
    node: Node,
    type_info: TypeInformation | None,
    definition: Definition | None,
    kinds: frozenset[RowKind],
    name: str,
) -> StreamedTable:
    """Return the table of a stream.

    Args:
        definition: The columns, watermark and key that the program declares; None for those of the type.
        kinds: The kinds of changes that the records may have.
        name: The name of the table, which no catalog has.

    Raises:
        ValidationError: The type has no columns, or the declaration does not fit it.
    """
    derived = stream_type(type_info)
    completed = _completed(derived, definition)
    schema = resolve_schema(session, completed)
    identifier = ObjectIdentifier.anonymous(name)
    source = _source(session, node, derived, schema, kinds, name)
    resolved = ContextResolvedTable(identifier, InlineTable(schema, source=source), temporary=True)
    table = nodes.Identifier(identifier.path)
    query: nodes.Query = nodes.ExplicitTable(table)
    declared = [] if definition is None else [column.name for column in definition.columns]
    # A declaration of all columns in their order keeps key and watermark, which a projection loses.
    projected = (
        definition is not None
        and any(column.kind == "regular" for column in definition.columns)
        and declared != [column.name for column in completed.columns]
    )
    if projected:
        items = [nodes.SelectItem(nodes.Identifier((column,))) for column in declared]
        query = nodes.Select(tuple(items), nodes.TableReference(table))
    plan = validate_query(query, TableCatalog(session.catalog(), resolved), session.for_functions())
    check_sources(session, plan)
    unchanged = definition is None and kinds == {RowKind.INSERT} and derived.is_row
    return StreamedTable(plan, None if projected else schema, unchanged)


def _completed(derived: StreamType, definition: Definition | None) -> Definition:
    """Return a declaration with all physical columns of the type of the stream: expressions may refer to any.

    Raises:
        ValidationError: It declares a column that the type does not have, or a key that may be NULL.
    """
    definition = definition or Definition([])
    own = [column for column in definition.columns if column.kind == "regular"]
    for column in own:
        if column.name not in derived.names:
            raise ValidationError(
                f"Unable to find a field named '{column.name}' in the physical data type derived from the given type "
                "information for schema declaration. Make sure that the type information is not a generic raw type. "
                f"Currently available fields are: [{', '.join(derived.names)}]"
            )
    declared = {column.name: column for column in own}
    pairs = zip(derived.names, derived.types, strict=True)
    key = definition.key
    keys = () if key is None else key.columns
    # Columns of the key that are not declared are NOT NULL.
    physical = [
        declared.get(name) or PendingColumn(name, kind.not_null() if name in keys else kind) for name, kind in pairs
    ]
    columns = [*physical, *(column for column in definition.columns if column.kind != "regular")]
    for name in keys:
        found = next((column for column in columns if column.name == name), None)
        if found is not None and found.data_type is not None and found.data_type.is_nullable:
            assert key is not None
            raise ValidationError(f"Invalid primary key '{key.name}'. Column '{name}' is nullable.")
    return replace(definition, columns=columns)


def _source(
    session: TableSession, node: Node, derived: StreamType, schema: ResolvedSchema, kinds: frozenset[RowKind], name: str
) -> ProgramStreamSource:
    fields = []
    for column in schema.get_columns():
        if isinstance(column, MetadataColumn):
            fields.append(Field(column.name, _rowtime_type(column, name), None))
        elif column.is_physical():
            place = derived.names.index(column.name)
            own = derived.types[place]
            pickled = isinstance(own, RawType) and isinstance(column.data_type, VarBinaryType)
            fields.append(Field(column.name, own if pickled else column.data_type, place))
    insert_only = kinds == {RowKind.INSERT}
    make = {
        "is_composite": derived.is_composite,
        "attributes": derived.attributes,
        "insert_only": insert_only,
        "time_zone": session.time_zone,
    }
    upserts = RowKind.UPDATE_AFTER in kinds and RowKind.UPDATE_BEFORE not in kinds
    return ProgramStreamSource(session, node, fields, make, _takes_watermarks(schema), insert_only, upserts)


def _rowtime_type(column: MetadataColumn, table: str) -> DataType:
    """Return the type of a column that is the timestamp of the records.

    Raises:
        ValidationError: There is no such metadata, or it cannot have that type.
    """
    if column.key != _ROWTIME:
        raise ValidationError(
            f"Invalid metadata key '{column.key}' in column '{column.name}' of table '{table}'. A stream has this "
            f"metadata key:\n{_ROWTIME}"
        )
    kind = column.data_type
    if not isinstance(kind, LocalZonedTimestampType | TimestampType):
        raise ValidationError(
            f"Invalid data type for metadata column '{column.name}' of table '{table}': the timestamp of records is "
            f"TIMESTAMP_LTZ(3) or TIMESTAMP(3), not {kind.as_summary_string()}"
        )
    return kind


def _takes_watermarks(schema: ResolvedSchema) -> bool:
    """Return whether a declaration takes the watermarks of the stream."""
    return any(is_source_watermark(spec.watermark_expression.text) for spec in schema.get_watermark_specs())
