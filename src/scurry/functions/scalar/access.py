"""Parts of values: fields of rows."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from scurry.functions.definition import CallSite, Column, Kernel, ScalarFunction, Signature
from scurry.functions.signatures import refuse_call
from scurry.logical_types import DataType, IntType, RowType

__all__ = ["FUNCTIONS"]


def _infer_field(site: CallSite) -> Signature:
    row, index = site.arguments
    if not isinstance(row.type, RowType) or not isinstance(index.type, IntType) or not index.is_literal:
        raise refuse_call(site)
    found = row.type.fields[index.value].data_type
    return Signature(site.types, found.with_nullability(found.is_nullable or row.type.is_nullable))


def _bind_field(site: CallSite, result_type: DataType) -> Kernel:
    index = site.arguments[1].value

    def kernel(columns: Sequence[Column], rows: int) -> Column:
        row = columns[0]
        if isinstance(row, pa.Scalar):
            return pc.struct_field(pa.repeat(row, 1), [index])[0]
        return pc.struct_field(row, [index])

    return kernel


FUNCTIONS = (ScalarFunction("FIELD", _infer_field, _bind_field),)
