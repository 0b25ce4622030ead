"""The nodes of ML_PREDICT and VECTOR_SEARCH: rows with the predictions of a model, and with those of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, NamedTuple

from scurry._dataclasses import dataclass
from scurry.sql.plan.expressions import Expression, InputReference
from scurry.sql.plan.nodes.base import OneInput, Plan
from scurry.sql.plan.nodes.rows import Project
from scurry.sql.plan.nodes.tables import Scan
from scurry.sql.plan.schema import Schema
from scurry.sql.types import DataType


@dataclass(frozen=True)
class PlannedModel:
    """A model as plans have it.

    Attributes:
        path: Catalog, database and name.
        inputs: The columns that it takes.
        options: Options of WITH, as sorted pairs; API keys are among them.
    """

    path: tuple[str, ...]
    inputs: Schema
    outputs: Schema
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        return ".".join(self.path)


@dataclass(frozen=True)
class MLPredict(OneInput):
    """Rows with the predictions of a model: none, one or more rows for each.

    Attributes:
        features: The positions of the columns that it takes.
        config: The map of the call, as pairs; None if the call has none.
    """

    model: PlannedModel
    features: tuple[int, ...]
    config: tuple[tuple[str, str], ...] | None
    names: tuple[str, ...]

    @property
    def schema(self) -> Schema:
        return (self.input.schema + self.model.outputs).renamed(self.names)


class SearchRequest(NamedTuple):
    """A search as the connector of a table gets it.

    Attributes:
        options: Its options, with those of a hint.
        column: The column that has the vectors.
    """

    table: str
    options: Mapping[str, str]
    column: str
    columns: tuple[tuple[str, DataType], ...]


@dataclass(frozen=True)
class VectorSearch(OneInput):
    """Each row with the rows of a table whose vectors are nearest to one of its own.

    Attributes:
        right: The table: a scan, or projections of one.
        column: The position of the column of the table's vectors, which is one of the scan.
        query: The vector of a row, of the type of that column.
        top_k: How many rows of the table each row gets at most.
        config: The map of the call, as pairs; None if the call has none.
        function_schema: The columns of `right`, and that of the score if it is needed.
        outer: Whether a row without results is kept, with NULLs.
        source: Source that is searched, where BATCH executes the plan.
    """

    right: Plan
    column: int
    query: Expression
    top_k: int
    config: tuple[tuple[str, str], ...] | None
    function_schema: Schema
    outer: bool = False
    source: Any = field(default=None, repr=False, compare=False)

    @cached_property
    def schema(self) -> Schema:
        added = self.function_schema.nullable() if self.outer else self.function_schema
        return self.input.schema + added

    @property
    def has_score(self) -> bool:
        """True if the score is among the columns."""
        return len(self.function_schema) > len(self.right.schema)

    @property
    def table(self) -> Scan:
        """The table that is asked."""
        found = scan_below(self.right)
        assert found is not None, "only tables are searched"
        return found

    @property
    def request(self) -> SearchRequest:
        """The request to the connector of the table."""
        table = self.table
        defined: Any = getattr(table.table, "table", None)
        options = {**getattr(defined, "options", {}), **dict(table.options)}
        columns = tuple((each.name, each.type) for each in table.schema)
        return SearchRequest(".".join(table.path), options, self.searched, columns)

    @property
    def searched(self) -> str:
        """The name that the table has for the column of its vectors."""
        plan, column = self.right, self.column
        while isinstance(plan, Project):
            expression = plan.expressions[column]
            assert isinstance(expression, InputReference), "vectors are a column of the table"
            plan, column = plan.input, expression.index
        return plan.schema.names[column]


def scan_below(plan: Plan) -> Scan | None:
    """Return the scan that some projections are of; None if a plan is something else."""
    while isinstance(plan, Project):
        plan = plan.input
    return plan if isinstance(plan, Scan) else None
