"""The environment of a query: catalog, session, the tables of WITH, and the row of the outer query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from scurry._dataclasses import dataclass
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.syntax.nodes import CommonTableExpression, Query
from scurry.sql.validator.catalog import CatalogReader

if TYPE_CHECKING:
    from scurry.sql.plan.nodes import Plan
    from scurry.sql.validator.scope import Scope


@dataclass(frozen=True)
class CommonTable:
    """A table of WITH.

    Attributes:
        environment: What its query may refer to.
    """

    definition: CommonTableExpression
    environment: Environment


@dataclass(frozen=True)
class Environment:
    """The environment of a query.

    Attributes:
        catalog: Where tables are looked up.
        validate: Validates a query at another place.
        outer: The columns of the query around this one, to which this one may refer.
    """

    catalog: CatalogReader
    session: EvaluationContext
    validate: Callable[[Query, Environment], Plan]
    tables: Mapping[str, CommonTable] = field(default_factory=dict)
    outer: Scope | None = None

    def inside(self, scope: Scope | None) -> Environment:
        """Return the environment of a query inside one with these columns."""
        return replace(self, outer=scope)

    def with_table(self, name: str, table: CommonTable) -> Environment:
        return replace(self, tables={**self.tables, name: table})

    def plan(self, query: Query) -> Plan:
        """Validate a query at this place."""
        return self.validate(query, self)
