"""Functions of `map` and `map_batches`: of rows as dicts, and of batches of pandas and Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scurry.dataframe._functions.adapters import _Opened
from scurry.dataframe._functions.results import Convert
from scurry.dataframe._functions.targets import Target
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.types import DataType, RowType
from scurry.table.udf import FunctionContext, ScalarFunction


class RowAdapter(ScalarFunction):
    """A function that gets each row as a dict of its own."""

    def __init__(self, target: Target, convert: Convert | None, names: Sequence[str]) -> None:
        self._opened = _Opened(target, "eval", True)
        self._convert, self._names = convert, names

    def open(self, function_context: FunctionContext) -> None:
        """Make and open the function."""
        self._opened.open(function_context)

    def close(self) -> None:
        """Close the function."""
        self._opened.close()

    def eval(self, *args: Any) -> Any:
        """Return the row that the function makes of a row."""
        found = self._opened.call(dict(zip(self._names, args, strict=True)))
        return found if self._convert is None else self._convert(found)


class BatchAdapter(ScalarFunction):
    """A function that gets rows as a DataFrame of pandas or a table of Arrow, and returns as many.

    Args:
        target: The function.
        kind: The type of its rows, or of its only column.
        names: The columns that it gets.
        batch_format: `pandas` or `pyarrow`.
        batch_size: The most rows of a call; None for those that come together.
    """

    def __init__(
        self, target: Target, kind: DataType, names: Sequence[str], batch_format: str, batch_size: int | None
    ) -> None:
        self._opened = _Opened(target, "eval", True)
        self._kind, self._names = kind, names
        self._is_pandas, self._batch_size = batch_format == "pandas", batch_size

    def open(self, function_context: FunctionContext) -> None:
        """Make and open the function."""
        self._opened.open(function_context)

    def close(self) -> None:
        """Close the function."""
        self._opened.close()

    def eval(self, *args: Any) -> Any:
        """Return the columns that the function makes of columns."""
        made = [self._checked(self._opened.call(part), len(part)) for part in self._parts(args)]
        if len(made) == 1:
            return made[0]
        if self._is_pandas:
            import pandas as pd

            return pd.concat(made, ignore_index=True)
        import pyarrow as pa

        return pa.concat_arrays(made)

    def _parts(self, columns: Sequence[Any]) -> Iterator[Any]:
        """Yield the rows, not too many at once."""
        if self._is_pandas:
            import pandas as pd

            whole: Any = pd.concat(list(columns), axis="columns")
            whole.columns = pd.Index(self._names, dtype=object)
        else:
            import pyarrow as pa

            whole = pa.Table.from_arrays(list(columns), names=list(self._names))
        size = self._batch_size or max(len(whole), 1)
        for start in range(0, max(len(whole), 1), size):
            yield (
                whole.iloc[start : start + size].reset_index(drop=True) if self._is_pandas else whole.slice(start, size)
            )

    def _checked(self, result: Any, rows: int) -> Any:
        if len(result) != rows:
            raise ArgumentError(f"map_batches: the function got {rows} rows and returned {len(result)}")
        if not isinstance(self._kind, RowType):
            return _only_column(result)
        names = self._kind.field_names()
        missing = [name for name in names if name not in _columns(result)]
        if missing:
            raise ArgumentError(f"map_batches: the function returned no column '{missing[0]}'")
        return result[names] if self._is_pandas else _struct(result, self._kind)


def _columns(result: Any) -> list[str]:
    names = getattr(result, "column_names", None)
    if names is None and hasattr(result, "schema"):
        names = result.schema.names
    if names is None:
        names = getattr(result, "columns", None)
    if names is None:
        raise ArgumentTypeError(f"map_batches: the function returned {type(result).__name__}, which has no columns")
    return list(names)


def _only_column(result: Any) -> Any:
    """Return a column as it is, and the only one of a DataFrame or table."""
    if not hasattr(result, "columns"):
        return result
    if len(_columns(result)) != 1:
        raise ArgumentError(f"map_batches: one column is declared, the function returned {len(_columns(result))}")
    return result.iloc[:, 0] if hasattr(result, "iloc") else _whole(result.column(0))


def _whole(column: Any) -> Any:
    return column.combine_chunks() if hasattr(column, "combine_chunks") else column


def _struct(result: Any, kind: RowType) -> Any:
    """Return columns of Arrow as one of rows."""
    import pyarrow as pa

    from scurry.sql.types.arrow import arrow_type

    fields = [pa.field(each.name, arrow_type(each.data_type), each.data_type.is_nullable) for each in kind.fields]
    columns = [_whole(result.column(each.name)).cast(each.type) for each in fields]
    return pa.StructArray.from_arrays(columns, fields=fields)
