"""Methods that choose and name columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scurry.table._table.base import TableBase

if TYPE_CHECKING:
    from scurry.table.expression import Expression


class ColumnMethods(TableBase):
    """Methods that choose and name columns."""

    def select(self, *fields: Expression) -> Self:
        """Return a table of other columns.

        Args:
            *fields: Their expressions.

        Raises:
            ValidationError: An expression is wrong.

        Example:
            ```python
            table.select(col("a"), (col("b") + 1).alias("c"))
            ```
        """
        from scurry.table._operations import fields as _fields

        return self._made(_fields.project(self._session, self._plan, self._expressions(fields)))

    def alias(self, field: str, *fields: str) -> Self:
        """Return the table with other names for its first columns.

        Args:
            field: The name of the first column.
            *fields: The names of the next ones.

        Raises:
            ValidationError: There are too many names, or one is given twice.
        """
        from scurry.table._operations import columns

        return self._made(columns.aliased(self._session, self._plan, [field, *fields]))

    def add_columns(self, *fields: Expression) -> Self:
        """Return the table with further columns.

        Args:
            *fields: Their expressions.

        Raises:
            ValidationError: A name is taken.
        """
        from scurry.table._operations import columns

        return self._made(columns.added(self._session, self._plan, self._expressions(fields), replace=False))

    def add_or_replace_columns(self, *fields: Expression) -> Self:
        """Return the table with further columns, which replace those of their names.

        Args:
            *fields: Their expressions.

        Raises:
            ValidationError: A name is given twice.
        """
        from scurry.table._operations import columns

        return self._made(columns.added(self._session, self._plan, self._expressions(fields), replace=True))

    def rename_columns(self, *fields: Expression) -> Self:
        """Return the table with other names for some columns.

        Args:
            *fields: Columns with an alias.

        Raises:
            ValidationError: One is no column, or has no alias.
        """
        from scurry.table._operations import columns

        return self._made(columns.renamed(self._session, self._plan, self._expressions(fields)))

    def drop_columns(self, *fields: Expression) -> Self:
        """Return the table without some columns.

        Args:
            *fields: The columns.

        Raises:
            ValidationError: One is no column.
        """
        from scurry.table._operations import columns

        return self._made(columns.dropped(self._session, self._plan, self._expressions(fields)))
