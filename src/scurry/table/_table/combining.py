"""Methods that combine a table with another one, or with the rows of a table function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scurry.table._table.base import TableBase
from scurry.table._udf.row_based import lateral_call

if TYPE_CHECKING:
    from scurry.table.expression import Expression
    from scurry.table.table import Table


class CombiningMethods(TableBase):
    """Methods that combine a table with another one, or with the rows of a table function."""

    def join(self, right: Table, join_predicate: Expression | None = None) -> Self:
        """Return the pairs of rows of two tables for which a condition is TRUE.

        Args:
            right: The other table; its columns have other names.
            join_predicate: The condition; None for all pairs.

        Raises:
            ValidationError: A name is in both tables, or the condition is wrong.
        """
        return self._joined(right, "INNER", join_predicate)

    def left_outer_join(self, right: Table, join_predicate: Expression | None = None) -> Self:
        """Return the pairs of rows, and the rows of this table without a partner.

        Args:
            right: The other table; its columns have other names.
            join_predicate: The condition.

        Raises:
            ValidationError: A name is in both tables, or the condition is wrong.
        """
        return self._joined(right, "LEFT", join_predicate)

    def right_outer_join(self, right: Table, join_predicate: Expression) -> Self:
        """Return the pairs of rows, and the rows of the other table without a partner.

        Args:
            right: The other table; its columns have other names.
            join_predicate: The condition.

        Raises:
            ValidationError: A name is in both tables, or the condition is wrong.
        """
        return self._joined(right, "RIGHT", join_predicate)

    def full_outer_join(self, right: Table, join_predicate: Expression) -> Self:
        """Return the pairs of rows, and the rows of both tables without a partner.

        Args:
            right: The other table; its columns have other names.
            join_predicate: The condition.

        Raises:
            ValidationError: A name is in both tables, or the condition is wrong.
        """
        return self._joined(right, "FULL", join_predicate)

    def join_lateral(self, table_function_call: Any, join_predicate: Expression | None = None) -> Self:
        """Return each row with the rows that a table function returns for it.

        Args:
            table_function_call: The call, with an alias for the columns; or a function with an alias, which gets each
                row as a `Row`.
            join_predicate: A condition for the pairs.

        Raises:
            ValidationError: It is no call of a table function, or a name is in both.
        """
        return self._joined_lateral(table_function_call, "INNER", join_predicate)

    def left_outer_join_lateral(self, table_function_call: Any, join_predicate: Expression | None = None) -> Self:
        """Return each row with the rows that a table function returns for it, or with NULLs.

        Args:
            table_function_call: The call, with an alias for the columns; or a function with an alias, which gets each
                row as a `Row`.
            join_predicate: None, or TRUE.

        Raises:
            ValidationError: It is no call of a table function, or a name is in both.
        """
        return self._joined_lateral(table_function_call, "LEFT", join_predicate)

    def union(self, right: Table) -> Self:
        """Return the rows of both tables, one of each set of equal rows.

        Raises:
            ValidationError: The columns differ in number or type, or the tables are read in STREAMING: use SQL there.
        """
        return self._combined(right, "UNION", False)

    def union_all(self, right: Table) -> Self:
        """Return the rows of both tables."""
        return self._combined(right, "UNION", True)

    def intersect(self, right: Table) -> Self:
        """Return the rows that both tables have, one of each set of equal rows.

        Raises:
            ValidationError: The columns differ in number or type, or the tables are read in STREAMING: use SQL there.
        """
        return self._combined(right, "INTERSECT", False)

    def intersect_all(self, right: Table) -> Self:
        """Return the rows that both tables have, as often as both have them.

        Raises:
            ValidationError: The columns differ in number or type, or the tables are read in STREAMING: use SQL there.
        """
        return self._combined(right, "INTERSECT", True)

    def minus(self, right: Table) -> Self:
        """Return the rows that the other table does not have, one of each set of equal rows.

        Raises:
            ValidationError: The columns differ in number or type, or the tables are read in STREAMING: use SQL there.
        """
        return self._combined(right, "EXCEPT", False)

    def minus_all(self, right: Table) -> Self:
        """Return the rows without as many equal ones as the other table has.

        Raises:
            ValidationError: The columns differ in number or type, or the tables are read in STREAMING: use SQL there.
        """
        return self._combined(right, "EXCEPT", True)

    def _joined(self, right: Table, kind: str, predicate: Any) -> Self:
        from scurry.table._operations import combining

        self._require_of_same_environment(right)
        condition = None if predicate is None else self._expression(predicate)
        return self._made(combining.joined(self._session, self._plan, right._plan, kind, condition), right)

    def _joined_lateral(self, call: Any, kind: str, predicate: Any) -> Self:
        from scurry.table._operations import combining

        condition = None if predicate is None else self._expression(predicate)
        function = self._expression(lateral_call(self, call))
        return self._made(combining.joined_lateral(self._session, self._plan, function, kind, condition))

    def _combined(self, right: Table, operator: str, all: bool) -> Self:
        from scurry.table._operations import combining

        self._require_of_same_environment(right)
        return self._made(combining.combined(self._session, self._plan, right._plan, operator, all), right)
