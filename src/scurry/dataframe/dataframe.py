"""DataFrame: a table that is made and used as those of pandas and Polars are, in STREAMING and BATCH."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scurry.common._api import ApiObject
from scurry.dataframe._frame.asof import AsOfMethods, proctime
from scurry.dataframe._frame.base import as_expression
from scurry.dataframe._frame.columns import ColumnMethods
from scurry.dataframe._frame.combining import CombiningMethods
from scurry.dataframe._frame.exploding import ExplodeMethods
from scurry.dataframe._frame.grouping import aggregated, checked_aggregates, checked_keys
from scurry.dataframe._frame.lateral import LateralMethods
from scurry.dataframe._frame.literals import literal_of
from scurry.dataframe._frame.mapping import MapMethods
from scurry.dataframe._frame.results import ResultMethods
from scurry.dataframe._frame.rows import RowMethods
from scurry.dataframe._frame.windows import WindowMethods
from scurry.dataframe._frame.writing import WritingMethods
from scurry.dataframe.datatype import DataType
from scurry.errors import ArgumentTypeError
from scurry.table import expressions
from scurry.table.expression import Expression
from scurry.table.table import Table
from scurry.table.table_schema import TableSchema

__all__ = ["DataFrame", "GroupedDataFrame", "col", "lit", "proctime"]


def col(name: str) -> Expression:
    """Return a column, as an expression that methods of DataFrames take.

    Args:
        name: Its name.
    """
    return expressions.col(name)


def lit(value: Any, data_type: DataType | None = None) -> Expression:
    """Return a value as an expression.

    Args:
        value: The value: also a list, tuple or dict, if there is a type for it.
        data_type: Its type; None for that of the Python value.

    Raises:
        TypeError: The type is none.
        ValueError: The value is none of the type, or has no type.
    """
    if data_type is not None and not isinstance(data_type, DataType):
        raise ArgumentTypeError("data_type must be a pyflink.dataframe.DataType")
    return literal_of(value, None if data_type is None else data_type._to_table_data_type())


class DataFrame(
    ColumnMethods,
    RowMethods,
    CombiningMethods,
    AsOfMethods,
    ExplodeMethods,
    LateralMethods,
    MapMethods,
    WindowMethods,
    ResultMethods,
    WritingMethods,
    check_arguments=False,
):
    """Rows with named columns: of a table, a file, a stream or data in memory, or of a query over them.

    Every method returns a new DataFrame, and none runs anything but `collect`, `take`, `iter_*`, `to_*` and `write_*`.

    Example:
        ```python
        import pyflink.dataframe as pf

        orders = pf.from_dict({"item": ["pen", "ink", "pen"], "price": [2, 9, 3]})
        orders.filter(pf.col("price") > 2).group_by("item").agg(total=pf.col("price").sum).to_pandas()
        ```
    """

    if TYPE_CHECKING:
        where = ColumnMethods.filter
        drop = ColumnMethods.drop_columns
        rename = ColumnMethods.rename_columns
        distinct = RowMethods.drop_duplicates
        unique = RowMethods.drop_duplicates

    def __getattr__(self, name: str) -> Expression:
        """Return the column of a name that is an identifier and no attribute."""
        if name.isidentifier() and not name.startswith("_") and not keyword.iskeyword(name):
            if not any(name in vars(each) for each in type(self).__mro__) and name in self.columns:
                return expressions.col(name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=None)

    @property
    def schema(self) -> TableSchema:
        """Names and types of the columns."""
        found: TableSchema = self._table.get_schema()
        return found

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in a new list."""
        return self._names

    def to_table(self) -> Table:
        """Return the table of the Table API that it is."""
        table: Table = self._table
        return table

    def group_by(self, *columns: str | Expression) -> GroupedDataFrame:
        """Return the DataFrame in groups of equal values; `agg` makes a row of each.

        Args:
            *columns: The keys: names or expressions.

        Raises:
            TypeError: One is something else.
            ValueError: No one is given.
        """
        return GroupedDataFrame(self, checked_keys(columns))

    def agg(self, *aggs: Expression, **named_aggs: Expression) -> DataFrame:
        """Return the DataFrame of one row: aggregates of all rows.

        Args:
            *aggs: Aggregates, such as `pf.col("amount").sum`.
            **named_aggs: Further aggregates, by the names that they get.

        Raises:
            TypeError: One is no expression.
            ValueError: No one is given.
        """
        return self._of(aggregated(self, [], checked_aggregates(aggs, named_aggs)))

    # ------------------------------------------------------------------ display

    def __repr__(self) -> str:
        """Return the columns and their types: `DataFrame[item: STRING, price: BIGINT]`."""
        schema = getattr(self._table, "get_schema", None)
        if schema is None:
            return object.__repr__(self)
        found = schema()
        pairs = zip(found.get_field_names(), found.get_field_data_types(), strict=True)
        return f"DataFrame[{', '.join(f'{name}: {kind.as_summary_string()}' for name, kind in pairs)}]"

    def _repr_html_(self) -> str:
        """Return the columns and the first rows, for notebooks; of a stream without end only the columns."""
        html: str = self._table._repr_html_()
        return html

    def _ipython_key_completions_(self) -> list[str]:
        """Return the columns, which notebooks complete in `df["`."""
        return self.columns

    def __dir__(self) -> list[str]:
        """Return attributes and the columns that are attributes, which notebooks complete after `df.`."""
        return [*object.__dir__(self), *(name for name in self.columns if name.isidentifier())]

    def explain(self) -> str:
        """Return the plans that Flink's EXPLAIN shows. scurry's own."""
        text: str = self._table.explain()
        return text


# The same function objects, as in Flink.
for _alias, _name in {
    "where": "filter",
    "drop": "drop_columns",
    "rename": "rename_columns",
    "distinct": "drop_duplicates",
    "unique": "drop_duplicates",
}.items():
    setattr(DataFrame, _alias, getattr(DataFrame, _name))


class GroupedDataFrame(ApiObject, check_arguments=False):
    """A DataFrame whose rows are in groups of equal keys; `group_by` makes it."""

    def __init__(self, dataframe: DataFrame, grouping_keys: Sequence[str | Expression]) -> None:
        """Group a DataFrame.

        Args:
            dataframe: The DataFrame.
            grouping_keys: The keys: names or expressions.
        """
        self._dataframe = dataframe
        self._keys = list(map(as_expression, grouping_keys))

    def agg(self, *aggs: Expression, **named_aggs: Expression) -> DataFrame:
        """Return the DataFrame with a row for each group: its keys, then aggregates.

        Args:
            *aggs: Aggregates, such as `pf.col("amount").sum`.
            **named_aggs: Further aggregates, by the names that they get.

        Raises:
            TypeError: One is no expression.
            ValueError: No one is given.

        Example:
            ```python
            df.group_by("country").agg(total=pf.col("amount").sum, orders=pf.col("id").count)
            ```
        """
        table = aggregated(self._dataframe, self._keys, checked_aggregates(aggs, named_aggs))
        return self._dataframe._of(table)
