"""User-defined functions that take columns: Series of pandas, or arrays of pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from scurry.errors import TypeMismatchError
from scurry.sql.evaluation.user_functions.failures import function_error
from scurry.sql.evaluation.user_functions.series import column_of_series, frame_of_row, series_of
from scurry.sql.functions.definition import Column, EvaluationContext
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.types import DataType, RowType
from scurry.sql.types.arrow import arrow_type
from scurry.sql.values.arguments import python_values

if TYPE_CHECKING:
    from scurry.sql.evaluation.user_functions.scalar import Describe, UserKernel


def on_columns(
    function: UserFunction, instance: Any, types: Sequence[DataType], session: EvaluationContext
) -> UserKernel:
    """Return a kernel that calls a scalar function once per batch.

    Args:
        function: The function.
        instance: Its object, opened.
        types: The types of its arguments.
        session: The session.
    """
    zone = session.time_zone
    column_of = _arrow_result if function.func_type == "arrow" else _pandas_result

    def kernel(columns: Sequence[Column], rows: int, describe: Describe) -> pa.Array:
        try:
            arguments = [
                python_values(pa.repeat(column, 1), each, zone)[0]
                if isinstance(column, pa.Scalar)  # a constant is handed over as a value
                else column_argument(function, column, each, zone)
                for column, each in zip(columns, types, strict=True)
            ]
            return column_of(function, instance.eval(*arguments), rows, zone)
        except Exception as error:
            raise function_error(function, error) from error

    return kernel


def column_argument(function: UserFunction, column: pa.Array, data_type: DataType, zone: str) -> Any:
    """Return a column as a function takes it."""
    if function.func_type == "arrow":
        return column
    if function.takes_row and isinstance(data_type, RowType):
        return frame_of_row(column, data_type, zone)
    return series_of(column, data_type, zone)


def _pandas_result(function: UserFunction, result: Any, rows: int, zone: str) -> pa.Array:
    import pandas as pd

    if type(result) is not pd.Series and type(result) is not pd.DataFrame:
        raise TypeMismatchError(
            "pandas.Series or pandas.DataFrame", result, f"the result of Pandas UDF '{function.name}'"
        )
    _check_length(function, result, rows, "Pandas")
    return column_of_series(result, function.result_type, arrow_type(function.result_type), zone)


def _arrow_result(function: UserFunction, result: Any, rows: int, zone: str) -> pa.Array:
    if isinstance(result, pa.ChunkedArray):
        result = result.combine_chunks()
    if not isinstance(result, pa.Array):
        raise TypeMismatchError("pyarrow.Array", result, f"the result of Arrow UDF '{function.name}'")
    _check_length(function, result, rows, "Arrow")
    kind = arrow_type(function.result_type)
    return result if result.type == kind else result.cast(kind)


def _check_length(function: UserFunction, result: Any, rows: int, kind: str) -> None:
    if len(result) != rows:
        raise ValueError(
            f"The result length '{len(result)}' of {kind} UDF '{function.name}' is not equal to the input length "
            f"'{rows}'"
        )
