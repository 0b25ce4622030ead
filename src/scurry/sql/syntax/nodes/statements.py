"""Statements that change data, run plans, or concern the session."""

from __future__ import annotations

from scurry.sql.syntax.nodes.base import Expression, Node, Query, Statement
from scurry.sql.syntax.nodes.columns import PartitionField, Property
from scurry.sql.syntax.nodes.expressions import Identifier
from scurry.sql.syntax.nodes.functions import Call
from scurry.sql.syntax.nodes.queries import Hint
from scurry.sql.syntax.nodes.types import TypeSpec


class Insert(Statement):
    """``INSERT INTO table PARTITION (...) (columns) query ON CONFLICT DO ...``.

    Attributes:
        table: The table written to.
        columns: The columns written to; none if all are.
        partition: Values of PARTITION.
        overwrite: Whether it is INSERT OVERWRITE.
        upsert: Whether it is UPSERT INTO.
        on_conflict: ``ERROR``, ``NOTHING`` or ``DEDUPLICATE``, if given.
        hints: Hints after the table's name, dynamic options among them.
    """

    table: Identifier
    query: Query
    columns: tuple[Identifier, ...] = ()
    partition: tuple[PartitionField, ...] = ()
    overwrite: bool = False
    upsert: bool = False
    on_conflict: str | None = None
    hints: tuple[Hint, ...] = ()
    extend: tuple[tuple[Identifier, TypeSpec], ...] = ()


class Assignment(Node):
    """``column = value`` of UPDATE and MERGE."""

    column: Identifier
    value: Expression


class Update(Statement):
    """``UPDATE table SET column = value WHERE condition``."""

    table: Identifier
    assignments: tuple[Assignment, ...]
    where: Expression | None = None
    alias: Identifier | None = None
    hints: tuple[Hint, ...] = ()


class Delete(Statement):
    """``DELETE FROM table WHERE condition``."""

    table: Identifier
    where: Expression | None = None
    alias: Identifier | None = None
    hints: tuple[Hint, ...] = ()


class Merge(Statement):
    """``MERGE INTO table USING source ON condition WHEN ...``; no connector runs it.

    Attributes:
        table: The table written to.
        source: What follows USING.
        assignments: What WHEN MATCHED THEN UPDATE sets.
        insert_columns: The columns of WHEN NOT MATCHED THEN INSERT.
    """

    table: Identifier
    source: Node
    condition: Expression
    assignments: tuple[Assignment, ...] = ()
    insert_columns: tuple[Identifier, ...] = ()
    insert_values: Expression | None = None
    alias: Identifier | None = None


class TruncateTable(Statement):
    """``TRUNCATE TABLE table``."""

    table: Identifier


class CallProcedure(Statement):
    """``CALL procedure(arguments)``."""

    call: Call


class StatementSet(Statement):
    """``STATEMENT SET BEGIN insertion; ... END``, as EXECUTE, EXPLAIN and COMPILE PLAN take it."""

    inserts: tuple[Insert, ...]


class BeginStatementSet(Statement):
    """``BEGIN STATEMENT SET``, which a script ends with END."""


class EndStatementSet(Statement):
    """``END`` of a statement set."""


class Execute(Statement):
    """``EXECUTE statement``: an insertion, a query or a statement set."""

    statement: Statement


class ExecutePlan(Statement):
    """``EXECUTE PLAN 'path'``."""

    path: str


class CompilePlan(Statement):
    """``COMPILE PLAN 'path' IF NOT EXISTS FOR statement``."""

    path: str
    statement: Insert | StatementSet
    if_not_exists: bool = False


class CompileAndExecutePlan(Statement):
    """``COMPILE AND EXECUTE PLAN 'path' FOR statement``."""

    path: str
    statement: Insert | StatementSet


class Explain(Statement):
    """``EXPLAIN details statement`` or ``EXPLAIN PLAN FOR statement``.

    ``details`` are of ``JSON_EXECUTION_PLAN``, ``CHANGELOG_MODE``, ``PLAN_ADVICE`` and ``ESTIMATED_COST``, in the order
    of Flink.
    """

    statement: Statement
    details: tuple[str, ...] = ()


class AnalyzeTable(Statement):
    """``ANALYZE TABLE table PARTITION (...) COMPUTE STATISTICS FOR COLUMNS ...``.

    Attributes:
        all_columns: Whether FOR ALL COLUMNS was written.
    """

    table: Identifier
    partition: tuple[PartitionField, ...] = ()
    columns: tuple[Identifier, ...] = ()
    all_columns: bool = False


class UseCatalog(Statement):
    """``USE CATALOG name``."""

    name: Identifier


class UseDatabase(Statement):
    """``USE name``."""

    name: Identifier


class UseModules(Statement):
    """``USE MODULES names``."""

    names: tuple[Identifier, ...]


class LoadModule(Statement):
    """``LOAD MODULE name WITH (properties)``."""

    name: Identifier
    properties: tuple[Property, ...] = ()


class UnloadModule(Statement):
    """``UNLOAD MODULE name``."""

    name: Identifier


class Set(Statement):
    """``SET 'key' = 'value'``, or ``SET`` alone, which lists the configuration."""

    key: str | None = None
    value: str | None = None


class Reset(Statement):
    """``RESET 'key'``, or ``RESET`` alone."""

    key: str | None = None


class AddJar(Statement):
    """``ADD JAR 'path'``."""

    path: str


class RemoveJar(Statement):
    """``REMOVE JAR 'path'``."""

    path: str


class StopJob(Statement):
    """``STOP JOB 'id' WITH SAVEPOINT WITH DRAIN``."""

    job: str
    with_savepoint: bool = False
    with_drain: bool = False
