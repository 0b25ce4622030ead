"""Methods that choose and sort rows, and remove duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from scurry.dataframe._frame.base import FrameBase, as_expression, column_of, identifier, quoted, refuse_unknown, unused
from scurry.dataframe.validation import require_integer
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.syntax import nodes
from scurry.table.expression import Expression

_RANK = "__pf_row_number"


class RowMethods(FrameBase, check_arguments=False):
    """Methods that choose and sort rows, and remove duplicates."""

    def limit(self, n: int) -> Self:
        """Return the first rows.

        Args:
            n: How many, at least 0.

        Raises:
            TypeError: It is no integer.
            ValueError: It is negative.
        """
        return self._of(self._table.fetch(require_integer("n", n, 0, 2**31 - 1)))

    def offset(self, n: int) -> Self:
        """Return the rows after the first ones; sort them before.

        Args:
            n: How many are left out, at least 0.

        Raises:
            TypeError: It is no integer.
            ValueError: It is negative.
        """
        return self._of(self._table.offset(require_integer("n", n, 0, 2**31 - 1)))

    def head(self, n: int) -> Self:
        """Return the first rows, as `limit` does.

        Args:
            n: How many, at least 0.
        """
        return self.limit(n)

    def sort(
        self, by: Any, *, descending: bool | list[bool] = False, nulls_first: bool | list[bool] | None = None
    ) -> Self:
        """Return the rows in an order.

        Args:
            by: A column, an expression, or a list of them.
            descending: Whether the greatest value comes first, for all keys or for each.
            nulls_first: Whether NULL comes first, for all keys or for each. None for NULL after all values, and before
                them where the greatest comes first.

        Raises:
            TypeError: A key or direction is something else.
            ValueError: There are no keys, one does not exist, or there are not as many directions as keys.
        """
        keys = _keys("by", by, self)
        directions = _each("descending", descending, len(keys))
        nulls = None if nulls_first is None else _each("nulls_first", nulls_first, len(keys))
        if nulls is None:
            ordered = [key.desc if down else key.asc for key, down in zip(keys, directions, strict=True)]
            return self._of(self._table.order_by(*ordered))
        names = self._names
        table, columns = _with_columns(self._table, names, keys)

        def query(made: Any) -> nodes.Query:
            items = tuple(
                nodes.OrderItem(identifier(column), down, "FIRST" if first else "LAST")
                for column, down, first in zip(columns, directions, nulls, strict=True)
            )
            selected = tuple(nodes.SelectItem(identifier(name)) for name in names)
            return nodes.OrderBy(nodes.Select(selected, made.table(table._plan)), items)

        return self._of(table)._queried(query)

    def drop_duplicates(
        self,
        subset: str | list[str] | None = None,
        *,
        keep: str = "first",
        order_by: Any = None,
        nulls_first: bool | list[bool] | None = None,
    ) -> Self:
        """Return one row of each set of rows that are equal, or have equal values in some columns.

        Args:
            subset: The columns that are compared; None for all, of which it does not matter which row is kept.
            keep: Which row is kept: `first` or `last`.
            order_by: The columns or expressions that say which row is first; None for the order in which rows come.
            nulls_first: Whether NULL comes first there, for all keys or for each; None for the default of SQL.

        Raises:
            TypeError: An argument is something else.
            ValueError: A column does not exist, or the arguments do not go together.
        """
        if keep not in ("first", "last"):
            raise ArgumentError('keep must be "first" or "last"')
        if order_by is None and nulls_first is not None:
            raise ArgumentError("nulls_first requires order_by")
        if subset is None:
            if order_by is not None:
                raise ArgumentError("order_by requires subset; whole-row duplicates cannot be ordered")
            return self._of(self._table.distinct())
        columns = [subset] if isinstance(subset, str) else subset
        if not isinstance(columns, list) or not all(isinstance(each, str) for each in columns):
            raise ArgumentTypeError("subset must be a string or a list of strings")
        if not columns:
            raise ArgumentError("subset must not be empty")
        known = self._names
        for each in columns:
            refuse_unknown("subset", each, known)
        keys = [] if order_by is None else _keys("order_by", order_by, self)
        nulls = None if nulls_first is None else _each("nulls_first", nulls_first, len(keys))
        return self._ranked(columns, keys, [keep == "last"] * max(1, len(keys)), nulls, 1)

    def top_n(
        self,
        n: int,
        *,
        partition_by: Any = None,
        order_by: Any = None,
        descending: bool | list[bool] = False,
        nulls_first: bool | list[bool] | None = None,
    ) -> Self:
        """Return the first rows of an order, of all rows or of each group.

        Args:
            n: How many, at least 1.
            partition_by: The columns or expressions of the groups; None for one group.
            order_by: The columns or expressions of the order.
            descending: Whether the greatest value comes first, for all keys or for each.
            nulls_first: Whether NULL comes first, for all keys or for each; None for the default of SQL.

        Raises:
            TypeError: There is no order, or an argument is something else.
            ValueError: The number is less than 1, or a column does not exist.
        """
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise ArgumentError("n must be an integer >= 1")
        if order_by is None or (isinstance(order_by, list | tuple) and not order_by):
            raise ArgumentTypeError("top_n requires a non-empty order_by")
        keys = _keys("order_by", order_by, self)
        groups = [] if partition_by is None else _keys("partition_by", partition_by, self)
        nulls = None if nulls_first is None else _each("nulls_first", nulls_first, len(keys))
        return self._ranked(groups, keys, _each("descending", descending, len(keys)), nulls, n)

    def _ranked(
        self,
        groups: Sequence[str | Expression],
        keys: Sequence[Expression],
        descending: Sequence[bool],
        nulls_first: Sequence[bool] | None,
        count: int,
    ) -> Self:
        """Return the first rows of each group, by the query that Flink's planner makes a Top-N of."""
        names = self._names
        table, columns = _with_columns(self._table, names, [*keys, *map(as_expression, groups)])
        ordered, grouped = columns[: len(keys)], columns[len(keys) :]
        rank = unused(_RANK, [*names, *columns])
        nulls: Sequence[bool | None] = nulls_first or [None] * max(1, len(keys))
        parts = ", ".join(
            f"{key} {'DESC' if down else 'ASC'}{'' if first is None else ' NULLS FIRST' if first else ' NULLS LAST'}"
            for key, down, first in zip(list(map(quoted, ordered)) or ["PROCTIME()"], descending, nulls, strict=True)
        )
        window = f"PARTITION BY {', '.join(map(quoted, grouped))} ORDER BY {parts}" if grouped else f"ORDER BY {parts}"
        condition = f"{quoted(rank)} = 1" if count == 1 else f"{quoted(rank)} <= {count}"
        return self._of(
            table._environment.sql_query(
                f"SELECT {', '.join(map(quoted, names))} FROM (\n"
                f"  SELECT *, ROW_NUMBER() OVER ({window}) AS {quoted(rank)}\n"
                f"  FROM {quoted(str(table))}\n"
                f") WHERE {condition}"
            )
        )


