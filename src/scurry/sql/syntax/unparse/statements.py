"""The canonical text of the other statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.unparse.columns import partition, properties
from scurry.sql.syntax.unparse.definitions import DEFINITIONS
from scurry.sql.syntax.unparse.dispatch import identifier, names, string, write
from scurry.sql.syntax.unparse.literals import nullable_type
from scurry.sql.syntax.unparse.queries import hints


def statement(node: nodes.Statement) -> str:
    if isinstance(node, nodes.Query):
        return write(node)
    writer = DEFINITIONS.get(type(node)) or _STATEMENTS[type(node)]
    return writer(node)


def _insert(node: nodes.Insert) -> str:
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


def _target(node: nodes.Insert | nodes.Update | nodes.Delete) -> str:
    text = identifier(node.table)
    return f"{text}\n{hints(node.hints)}" if node.hints else text


def _update(node: nodes.Update) -> str:
    alias = "" if node.alias is None else f" AS {identifier(node.alias)}"
    assignments = [f"{identifier(each.column)} = {write(each.value)}" for each in node.assignments]
    text = f"UPDATE {_target(node)}{alias} SET {', '.join(assignments)}"
    return text if node.where is None else f"{text}\nWHERE {write(node.where)}"


def _delete(node: nodes.Delete) -> str:
    text = f"DELETE FROM {_target(node)}{'' if node.alias is None else f' AS {identifier(node.alias)}'}"
    return text if node.where is None else f"{text}\nWHERE {write(node.where)}"


def _merge(node: nodes.Merge) -> str:
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


def _statement_set(node: nodes.StatementSet) -> str:
    return "\n".join(["STATEMENT SET BEGIN", *[f"{_insert(each)}\n;" for each in node.inserts], "END"])


def _compile(node: nodes.CompilePlan) -> str:
    exists = "IF NOT EXISTS " if node.if_not_exists else ""
    return f"COMPILE PLAN {string(node.path)} {exists}FOR {statement(node.statement)}"


def _explain(node: nodes.Explain) -> str:
    details = ", ".join(node.details)
    return f"EXPLAIN {details}{' ' if details else ''}{statement(node.statement)}"


def _analyze(node: nodes.AnalyzeTable) -> str:
    text = f"ANALYZE TABLE {identifier(node.table)}{f' {partition(node.partition)}' if node.partition else ''}"
    text += " COMPUTE STATISTICS"
    if node.all_columns:
        return f"{text} FOR ALL COLUMNS"
    return f"{text} FOR COLUMNS {', '.join(map(identifier, node.columns))}" if node.columns else text


def _load_module(node: nodes.LoadModule) -> str:
    text = f"LOAD MODULE {identifier(node.name)}"
    return f"{text}\nWITH {properties(node.properties)}" if node.properties else text


def _stop_job(node: nodes.StopJob) -> str:
    savepoint = " WITH SAVEPOINT" if node.with_savepoint else ""
    return f"STOP JOB {string(node.job)}{savepoint}{' WITH DRAIN' if node.with_drain else ''}"


def _show(what: str) -> Callable[[Any], str]:
    def write(node: nodes.Show) -> str:
        text = f"SHOW {'USER ' if isinstance(node, nodes.ShowFunctions) and node.user else ''}{what}"
        if node.scope is not None:
            text += f" {node.scope.preposition} {identifier(node.scope.name)}"
        if node.like is not None:
            text += f" {'NOT ' if node.like.negated else ''}{node.like.operator} {string(node.like.pattern.upper())}"
        return text

    return write


def _show_partitions(node: nodes.ShowPartitions) -> str:
    text = f"SHOW PARTITIONS {identifier(node.table)}"
    return f"{text} {partition(node.partition)}" if node.partition else text


def _named(words: str) -> Callable[[Any], str]:
    return lambda node: f"{words} {identifier(node.name)}"


def _describe(kind: str) -> Callable[[Any], str]:
    return lambda node: f"DESCRIBE {kind}{'EXTENDED ' if node.extended else ''}{identifier(node.name)}"


def _fixed(words: str) -> Callable[[Any], str]:
    return lambda node: words


_STATEMENTS: Final[dict[type[nodes.Node], Callable[[Any], str]]] = {
    nodes.Insert: _insert,
    nodes.Update: _update,
    nodes.Delete: _delete,
    nodes.Merge: _merge,
    nodes.TruncateTable: lambda node: f"TRUNCATE TABLE {identifier(node.table)}",
    nodes.CallProcedure: lambda node: f"CALL {write(node.call)}",
    nodes.StatementSet: _statement_set,
    nodes.BeginStatementSet: _fixed("BEGIN STATEMENT SET"),
    nodes.EndStatementSet: _fixed("END"),
    nodes.Execute: lambda node: f"EXECUTE {statement(node.statement)}",
    nodes.ExecutePlan: lambda node: f"EXECUTE PLAN {string(node.path)}",
    nodes.CompilePlan: _compile,
    nodes.CompileAndExecutePlan: (
        lambda node: f"COMPILE AND EXECUTE PLAN {string(node.path)} FOR {statement(node.statement)}"
    ),
    nodes.Explain: _explain,
    nodes.AnalyzeTable: _analyze,
    nodes.UseCatalog: _named("USE CATALOG"),
    nodes.UseDatabase: _named("USE"),
    nodes.UseModules: lambda node: f"USE MODULES {', '.join(map(identifier, node.names))}",
    nodes.LoadModule: _load_module,
    nodes.UnloadModule: _named("UNLOAD MODULE"),
    nodes.Set: lambda node: "SET" if node.key is None else f"SET {string(node.key)} = {string(node.value)}",
    nodes.Reset: lambda node: "RESET" if node.key is None else f"RESET {string(node.key)}",
    nodes.AddJar: lambda node: f"ADD JAR {string(node.path)}",
    nodes.RemoveJar: lambda node: f"REMOVE JAR {string(node.path)}",
    nodes.StopJob: _stop_job,
    nodes.ShowCatalogs: _show("CATALOGS"),
    nodes.ShowDatabases: _show("DATABASES"),
    nodes.ShowTables: _show("TABLES"),
    nodes.ShowViews: _show("VIEWS"),
    nodes.ShowMaterializedTables: _show("MATERIALIZED TABLES"),
    nodes.ShowColumns: _show("COLUMNS"),
    nodes.ShowFunctions: _show("FUNCTIONS"),
    nodes.ShowProcedures: _show("PROCEDURES"),
    nodes.ShowModels: _show("MODELS"),
    nodes.ShowConnections: _show("CONNECTIONS"),
    nodes.ShowModules: lambda node: "SHOW FULL MODULES" if node.full else "SHOW MODULES",
    nodes.ShowPartitions: _show_partitions,
    nodes.ShowCurrentCatalog: _fixed("SHOW CURRENT CATALOG"),
    nodes.ShowCurrentDatabase: _fixed("SHOW CURRENT DATABASE"),
    nodes.ShowJars: _fixed("SHOW JARS"),
    nodes.ShowJobs: _fixed("SHOW JOBS"),
    nodes.ShowCreateTable: _named("SHOW CREATE TABLE"),
    nodes.ShowCreateView: _named("SHOW CREATE VIEW"),
    nodes.ShowCreateMaterializedTable: _named("SHOW CREATE MATERIALIZED TABLE"),
    nodes.ShowCreateCatalog: _named("SHOW CREATE CATALOG"),
    nodes.ShowCreateDatabase: _named("SHOW CREATE DATABASE"),
    nodes.ShowCreateFunction: _named("SHOW CREATE FUNCTION"),
    nodes.ShowCreateModel: _named("SHOW CREATE MODEL"),
    nodes.ShowCreateConnection: _named("SHOW CREATE CONNECTION"),
    nodes.DescribeTable: _describe(""),
    nodes.DescribeCatalog: _describe("CATALOG "),
    nodes.DescribeDatabase: _describe("DATABASE "),
    nodes.DescribeFunction: _describe("FUNCTION "),
    nodes.DescribeModel: _describe("MODEL "),
    nodes.DescribeConnection: _describe("CONNECTION "),
    nodes.DescribeJob: lambda node: f"DESCRIBE JOB {string(node.job)}",
}
