"""The nodes of a relational plan.

Nodes are frozen and know the names and types of their columns. Expressions in them refer to columns of the inputs by
position; those of a join count the left columns first. The functions of `builders` make nodes and check them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from scurry.logical_types import DataType
from scurry.relational.expressions import AggregateCall, Expression, InputReference
from scurry.relational.lookup_retry import LookupRetry
from scurry.relational.schema import Column, Schema
from scurry.relational.windows import WindowCall

__all__ = [
    "Aggregate",
    "Correlate",
    "Filter",
    "Join",
    "Limit",
    "OneInput",
    "Over",
    "Plan",
    "Project",
    "Scan",
    "SetOperation",
    "Sink",
    "Sort",
    "SortKey",
    "TableAggregate",
    "TableFunctionScan",
    "TemporalJoin",
    "TwoInputs",
    "Unnest",
    "Values",
    "WindowTable",
    "joined_schema",
    "walk",
]


@dataclass(frozen=True)
class Plan:
    """A node: an operation with its inputs."""

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The nodes whose rows this one reads."""
        return ()

    @property
    def schema(self) -> Schema:
        """Names and types of the columns."""
        raise NotImplementedError

    def with_inputs(self, inputs: tuple[Plan, ...]) -> Plan:
        """Return the same operation on other inputs of the same types."""
        return self


@dataclass(frozen=True)
class OneInput(Plan):
    """A node with one input, whose columns it has unless it says otherwise."""

    input: Plan

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return (self.input,)

    @property
    def schema(self) -> Schema:
        return self.input.schema

    def with_inputs(self, inputs: tuple[Plan, ...]) -> Self:
        return self if inputs[0] is self.input else replace(self, input=inputs[0])


@dataclass(frozen=True)
class TwoInputs(Plan):
    """A node with two inputs."""

    left: Plan
    right: Plan

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return (self.left, self.right)

    def with_inputs(self, inputs: tuple[Plan, ...]) -> Self:
        if inputs[0] is self.left and inputs[1] is self.right:
            return self
        return replace(self, left=inputs[0], right=inputs[1])


