"""Parts of table definitions: columns, constraints, watermarks, options."""

from __future__ import annotations

from scurry.sql.syntax.nodes.base import Expression, Node
from scurry.sql.syntax.nodes.expressions import Identifier
from scurry.sql.syntax.nodes.literals import StringLiteral
from scurry.sql.syntax.nodes.meta import field
from scurry.sql.syntax.nodes.types import TypeSpec


class Property(Node):
    """``'key' = 'value'`` in WITH or SET."""

    key: StringLiteral
    value: StringLiteral


class PartitionField(Node):
    """``column = value`` of a PARTITION; the value is None where only the column is named."""

    column: Identifier
    value: Expression | None = None


class ColumnPosition(Node):
    """``FIRST`` (without a column) or ``AFTER column``."""

    after: Identifier | None = None


class TableConstraint(Node):
    """``CONSTRAINT name PRIMARY KEY (columns) NOT ENFORCED``.

    Attributes:
        kind: ``PRIMARY KEY`` or ``UNIQUE``.
        enforced: Whether it is ENFORCED; None if nothing is said.
    """

    kind: str
    columns: tuple[Identifier, ...]
    name: Identifier | None = None
    enforced: bool | None = None


class ColumnConstraint(Node):
    """A constraint after a column's type; attributes as of ``TableConstraint``."""

    kind: str
    name: Identifier | None = None
    enforced: bool | None = None


class Column(Node):
    """A column of a table definition.

    Attributes:
        name: Its name; of several parts for a nested field in ALTER TABLE.
        position: Where ALTER TABLE puts it, if given.
    """

    name: Identifier
    comment: str | None = field(default=None, kw_only=True)
    position: ColumnPosition | None = field(default=None, kw_only=True)


class PhysicalColumn(Column):
    """``name type``.

    Attributes:
        constraint: The constraint after its type, if any.
    """

    type: TypeSpec
    constraint: ColumnConstraint | None = None


class ComputedColumn(Column):
    """``name AS expression``."""

    expression: Expression


class MetadataColumn(Column):
    """``name type METADATA FROM 'key' VIRTUAL``.

    Attributes:
        virtual: Whether it is only read.
    """

    type: TypeSpec
    key: str | None = None
    virtual: bool = False


class NameOnlyColumn(Column):
    """``name``, as CREATE TABLE ... AS takes it to reorder the columns of its query."""


class Watermark(Node):
    """``WATERMARK FOR column AS expression``."""

    column: Identifier
    expression: Expression


class TableSchema(Node):
    """The columns and constraints of a table definition, in parentheses.

    Attributes:
        constraints: Its constraints, without those written with a column.
        watermark: Its watermark, if any.
    """

    columns: tuple[Column, ...] = ()
    constraints: tuple[TableConstraint, ...] = ()
    watermark: Watermark | None = None


class Distribution(Node):
    """``DISTRIBUTED BY HASH(columns) INTO n BUCKETS``.

    Attributes:
        kind: ``HASH`` or ``RANGE``, if given.
        columns: The columns; none if only the number of buckets is given.
    """

    kind: str | None = None
    columns: tuple[Identifier, ...] = ()
    buckets: int | None = None


class TableLikeOption(Node):
    """``INCLUDING OPTIONS``.

    Attributes:
        strategy: ``INCLUDING``, ``EXCLUDING`` or ``OVERWRITING``.
        feature: ``ALL``, ``CONSTRAINTS``, ``DISTRIBUTION``, ``GENERATED``, ``METADATA``, ``OPTIONS``, ``PARTITIONS`` or
            ``WATERMARKS``.
    """

    strategy: str
    feature: str


class TableLikeClause(Node):
    """``LIKE table (options)``."""

    table: Identifier
    options: tuple[TableLikeOption, ...] = ()
