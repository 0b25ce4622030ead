"""Columns to Python values one by one, and back, for functions that no kernel computes.

Values are bool, int, float, Decimal, str and bytes; int for everything temporal (days, milliseconds, months, or the
column's unit); list for ARRAY, list of pairs for MAP and MULTISET, tuple for ROW.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scurry.errors import EvaluationError
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.logical_type import DataType

if TYPE_CHECKING:
    import pyarrow


_NO_UTF8 = "is no UTF-8 ("


@contextmanager
def naming_texts(batch: pyarrow.RecordBatch) -> Iterator[None]:
    """Name the column of a batch whose STRING is no UTF-8 if a `with` block meets one.

    Raises:
        EvaluationError: It did.
    """
    try:
        yield
    except EvaluationError as error:
        named = zip(batch.schema.names, batch.columns, strict=True) if _NO_UTF8 in str(error) else ()
        for name, column in named:
            try:
                to_values(column)
            except EvaluationError as of_column:
                raise EvaluationError(f"column {name!r}: {of_column}") from None
        raise


def to_values(column: pyarrow.Array) -> list[Any]:
    """Return the values of a column, None for null.

    Raises:
        EvaluationError: A STRING is no UTF-8.
    """
    import pyarrow as pa

    kind = column.type
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        return list(column.view(pa.int32()).to_pylist())
    if pa.types.is_timestamp(kind):
        return list(column.view(pa.int64()).to_pylist())
    if pa.types.is_decimal(kind):
        return list(column.to_numpy(zero_copy_only=False).tolist())  # a sixth of the time of `to_pylist`
    if pa.types.is_map(kind):
        return _cut(column, lambda of: list(zip(to_values(column.keys[of]), to_values(column.items[of]), strict=True)))
    if pa.types.is_list(kind):
        return _cut(column, lambda of: to_values(column.values[of]))
    if pa.types.is_struct(kind):
        fields = [to_values(column.field(number)) for number in range(kind.num_fields)]
        rows = list(zip(*fields, strict=True)) if fields else [()] * len(column)
        return [row if valid else None for row, valid in zip(rows, column.is_valid().to_pylist(), strict=True)]
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError as error:
        shown = bytes(error.object[:40])
        raise EvaluationError(
            f"the STRING {shown!r} {_NO_UTF8}{error.reason}): declare the column as BYTES, or mend its file"
        ) from None


def _cut(column: pyarrow.Array, elements_of: Callable[[slice], list[Any]]) -> list[Any]:
    # `keys`, `items` and `values` are those of the whole buffer, to which the offsets refer.
    offsets, valid = column.offsets.to_pylist(), column.is_valid().to_pylist()
    first = offsets[0]
    elements = elements_of(slice(first, offsets[-1]))
    return [
        elements[begin - first : end - first] if known else None
        for begin, end, known in zip(offsets, offsets[1:], valid, strict=False)
    ]


def from_values(values: Iterable[Any], data_type: DataType | pyarrow.DataType) -> pyarrow.Array:
    """Return a column of values.

    Args:
        values: The values as `to_values` gives them.
        data_type: The SQL type of the column, or its Arrow type.

    Raises:
        EvaluationError: A MAP has the key NULL.
    """
    import pyarrow as pa

    kind = arrow_type(data_type) if isinstance(data_type, DataType) else data_type
    values = values if isinstance(values, list) else list(values)
    if not pa.types.is_nested(kind):
        if pa.types.is_date32(kind) or pa.types.is_time32(kind):
            return pa.array(values, pa.int32()).view(kind)
        if pa.types.is_timestamp(kind):
            return pa.array(values, pa.int64()).view(kind)
        return pa.array(values, kind)
    nulls = pa.array([value is None for value in values], pa.bool_())
    if pa.types.is_struct(kind):
        empty = (None,) * kind.num_fields
        columns = (
            zip(*(empty if value is None else value for value in values), strict=True) if values else [()] * len(empty)
        )
        fields = [from_values(list(column), kind.field(number).type) for number, column in enumerate(columns)]
        return pa.StructArray.from_arrays(fields, fields=list(kind), mask=nulls)
    offsets = [0]
    elements: list[Any] = []
    for value in values:
        elements.extend(value or ())
        offsets.append(len(elements))
    starts = pa.array(offsets, pa.int32())
    mask = nulls if nulls.true_count else None
    if pa.types.is_map(kind):
        if any(key is None for key, _ in elements):
            raise EvaluationError("a MAP has the key NULL, which columns of Arrow and of Spark do not have").with_hint(
                "leave the entry out, or give it a key: COALESCE(key, '')"
            )
        keys = from_values([key for key, _ in elements], kind.key_type)
        items = from_values([item for _, item in elements], kind.item_type)
        return pa.MapArray.from_arrays(starts, keys, items, kind, mask=mask)
    return pa.ListArray.from_arrays(starts, from_values(elements, kind.value_type), kind, mask=mask)


def batch_of_columns(columns: Sequence[pyarrow.Array], names: Sequence[str], rows: int) -> pyarrow.RecordBatch:
    """Return a batch of columns.

    Args:
        columns: The columns, of which there may be none.
        names: Their names.
        rows: The number of rows.
    """
    import pyarrow as pa

    if columns:
        return pa.RecordBatch.from_arrays(columns, names=list(names))
    return pa.RecordBatch.from_struct_array(pa.StructArray.from_buffers(pa.struct([]), rows, [None]))


def batch_of_rows(
    rows: Sequence[Sequence[Any]], names: Sequence[str], types: Sequence[DataType]
) -> pyarrow.RecordBatch:
    """Return a batch of rows of values as `to_values` gives them.

    Args:
        rows: The rows.
        names: The names of the columns, of which there may be none.
        types: Their types.
    """
    parts = zip(*rows, strict=True) if rows else [()] * len(types)
    columns = [from_values(list(part), kind) for part, kind in zip(parts, types, strict=True)]
    return batch_of_columns(columns, names, len(rows))


def to_value(scalar: pyarrow.Scalar) -> Any:
    """Return the value of a scalar."""
    import pyarrow as pa

    return to_values(pa.array([scalar.as_py()], scalar.type) if _is_plain(scalar.type) else _repeated(scalar))[0]


def from_value(value: Any, data_type: DataType | pyarrow.DataType) -> pyarrow.Scalar:
    """Return a scalar of a value."""
    kind = arrow_type(data_type) if isinstance(data_type, DataType) else data_type
    column = _plain_column(value, kind)
    return (from_values([value], kind) if column is None else column)[0]


def _plain_column(value: Any, kind: pyarrow.DataType) -> pyarrow.Array | None:
    """Return a column of one value, None if it has to be converted.

    Conversions of Arrow import pandas, to recognize its values, which takes as long as a small query.
    """
    import pyarrow as pa

    if value is None and not pa.types.is_nested(kind):
        return pa.nulls(1, kind)
    try:
        match value:
            case str() if type(value) is str and kind == pa.string():
                content = value.encode()
                ends = b"".join(end.to_bytes(4, sys.byteorder, signed=True) for end in (0, len(content)))
                buffers = [ends, content]
            case bool() if kind == pa.bool_():
                buffers = [bytes([value])]
            case int() if type(value) is int and pa.types.is_signed_integer(kind):
                buffers = [value.to_bytes(kind.bit_width // 8, sys.byteorder, signed=True)]
            case float() if type(value) is float and kind == pa.float64():
                buffers = [struct.pack("=d", value)]
            case _:
                return None
    except (OverflowError, UnicodeEncodeError):
        return None  # the conversion says so
    return pa.Array.from_buffers(kind, 1, [None, *map(pa.py_buffer, buffers)])


def repeated(scalar: pyarrow.Scalar, rows: int) -> pyarrow.Array:
    """Return a column of a value; Arrow repeats no collection zero times."""
    import pyarrow as pa

    return pa.repeat(scalar, rows) if rows else pa.array([], scalar.type)


def _is_plain(kind: pyarrow.DataType) -> bool:
    import pyarrow as pa

    return not (pa.types.is_nested(kind) or pa.types.is_temporal(kind))


def _repeated(scalar: pyarrow.Scalar) -> pyarrow.Array:
    import pyarrow as pa

    return pa.repeat(scalar, 1)
