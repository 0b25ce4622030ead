"""Methods that make a row of each row by functions in Python."""

from __future__ import annotations

from typing import Any, Self

from scurry.dataframe._frame.base import FrameBase
from scurry.dataframe._frame.lateral import require_row_argument
from scurry.dataframe._functions.results import normalizer
from scurry.dataframe._functions.rowwise import BatchAdapter, RowAdapter
from scurry.dataframe._functions.targets import target_of
from scurry.dataframe.datatype import DataType, declared_type
from scurry.dataframe.validation import require_choice, require_integer
from scurry.errors import ArgumentTypeError, UnsupportedError
from scurry.table.expressions import col
from scurry.table.udf import ScalarFunction
from scurry.table.udf import udf as table_udf


class MapMethods(FrameBase, check_arguments=False):
    """Methods that make a row of each row by functions in Python."""

    def map(self, func: Any, *, return_dtype: Any = None, concurrency: int | None = None) -> Self:
        """Return the rows that a function makes of the rows, one of each.

        Args:
            func: A function, an object that can be called, or a class of such objects. It gets each row as a dict of
                its own, and returns a dict, a tuple, a Row, or a value for a single column.
            return_dtype: The type of the rows: a struct for columns, or the type of the only column `f0`; None for that
                of the return annotation, as a TypedDict.
            concurrency: None; the operators of a job have one parallelism.

        Raises:
            TypeError: It is no such function, or has no type.
            ValueError: It takes no dict.
            UnsupportedError: A concurrency is given.
        """
        from scurry.dataframe.udf import inferred_result

        _refuse_concurrency(concurrency)
        target = target_of(func, ScalarFunction, "a function")
        if target.is_async:
            raise ArgumentTypeError("map takes no async function: use with_column and a udf, whose calls overlap")
        require_row_argument(target, "map")
        if return_dtype is not None:
            kind = declared_type("return_dtype", return_dtype)
        else:
            kind = inferred_result(target, target.annotation("return"))
        names = self._names
        adapter = RowAdapter(target, normalizer(kind), names)
        declared = table_udf(adapter, result_type=kind, name=target.name)
        return self._of(self._table.map(declared(*map(col, names))))

    def map_batches(
        self,
        func: Any,
        *,
        return_dtype: Any = None,
        batch_format: str = "pandas",
        concurrency: int | None = None,
        batch_size: int | None = None,
    ) -> Self:
        """Return the rows that a function makes of batches of rows, as many as it gets.

        Args:
            func: A function, an object that can be called, or a class of such objects. It gets a DataFrame of pandas or
                a table of Arrow, and returns one; or a single column.
            return_dtype: The type of the rows: a struct for columns, or the type of the only column `f0`.
            batch_format: `pandas` or `pyarrow`.
            concurrency: None; the operators of a job have one parallelism.
            batch_size: The most rows of a batch, at least 1; None for those that come together.

        Raises:
            TypeError: It is no such function, or there is no type.
            ValueError: The format is not known, or the size less than 1.
            UnsupportedError: A concurrency is given.
        """
        _refuse_concurrency(concurrency)
        require_choice("batch_format", batch_format, ("pandas", "pyarrow"))
        if batch_size is not None:
            require_integer("batch_size", batch_size, 1)
        target = target_of(func, ScalarFunction, "a function")
        if return_dtype is None:
            raise ArgumentTypeError("return_dtype is required: the annotation of a batch does not tell its columns")
        dtype = DataType(declared_type("return_dtype", return_dtype))
        names = self._names
        declared = table_udf(
            BatchAdapter(target, dtype._to_table_data_type(), names, batch_format, batch_size),
            result_type=dtype._to_table_data_type(),
            name=target.name,
            func_type="pandas" if batch_format == "pandas" else "arrow",
        )
        return self._of(self._table.map(declared(*map(col, names))))


def _refuse_concurrency(concurrency: Any) -> None:
    if concurrency is not None:
        raise UnsupportedError(
            "concurrency: the operators of a job have one parallelism; set parallelism.default for all"
        )
