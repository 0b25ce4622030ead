"""Methods that choose and sort rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scurry.table._table.base import TableBase

if TYPE_CHECKING:
    from scurry.sql.plan.nodes import Plan
    from scurry.table.expression import Expression


class RowMethods(TableBase):
    """Methods that choose and sort rows."""

    def filter(self, predicate: Expression) -> Self:
        """Return the rows for which a condition is TRUE.

        Args:
            predicate: The condition.

        Raises:
            ValidationError: It is no condition over the columns.
        """
        from scurry.table._operations import rows

        return self._same_columns(rows.filtered(self._session, self._plan, self._expression(predicate)))

    def where(self, predicate: Expression) -> Self:
        """Return the rows for which a condition is TRUE.

        Args:
            predicate: The condition.

        Raises:
            ValidationError: It is no condition over the columns.
        """
        return self.filter(predicate)

    def distinct(self) -> Self:
        """Return one of each set of equal rows."""
        from scurry.table._operations import rows

        return self._same_columns(rows.distinct(self._session, self._plan))

    def order_by(self, *fields: Expression) -> Self:
        """Return the rows in an order.

        Args:
            *fields: What they are sorted by; `desc` puts the greatest value first.

        Raises:
            ValidationError: One names what is not there.
        """
        from scurry.table._operations import rows

        return self._same_columns(rows.sorted_by(self._session, self._plan, self._expressions(fields)))

    def offset(self, offset: int) -> Self:
        """Return the rows after the first ones; sort them before.

        Args:
            offset: How many are left out.

        Raises:
            ValidationError: The number is negative, or rows are limited already.
        """
        from scurry.table._operations import rows

        return self._same_columns(rows.skipped(self._plan, offset))

    def fetch(self, fetch: int) -> Self:
        """Return the first rows.

        Args:
            fetch: How many.

        Raises:
            ValidationError: The number is negative, or rows are limited already.
        """
        from scurry.table._operations import rows

        return self._same_columns(rows.fetched(self._plan, fetch))

    def limit(self, fetch: int, offset: int = 0) -> Self:
        """Return some rows: `offset(offset).fetch(fetch)`.

        Args:
            fetch: How many.
            offset: How many are left out before.
        """
        return self.offset(offset).fetch(fetch)

    def _same_columns(self, plan: Plan) -> Self:
        """Return the table of a plan that only chooses rows: as in Flink it keeps the table's watermark and key."""
        made = self._made(plan)
        made._schema = self._schema
        return made
