"""MATCH_RECOGNIZE."""

from __future__ import annotations

from scurry.sql.syntax.nodes.base import Expression, Node, TableExpression
from scurry.sql.syntax.nodes.expressions import Identifier
from scurry.sql.syntax.nodes.windows import OrderItem


class Pattern(Node):
    """A part of PATTERN."""


class PatternVariable(Pattern):
    """A variable, which matches one row."""

    name: Identifier


class PatternQuantifier(Pattern):
    """``operand{low,high}``.

    Attributes:
        operand: What is repeated.
        low: Smallest number of repetitions.
        high: Largest number of repetitions; -1 if there is no limit.
        reluctant: Whether as few as possible are taken: a ``?`` follows.
    """

    operand: Pattern
    low: int
    high: int
    reluctant: bool = False


class PatternConcatenation(Pattern):
    """``left right``: one after the other."""

    left: Pattern
    right: Pattern


class PatternAlternation(Pattern):
    """``left | right``."""

    left: Pattern
    right: Pattern


class PatternExclusion(Pattern):
    """``{- operand -}``: matched, but left out of the result."""

    operand: Pattern


class PatternPermutation(Pattern):
    """``PERMUTE(a, b, ...)``."""

    operands: tuple[Pattern, ...]


class Measure(Node):
    """``expression AS name`` in MEASURES."""

    expression: Expression
    name: Identifier


class PatternSubset(Node):
    """``name = (variables)`` in SUBSET."""

    name: Identifier
    variables: tuple[Identifier, ...]


class PatternDefinition(Node):
    """``variable AS condition`` in DEFINE."""

    variable: Identifier
    condition: Expression


class SkipAfterMatch(Node):
    """AFTER MATCH SKIP.

    Attributes:
        to: ``PAST LAST ROW``, ``TO NEXT ROW``, ``TO FIRST`` or ``TO LAST``.
        variable: The variable of the last two.
    """

    to: str
    variable: Identifier | None = None


class MatchRecognize(TableExpression):
    """``table MATCH_RECOGNIZE (...)``.

    Attributes:
        table: The input.
        definitions: Conditions of its variables.
        partition_by: Keys of PARTITION BY.
        order_by: Keys of ORDER BY.
        measures: Columns of the result.
        rows_per_match: ``ONE ROW PER MATCH`` or ``ALL ROWS PER MATCH``, with SHOW EMPTY MATCHES, OMIT EMPTY MATCHES
            or WITH UNMATCHED ROWS, if given.
        after_match: Where the next match starts, if given.
        starts_at_first_row: Whether the pattern begins with ``^``.
        ends_at_last_row: Whether the pattern ends with ``$``.
        within: The interval of WITHIN.
        subsets: The unions of variables of SUBSET.
    """

    table: TableExpression
    pattern: Pattern
    definitions: tuple[PatternDefinition, ...]
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[OrderItem, ...] = ()
    measures: tuple[Measure, ...] = ()
    rows_per_match: str | None = None
    after_match: SkipAfterMatch | None = None
    starts_at_first_row: bool = False
    ends_at_last_row: bool = False
    within: Expression | None = None
    subsets: tuple[PatternSubset, ...] = ()
