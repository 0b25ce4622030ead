"""The catalog interface of the validator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from scurry._dataclasses import dataclass
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.plan.models import PlannedModel
from scurry.sql.plan.nodes import Plan
from scurry.sql.syntax.nodes import Expression, Query
from scurry.sql.types import DataType


@dataclass(frozen=True)
class CatalogColumn:
    """A column of a table.

    Attributes:
        type: Its type; that of a column with a watermark is a rowtime.
        expression: What computes it, over the other columns; None for a column that is read.
    """

    name: str
    type: DataType
    expression: Expression | None = None


@dataclass(frozen=True)
class CatalogTable:
    """A table that a connector reads.

    Attributes:
        path: Catalog, database and name.
        columns: All columns, in the order of SELECT *.
        table: What the connector needs; plans carry it to the reader of the table.
        primary_key: Names of the columns of the primary key; empty without a primary key.
    """

    path: tuple[str, ...]
    columns: tuple[CatalogColumn, ...]
    table: Any
    primary_key: tuple[str, ...] = ()


@dataclass(frozen=True)
class CatalogView:
    """A view, whose query is validated where the view is used.

    Attributes:
        path: Catalog, database and name.
        names: Its columns; none if they are the query's.
    """

    path: tuple[str, ...]
    query: Query
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class CatalogPlan:
    """A table made by a program, of which there is a plan already.

    Attributes:
        path: Catalog, database and name.
    """

    path: tuple[str, ...]
    plan: Plan


class CatalogReader(Protocol):
    """Looks up tables by name."""

    def plan_of_view(self, view: CatalogView, session: EvaluationContext, make: Callable[[], Plan]) -> Plan:
        """Return the plan of a view that was found; it may be that of an earlier query."""
        return make()

    def find(self, names: tuple[str, ...]) -> CatalogTable | CatalogView | CatalogPlan | None:
        """Return the table, view or plan of a name of one to three parts, or None if it does not exist."""

    def find_system_function(self, name: str) -> UserFunction | None:
        """Return the temporary system function of a name; it hides built-in functions."""
        return None

    def find_function(self, names: tuple[str, ...]) -> UserFunction | None:
        """Return the function of a catalog that a name of one to three parts means; built-in functions hide it."""
        return None

    def find_model(self, names: tuple[str, ...]) -> PlannedModel | None:
        """Return the model that a name of one to three parts means, or None if it does not exist."""
        return None

    def similar_model(self, names: tuple[str, ...]) -> str:
        """Return a hint at the model that a name means which no model has; empty for none."""
        return ""

    def missing(self, names: tuple[str, ...]) -> tuple[int, str]:
        """Say why there is no such table.

        Returns:
            How many of the parts exist or are to blame, and the message: `Object 'x' not found within 'y'`.
        """

    def similar(self, names: tuple[str, ...]) -> str:
        """Return a hint at the table that a name means which no table has; empty for none."""
        return ""
