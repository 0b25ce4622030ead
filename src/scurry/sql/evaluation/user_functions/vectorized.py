"""User-defined functions that take columns: Series of pandas, or arrays of pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from scurry.errors import TypeMismatchError
from scurry.sql.evaluation.user_functions.failures import function_error
from scurry.sql.functions.definition import Column, EvaluationContext
from scurry.sql.functions.time_zones import zone
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.types import DataType, LocalZonedTimestampType, RowType
from scurry.sql.types.arrow import arrow_type
from scurry.sql.values.arguments import python_values


def series_of(column: pa.Array, data_type: DataType, time_zone: str) -> Any:
    """Return the Series of a column; a DataFrame of the fields of rows."""
    import pandas as pd

    if isinstance(data_type, RowType):
        fields = zip(column.flatten(), data_type.fields, strict=True)
        return pd.concat([series_of_values(each).rename(field.name) for each, field in fields], axis=1)
    series = series_of_values(column)
    if isinstance(data_type, LocalZonedTimestampType):
        # As `python_values` does: the wall clock of UTC with the session's zone.
        return series.dt.tz_localize(zone(time_zone))
    return series


def frame_of_row(column: pa.Array, row_type: RowType, time_zone: str) -> Any:
    """Return the DataFrame of the columns of a table, given as rows; a column of rows has one for each field."""
    import pandas as pd

    parts = []
    for part, field in zip(column.flatten(), row_type.fields, strict=True):
        series = series_of(part, field.data_type, time_zone)
        parts.append(series if isinstance(series, pd.DataFrame) else series.rename(field.name))
    return pd.concat(parts, axis=1)


def series_of_values(column: pa.Array | pa.ChunkedArray) -> Any:
    """Return the Series of a column, texts as objects.

    pandas 3 has a type for texts, where NULL is NaN. PyFlink, which demands pandas 2, hands over str and None.
    """
    import pandas as pd

    if pa.types.is_string(column.type):
        name = getattr(column, "_name", None)  # that of the column of a table, which `to_pandas` takes, too
        return pd.Series(column.to_numpy(zero_copy_only=False), dtype=object, name=name)
    return column.to_pandas(date_as_object=True)


def column_of_series(series: Any, data_type: DataType, kind: pa.DataType, time_zone: str) -> pa.Array:
    """Return the column of a Series; one of rows of a DataFrame.

    Raises:
        pyarrow.ArrowException: A value does not fit the type.
    """
    import pandas as pd

    if isinstance(series, pd.DataFrame):
        fields = [_array(series[name], field.type) for name, field in zip(series.columns, kind, strict=True)]
        return pa.StructArray.from_arrays(fields, fields=list(kind))
    if isinstance(data_type, LocalZonedTimestampType) and isinstance(series.dtype, pd.DatetimeTZDtype):
        series = series.dt.tz_convert(zone(time_zone)).dt.tz_localize(None)
    return _array(series, kind)


def _array(series: Any, kind: pa.DataType) -> pa.Array:
    found = pa.Array.from_pandas(series, type=kind)  # NaN, NaT and None are NULL
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


if TYPE_CHECKING:
    from scurry.sql.evaluation.user_functions.scalar import Describe, UserKernel


def on_columns(
    function: UserFunction, instance: Any, types: Sequence[DataType], session: EvaluationContext
) -> UserKernel:
    """Return a kernel that calls a scalar function once per batch.

    Args:
        instance: Its object, opened.
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
