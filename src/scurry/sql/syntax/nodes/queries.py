"""Queries, and the table references of FROM."""

from __future__ import annotations

from scurry.sql.syntax.nodes.base import Expression, Node, Query, TableExpression
from scurry.sql.syntax.nodes.expressions import Identifier
from scurry.sql.syntax.nodes.functions import Call
from scurry.sql.syntax.nodes.literals import NumericLiteral, StringLiteral
from scurry.sql.syntax.nodes.meta import field
from scurry.sql.syntax.nodes.types import TypeSpec
from scurry.sql.syntax.nodes.windows import OrderItem, WindowDefinition


class HintOption(Node):
    """An argument of a hint: a name, a literal, or ``key = 'value'``.

    Attributes:
        key: What is before ``=``, if there is one.
        value: The literal or name; a string after ``=``.
        key_is_string: Whether the key is a string in quotes.
    """

    value: Identifier | StringLiteral | NumericLiteral
    key: str | None = None
    key_is_string: bool = False


class Hint(Node):
    """``NAME(options)`` within ``/*+ ... */``.

    ``OPTIONS('key' = 'value')`` after a table name are its dynamic options.
    """

    name: str
    options: tuple[HintOption, ...] = ()


class SelectItem(Node):
    """A column of SELECT.

    Attributes:
        expression: Its value; a ``Star`` for several columns.
        alias: The name given to it, if any.
    """

    expression: Expression
    alias: Identifier | None = None


class GroupingSets(Expression):
    """``GROUPING SETS (...)``, ``ROLLUP (...)`` or ``CUBE (...)``.

    Attributes:
        kind: ``GROUPING SETS``, ``ROLLUP`` or ``CUBE``.
        sets: What is in the parentheses. A set of several keys, or of none, is a ``RowConstructor``.
    """

    kind: str
    sets: tuple[Expression, ...]


class GroupBy(Node):
    """GROUP BY.

    Attributes:
        items: Keys and ``GroupingSets``; the empty set ``()`` is a ``RowConstructor`` without values.
        quantifier: ``DISTINCT`` or ``ALL``, if given.
    """

    items: tuple[Expression, ...]
    quantifier: str | None = None


class Select(Query):
    """SELECT.

    Attributes:
        from_: What is read; None for a query without FROM. Commas are joins of kind ``COMMA``.
        where: The condition of WHERE.
        having: The condition of HAVING.
        qualify: The condition of QUALIFY.
        quantifier: ``DISTINCT`` or ``ALL``, if given.
        hints: Hints after SELECT.
        stream: Whether it is SELECT STREAM.
    """

    items: tuple[SelectItem, ...]
    from_: TableExpression | None = None
    where: Expression | None = None
    group_by: GroupBy | None = None
    having: Expression | None = None
    windows: tuple[WindowDefinition, ...] = ()
    qualify: Expression | None = None
    quantifier: str | None = None
    hints: tuple[Hint, ...] = ()
    stream: bool = False

    @property
    def distinct(self) -> bool:
        return self.quantifier == "DISTINCT"


class SetOperation(Query):
    """``left UNION ALL right``.

    Attributes:
        operator: ``UNION``, ``INTERSECT``, ``EXCEPT`` (also for MINUS).
        all: Whether ALL was written.
        left: The first query.
        right: The second query.
    """

    operator: str
    all: bool
    left: Query
    right: Query


class Values(Query):
    """``VALUES (1, 'a'), (2, 'b')``; a row of one value has one value, too."""

    rows: tuple[Expression, ...]


class ExplicitTable(Query):
    """``TABLE name``."""

    name: Identifier


class OrderBy(Query):
    """A query with ORDER BY, OFFSET, LIMIT or FETCH.

    Attributes:
        query: The query, which may be a ``With``.
        items: The keys; none if there is only a limit.
        offset: Number of rows that are skipped.
        fetch: Number of rows of LIMIT or FETCH.
    """

    query: Query
    items: tuple[OrderItem, ...] = ()
    offset: Expression | None = None
    fetch: Expression | None = None


class CommonTableExpression(Node):
    """``name (columns) AS (query)`` in WITH."""

    name: Identifier
    query: Query
    columns: tuple[Identifier, ...] = ()


class With(Query):
    """``WITH name AS (query) query``."""

    tables: tuple[CommonTableExpression, ...]
    query: Query
    recursive: bool = False


class TableReference(TableExpression):
    """A table or view by its name.

    Attributes:
        hints: Hints after the name, dynamic options among them.
        extend: Columns of EXTEND: names and types.
    """

    name: Identifier
    hints: tuple[Hint, ...] = ()
    extend: tuple[tuple[Identifier, TypeSpec], ...] = ()


class Snapshot(TableExpression):
    """``table FOR SYSTEM_TIME AS OF period``."""

    table: TableExpression
    period: Expression


class TableSample(TableExpression):
    """``table TABLESAMPLE method (arguments)``.

    Attributes:
        table: What is sampled.
        method: ``BERNOULLI``, ``SYSTEM`` or ``SUBSTITUTE``.
        arguments: The percentage, or the name of the substitute.
        repeatable: The seed, if given.
    """

    table: TableExpression
    method: str
    argument: Expression
    repeatable: Expression | None = None


class Alias(TableExpression):
    """``table AS name (columns)``.

    Attributes:
        columns: New names of its columns; none if they keep theirs.
    """

    table: TableExpression
    name: Identifier
    columns: tuple[Identifier, ...] = ()


class DerivedTable(TableExpression):
    """A query in parentheses; ``lateral`` if it may refer to the tables before it."""

    query: Query
    lateral: bool = False


class TableFunction(TableExpression):
    """``TABLE(f(...))``, ``LATERAL TABLE(f(...))``, or ``f(...)`` alone.

    Attributes:
        lateral: Whether LATERAL was written.
        hints: Hints after it.
    """

    call: Call
    lateral: bool = False
    hints: tuple[Hint, ...] = ()


class Unnest(TableExpression):
    """``UNNEST(collections) WITH ORDINALITY``."""

    collections: tuple[Expression, ...]
    with_ordinality: bool = False
    lateral: bool = field(default=False, compare=False)


class Join(TableExpression):
    """``left kind JOIN right ON condition``.

    Attributes:
        kind: ``INNER``, ``LEFT``, ``RIGHT``, ``FULL``, ``CROSS``, ``COMMA``, ``LEFT SEMI``, ``LEFT ANTI``, ...
        left: The table before it.
        right: The table after it.
        natural: Whether it is a NATURAL JOIN.
    """

    kind: str
    left: TableExpression
    right: TableExpression
    natural: bool = False
    condition: Expression | None = None
    using: tuple[Identifier, ...] = ()


class PivotItem(Node):
    """A part of PIVOT or UNPIVOT.

    Attributes:
        values: An aggregate, a row of values, or columns.
        row: The values of an UNPIVOT's ``columns AS (values)``.
    """

    values: tuple[Expression, ...]
    alias: Identifier | None = None
    row: tuple[Expression, ...] = ()


class Pivot(TableExpression):
    """``table PIVOT (aggregates FOR columns IN (values))``; no planner of Flink takes it."""

    table: TableExpression
    aggregates: tuple[PivotItem, ...]
    columns: tuple[Identifier, ...]
    values: tuple[PivotItem, ...]


class Unpivot(TableExpression):
    """``table UNPIVOT (measures FOR axes IN (items))``; no planner of Flink takes it."""

    table: TableExpression
    measures: tuple[Identifier, ...]
    axes: tuple[Identifier, ...]
    items: tuple[PivotItem, ...]
    include_nulls: bool = False
