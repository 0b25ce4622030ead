"""Streams of tables: `to_data_stream`, `to_changelog_stream` and the older methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scurry._dataclasses import dataclass
from scurry.common.recursion import deep_recursion
from scurry.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation, Types
from scurry.errors import ValidationError
from scurry.graph import operators as ops
from scurry.graph.nodes import Node, OperatorNode, SourceNode
from scurry.sql.catalog.entries import ContextResolvedTable, InlineTable
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.schema import MetadataColumn, ResolvedSchema
from scurry.sql.operators.changes.lowering import materialized
from scurry.sql.operators.records.outgoing import RecordsOfRows
from scurry.sql.plan.nodes import Plan, Sink
from scurry.sql.statements.definitions.schemas import Definition, PendingColumn, resolve_schema
from scurry.sql.statements.inserts import converted
from scurry.sql.statements.not_null import NotNullEnforcer
from scurry.sql.statements.planning import PlannedStatement, planned
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.streaming_runner import lowering_of, sink_nodes
from scurry.sql.statements.streams.source import PlanSource
from scurry.sql.types import LocalZonedTimestampType, TimestampType
from scurry.sql.types.families import is_rowtime
from scurry.sql.values.type_information import record_type, value_type

_ROWTIME = "rowtime"


@dataclass(frozen=True)
class Conversion:
    """The target of a table's conversion to a stream.

    Attributes:
        schema: The columns: those of the records, and metadata.
        changes: Which changes the stream may have: INSERT, UPSERT or ALL.
        names: The names of the fields of the records; None if they are no rows.
        form: As for `RecordsOfRows`.
        consumer: How refusals name the stream; None for the general words.
        timed: Whether the records have the timestamps of a rowtime column.
    """

    schema: ResolvedSchema
    changes: str
    names: tuple[str, ...] | None
    type_info: TypeInformation | None
    form: str = "row"
    consumer: str | None = None
    timed: bool = True


def records(plan: Plan) -> Conversion:
    """Return the conversion to Rows that are inserted, with all columns."""
    return _rows(ResolvedSchema.physical(list(plan.schema.names), list(plan.schema.types)), "INSERT")


def changelog(session: TableSession, plan: Plan, definition: Definition | None, changes: str) -> Conversion:
    """Return the conversion to Rows with kinds of changes.

    Args:
        definition: The columns and the key that the program declares; None for those of the table.
        changes: Which changes the stream may have.
    """
    definition = definition or Definition([])
    if not any(column.kind == "regular" for column in definition.columns):
        pairs = zip(plan.schema.names, plan.schema.types, strict=True)
        derived = [PendingColumn(name, kind) for name, kind in pairs]
        persisted = [column for column in definition.columns if column.kind == "metadata" and not column.virtual]
        # A time at the end of the table is that of the metadata: no other column has to be declared.
        if len(persisted) == 1 and isinstance(plan.schema.types[-1], TimestampType | LocalZonedTimestampType):
            del derived[-1]
        definition = replace(definition, columns=[*derived, *definition.columns])
    schema = resolve_schema(session, definition)
    for column in schema.get_columns():
        if isinstance(column, MetadataColumn) and column.key != _ROWTIME:
            raise ValidationError(
                f"Invalid metadata key '{column.key}' in column '{column.name}': the only metadata of records of a "
                f"stream is '{_ROWTIME}', their timestamp"
            )
    return _rows(schema, changes)


def _rows(schema: ResolvedSchema, changes: str) -> Conversion:
    columns = [column for column in schema.get_columns() if column.is_physical()]
    names = tuple(column.name for column in columns)
    return Conversion(schema, changes, names, record_type(names, [column.data_type for column in columns]))


def legacy(type_info: TypeInformation, retract: bool) -> Conversion:
    """Return the conversion to records of a declared type.

    Args:
        type_info: The type: of rows, tuples, or of the only column.
        retract: Whether the records are pairs of whether the row is added, and the row; otherwise rows are inserted.
    """
    names, form = None, "value"
    if isinstance(type_info, RowTypeInfo):
        names, form = tuple(type_info.get_field_names()), "row"
    elif isinstance(type_info, TupleTypeInfo):
        form = "tuple"
    fields = type_info.get_field_types() if isinstance(type_info, RowTypeInfo | TupleTypeInfo) else [type_info]
    columns = names or tuple(f"f{place}" for place in range(len(fields)))
    schema = ResolvedSchema.physical(list(columns), list(map(value_type, fields)))
    if not retract:
        return Conversion(schema, "INSERT", names, type_info, form, "toAppendStream", timed=False)
    pair = Types.TUPLE([Types.BOOLEAN(), type_info])
    return Conversion(schema, "ALL", names, pair, f"retract {form}", timed=False)


@deep_recursion()
def stream_of_table(session: TableSession, plan: Plan, conversion: Conversion, name: str, prefix: str) -> OperatorNode:
    """Return the node whose records are the rows of a table.

    Args:
        conversion: What it is converted to.
        name: The name of the sink in messages; no catalog has it.
        prefix: What the identities of all operators begin with.

    Raises:
        ValidationError: The table's changes or columns do not fit.
    """
    sink = _sink(session, plan, conversion, name)
    rowtime = _rowtime(plan, sink, name) if conversion.timed else None
    try:
        ready = planned(session, [sink])
    except ValidationError as error:
        if conversion.consumer is None:
            raise
        raise ValidationError(str(error).replace(f"Table sink '{name}'", conversion.consumer)) from None
    rows = _rows_of(ready, prefix)
    persisted = [column for column in conversion.schema.get_columns() if column.is_persisted()]
    values = [(place, column.data_type) for place, column in enumerate(persisted) if column.is_physical()]
    function = RecordsOfRows(values, conversion.names, rowtime, conversion.form)
    return OperatorNode(
        inputs=(rows,),
        name="TableToDataStream",
        operator=ops.RowsToRecords(function),
        uid=f"{prefix}TableToDataStream",
        output_type=conversion.type_info,
    )


def _sink(session: TableSession, plan: Plan, conversion: Conversion, name: str) -> Sink:
    """Return the plan with the columns of a conversion.

    Raises:
        ValidationError: They do not fit.
    """
    columns = [column for column in conversion.schema.get_columns() if column.is_persisted()]
    names = [column.name for column in columns]
    table = InlineTable(conversion.schema, sink_changes=conversion.changes)
    if len(names) != len(plan.schema):
        query = ", ".join(f"{column.name}: {column.type.as_summary_string()}" for column in plan.schema)
        wanted = ", ".join(f"{column.name}: {column.data_type.nullable().as_summary_string()}" for column in columns)
        raise ValidationError(
            f"Column types of query result and sink for '{name}' do not match.\nCause: Different number of columns.\n\n"
            f"Query schema: [{query}]\nSink schema:  [{wanted}]"
        )
    return converted(session, plan, ObjectIdentifier.anonymous(name), table, names, {}, False)


def _rowtime(plan: Plan, sink: Sink, name: str) -> int | None:
    """Return the position of the column with the timestamps of the records, or None.

    Raises:
        ValidationError: There is more than one.
    """
    columns = [column for column in sink.table.table.schema.get_columns() if column.is_persisted()]
    for place, column in enumerate(columns):
        if isinstance(column, MetadataColumn):
            return place
    found = [
        place
        for place, (given, column) in enumerate(zip(plan.schema, columns, strict=True))
        if is_rowtime(given.type) and type(given.type) is type(column.data_type)
    ]
    if len(found) > 1:
        listed = ", ".join(plan.schema.names[place] for place in found)
        raise ValidationError(
            f"The query contains more than one rowtime attribute column [{listed}] for writing into table '{name}'.\n"
            "Please select the column that should be used as the event-time timestamp for the table sink by casting "
            "all other columns to regular TIMESTAMP or TIMESTAMP_LTZ."
        )
    return found[0] if found else None


def _rows_of(statement: PlannedStatement, prefix: str) -> Node:
    """Return the node of the rows that the only sink of a statement gets."""
    (sink,) = statement.sinks
    if not statement.session.is_streaming:
        return SourceNode(name="Table", source=PlanSource(statement), uid=f"{prefix}Table")
    lowering, enforcer = lowering_of(statement, prefix), NotNullEnforcer.of(statement.session, sink)
    rows = materialized(lowering, sink)
    return lowering.operator(rows, ops.Map(enforcer.changes), "ConstraintEnforcer") if enforcer.columns else rows


@deep_recursion()
def attached(session: TableSession, sinks: Sequence[Sink], prefix: str) -> list[OperatorNode]:
    """Return the nodes that write some sinks as parts of a job of streams.

    Args:
        prefix: What the identities of all operators begin with.
    """
    statement = planned(session, sinks)
    if session.is_streaming:
        return sink_nodes(statement, prefix)
    return [_written(statement, sink, f"{prefix}{place}_") for place, sink in enumerate(statement.sinks, 1)]


def _written(statement: PlannedStatement, sink: Sink, prefix: str) -> OperatorNode:
    found, target = sink.table, statement.sink(sink)
    inline = ContextResolvedTable(found.identifier, InlineTable(found.table.schema))
    rows = _rows_of(replace(statement, plans=[replace(sink, table=inline)]), prefix)
    name = f"Sink[{'.'.join(sink.path)}]"
    return OperatorNode(inputs=(rows,), name=name, operator=ops.Sink(target), uid=f"{prefix}Sink")
