"""SHOW and DESCRIBE."""

from __future__ import annotations

from scurry.sql.syntax.nodes.base import Node, Statement
from scurry.sql.syntax.nodes.columns import PartitionField
from scurry.sql.syntax.nodes.expressions import Identifier


class NameFilter(Node):
    """``[NOT] LIKE 'pattern'``; ``operator`` is LIKE or ILIKE."""

    operator: str
    pattern: str
    negated: bool = False


class Scope(Node):
    """``FROM name`` or ``IN name``; ``preposition`` is the keyword."""

    preposition: str
    name: Identifier


class Show(Statement):
    """A list of names.

    Attributes:
        scope: The catalog, database or table that is looked into, if given.
        like: Which names are listed, if not all.
    """

    scope: Scope | None = None
    like: NameFilter | None = None


class ShowCatalogs(Show):
    """``SHOW CATALOGS``."""


class ShowDatabases(Show):
    """``SHOW DATABASES``."""


class ShowTables(Show):
    """``SHOW TABLES``."""


class ShowViews(Show):
    """``SHOW VIEWS``."""


class ShowMaterializedTables(Show):
    """``SHOW MATERIALIZED TABLES``."""


class ShowColumns(Show):
    """``SHOW COLUMNS FROM table``; its scope is the table."""


class ShowFunctions(Show):
    """``SHOW FUNCTIONS``, or ``SHOW USER FUNCTIONS``."""

    user: bool = False


class ShowProcedures(Show):
    """``SHOW PROCEDURES``."""


class ShowModels(Show):
    """``SHOW MODELS``."""


class ShowConnections(Show):
    """``SHOW CONNECTIONS``."""


class ShowModules(Statement):
    """``SHOW MODULES``, or ``SHOW FULL MODULES``."""

    full: bool = False


class ShowPartitions(Statement):
    """``SHOW PARTITIONS table PARTITION (...)``."""

    table: Identifier
    partition: tuple[PartitionField, ...] = ()


class ShowCurrentCatalog(Statement):
    """``SHOW CURRENT CATALOG``."""


class ShowCurrentDatabase(Statement):
    """``SHOW CURRENT DATABASE``."""


class ShowJars(Statement):
    """``SHOW JARS``."""


class ShowJobs(Statement):
    """``SHOW JOBS``."""


class ShowCreate(Statement):
    """The statement that creates the object of this name."""

    name: Identifier


class ShowCreateTable(ShowCreate):
    """``SHOW CREATE TABLE name``."""


class ShowCreateView(ShowCreate):
    """``SHOW CREATE VIEW name``."""


class ShowCreateMaterializedTable(ShowCreate):
    """``SHOW CREATE MATERIALIZED TABLE name``."""


class ShowCreateCatalog(ShowCreate):
    """``SHOW CREATE CATALOG name``."""


class ShowCreateDatabase(ShowCreate):
    """``SHOW CREATE DATABASE name``."""


class ShowCreateFunction(ShowCreate):
    """``SHOW CREATE FUNCTION name``."""


class ShowCreateModel(ShowCreate):
    """``SHOW CREATE MODEL name``."""


class ShowCreateConnection(ShowCreate):
    """``SHOW CREATE CONNECTION name``."""


class DescribeTable(Statement):
    """``DESCRIBE EXTENDED table``."""

    name: Identifier
    extended: bool = False


class DescribeCatalog(Statement):
    """``DESCRIBE CATALOG EXTENDED name``."""

    name: Identifier
    extended: bool = False


class DescribeDatabase(Statement):
    """``DESCRIBE DATABASE EXTENDED name``."""

    name: Identifier
    extended: bool = False


class DescribeFunction(Statement):
    """``DESCRIBE FUNCTION EXTENDED name``."""

    name: Identifier
    extended: bool = False


class DescribeModel(Statement):
    """``DESCRIBE MODEL EXTENDED name``."""

    name: Identifier
    extended: bool = False


class DescribeConnection(Statement):
    """``DESCRIBE CONNECTION EXTENDED name``."""

    name: Identifier
    extended: bool = False


class DescribeJob(Statement):
    """``DESCRIBE JOB 'id'``."""

    job: str
