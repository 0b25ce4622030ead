"""Function calls, their arguments, and functions with a syntax of their own."""

from __future__ import annotations

from scurry.sql.syntax.nodes.base import Expression, Query, TableExpression
from scurry.sql.syntax.nodes.expressions import Identifier
from scurry.sql.syntax.nodes.literals import IntervalQualifier
from scurry.sql.syntax.nodes.meta import field
from scurry.sql.syntax.nodes.types import TypeSpec
from scurry.sql.syntax.nodes.windows import OrderItem, WindowSpecification
from scurry.sql.syntax.span import NO_SPAN, Span


class FunctionCall(Expression):
    """A call, with the clauses after the parentheses.

    Attributes:
        null_treatment: ``RESPECT NULLS`` or ``IGNORE NULLS``, if given.
        within_distinct: Keys of ``WITHIN DISTINCT (...)``.
        within_group: Keys of ``WITHIN GROUP (ORDER BY ...)``.
        filter: Condition of ``FILTER (WHERE ...)``.
        over: Window of ``OVER``, by name or written out.
        call_span: Where name and parentheses stand, without what follows.
    """

    null_treatment: str | None = field(default=None, kw_only=True)
    within_distinct: tuple[Expression, ...] = field(default=(), kw_only=True)
    within_group: tuple[OrderItem, ...] = field(default=(), kw_only=True)
    filter: Expression | None = field(default=None, kw_only=True)
    over: Identifier | WindowSpecification | None = field(default=None, kw_only=True)
    call_span: Span = field(default=NO_SPAN, compare=False, kw_only=True)


class Call(FunctionCall):
    """``name(arguments)``.

    Attributes:
        name: The function's name, qualified or not.
        arguments: What is in the parentheses: expressions, named arguments, tables, descriptors, queries.
        quantifier: ``DISTINCT`` or ``ALL``, if given.
        order_by: Keys of an ORDER BY inside the parentheses.
    """

    name: Identifier
    arguments: tuple[Expression, ...] = ()
    quantifier: str | None = None
    order_by: tuple[OrderItem, ...] = ()


class NamedArgument(Expression):
    """``name => value``."""

    name: Identifier
    value: Expression


class TableArgument(Expression):
    """A table given to a function: ``TABLE t PARTITION BY a ORDER BY b``.

    Attributes:
        table: A ``TableReference`` or a query.
        partition_by: Keys of PARTITION BY, or None.
        order_by: Keys of ORDER BY.
    """

    table: TableExpression | Query
    partition_by: tuple[Expression, ...] | None = None
    order_by: tuple[OrderItem, ...] = ()


class ModelArgument(Expression):
    """``MODEL name``."""

    name: Identifier


class Descriptor(Expression):
    """``DESCRIPTOR(columns)``."""

    columns: tuple[Identifier, ...]


class Cast(Expression):
    """``CAST(operand AS type)``; ``function`` is CAST, TRY_CAST or SAFE_CAST."""

    operand: Expression
    type: TypeSpec
    function: str = "CAST"
    format: Expression | None = None

    @property
    def is_try(self) -> bool:
        """Return whether a value that cannot be converted becomes NULL."""
        return self.function != "CAST"


class Extract(Expression):
    """``EXTRACT(unit FROM operand)``."""

    unit: IntervalQualifier
    operand: Expression


class Floor(FunctionCall):
    """``FLOOR(operand TO unit)``; without a unit it is a ``Call``."""

    operand: Expression
    unit: IntervalQualifier


class Ceil(FunctionCall):
    """``CEIL(operand TO unit)``; without a unit it is a ``Call``."""

    operand: Expression
    unit: IntervalQualifier


class Trim(Expression):
    """``TRIM(BOTH characters FROM operand)``; omitted parts are filled in: BOTH, and a blank."""

    side: str
    characters: Expression
    operand: Expression


class Substring(Expression):
    """``SUBSTRING(operand FROM start FOR length)``, or the same with commas."""

    operand: Expression
    start: Expression
    length: Expression | None = None


class Position(Expression):
    """``POSITION(substring IN operand FROM start)``."""

    substring: Expression
    operand: Expression
    start: Expression | None = None


class Overlay(Expression):
    """``OVERLAY(operand PLACING replacement FROM start FOR length)``."""

    operand: Expression
    replacement: Expression
    start: Expression
    length: Expression | None = None


class Convert(Expression):
    """``CONVERT(operand USING charset)``."""

    operand: Expression
    charset: Identifier


class Translate(Expression):
    """``TRANSLATE(operand USING charset)``; with commas it is a ``Call``."""

    operand: Expression
    charset: Identifier


class TimestampAdd(Expression):
    """``TIMESTAMPADD(unit, count, operand)``."""

    unit: IntervalQualifier
    count: Expression
    operand: Expression


class TimestampDiff(Expression):
    """``TIMESTAMPDIFF(unit, start, end)``."""

    unit: IntervalQualifier
    start: Expression
    end: Expression
