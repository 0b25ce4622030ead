"""Functions of the session and of types: TYPEOF, CURRENT_DATABASE, UUID."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import pyarrow as pa

from scurry.sql.functions.definition import CallSite, Column, Kernel, ScalarFunction, Signature
from scurry.sql.functions.signatures import always, refuse_call, signature
from scurry.sql.types import BooleanType, CharType, DataType
from scurry.sql.types.families import STRING


def _infer_type_of(site: CallSite) -> Signature:
    literal_switch = (
        len(site.arguments) == 2 and isinstance(site.types[1], BooleanType) and site.arguments[1].is_literal
    )
    if len(site.arguments) != 1 and not literal_switch:
        raise refuse_call(site)
    return Signature(site.types, STRING)


def _bind_type_of(site: CallSite, result_type: DataType) -> Kernel:
    shown = site.types[0].as_summary_string()
    if len(site.arguments) == 2 and site.arguments[1].value:
        shown = shown.replace("STRING", "VARCHAR(2147483647)").replace("BYTES", "VARBINARY(2147483647)")
    return lambda columns, rows: pa.scalar(shown, pa.string())


def _bind_database(site: CallSite, result_type: DataType) -> Kernel:
    database = site.session.current_database
    return lambda columns, rows: pa.scalar(database, pa.string())


def _bind_uuid(site: CallSite, result_type: DataType) -> Kernel:
    def kernel(columns: Sequence[Column], rows: int) -> Column:
        return pa.array([str(uuid.uuid4()) for _ in range(rows)], pa.string())

    return kernel


FUNCTIONS = (
    ScalarFunction("TYPEOF", _infer_type_of, _bind_type_of),
    ScalarFunction("CURRENT_DATABASE", signature([], always(STRING.not_null())), _bind_database),
    ScalarFunction("UUID", signature([], always(CharType(36, False))), _bind_uuid, is_deterministic=False),
)
