"""Tables and columns in memory: DataFrames of pandas and of Spark, and tables of Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from scurry.common.recursion import deep_recursion
from scurry.errors import ArgumentError, ArgumentTypeError, TypeMismatchError, UnsupportedError
from scurry.sql.catalog.entries import ContextResolvedTable, InlineTable
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.schema import ResolvedSchema
from scurry.sql.connectors.contract import Changes, TableSource
from scurry.sql.connectors.inline import ArrowSource, FrameSource
from scurry.sql.evaluation.user_functions.vectorized import series_of_values
from scurry.sql.functions.time_zones import zone
from scurry.sql.plan import builders
from scurry.sql.plan.nodes import Plan, Scan
from scurry.sql.plan.schema import Schema
from scurry.sql.statements.batch.runners import frame_of_plan
from scurry.sql.statements.jobs import run_query
from scurry.sql.statements.planning import planned
from scurry.sql.statements.session import TableSession
from scurry.sql.types import DataType, LocalZonedTimestampType, RawType, RowType, TimestampType, TimeType
from scurry.sql.types.arrow import arrow_type, sql_type
from scurry.sql.types.values import from_values, to_values

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

#: Bytes of the rows that a reader takes at once.
_PIECE = 16 << 20
_BATCH_ROWS = 1 << 16


def plan_of_arrow(session: TableSession, table: pa.Table, types: Sequence[DataType], name: str, splits: int) -> Plan:
    """Return the plan of columns of Arrow.

    Args:
        types: Their SQL types.
        name: The name of the table, which no catalog has.
        splits: Into how many parts the rows are split, which are read independently.

    Raises:
        TypeMismatchError: The values of a column do not fit its type.
    """
    return _plan(table.column_names, types, source_of_arrow(table, types, splits), name)


def source_of_arrow(table: pa.Table, types: Sequence[DataType], splits: int = 1) -> ArrowSource:
    """Return the source of columns of Arrow.

    Args:
        types: Their SQL types.
        splits: Into how many parts the rows are split, which are read independently.

    Raises:
        TypeMismatchError: The values of a column do not fit its type.
    """
    import pyarrow as pa

    columns = [
        _column(column, kind, field) for column, kind, field in zip(table.columns, types, table.schema, strict=True)
    ]
    internal = pa.Table.from_arrays(columns, names=table.column_names)
    step = max(1, -(-internal.num_rows // max(splits, 1)))
    parts = [internal.slice(start, step) for start in range(0, internal.num_rows, step)]
    return ArrowSource([list(_pieces(part)) for part in parts])


def _pieces(part: pa.Table) -> Iterator[list[pa.RecordBatch]]:
    """Yield the rows in pieces that travel at once."""
    rows = max(1, min(part.num_rows, _PIECE * part.num_rows // max(part.nbytes, 1)))
    for start in range(0, part.num_rows, rows):
        yield part.slice(start, rows).combine_chunks().to_batches(max_chunksize=_BATCH_ROWS)


def _plan(names: Sequence[str], types: Sequence[DataType], source: TableSource, name: str) -> Plan:
    identifier = ObjectIdentifier.anonymous(name)
    schema = ResolvedSchema.physical(list(names), list(types))
    resolved = ContextResolvedTable(identifier, InlineTable(schema, source=source), temporary=True)
    return Scan(identifier.path, resolved, Schema.of(names, types), tuple(range(len(names))))


def _column(column: Any, kind: DataType, field: Any) -> Any:
    try:
        return _converted(column, kind)
    except Exception as error:
        raise TypeMismatchError(
            f"column {field.name!r} {kind.as_summary_string()}", str(field.type), str(error).partition("\n")[0]
        ) from error


def _converted(column: Any, kind: DataType) -> Any:
    """Return a column of Arrow as columns of a SQL type are."""
    import pyarrow as pa

    wanted = arrow_type(kind)
    found = column.type
    if found == wanted:
        return column
    if pa.types.is_dictionary(found):
        values = pa.string() if pa.types.is_string_view(found.value_type) else found.value_type
        return _converted(column.cast(pa.dictionary(found.index_type, values)).cast(values), kind)
    if pa.types.is_timestamp(found) and found.tz is not None:
        return _converted(column.cast(pa.timestamp(found.unit)), kind)
    if pa.types.is_time64(found):
        return column.cast(wanted, safe=False)
    return column.cast(wanted, safe=not pa.types.is_timestamp(found))


def types_of_arrow(schema: pa.Schema, zones: bool = True) -> list[DataType]:
    """Return the SQL types of columns of Arrow.

    Args:
        zones: Whether timestamps with a zone are points of time; PyFlink looks at their unit only.

    Raises:
        ArgumentTypeError: A column has a type that SQL does not have.
    """
    return [_sql_type(field, zones) for field in schema]


def _sql_type(field: pa.Field, zones: bool) -> DataType:
    try:
        return sql_type(field.type, field.nullable, zones)
    except ArgumentTypeError as error:
        raise ArgumentTypeError(f"column {field.name!r}: {error}") from None


def plan_of_pandas(session: TableSession, frame: pd.DataFrame, schema: Any, name: str, splits: int) -> Plan:
    """Return the plan of a DataFrame, with types and values as PyFlink makes them.

    Args:
        frame: The DataFrame; what pandas takes for missing is NULL.
        schema: A ROW type, or names or types of the columns; None for the DataFrame's own.
        name: The name of the table, which no catalog has.
        splits: Into how many parts the rows are split.

    Raises:
        TypeError: The schema is none, or the values of a column do not fit its type.
    """
    import pyarrow as pa

    own = pa.Schema.from_pandas(frame, preserve_index=False)
    names, types = _declared(own, schema)
    columns = []
    for label, kind, field in zip(range(len(own)), types, own, strict=False):
        series = frame.iloc[:, label]
        if isinstance(kind, LocalZonedTimestampType) and getattr(series.dtype, "tz", None) is not None:
            series = series.dt.tz_convert(zone(session.time_zone)).dt.tz_localize(None)
        try:
            columns.append(_array(series, _pandas_type(kind)))
        except (pa.ArrowException, TypeError, ValueError) as error:
            declared = f"column {names[label]!r} {kind.as_summary_string()}"
            raise TypeMismatchError(declared, str(field.type), str(error).partition("\n")[0]) from error
    return plan_of_arrow(session, pa.Table.from_arrays(columns, names=names), types, name, splits)


def _array(series: pd.Series, kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    if hasattr(series.array, "__arrow_array__"):  # columns that are Arrow's already know what is missing
        found = pa.Array.from_pandas(series)
        return (found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found).cast(kind)
    return pa.Array.from_pandas(series, mask=series.isnull(), type=kind)


def _declared(own: pa.Schema, schema: Any) -> tuple[list[str], list[DataType]]:
    """Return names and types of the columns of a DataFrame."""
    if schema is None:
        return [str(name) for name in own.names], types_of_arrow(own, zones=False)
    if isinstance(schema, RowType):
        return schema.field_names(), schema.field_types()
    if isinstance(schema, list | tuple) and schema and isinstance(schema[0], str):
        if len(schema) != len(own.names):
            raise ArgumentError(
                f"{len(schema)} names for a DataFrame of {len(own.names)} columns: they must be as many"
            )
        return list(schema), types_of_arrow(own, zones=False)
    if isinstance(schema, list | tuple) and schema and isinstance(schema[0], DataType):
        return [str(name) for name in own.names], list(schema)
    raise ArgumentTypeError(
        f"Unsupported schema type, it could only be of RowType, a list of str or a list of DataType, got {schema}"
    )


def _pandas_type(kind: DataType) -> pa.DataType:
    """Return the type that PyFlink gives columns of Arrow on their way from and to pandas."""
    import pyarrow as pa

    if isinstance(kind, RawType):
        raise UnsupportedError(
            f"Python vectorized UDF doesn't support logical type {kind.as_summary_string()} currently: declare "
            "the type of the stream that the table was made of"
        )
    if isinstance(kind, TimestampType | LocalZonedTimestampType) and kind.precision == 0:
        return pa.timestamp("s")
    if isinstance(kind, TimeType):
        if kind.precision <= 3:
            return pa.time32("ms" if kind.precision else "s")
        return pa.time64("us" if kind.precision <= 6 else "ns")
    return arrow_type(kind)


def arrow_of_plan(session: TableSession, plan: Plan) -> pa.Table:
    """Run a plan; return its rows: those that are left when all changes are applied, in the order of their insertion.

    DATE, TIME, TIMESTAMP and the others have the types of Arrow that PyFlink gives them; TIMESTAMP_LTZ is in UTC.
    """
    import pyarrow as pa

    table = _collected(session, plan)
    kinds = [_pandas_type(column.type) for column in plan.schema]
    wanted = [
        pa.timestamp(kind.unit, "UTC") if isinstance(column.type, LocalZonedTimestampType) else kind
        for column, kind in zip(plan.schema, kinds, strict=True)
    ]
    columns = [column.cast(kind, safe=False) for column, kind in zip(table.columns, wanted, strict=True)]
    return pa.Table.from_arrays(columns, names=list(plan.schema.names))


def first_rows(session: TableSession, plan: Plan, count: int) -> pa.Table:
    """Run a plan; return the first rows of its result, in the columns of a plan."""
    if not session.is_streaming:
        plan = builders.limit(plan, 0, count)
    return _collected(session, plan).slice(0, count)


@deep_recursion()
def _collected(session: TableSession, plan: Plan) -> pa.Table:
    import pyarrow as pa

    changes = list(run_query(planned(session, [plan])))
    wanted = pa.schema([(f"c{place}", arrow_type(column.type)) for place, column in enumerate(plan.schema)])
    if any(each.kinds is not None for each in changes):
        return _applied(changes, wanted)
    batches = [pa.RecordBatch.from_arrays(each.batch.columns, schema=wanted) for each in changes]
    return pa.Table.from_batches(batches, schema=wanted)


def _applied(changes: Sequence[Changes], schema: pa.Schema) -> pa.Table:
    """Return the rows that are left when changes are applied: a removed row takes the first equal one with it."""
    import pyarrow as pa

    places: dict[Any, list[int]] = {}
    rows: list[Any] = []
    for each in changes:
        kinds = [0] * each.batch.num_rows if each.kinds is None else each.kinds
        for kind, values in zip(kinds, zip(*map(to_values, each.batch.columns), strict=True), strict=True):
            if kind in (0, 2):
                places.setdefault(repr(values), []).append(len(rows))
                rows.append(values)
            elif found := places.get(repr(values)):
                rows[found.pop(0)] = None
    left = list(zip(*[row for row in rows if row is not None], strict=True)) or [()] * len(schema)
    columns = [from_values(list(values), field.type) for values, field in zip(left, schema, strict=True)]
    return pa.Table.from_arrays(columns, schema=schema)


def pandas_of_plan(session: TableSession, plan: Plan) -> pd.DataFrame:
    """Run a plan; return its rows as PyFlink's `to_pandas` does."""
    import pandas as pd

    table = _collected(session, plan)
    names = list(plan.schema.names)
    if not table.num_rows:
        return pd.DataFrame.from_records([], columns=names)
    kinds = [_pandas_type(column.type) for column in plan.schema]
    columns = [column.cast(kind, safe=False) for column, kind in zip(table.columns, kinds, strict=True)]
    # Names may repeat: pandas gets them last.
    frame = pd.DataFrame({place: series_of_values(column) for place, column in enumerate(columns)}, copy=False)
    for place, column in enumerate(plan.schema):
        if isinstance(column.type, LocalZonedTimestampType):
            frame[place] = frame[place].dt.tz_localize(zone(session.time_zone))
    frame.columns = pd.Index(names, dtype=object)
    return frame


def plan_of_frame(session: TableSession, frame: Any, name: str) -> Plan:
    """Return the plan of a DataFrame of Spark.

    Raises:
        ArgumentTypeError: It is none, it is a streaming one, or it has a column of a type that SQL does not have.
    """
    if not hasattr(frame, "isStreaming") or not hasattr(frame, "toArrow"):
        raise ArgumentTypeError(f"expected a pyspark.sql.DataFrame, got {frame!r}")
    if frame.isStreaming:
        raise ArgumentTypeError(
            "from_spark takes a batch DataFrame: make a stream of a streaming one with env.from_spark(...), and a "
            "table of that with from_data_stream(...)"
        )
    schema = frame.limit(0).toArrow().schema
    return _plan(schema.names, types_of_arrow(schema), FrameSource(frame), name)


@deep_recursion()
def spark_of_plan(session: TableSession, plan: Plan) -> Any:
    """Return a DataFrame of Spark with the rows of a plan: in BATCH on Spark without running it."""
    return frame_of_plan(planned(session, [plan]), lambda: arrow_of_plan(session, plan))
