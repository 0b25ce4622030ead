"""Base of the methods of a Table: its environment and its plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from scurry.common._api import ApiObject
from scurry.errors import ArgumentTypeError, ValidationError

if TYPE_CHECKING:
    from scurry.sql.catalog.schema import ResolvedSchema
    from scurry.sql.plan.nodes import Plan
    from scurry.sql.statements.session import StatementObjects, TableSession
    from scurry.table.expression import Expression
    from scurry.table.table_environment import TableEnvironment


class TableBase(ApiObject):
    """A Table as its methods see it."""

    def __init__(
        self,
        environment: TableEnvironment,
        plan: Plan,
        schema: ResolvedSchema | None = None,
        objects: StatementObjects | None = None,
    ) -> None:
        """Wrap a plan; programs get tables from `sql_query` and `from_path`."""
        self._environment = environment
        self._plan = plan
        self._schema = schema
        self._registered: str | None = None
        #: the sources that were made to check the plan, which jobs use
        self._objects = objects
        #: the stream whose records are the rows as they are
        self._stream: Any = None

    @property
    def _session(self) -> Any:
        return self._environment._session

    @property
    def _executing(self) -> TableSession:
        """Return the session that executes the plan, on the present rows of its tables."""
        return self._environment._session.for_execution(self._objects)

    def _made(self, plan: Plan, right: TableBase | None = None) -> Self:
        """Return the table of another plan.

        Args:
            plan: The plan, made of that of this table.
            right: Another table that the plan is made of; None for none.
        """
        objects = [each for each in (self._objects, None if right is None else right._objects) if each is not None]
        kept = objects[0].for_next_step(*objects[1:]) if objects else None
        return type(self)(self._environment, plan, objects=kept)

    def _expression(self, value: Any) -> Expression:
        from scurry.table._operations.fields import expression

        return expression(value)

    def _expressions(self, values: Sequence[Any]) -> list[Expression]:
        return [self._expression(each) for each in values]

    def _require_of_same_environment(self, right: Any) -> None:
        if not isinstance(right, TableBase):
            raise ArgumentTypeError(f"expected another table, got {right!r}")
        if right._environment is not self._environment:
            raise ValidationError("Only tables from the same TableEnvironment can be joined.")
