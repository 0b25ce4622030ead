"""PartitionedTable: a table whose rows belong together by key, for process table functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scurry.common._api import ApiObject

if TYPE_CHECKING:
    from scurry.table._operations.processing import TableGiven
    from scurry.table.table import Table

__all__ = ["PartitionedTable", "TableArgument"]


class TableArgument(ApiObject):
    """A table given to the argument of a process table function that has a name."""

    def __init__(self, given: TableGiven) -> None:
        """Wrap it; programs get it from `as_argument`."""
        self._given = given


class PartitionedTable(ApiObject):
    """A table whose rows belong together by key."""

    def __init__(self, table: Table, keys: Sequence[str]) -> None:
        """Wrap a table; programs get it from `Table.partition_by`."""
        self._table = table
        self._keys = keys

    def process(self, func: Any, *arguments: Any) -> Table:
        """Return the rows that a process table function makes of the table.

        Args:
            func: What `udptf` returned, a `ProcessTableFunction`, or the name of one that is registered.
            *arguments: Its other arguments: values, expressions, and what `as_argument` returned.

        Raises:
            ValidationError: It is no such function, or an argument is wrong.
        """
        return self._table._processed(func, [self._given(None), *arguments])

    def as_argument(self, name: str) -> TableArgument:
        """Give the table to the argument of a process table function that has a name.

        Args:
            name: The name of the argument.
        """
        return TableArgument(self._given(name))

    def _given(self, name: str | None) -> TableGiven:
        from scurry.table._operations.processing import TableGiven

        return TableGiven(self._table._plan, self._keys, name)
