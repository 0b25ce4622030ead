"""Nodes that compute, filter, sort, expand or combine rows."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from scurry._dataclasses import dataclass
from scurry.sql.plan.expressions import Expression
from scurry.sql.plan.nodes.base import OneInput, Plan
from scurry.sql.plan.schema import Schema


@dataclass(frozen=True)
class Project(OneInput):
    """Columns computed from each row."""

    expressions: tuple[Expression, ...]
    names: tuple[str, ...]

    @cached_property
    def schema(self) -> Schema:
        return Schema.of(self.names, (each.type for each in self.expressions))


@dataclass(frozen=True)
class Filter(OneInput):
    """The rows for which a condition is TRUE."""

    condition: Expression


@dataclass(frozen=True)
class SortKey:
    """A column to sort by.

    Attributes:
        index: Its position.
        descending: Whether the greatest value comes first.
        nulls_first: Whether NULL comes first.
    """

    index: int
    descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True)
class Sort(OneInput):
    """The rows in an order."""

    keys: tuple[SortKey, ...]


@dataclass(frozen=True)
class Limit(OneInput):
    """Some of the rows, in the order they have.

    Attributes:
        offset: How many are skipped.
        fetch: How many follow at most; None for all.
    """

    offset: int
    fetch: int | None


@dataclass(frozen=True)
class SetOperation(Plan):
    """UNION, INTERSECT or EXCEPT of inputs whose columns have the same types.

    Attributes:
        all: Whether equal rows are kept.
        row_schema: Names and types of the columns.
    """

    kind: str
    all: bool
    branches: tuple[Plan, ...]
    row_schema: Schema

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return self.branches

    @property
    def schema(self) -> Schema:
        return self.row_schema

    def with_inputs(self, inputs: tuple[Plan, ...]) -> SetOperation:
        if all(new is old for new, old in zip(inputs, self.branches, strict=True)):
            return self
        return replace(self, branches=inputs)


@dataclass(frozen=True)
class Unnest(OneInput):
    """Each row with the elements of a collection it has.

    The columns are those of the input, then those of the element: its fields if it is a row, key and value of a map,
    and with ordinality the element's number from 1.

    Attributes:
        collection: The array, map or multiset.
        element_schema: The additional columns.
        ordinality: Whether the last of them is the element's number.
        outer: Whether a row without elements is kept, with NULLs.
        condition: Which elements a row of an outer one has, over the columns of the result; None for all. STREAMING
            only: in BATCH a join has it.
    """

    collection: Expression
    element_schema: Schema
    ordinality: bool = False
    outer: bool = False
    condition: Expression | None = None

    @cached_property
    def schema(self) -> Schema:
        added = self.element_schema.nullable() if self.outer else self.element_schema
        return self.input.schema + added


@dataclass(frozen=True)
class TableFunctionScan(OneInput):
    """Each row with the rows that a table function returns for it.

    Attributes:
        function_schema: The additional columns.
        outer: Whether a row without results is kept, with NULLs.
    """

    call: Expression
    function_schema: Schema
    outer: bool = False

    @cached_property
    def schema(self) -> Schema:
        added = self.function_schema.nullable() if self.outer else self.function_schema
        return self.input.schema + added
