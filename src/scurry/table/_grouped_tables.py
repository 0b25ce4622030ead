"""Tables in groups and windows: results of `group_by`, `window` and `over_window`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scurry.common._api import ApiObject
from scurry.errors import ValidationError
from scurry.table._udf.row_based import AggregatedTable, FlatAggregateTable

if TYPE_CHECKING:
    from scurry.table.expression import Expression
    from scurry.table.table import Table
    from scurry.table.window import GroupWindow, OverWindow


class GroupedTable(ApiObject):
    """A table whose rows are in groups."""

    def __init__(self, table: Table, keys: Sequence[Expression]) -> None:
        self._table = table
        self._keys = keys

    def select(self, *fields: Expression) -> Table:
        """Return a row for each group.

        Args:
            *fields: Keys and aggregates.

        Raises:
            ValidationError: An expression is neither made of keys nor of aggregates.
        """
        from scurry.table._operations.fields import aggregate

        table = self._table
        return table._made(aggregate(table._session, table._plan, self._keys, table._expressions(fields)))

    def aggregate(self, func: Any) -> AggregatedTable:
        """Aggregate each group by a function; `select` of the result chooses its columns.

        Args:
            func: An aggregate function, which gets each row as a `Row`, or the call of one.
        """
        return AggregatedTable(self, func)

    def flat_aggregate(self, func: Any) -> FlatAggregateTable:
        """Make rows of each group by a function; `select` of the result chooses its columns.

        Args:
            func: A table aggregate function, which gets each row as a `Row`, or the call of one.
        """
        return FlatAggregateTable(self._table, self._keys, func)


class GroupWindowedTable(ApiObject):
    """A table whose rows are in windows."""

    def __init__(self, table: Table, window: GroupWindow) -> None:
        self._table = table
        self._window = window

    def group_by(self, *fields: Expression) -> WindowGroupedTable:
        """Return the table in groups of equal values in a window.

        Args:
            *fields: The alias of the window, and further keys.

        Raises:
            ValidationError: The alias of the window is not among them.
        """
        alias = self._window._alias
        fields_ = self._table._expressions(fields)
        keys = [each for each in fields_ if str(each) != alias]
        if len(keys) != len(fields_) - 1:
            raise ValidationError("GroupBy must contain exactly one window alias.")
        return WindowGroupedTable(self._table, keys, self._window)


class WindowGroupedTable(ApiObject):
    """A table whose rows are in windows and groups."""

    def __init__(self, table: Table, keys: Sequence[Expression], window: GroupWindow) -> None:
        self._table = table
        self._keys = keys
        self._window = window

    def select(self, *fields: Expression) -> Table:
        """Return a row for each window and group.

        Args:
            *fields: Keys, aggregates, and `start`, `end`, `rowtime` and `proctime` of the window's alias.

        Raises:
            ValidationError: An expression is made of something else, or the window does not fit the rows.
        """
        from scurry.table._operations.windows import windowed

        table = self._table
        chosen = table._expressions(fields)
        return table._made(windowed(table._session, table._plan, self._window, self._keys, chosen))

    def aggregate(self, func: Any) -> AggregatedTable:
        """Aggregate each group by a function; `select` of the result chooses its columns.

        Args:
            func: An aggregate function, which gets each row as a `Row`, or the call of one.
        """
        return AggregatedTable(self, func)


class OverWindowedTable(ApiObject):
    """A table with windows of the rows around each row."""

    def __init__(self, table: Table, windows: Sequence[OverWindow]) -> None:
        self._table = table
        self._windows = windows

    def select(self, *fields: Expression) -> Table:
        """Return each row with aggregates of the rows around it.

        Args:
            *fields: Columns, and aggregates with `over` of the alias of a window.

        Raises:
            ValidationError: There is no window of an alias, or an expression is wrong.
        """
        from scurry.table._operations.windows import over_rows

        table = self._table
        return table._made(over_rows(table._session, table._plan, self._windows, table._expressions(fields)))
