"""Nodes of aggregates in STREAMING."""

from __future__ import annotations

from functools import cached_property

from scurry._dataclasses import dataclass
from scurry.sql.plan.expressions import AggregateCall
from scurry.sql.plan.nodes import Aggregate, OneInput
from scurry.sql.plan.schema import Column, Schema
from scurry.sql.types import BigIntType


@dataclass(frozen=True)
class Expand(OneInput):
    """Each row once per grouping set.

    The columns are those of the input, then the keys, of which those that a grouping set leaves out are NULL, then the
    number of the grouping set.

    Attributes:
        keys: Positions of the columns that are grouped by.
        grouping_sets: Each a subset of the keys' places among the keys.
        copied: Keys that aggregates need in all sets, for EXPLAIN; empty where plans are executed.
    """

    keys: tuple[int, ...]
    grouping_sets: tuple[tuple[int, ...], ...]
    numbers: tuple[int, ...]
    copied: tuple[int, ...] = ()

    @cached_property
    def schema(self) -> Schema:
        below = self.input.schema.renamed(
            f"{name}_0" if place in self.copied else name for place, name in enumerate(self.input.schema.names)
        )
        keys = [Column(self.input.schema[key].name, below[key].type.nullable()) for key in self.keys]
        return Schema((*below.columns, *keys, Column("$e", BigIntType(False))))


@dataclass(frozen=True)
class LocalGroupAggregate(OneInput):
    """The first phase of an aggregate: a row for each group of the rows that are read together, where they are read.

    The schema has the keys. Behind them rows have the states of the aggregates, which only the second phase reads.

    Attributes:
        keys: Positions of the columns that are grouped by.
        calls: The aggregates; their arguments are columns of the input.
        retracts: Whether rows may be taken back.
    """

    keys: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    retracts: bool

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema.select(self.keys)


@dataclass(frozen=True)
class GlobalGroupAggregate(OneInput):
    """The second phase: the states that a `LocalGroupAggregate` makes are merged by group, and kept.

    Attributes:
        aggregate: The aggregate of both phases; its input matters only by its columns.
        retracts: Whether rows may be taken back.
    """

    aggregate: Aggregate
    retracts: bool

    @property
    def keys(self) -> tuple[int, ...]:
        """Positions of the columns that are grouped by."""
        return tuple(range(len(self.aggregate.keys)))

    @property
    def schema(self) -> Schema:
        return self.aggregate.schema