@dataclass(frozen=True)
class Scan(Plan):
    """Rows of a table of the catalog.

    Attributes:
        path: Catalog, database and name of the table.
        table: What the catalog knows of it; `scurry.sql.validator.catalog` says what it has.
        table_schema: All columns of the table that are stored or are metadata.
        columns: Positions of the columns that are read.
        conditions: Conditions on the columns read, all of which hold for the rows that are used. A source may apply
            them, and need not.
        options: Dynamic options of a hint, as pairs.
        primary_key: Positions of the columns of the primary key among all columns; none if there is none.
        changes: INSERT for a table of inserted rows, RETRACT for one whose updates have the rows before and after,
            UPSERT for one whose rows replace each other by the primary key.
    """

    path: tuple[str, ...]
    table: Any = field(compare=False, repr=False)
    table_schema: Schema
    columns: tuple[int, ...]
    conditions: tuple[Expression, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    primary_key: tuple[int, ...] = ()
    changes: str = "INSERT"

    @cached_property
    def schema(self) -> Schema:
        return self.table_schema.select(self.columns)


@dataclass(frozen=True)
class Values(Plan):
    """Rows written in the query.

    Attributes:
        row_schema: Names and types.
        rows: The rows; their expressions refer to no columns.
    """

    row_schema: Schema
    rows: tuple[tuple[Expression, ...], ...]

    @property
    def schema(self) -> Schema:
        return self.row_schema


@dataclass(frozen=True)
class Project(OneInput):
    """Columns computed from each row.

    Attributes:
        expressions: The columns.
        names: Their names.
    """

    expressions: tuple[Expression, ...]
    names: tuple[str, ...]

    @cached_property
    def schema(self) -> Schema:
        return Schema.of(self.names, (each.type for each in self.expressions))


@dataclass(frozen=True)
class Filter(OneInput):
    """The rows for which a condition is TRUE.

    Attributes:
        condition: The condition.
    """

    condition: Expression


@dataclass(frozen=True)
class Join(TwoInputs):
    """Pairs of rows for which a condition is TRUE, and for outer joins the rows without a partner.

    Attributes:
        kind: INNER, LEFT, RIGHT, FULL, SEMI or ANTI. SEMI and ANTI have the columns of the left side only.
        condition: The condition, over the columns of both sides; None for a cross join.
        state_ttl: Milliseconds after which STREAMING forgets rows of each side, as a hint says; None as the session.
    """

    kind: str
    condition: Expression | None
    state_ttl: tuple[int | None, int | None] = (None, None)

    @cached_property
    def schema(self) -> Schema:
        return joined_schema(self.left.schema, self.right.schema, self.kind)


@dataclass(frozen=True)
class Correlate(TwoInputs):
    """For each row of the left side, the rows that the right side has for it.

    Attributes:
        correlation: The number by which references to the left row in the right side name it.
        kind: INNER, LEFT, SEMI or ANTI.
    """

    correlation: int
    kind: str

    @cached_property
    def schema(self) -> Schema:
        return joined_schema(self.left.schema, self.right.schema, self.kind)


@dataclass(frozen=True)
class TemporalJoin(TwoInputs):
    """Pairs of rows with the version that the right side had at a point of time: `FOR SYSTEM_TIME AS OF`.

    Attributes:
        kind: INNER or LEFT.
        condition: The condition, over the columns of both sides.
        period: The point of time, over the columns of the left side.
        retry: What is done if the right side is a table that is asked and has no row; None for nothing.
    """

    kind: str
    condition: Expression | None
    period: Expression
    retry: LookupRetry | None = None

    @cached_property
    def schema(self) -> Schema:
        return joined_schema(self.left.schema, self.right.schema, self.kind)


@dataclass(frozen=True)
class Aggregate(OneInput):
    """One row per group of rows, for each of the grouping sets.

    The columns are the keys, the grouping set's number if there is a column for it, then the aggregates.
    A key that is not part of a grouping set is NULL in its rows.

    Attributes:
        keys: Positions of the columns that are grouped by.
        calls: The aggregates; their arguments are columns of the input.
        names: Names of the aggregates.
        grouping_sets: Each a subset of the keys' places among the keys; a single set of all of them is GROUP BY.
        grouping_id: Type of a column that says which keys are left out, as a number: the last key is the lowest bit.
            None if there is no such column.
        state_ttl: Milliseconds after which STREAMING forgets a group, as a hint says; None as the session.
    """

    keys: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    names: tuple[str, ...]
    grouping_sets: tuple[tuple[int, ...], ...]
    grouping_id: DataType | None = None
    state_ttl: int | None = None

    @property
    def is_simple(self) -> bool:
        """Whether there is one grouping set, of all keys."""
        return self.grouping_sets == (tuple(range(len(self.keys))),)

    @cached_property
    def schema(self) -> Schema:
        columns = []
        for place, key in enumerate(self.keys):
            column = self.input.schema[key]
            everywhere = all(place in grouping for grouping in self.grouping_sets)
            columns.append(column if everywhere else Column(column.name, column.type.nullable()))
        calls = [Column(name, call.type) for name, call in zip(self.names, self.calls, strict=True)]
        identifier = [] if self.grouping_id is None else [Column("$e", self.grouping_id)]
        return Schema((*columns, *identifier, *calls))


@dataclass(frozen=True)
class TableAggregate(OneInput):
    """The rows that a table aggregate function makes of each group of rows.

    The columns are the keys, then those of the function.

    Attributes:
        keys: Positions of the columns that are grouped by.
        call: The call of the function; its arguments are columns of the input.
        function_schema: The additional columns.
    """

    keys: tuple[int, ...]
    call: AggregateCall
    function_schema: Schema

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema.select(self.keys) + self.function_schema

    @property
    def arguments(self) -> tuple[int, ...]:
        """The positions of the columns that the function is called with."""
        return tuple(each.index for each in self.call.arguments if isinstance(each, InputReference))


@dataclass(frozen=True)
class WindowTable(OneInput):
    """Each row with the windows it belongs to: the functions TUMBLE, HOP, CUMULATE and SESSION.

    The columns are those of the input, then window_start, window_end and window_time.

    Attributes:
        kind: TUMBLE, HOP, CUMULATE or SESSION.
        time: Position of the time column.
        size: Length of the windows in milliseconds: the maximum for CUMULATE, the gap for SESSION.
        slide: Distance of windows of HOP, step of CUMULATE.
        offset: By how much windows are shifted.
        partition_by: Positions of the keys of SESSION; None for those of the aggregate above, as in GROUP BY.
        window_schema: The three additional columns.
    """

    kind: str
    time: int
    size: int
    slide: int | None
    offset: int
    partition_by: tuple[int, ...] | None
    window_schema: Schema

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema + self.window_schema


@dataclass(frozen=True)
class Over(OneInput):
    """Each row with aggregates over the rows around it.

    The columns are those of the input, then the aggregates.

    Attributes:
        calls: The aggregates; partitions, orders and arguments are columns of the input.
        names: Their names.
    """

    calls: tuple[WindowCall, ...]
    names: tuple[str, ...]

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema + Schema.of(self.names, (call.type for call in self.calls))


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
    """The rows in an order.

    Attributes:
        keys: What to sort by.
    """

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
        kind: UNION, INTERSECT or EXCEPT.
        all: Whether equal rows are kept.
        branches: The inputs.
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
    """

    collection: Expression
    element_schema: Schema
    ordinality: bool = False
    outer: bool = False

    @cached_property
    def schema(self) -> Schema:
        added = self.element_schema.nullable() if self.outer else self.element_schema
        return self.input.schema + added


@dataclass(frozen=True)
class TableFunctionScan(OneInput):
    """Each row with the rows that a table function returns for it.

    Attributes:
        call: The call.
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


@dataclass(frozen=True)
class Sink(OneInput):
    """Rows written to a table.

    Attributes:
        path: Catalog, database and name of the table.
        table: What the catalog knows of it.
        overwrite: Whether INSERT OVERWRITE was written.
        partition: The static partition, as pairs.
        key: Positions of the columns of the table's primary key; none if there is none.
        changes: What the table takes: INSERT for inserted rows only; UPSERT for changes of which updates have only the
            row after them; ALL for changes with the rows before updates as well.
        refusal: How a table that takes inserted rows only refuses others; None for Flink's general words.
        on_conflict: What is done with rows of the same primary key, as the statement says: DEDUPLICATE, ERROR, NOTHING.
        upsert_materialize: Whether the changes of the query, which are by another key, become changes by the table's.
    """

    path: tuple[str, ...]
    table: Any = field(compare=False, repr=False)
    overwrite: bool = False
    partition: tuple[tuple[str, str], ...] = ()
    key: tuple[int, ...] = ()
    changes: str = "INSERT"
    refusal: str | None = None
    on_conflict: str | None = None
    upsert_materialize: bool = False


def walk(plan: Plan) -> Iterator[Plan]:
    """Iterate over a node and all below it, each node before its inputs."""
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.inputs))


def joined_schema(left: Schema, right: Schema, kind: str) -> Schema:
    """Return the columns of a join of two sides."""
    if kind in ("SEMI", "ANTI"):
        return left
    first = left.nullable() if kind in ("RIGHT", "FULL") else left
    second = right.nullable() if kind in ("LEFT", "FULL") else right
    return first + second
