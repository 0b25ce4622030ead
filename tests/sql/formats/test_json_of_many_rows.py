"""Many rows become JSON by columns: the same texts as row by row."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry.connectors.files.formats.json.writer import JsonTexts, JsonWriting
from scurry.errors import EvaluationError
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.formats.json.arrow_writing import FEW_ROWS, json_objects
from scurry.sql.formats.json.codec import JsonEncoder
from scurry.sql.types import BigIntType, BooleanType, DataType, DoubleType, TinyIntType, VarCharType
from scurry.sql.types.values import to_values

COLUMNS = {
    'te"xt': (VarCharType(9), pa.string()),
    "plain": (VarCharType(9), pa.string()),
    "number": (BigIntType(), pa.int64()),
    "small": (TinyIntType(), pa.int8()),
    "real": (DoubleType(), pa.float64()),
    "yes": (BooleanType(), pa.bool_()),
}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
ROW = st.tuples(
    st.none() | TEXT,
    st.none() | st.text("aé€ ~\x7f", max_size=6),
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.none() | st.integers(-128, 127),
    st.none() | st.floats(),
    st.none() | st.booleans(),
)


def columns(types: dict[str, DataType]) -> tuple[FormatColumn, ...]:
    return tuple(FormatColumn(name, data_type) for name, data_type in types.items())


def batch_of(rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    arrays = [
        pa.array(values, kind) for values, (_, kind) in zip(zip(*rows, strict=True), COLUMNS.values(), strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, names=list(COLUMNS))


@given(rows=st.lists(ROW, min_size=1, max_size=8), skipped=st.integers(0, 3))
def test_they_are_those_of_single_rows(rows: list[tuple[Any, ...]], skipped: int) -> None:
    batch = batch_of(rows * (FEW_ROWS + skipped)).slice(skipped)
    declared = columns({name: data_type for name, (data_type, _) in COLUMNS.items()})
    found = json_objects(batch, declared, JsonWriting())
    assert found is not None
    write = JsonTexts(JsonWriting()).objects(list(COLUMNS), [data_type for data_type, _ in COLUMNS.values()])
    assert found.to_pylist() == list(write(map(to_values, batch.columns)))
    assert JsonEncoder(declared, JsonWriting()).encode(batch) == [text.encode() for text in found.to_pylist()]


def test_a_text_that_is_no_utf_8_is_refused_among_many_rows() -> None:
    data = pa.array([b"a"] * FEW_ROWS + [b"\xc3("], pa.binary())
    texts = pa.StringArray.from_buffers(len(data), data.buffers()[1], data.buffers()[2])
    encoder = JsonEncoder(columns({"t": VarCharType(9)}), JsonWriting())
    with pytest.raises(EvaluationError, match="no UTF-8"):
        encoder.encode(pa.RecordBatch.from_arrays([texts], names=["t"]))


def test_fields_that_are_null_may_be_left_out_of_many_rows() -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([1, None] * FEW_ROWS)], names=["n"])
    found = JsonEncoder(columns({"n": BigIntType()}), JsonWriting(skip_nulls=True)).encode(batch)
    assert found == [b'{"n":1}', b"{}"] * FEW_ROWS
