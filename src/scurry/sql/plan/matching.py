"""MATCH_RECOGNIZE: rows of a partition, in the order of time, that follow a pattern."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Final

from scurry._dataclasses import dataclass
from scurry.sql.plan.expressions import AggregateCall, Expression, Literal
from scurry.sql.plan.nodes import OneInput, SortKey
from scurry.sql.plan.schema import Column, Schema
from scurry.sql.types import DataType
from scurry.sql.types.families import is_proctime

#: The variable of a column that is written without one: it stands for all of them.
ALL_VARIABLES: Final = "*"


@dataclass(frozen=True)
class PatternReference(Expression):
    """A column of a row that a variable has taken.

    Attributes:
        index: Position of the column in the input.
        first: Whether rows are counted from the first one that the variable has taken; else from the last one.
        offset: How many rows further in that direction.
        is_navigated: Whether FIRST, LAST or PREV was written.
    """

    variable: str
    index: int
    type: DataType
    first: bool = False
    offset: int = 0
    is_navigated: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class PatternAggregate(Expression):
    """An aggregate over the rows that a variable has taken.

    Attributes:
        variable: The variable; None if no column names one.
        call: The aggregate, over columns of the input.
    """

    variable: str | None
    call: AggregateCall
    type: DataType


@dataclass(frozen=True)
class RefusedCall(Expression):
    """A call that Flink's validator accepts, and its planner refuses.

    Attributes:
        message: The words it is refused with.
    """

    message: str
    type: DataType


@dataclass(frozen=True)
class MatchTime(Expression):
    """The time of a match: MATCH_ROWTIME or MATCH_PROCTIME, by its type."""

    type: DataType

    @property
    def is_processing_time(self) -> bool:
        """Return whether it is the time at which the match is found, not that of its last row."""
        return is_proctime(self.type)


@dataclass(frozen=True)
class MatchPattern:
    """A part of PATTERN."""


@dataclass(frozen=True)
class PatternVariable(MatchPattern):
    """One row, for which the condition of a variable holds."""

    name: str


@dataclass(frozen=True)
class PatternQuantifier(MatchPattern):
    """A part that is repeated.

    Attributes:
        low: How often at least; -1 if nothing is said of it.
        high: How often at most; -1 if there is no limit.
        reluctant: Whether as few rows as possible are taken.
    """

    operand: MatchPattern
    low: int
    high: int
    reluctant: bool


@dataclass(frozen=True)
class PatternOperation(MatchPattern):
    """Parts that are put together.

    Attributes:
        operator: Calcite's name: empty for one after the other, `|`, `PATTERN_PERMUTE` or `PATTERN_EXCLUDE`.
    """

    operator: str
    operands: tuple[MatchPattern, ...]


@dataclass(frozen=True)
class Definition:
    """A condition of DEFINE.

    Attributes:
        variable: For the rows of which variable.
        condition: The condition, over columns of rows that variables have taken; the present row is the last of its.
    """

    variable: str
    condition: Expression


@dataclass(frozen=True)
class AfterMatch:
    """Position at which the search for the next match begins.

    Attributes:
        kind: `PAST LAST ROW`, `TO NEXT ROW`, `TO FIRST` or `TO LAST`.
        variable: The variable of the last two.
    """

    kind: str
    variable: str | None = None


@dataclass(frozen=True)
class Match(OneInput):
    """A row for each match of a pattern: its keys, then its measures.

    Attributes:
        partition_by: Positions of the columns of the key.
        order_by: In what order the rows of a key come; the time is first.
        measures: What is computed of each match.
        definitions: The conditions of its variables.
        after: Where the search for the next match begins.
        within: How long a match may take: a literal of an interval.
        subsets: Names for several variables, which no row is ever taken by.
    """

    partition_by: tuple[int, ...]
    order_by: tuple[SortKey, ...]
    measures: tuple[Expression, ...]
    names: tuple[str, ...]
    pattern: MatchPattern
    definitions: tuple[Definition, ...]
    after: AfterMatch
    within: Literal | None = None
    subsets: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @cached_property
    def schema(self) -> Schema:
        keys = [self.input.schema[key] for key in self.partition_by]
        measures = [Column(name, each.type) for name, each in zip(self.names, self.measures, strict=True)]
        return Schema((*keys, *measures))


@dataclass(frozen=True)
class PatternMatch(Match):
    """A pattern that can be translated to an automaton."""
