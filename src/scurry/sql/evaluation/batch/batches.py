"""Record batches: building, joining together, choosing and sorting rows, and times as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.sql.functions.keys import order_codes
from scurry.sql.plan.nodes import SortKey
from scurry.sql.plan.schema import Schema
from scurry.sql.types import DataType
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import batch_of_columns, repeated


def batch_of(columns: Sequence[Any], schema: Schema, rows: int) -> pa.RecordBatch:
    """Make a batch of columns, each an array or a scalar that is the value of all rows.

    Args:
        schema: Their names and types.

    Returns:
        A batch, whose columns have the Arrow types of the schema.
    """
    arrays = [_array(column, each.type, rows) for column, each in zip(columns, schema, strict=True)]
    return batch_of_columns(arrays, schema.names, rows)


def arrow_schema(schema: Schema) -> pa.Schema:
    """Return the names and the types of the columns of batches with some schema."""
    return pa.schema([pa.field(each.name, arrow_type(each.type)) for each in schema])


def arrow_batch(columns: Sequence[pa.Array], names: Sequence[str], rows: int) -> pa.RecordBatch:
    """Make a batch of columns that have the types they are to have; there may be none."""
    return batch_of_columns(columns, names, rows)


def concatenated(batches: Iterable[pa.RecordBatch], schema: Schema) -> pa.RecordBatch:
    """Put batches of the same columns into one."""
    found = [batch for batch in batches if batch.num_rows]
    if not found:
        return empty(schema)
    if len(found) == 1:
        return found[0]
    if not len(schema):
        return batch_of([], schema, sum(batch.num_rows for batch in found))
    return pa.RecordBatch.from_arrays(concatenated_columns(found), names=list(schema.names))


def concatenated_columns(batches: Sequence[pa.RecordBatch]) -> list[pa.Array]:
    """Return the columns of several batches with the same types, whatever the names."""
    try:
        columns: list[pa.Array] = pa.concat_batches(batches).columns
    except pa.ArrowInvalid:  # names or nullability differ
        columns = [pa.concat_arrays([batch.column(i) for batch in batches]) for i in range(batches[0].num_columns)]
    return columns


def empty(schema: Schema) -> pa.RecordBatch:
    """Return a batch without rows."""
    return batch_of([pa.nulls(0, arrow_type(each.type)) for each in schema], schema, 0)


def single_row() -> pa.RecordBatch:
    """Return a batch of one row without columns."""
    return batch_of([], Schema(), 1)


def nulls(schema: Schema, rows: int) -> list[pa.Array]:
    return [pa.nulls(rows, arrow_type(each.type)) for each in schema]


def taken(batch: pa.RecordBatch, positions: Any) -> pa.RecordBatch:
    """Return the rows at some positions, in that order."""
    if not batch.num_columns:
        return batch_of([], Schema(), len(positions))
    return batch.take(pa.array(positions))


def _array(column: Any, type: DataType, rows: int) -> pa.Array:
    wanted = arrow_type(type)
    if isinstance(column, pa.Scalar):
        column = repeated(column, rows)
    elif isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column if column.type == wanted else column.cast(wanted, safe=False)


def sorted_positions(columns: Sequence[pa.Array], keys: Sequence[SortKey], rows: int) -> np.ndarray[Any, Any]:
    """Return the positions of rows in the order of some keys; equal rows keep their order.

    Args:
        keys: The keys, which name columns by position.
    """
    if not keys:
        return np.arange(rows)
    codes = [order_codes(columns[key.index], key.descending, key.nulls_first) for key in keys]
    return np.lexsort(codes[::-1])


def milliseconds(column: pa.Array) -> Any:
    """Return points of time as numpy integers, of which NULL is the lowest."""
    values = column.cast(pa.timestamp("ms"), safe=False).view(pa.int64())
    return np.asarray(values.fill_null(-(2**63)) if values.null_count else values)
