"""Functions of the rows of a group, of a window, or of the rows around one."""

from __future__ import annotations

from typing import Any, Self

from scurry.errors import ValidationError
from scurry.sql.syntax import nodes
from scurry.table._expression.base import ExpressionBase
from scurry.table._expression.frames import window_of
from scurry.table._expression.syntax import here


class Aggregates(ExpressionBase):
    """Functions of the rows of a group, of a window, or of the rows around one."""

    @property
    def distinct(self) -> Self:
        """Let equal values count once in the aggregate that this is: `col("a").sum.distinct`.

        Raises:
            ValidationError: It is no aggregate.
        """
        node = self._node
        if not isinstance(node, nodes.Call) or not node.arguments:
            raise ValidationError(
                "It's not allowed to use an aggregate function as input of another aggregate function: distinct "
                f"follows the aggregate, as in col('a').sum.distinct. Got: {self}"
            )
        return self._made(nodes.replace(node, quantifier="DISTINCT"), [self])

    @property
    def sum(self) -> Self:
        """Add the values up; NULL without values."""
        return self._call("SUM")

    @property
    def sum0(self) -> Self:
        """Add the values up; 0 without values."""
        return self._call("$SUM0")

    @property
    def min(self) -> Self:
        """Return the smallest value."""
        return self._call("MIN")

    @property
    def max(self) -> Self:
        """Return the greatest value."""
        return self._call("MAX")

    @property
    def count(self) -> Self:
        """Count the rows with a value."""
        return self._call("COUNT")

    @property
    def avg(self) -> Self:
        """Return the mean."""
        return self._call("AVG")

    @property
    def first_value(self) -> Self:
        """Return the first value that is not NULL."""
        return self._call("FIRST_VALUE")

    @property
    def last_value(self) -> Self:
        """Return the last value that is not NULL."""
        return self._call("LAST_VALUE")

    def list_agg(self, separator: Any = None) -> Self:
        """Join texts.

        Args:
            separator: What is between two of them, a comma if it is None.
        """
        return self._call("LISTAGG", "," if separator is None else separator)

    @property
    def stddev_pop(self) -> Self:
        """Return the standard deviation of all values."""
        return self._call("STDDEV_POP")

    @property
    def stddev_samp(self) -> Self:
        """Return the standard deviation of a sample."""
        return self._call("STDDEV_SAMP")

    @property
    def var_pop(self) -> Self:
        """Return the variance of all values."""
        return self._call("VAR_POP")

    @property
    def var_samp(self) -> Self:
        """Return the variance of a sample."""
        return self._call("VAR_SAMP")

    @property
    def collect(self) -> Self:
        """Return the values as a multiset."""
        return self._call("COLLECT")

    @property
    def array_agg(self) -> Self:
        """Return the values as an array."""
        return self._call("ARRAY_AGG")

    def percentile(self, percentage: Any, frequency: Any = None) -> Self:
        """Return the values below which given parts of all values are.

        Args:
            percentage: The part, between 0 and 1, or an array of parts.
            frequency: How often a value counts; None for once.
        """
        return self._call("PERCENTILE", percentage, frequency)

    # ------------------------------------------------------------------ windows

    def over(self, alias: Any, *, partition_by: Any = None, rows: Any = None, range: Any = None) -> Self:
        """Apply an aggregate to the rows around each row.

        Args:
            alias: The alias of the window, as `Table.over_window` got it. With another argument, and in a DataFrame, it
                is the column or expression of the order: the API of `pyflink.dataframe`, from Flink 2.4 on.
            partition_by: The column or expression of the keys, or a list of them.
            rows: The frame: a number of rows before the current one, `UNBOUNDED`, or a pair of bounds of
                `pyflink.dataframe`.
            range: The frame in time: a timedelta, a text such as `1 hour`, `UNBOUNDED`, or a pair of bounds.

        Raises:
            TypeError: An argument is something else.
            ValidationError: It is no function that has a window.
            ValueError: The frame makes no sense.
        """
        if not isinstance(self._node, nodes.FunctionCall):
            raise ValidationError(f"Could not resolve over call. It is no aggregate: {self}")
        if partition_by is rows is range is None:
            window = self._of(alias)._node
            name: Any = window if isinstance(window, nodes.Identifier) else nodes.Identifier((str(alias),))
        else:
            name = window_of(alias, partition_by, rows, range, self._node_of)
        return self._made(nodes.replace(self._node, over=name, span=here()), [self])

    @classmethod
    def _node_of(cls, value: Any) -> nodes.Expression | None:
        """Return the syntax tree of a column or an expression, None of other values."""
        if isinstance(value, str):
            return nodes.Identifier((value,), span=here())
        return value._node if isinstance(value, cls) else None

    @property
    def start(self) -> Self:
        """Return when a window of `Table.window` begins."""
        return self._call("START")

    @property
    def end(self) -> Self:
        """Return when a window of `Table.window` ends: the first time after it."""
        return self._call("END")

    @property
    def rowtime(self) -> Self:
        """Return the event time of a window of `Table.window`: the last time in it."""
        return self._call("ROWTIME")

    @property
    def proctime(self) -> Self:
        """Return the processing time of a window of `Table.window`."""
        return self._call("PROCTIME")
