"""CREATE and DROP."""

from __future__ import annotations

from scurry.sql.syntax.nodes.base import Expression, Query, Statement
from scurry.sql.syntax.nodes.columns import Distribution, Property, TableLikeClause, TableSchema
from scurry.sql.syntax.nodes.expressions import Identifier
from scurry.sql.syntax.nodes.literals import StringLiteral


class CreateTable(Statement):
    """CREATE TABLE, with LIKE or AS if given; also [CREATE OR] REPLACE TABLE ... AS.

    Attributes:
        schema: What is in the parentheses, or None.
        distribution: DISTRIBUTED, if given.
        partitioned_by: Columns of PARTITIONED BY.
        properties: WITH; None if it was left out.
        temporary: Whether it is TEMPORARY.
        if_not_exists: Whether IF NOT EXISTS was written.
        replace: ``REPLACE`` or ``CREATE OR REPLACE``, if one of them was written.
    """

    name: Identifier
    schema: TableSchema | None = None
    comment: str | None = None
    distribution: Distribution | None = None
    partitioned_by: tuple[Identifier, ...] = ()
    properties: tuple[Property, ...] | None = None
    like: TableLikeClause | None = None
    query: Query | None = None
    temporary: bool = False
    if_not_exists: bool = False
    replace: str | None = None


class CreateView(Statement):
    """``CREATE VIEW name (columns) COMMENT 'comment' AS query``."""

    name: Identifier
    query: Query
    columns: tuple[Identifier, ...] = ()
    comment: str | None = None
    temporary: bool = False
    if_not_exists: bool = False


class CreateMaterializedTable(Statement):
    """CREATE [OR ALTER] MATERIALIZED TABLE.

    Attributes as of ``CreateTable``, and:

    Attributes:
        freshness: The interval of FRESHNESS, if given.
        refresh_mode: ``FULL`` or ``CONTINUOUS``, if given.
        or_alter: Whether OR ALTER was written.
    """

    name: Identifier
    query: Query
    schema: TableSchema | None = None
    comment: str | None = None
    distribution: Distribution | None = None
    partitioned_by: tuple[Identifier, ...] = ()
    properties: tuple[Property, ...] | None = None
    start_mode: Expression | None = None
    freshness: Expression | None = None
    refresh_mode: str | None = None
    or_alter: bool = False


class CreateCatalog(Statement):
    """``CREATE CATALOG name COMMENT 'comment' WITH (properties)``."""

    name: Identifier
    properties: tuple[Property, ...] | None = None
    comment: str | None = None
    if_not_exists: bool = False


class CreateDatabase(Statement):
    """``CREATE DATABASE name COMMENT 'comment' WITH (properties)``."""

    name: Identifier
    properties: tuple[Property, ...] | None = None
    comment: str | None = None
    if_not_exists: bool = False


class CreateFunction(Statement):
    """``CREATE FUNCTION name AS 'class' LANGUAGE language USING JAR 'path' WITH (properties)``.

    Attributes:
        class_name: The class or, for Python, module and attribute.
        language: ``JAVA``, ``SCALA``, ``PYTHON`` or ``SQL``, if given.
        properties: WITH; None if it was left out.
        temporary: Whether it is TEMPORARY.
        system: Whether it is TEMPORARY SYSTEM.
        if_not_exists: Whether IF NOT EXISTS was written.
    """

    name: Identifier
    class_name: StringLiteral
    language: str | None = None
    resources: tuple[str, ...] = ()
    properties: tuple[Property, ...] | None = None
    temporary: bool = False
    system: bool = False
    if_not_exists: bool = False


class CreateModel(Statement):
    """``CREATE MODEL name INPUT (...) OUTPUT (...) WITH (properties) AS query``."""

    name: Identifier
    input: TableSchema | None = None
    output: TableSchema | None = None
    comment: str | None = None
    properties: tuple[Property, ...] | None = None
    query: Query | None = None
    temporary: bool = False
    if_not_exists: bool = False


class CreateConnection(Statement):
    """``CREATE CONNECTION name COMMENT 'comment' WITH (properties)``."""

    name: Identifier
    properties: tuple[Property, ...] | None = None
    comment: str | None = None
    temporary: bool = False
    system: bool = False
    if_not_exists: bool = False


class Drop(Statement):
    """DROP.

    Attributes:
        name: What is dropped.
        if_exists: Whether IF EXISTS was written.
        temporary: Whether TEMPORARY was written.
    """

    name: Identifier
    if_exists: bool = False
    temporary: bool = False


class DropTable(Drop):
    """``DROP TABLE name``."""


class DropView(Drop):
    """``DROP VIEW name``."""


class DropMaterializedTable(Drop):
    """``DROP MATERIALIZED TABLE name``."""


class DropCatalog(Drop):
    """``DROP CATALOG name``."""


class DropDatabase(Drop):
    """``DROP DATABASE name RESTRICT``; ``cascade`` for CASCADE."""

    cascade: bool = False


class DropFunction(Drop):
    """``DROP FUNCTION name``; ``system`` for TEMPORARY SYSTEM."""

    system: bool = False


class DropModel(Drop):
    """``DROP MODEL name``."""


class DropConnection(Drop):
    """``DROP CONNECTION name``; ``system`` for TEMPORARY SYSTEM."""

    system: bool = False