def _keys(name: str, given: Any, frame: FrameBase) -> list[Expression]:
    """Return the expressions of keys, which exist and have no direction of their own."""
    parts = list(given) if isinstance(given, list | tuple) else [given]
    if not all(isinstance(each, str | Expression) for each in parts):
        raise ArgumentTypeError(f"{name} must be a string, an expression, or a list or tuple of them")
    if not parts:
        raise ArgumentError(f"{name} must not be empty")
    known = frame._names
    for each in parts:
        if isinstance(each, str):
            refuse_unknown(name, each, known)
        elif each._descending is not None:
            called = "sort()" if name == "by" else name
            raise ArgumentError(f"{called} expressions must not specify asc or desc; use descending instead")
    return [as_expression(each) for each in parts]


def _each(name: str, given: Any, count: int) -> list[bool]:
    """Return a flag for each key."""
    if isinstance(given, bool):
        return [given] * count
    if not isinstance(given, list) or not all(isinstance(each, bool) for each in given):
        raise ArgumentTypeError(f"{name} must be a boolean or a list of booleans")
    if len(given) != count:
        raise ArgumentError(f"{name} must have the same length as the sort keys")
    return given


def _with_columns(table: Any, names: Sequence[str], keys: Sequence[Expression]) -> tuple[Any, list[str]]:
    """Return a table in which all keys are columns, and the names of these."""
    columns: list[str] = []
    added: list[Expression] = []
    for each in keys:
        own = column_of(each)
        if own is None or own not in names:
            own = unused(f"__pf_order_{len(added)}", [*names, *columns])
            added.append(each.alias(own))
        columns.append(own)
    return (table.add_columns(*added) if added else table), columns
