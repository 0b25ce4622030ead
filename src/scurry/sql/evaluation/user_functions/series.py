"""Columns as Series of pandas, and back, as PyFlink's vectorised functions have them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from scurry.sql.functions.time_zones import zone
from scurry.sql.types import DataType, LocalZonedTimestampType, RowType


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
