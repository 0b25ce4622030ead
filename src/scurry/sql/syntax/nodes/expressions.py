"""Names, operators, function calls and constructors."""

from __future__ import annotations

from scurry.sql.syntax.nodes.base import Expression, Query
from scurry.sql.syntax.nodes.literals import IntervalQualifier
from scurry.sql.syntax.nodes.meta import field
from scurry.sql.syntax.span import Span


class Identifier(Expression):
    """A name of one or more parts.

    Attributes:
        names: The parts, without quotes.
        part_spans: For each part, where it stands.
    """

    names: tuple[str, ...]
    quoted: tuple[bool, ...] = field(default=(), kw_only=True, compare=False)
    part_spans: tuple[Span, ...] = field(default=(), kw_only=True, compare=False)

    @property
    def last(self) -> str:
        """The last part: the name without its qualifiers."""
        return self.names[-1]

    @property
    def is_simple(self) -> bool:
        """Return whether it has one part."""
        return len(self.names) == 1

    def __str__(self) -> str:
        return ".".join(self.names)


class Star(Expression):
    """``*`` or, with a qualifier, ``t.*``."""

    qualifier: Identifier | None = None


class DynamicParameter(Expression):
    """``?``, numbered from 0 in the order of the text."""

    index: int


class Default(Expression):
    """DEFAULT as an argument or a value of an insertion."""


class ContextVariable(Expression):
    """A function without parentheses, as CURRENT_DATE; the name is in upper case."""

    name: str


class UnaryOperation(Expression):
    """An operator and its operand: ``-``, ``+``, ``NOT``, ``RUNNING``, ``FINAL``, ``PRIOR``."""

    operator: str
    operand: Expression


class BinaryOperation(Expression):
    """An operator between two operands.

    Attributes:
        operator: In upper case, as Calcite writes it: ``+``, ``AND``, ``<>``, ``IS NOT DISTINCT FROM``, ``||``,
            ``OVERLAPS``, ``MULTISET UNION ALL``, ``MEMBER OF``, ...
        left: The operand before it.
        right: The operand after it.
    """

    operator: str
    left: Expression
    right: Expression


class Between(Expression):
    """``operand [NOT] BETWEEN [SYMMETRIC] low AND high``."""

    operand: Expression
    low: Expression
    high: Expression
    negated: bool = False
    symmetric: bool = False


class In(Expression):
    """``operand [NOT] IN (values)`` or ``operand [NOT] IN (query)``."""

    operand: Expression
    values: tuple[Expression, ...] | Query
    negated: bool = False


class QuantifiedComparison(Expression):
    """``left operator SOME (values)``.

    Attributes:
        left: The operand before the operator.
        operator: The comparison, as ``=`` or ``<``.
        quantifier: ``SOME`` (also written ANY) or ``ALL``.
        values: A list of values, or a query.
    """

    left: Expression
    operator: str
    quantifier: str
    values: tuple[Expression, ...] | Query


class Like(Expression):
    """``operand [NOT] LIKE pattern [ESCAPE escape]``.

    Attributes:
        operand: What is matched.
        escape: The character that takes the meaning from a wildcard, if given.
        operator: ``LIKE``, ``ILIKE``, ``RLIKE`` or ``SIMILAR TO``.
        negated: Whether there is a NOT.
    """

    operand: Expression
    pattern: Expression
    escape: Expression | None = None
    operator: str = "LIKE"
    negated: bool = False


class IsTest(Expression):
    """``operand IS [NOT] test``.

    Attributes:
        operand: What is tested.
        test: ``NULL``, ``TRUE``, ``FALSE``, ``UNKNOWN``, ``JSON VALUE``, ``JSON OBJECT``, ``JSON ARRAY``,
            ``JSON SCALAR``, ``A SET`` or ``EMPTY``.
        negated: Whether there is a NOT.
    """

    operand: Expression
    test: str
    negated: bool = False


class WhenClause(Expression):
    """``WHEN condition THEN result``."""

    condition: Expression
    result: Expression


class Case(Expression):
    """``CASE WHEN ... THEN ... ELSE ... END``.

    As in Calcite, ``CASE x WHEN 1 THEN`` is read as ``CASE WHEN x = 1 THEN``, and a missing ELSE as ``ELSE NULL``.
    """

    branches: tuple[WhenClause, ...]
    default: Expression


class Subquery(Expression):
    """A query in parentheses as a value."""

    query: Query


class Exists(Expression):
    """``EXISTS (query)``."""

    query: Query


class Unique(Expression):
    """``UNIQUE (query)``."""

    query: Query


class RowConstructor(Expression):
    """``ROW(values)``, or ``(values)`` with more than one value.

    Attributes:
        values: The fields.
        explicit: Whether ROW was written.
    """

    values: tuple[Expression, ...]
    explicit: bool = field(default=True, compare=False)


class ArrayConstructor(Expression):
    """``ARRAY[values]``."""

    values: tuple[Expression, ...]


class MapConstructor(Expression):
    """``MAP[key, value, key, value, ...]``; ``values`` are keys and values in turn."""

    values: tuple[Expression, ...]


class MultisetConstructor(Expression):
    """``MULTISET[values]``."""

    values: tuple[Expression, ...]


class CollectionFromQuery(Expression):
    """``ARRAY(query)``, ``MAP(query)``, ``MULTISET(query)`` or ``CURSOR(query)``; ``kind`` is the keyword."""

    kind: str
    query: Query


class ItemAccess(Expression):
    """``collection[index]``."""

    collection: Expression
    index: Expression


class FieldAccess(Expression):
    """``operand.field``, where the operand is no name: ``a[1].f``, ``f(x).g``, ``(r).*``.

    Attributes:
        field: Its name, a star, or a call.
    """

    operand: Expression
    field: Expression


class NextValue(Expression):
    """``NEXT VALUE FOR sequence`` or ``CURRENT VALUE FOR sequence``."""

    sequence: Identifier
    current: bool = False


class IntervalExpression(Expression):
    """``INTERVAL operand unit``, where the operand is a number, a name or in parentheses; a quoted one is a literal."""

    operand: Expression
    qualifier: IntervalQualifier


class MinusDate(Expression):
    """``(left - right) unit``: the difference of two points in time in units."""

    left: Expression
    right: Expression
    qualifier: IntervalQualifier


class JdbcFunction(Expression):
    """``{fn name(arguments)}``."""

    name: str
    arguments: tuple[Expression, ...]


class NewObject(Expression):
    """``NEW type(arguments)``; the operand is the call."""

    operand: Expression
