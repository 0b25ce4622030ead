"""Base of the methods of a DataFrame: its table, and queries over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from scurry.common._api import ApiObject
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.syntax import nodes
from scurry.table.expression import Expression

if TYPE_CHECKING:
    from collections.abc import Callable

    from scurry.sql.statements.table_operations import Operation
    from scurry.table.table import Table


class FrameBase(ApiObject, check_arguments=False):
    """A DataFrame as its methods see it."""

    def __init__(self, table: Any) -> None:
        """Wrap a table; programs call `from_table`, `read_generic`, `sql` and the like."""
        self._table = table

    def _of(self, table: Any) -> Self:
        """Return the DataFrame of another table."""
        return type(self)(table)

    @property
    def _names(self) -> list[str]:
        return list(self._table.get_schema().get_field_names())

    def _queried(
        self,
        query: Callable[[Operation], nodes.Query],
        expressions: Sequence[Expression] = (),
        right: FrameBase | None = None,
    ) -> Self:
        """Return the DataFrame of a query.

        Args:
            query: Makes the query, in an operation that knows what the expressions call.
            expressions: The expressions of the query.
            right: Another DataFrame that it reads.
        """
        from scurry.table._operations.fields import operation

        table: Table = self._table
        made = operation(table._session, expressions)
        return self._of(table._made(made.planned(query(made)), None if right is None else right._table))


def identifier(name: str) -> nodes.Identifier:
    """Return a name as a part of a query."""
    return nodes.Identifier((name,))


def column_of(expression: Any) -> str | None:
    """Return the name of the column that a text or an expression is; None if it is another expression."""
    if isinstance(expression, str):
        return expression
    node = expression._node
    return node.last if isinstance(node, nodes.Identifier) and len(node.names) == 1 and not expression._names else None


def quoted(name: str) -> str:
    """Return a name as SQL has it, in backticks."""
    from scurry.sql.catalog.identifier import escape_identifier

    return escape_identifier(name)


def as_expression(given: Any) -> Expression:
    """Return an expression as it is, and a text as the column of that name."""
    from scurry.table.expressions import col

    return col(given) if isinstance(given, str) else given


def unused(name: str, taken: Sequence[str]) -> str:
    """Return a name that no column has: with underscores appended while it is taken."""
    while name in taken:
        name += "_"
    return name


def refuse_unknown(name: str, column: str, known: Sequence[str]) -> None:
    """Refuse a column that does not exist.

    Args:
        name: The name of the argument, for messages.
        column: The column.
        known: Those that exist.

    Raises:
        ValueError: It does not exist.
    """
    if column not in known:
        raise ArgumentError(f"{name} column '{column}' does not exist, available columns: {list(known)}")


def require_frame(other: Any, cls: type, message: str) -> None:
    """Refuse an object that is no DataFrame.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(other, cls):
        raise ArgumentTypeError(message)
