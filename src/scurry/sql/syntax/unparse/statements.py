"""The canonical text of the other statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from scurry.sql.syntax.nodes import (
    AddJar,
    AnalyzeTable,
    BeginStatementSet,
    CallProcedure,
    CompileAndExecutePlan,
    CompilePlan,
    Delete,
    DescribeCatalog,
    DescribeConnection,
    DescribeDatabase,
    DescribeFunction,
    DescribeJob,
    DescribeModel,
    DescribeTable,
    EndStatementSet,
    Execute,
    ExecutePlan,
    Explain,
    Insert,
    LoadModule,
    Merge,
    Node,
    Query,
    RemoveJar,
    Reset,
    Set,
    Show,
    ShowCatalogs,
    ShowColumns,
    ShowConnections,
    ShowCreateCatalog,
    ShowCreateConnection,
    ShowCreateDatabase,
    ShowCreateFunction,
    ShowCreateMaterializedTable,
    ShowCreateModel,
    ShowCreateTable,
    ShowCreateView,
    ShowCurrentCatalog,
    ShowCurrentDatabase,
    ShowDatabases,
    ShowFunctions,
    ShowJars,
    ShowJobs,
    ShowMaterializedTables,
    ShowModels,
    ShowModules,
    ShowPartitions,
    ShowProcedures,
    ShowTables,
    ShowViews,
    Statement,
    StatementSet,
    StopJob,
    TruncateTable,
    UnloadModule,
    Update,
    UseCatalog,
    UseDatabase,
    UseModules,
)
from scurry.sql.syntax.unparse.columns import partition, properties
from scurry.sql.syntax.unparse.definitions import DEFINITIONS
from scurry.sql.syntax.unparse.dispatch import write
from scurry.sql.syntax.unparse.literals import nullable_type
from scurry.sql.syntax.unparse.queries import hints
from scurry.sql.syntax.unparse.text import identifier, names, string


def statement(node: Statement) -> str:
    """Return the text of a statement."""
    if isinstance(node, Query):
        return write(node)
    writer = DEFINITIONS.get(type(node)) or _STATEMENTS[type(node)]
    return writer(node)


def _insert(node: Insert) -> str:
    verb = "UPSERT" if node.upsert else "INSERT"
    text = f"{verb} {'OVERWRITE' if node.overwrite else 'INTO'} {_target(node)}"
    if node.extend:
        columns = ", ".join([f"{identifier(name)} {nullable_type(spec)}" for name, spec in node.extend])
        text += f" EXTEND ({columns})"
    if node.partition:
        text += f" {partition(node.partition)}\n"
    if node.columns:
        text += f"{'' if node.partition else ' '}{names(node.columns)}"
    text += f"\n{write(node.query)}"
    return text if node.on_conflict is None else f"{text}\nON CONFLICT DO {node.on_conflict}"


def _target(node: Insert | Update | Delete) -> str:
    text = identifier(node.table)
    return f"{text}\n{hints(node.hints)}" if node.hints else text


def _update(node: Update) -> str:
    alias = "" if node.alias is None else f" AS {identifier(node.alias)}"
    assignments = [f"{identifier(each.column)} = {write(each.value)}" for each in node.assignments]
    text = f"UPDATE {_target(node)}{alias} SET {', '.join(assignments)}"
    return text if node.where is None else f"{text}\nWHERE {write(node.where)}"


def _delete(node: Delete) -> str:
    text = f"DELETE FROM {_target(node)}{'' if node.alias is None else f' AS {identifier(node.alias)}'}"
    return text if node.where is None else f"{text}\nWHERE {write(node.where)}"


def _merge(node: Merge) -> str:
    parts = [f"MERGE INTO {identifier(node.table)}{'' if node.alias is None else f' AS {identifier(node.alias)}'}"]
    parts.append(f"USING {write(node.source)}")
    parts.append(f"ON {write(node.condition)}")
    if node.assignments:
        assignments = [f"{identifier(each.column)} = {write(each.value)}" for each in node.assignments]
        parts.append(f"WHEN MATCHED THEN UPDATE SET {', '.join(assignments)}")
    if node.insert_values is not None:
        columns = f"{names(node.insert_columns)} " if node.insert_columns else ""
        parts.append(f"WHEN NOT MATCHED THEN INSERT {columns}VALUES {write(node.insert_values)}")
    return "\n".join(parts)


def _statement_set(node: StatementSet) -> str:
    return "\n".join(["STATEMENT SET BEGIN", *[f"{_insert(each)}\n;" for each in node.inserts], "END"])


def _compile(node: CompilePlan) -> str:
    exists = "IF NOT EXISTS " if node.if_not_exists else ""
    return f"COMPILE PLAN {string(node.path)} {exists}FOR {statement(node.statement)}"


def _explain(node: Explain) -> str:
    details = ", ".join(node.details)
    return f"EXPLAIN {details}{' ' if details else ''}{statement(node.statement)}"


def _analyze(node: AnalyzeTable) -> str:
    text = f"ANALYZE TABLE {identifier(node.table)}{f' {partition(node.partition)}' if node.partition else ''}"
    text += " COMPUTE STATISTICS"
    if node.all_columns:
        return f"{text} FOR ALL COLUMNS"
    return f"{text} FOR COLUMNS {', '.join(map(identifier, node.columns))}" if node.columns else text


def _load_module(node: LoadModule) -> str:
    text = f"LOAD MODULE {identifier(node.name)}"
    return f"{text}\nWITH {properties(node.properties)}" if node.properties else text


def _stop_job(node: StopJob) -> str:
    savepoint = " WITH SAVEPOINT" if node.with_savepoint else ""
    return f"STOP JOB {string(node.job)}{savepoint}{' WITH DRAIN' if node.with_drain else ''}"


def _show(what: str) -> Callable[[Any], str]:
    def write(node: Show) -> str:
        text = f"SHOW {'USER ' if isinstance(node, ShowFunctions) and node.user else ''}{what}"
        if node.scope is not None:
            text += f" {node.scope.preposition} {identifier(node.scope.name)}"
        if node.like is not None:
            text += f" {'NOT ' if node.like.negated else ''}{node.like.operator} {string(node.like.pattern.upper())}"
        return text

    return write


def _show_partitions(node: ShowPartitions) -> str:
    text = f"SHOW PARTITIONS {identifier(node.table)}"
    return f"{text} {partition(node.partition)}" if node.partition else text


def _named(words: str) -> Callable[[Any], str]:
    return lambda node: f"{words} {identifier(node.name)}"


def _describe(kind: str) -> Callable[[Any], str]:
    return lambda node: f"DESCRIBE {kind}{'EXTENDED ' if node.extended else ''}{identifier(node.name)}"


def _fixed(words: str) -> Callable[[Any], str]:
    return lambda node: words


_STATEMENTS: Final[dict[type[Node], Callable[[Any], str]]] = {
    Insert: _insert,
    Update: _update,
    Delete: _delete,
    Merge: _merge,
    TruncateTable: lambda node: f"TRUNCATE TABLE {identifier(node.table)}",
    CallProcedure: lambda node: f"CALL {write(node.call)}",
    StatementSet: _statement_set,
    BeginStatementSet: _fixed("BEGIN STATEMENT SET"),
    EndStatementSet: _fixed("END"),
    Execute: lambda node: f"EXECUTE {statement(node.statement)}",
    ExecutePlan: lambda node: f"EXECUTE PLAN {string(node.path)}",
    CompilePlan: _compile,
    CompileAndExecutePlan: (
        lambda node: f"COMPILE AND EXECUTE PLAN {string(node.path)} FOR {statement(node.statement)}"
    ),
    Explain: _explain,
    AnalyzeTable: _analyze,
    UseCatalog: _named("USE CATALOG"),
    UseDatabase: _named("USE"),
    UseModules: lambda node: f"USE MODULES {', '.join(map(identifier, node.names))}",
    LoadModule: _load_module,
    UnloadModule: _named("UNLOAD MODULE"),
    Set: lambda node: "SET" if node.key is None else f"SET {string(node.key)} = {string(node.value)}",
    Reset: lambda node: "RESET" if node.key is None else f"RESET {string(node.key)}",
    AddJar: lambda node: f"ADD JAR {string(node.path)}",
    RemoveJar: lambda node: f"REMOVE JAR {string(node.path)}",
    StopJob: _stop_job,
    ShowCatalogs: _show("CATALOGS"),
    ShowDatabases: _show("DATABASES"),
    ShowTables: _show("TABLES"),
    ShowViews: _show("VIEWS"),
    ShowMaterializedTables: _show("MATERIALIZED TABLES"),
    ShowColumns: _show("COLUMNS"),
    ShowFunctions: _show("FUNCTIONS"),
    ShowProcedures: _show("PROCEDURES"),
    ShowModels: _show("MODELS"),
    ShowConnections: _show("CONNECTIONS"),
    ShowModules: lambda node: "SHOW FULL MODULES" if node.full else "SHOW MODULES",
    ShowPartitions: _show_partitions,
    ShowCurrentCatalog: _fixed("SHOW CURRENT CATALOG"),
    ShowCurrentDatabase: _fixed("SHOW CURRENT DATABASE"),
    ShowJars: _fixed("SHOW JARS"),
    ShowJobs: _fixed("SHOW JOBS"),
    ShowCreateTable: _named("SHOW CREATE TABLE"),
    ShowCreateView: _named("SHOW CREATE VIEW"),
    ShowCreateMaterializedTable: _named("SHOW CREATE MATERIALIZED TABLE"),
    ShowCreateCatalog: _named("SHOW CREATE CATALOG"),
    ShowCreateDatabase: _named("SHOW CREATE DATABASE"),
    ShowCreateFunction: _named("SHOW CREATE FUNCTION"),
    ShowCreateModel: _named("SHOW CREATE MODEL"),
    ShowCreateConnection: _named("SHOW CREATE CONNECTION"),
    DescribeTable: _describe(""),
    DescribeCatalog: _describe("CATALOG "),
    DescribeDatabase: _describe("DATABASE "),
    DescribeFunction: _describe("FUNCTION "),
    DescribeModel: _describe("MODEL "),
    DescribeConnection: _describe("CONNECTION "),
    DescribeJob: lambda node: f"DESCRIBE JOB {string(node.job)}",
}
