"""Execute a statement: a dispatch table from kinds of statements to handlers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scurry.common.recursion import deep_recursion
from scurry.errors import UnsupportedError, ValidationError
from scurry.sql.statements.compiled.files import compile_and_execute_plan, compile_plan, execute_plan
from scurry.sql.statements.definitions import catalogs, functions, models, partitions, rows, tables, views
from scurry.sql.statements.definitions.alter_tables import alter_table
from scurry.sql.statements.definitions.create_table_as import create_table_as
from scurry.sql.statements.explain import explain
from scurry.sql.statements.inserts import execute_insert, execute_statement_set
from scurry.sql.statements.listing import show, show_create
from scurry.sql.statements.materialized import statements as materialized
from scurry.sql.statements.procedures import call_procedure, show_procedures
from scurry.sql.statements.queries import execute_query
from scurry.sql.statements.results import StatementResult
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes
from scurry.sql.syntax.places import failing_in

_ACCEPTED = (
    "Unsupported SQL query! executeSql() only accepts a single SQL statement of type CREATE TABLE, DROP "
    "TABLE, ALTER TABLE, CREATE DATABASE, DROP DATABASE, ALTER DATABASE, CREATE FUNCTION, DROP FUNCTION, "
    "ALTER FUNCTION, CREATE CATALOG, DROP CATALOG, USE CATALOG, USE [CATALOG.]DATABASE, SHOW CATALOGS, "
    "SHOW DATABASES, SHOW TABLES, SHOW [USER] FUNCTIONS, SHOW PARTITIONSCREATE VIEW, DROP VIEW, SHOW "
    "VIEWS, INSERT, DESCRIBE, LOAD MODULE, UNLOAD MODULE, USE MODULES, SHOW [FULL] MODULES."
)

Handler = Callable[[TableSession, Any], StatementResult]


@deep_recursion()
def execute(session: TableSession, statement: nodes.Statement) -> StatementResult:
    """Execute a statement.

    Raises:
        ValidationError: Flink would refuse it.
        UnsupportedError: It is a statement of Flink that scurry does not run.
    """
    with failing_in(statement, session.script, session.lines_before):
        if isinstance(statement, nodes.Query):
            return execute_query(session, statement)
        if isinstance(statement, nodes.Execute):
            return _execute_wrapped(session, statement)
        handler = _HANDLERS.get(type(statement))
        if handler is not None:
            return handler(session, statement)
        raise UnsupportedError(f"{_name_of(statement)} is not supported yet")


def _execute_wrapped(session: TableSession, statement: nodes.Execute) -> StatementResult:
    inner = statement.statement
    if isinstance(inner, nodes.StatementSet):
        return execute_statement_set(session, inner.inserts)
    return execute(session, inner)


def _create_table(session: TableSession, statement: nodes.CreateTable) -> StatementResult:
    return (tables.create_table if statement.query is None else create_table_as)(session, statement)


def _refuse_client_statement(session: TableSession, statement: nodes.Statement) -> StatementResult:
    raise ValidationError(
        f"{_ACCEPTED}\n{_name_of(statement)} is for scripts and clients: scurry run script.sql, scurry sql. A program "
        "sets options with t_env.get_config().set(key, value), and has the JobClient of the result"
    )


def _name_of(statement: nodes.Statement) -> str:
    """Return a statement's name as SQL has it, such as `ALTER MODEL`."""
    words = ""
    for char in type(statement).__name__:
        words += f" {char}" if char.isupper() and words else char
    return words.upper()


_HANDLERS: dict[type[nodes.Statement], Handler] = {
    nodes.AddJar: catalogs.add_jar,
    nodes.AlterCatalog: catalogs.alter_catalog,
    nodes.AlterDatabase: catalogs.alter_database,
    nodes.AlterFunction: functions.alter_function,
    nodes.AlterMaterializedTable: materialized.alter_materialized_table,
    nodes.AlterModel: models.alter_model,
    nodes.AlterTable: alter_table,
    nodes.AlterView: views.alter_view,
    nodes.AnalyzeTable: tables.analyze_table,
    nodes.BeginStatementSet: _refuse_client_statement,
    nodes.CallProcedure: call_procedure,
    nodes.CompileAndExecutePlan: compile_and_execute_plan,
    nodes.CompilePlan: compile_plan,
    nodes.CreateCatalog: catalogs.create_catalog,
    nodes.CreateDatabase: catalogs.create_database,
    nodes.CreateFunction: functions.create_function,
    nodes.CreateMaterializedTable: materialized.create_materialized_table,
    nodes.CreateModel: models.create_model,
    nodes.CreateTable: _create_table,
    nodes.CreateView: views.create_view,
    nodes.Delete: rows.delete,
    nodes.DescribeCatalog: show.describe_catalog,
    nodes.DescribeJob: _refuse_client_statement,
    nodes.DescribeFunction: functions.describe_function,
    nodes.DescribeModel: show.describe_model,
    nodes.DescribeTable: show.describe_table,
    nodes.DropCatalog: catalogs.drop_catalog,
    nodes.DropDatabase: catalogs.drop_database,
    nodes.DropFunction: functions.drop_function,
    nodes.DropMaterializedTable: materialized.drop_materialized_table,
    nodes.DropModel: models.drop_model,
    nodes.DropTable: tables.drop_table,
    nodes.DropView: views.drop_view,
    nodes.EndStatementSet: _refuse_client_statement,
    nodes.ExecutePlan: execute_plan,
    nodes.Explain: explain,
    nodes.Insert: execute_insert,
    nodes.LoadModule: catalogs.load_module,
    nodes.RemoveJar: _refuse_client_statement,
    nodes.Reset: _refuse_client_statement,
    nodes.Set: _refuse_client_statement,
    nodes.ShowCatalogs: show.show_catalogs,
    nodes.ShowColumns: show.show_columns,
    nodes.ShowCreateCatalog: show_create.show_create_catalog,
    nodes.ShowCreateMaterializedTable: show_create.show_create_materialized_table,
    nodes.ShowCreateModel: show_create.show_create_model,
    nodes.ShowCreateTable: show_create.show_create_table,
    nodes.ShowCreateView: show_create.show_create_view,
    nodes.ShowCurrentCatalog: show.show_current_catalog,
    nodes.ShowCurrentDatabase: show.show_current_database,
    nodes.ShowDatabases: show.show_databases,
    nodes.ShowFunctions: show.show_functions,
    nodes.ShowJars: show.show_jars,
    nodes.ShowJobs: _refuse_client_statement,
    nodes.ShowMaterializedTables: show.show_materialized_tables,
    nodes.ShowModels: show.show_models,
    nodes.ShowModules: show.show_modules,
    nodes.ShowPartitions: partitions.show_partitions,
    nodes.ShowProcedures: show_procedures,
    nodes.ShowTables: show.show_tables,
    nodes.ShowViews: show.show_views,
    nodes.StopJob: _refuse_client_statement,
    nodes.TruncateTable: rows.truncate_table,
    nodes.UnloadModule: catalogs.unload_module,
    nodes.Update: rows.update,
    nodes.UseCatalog: catalogs.use_catalog,
    nodes.UseDatabase: catalogs.use_database,
    nodes.UseModules: catalogs.use_modules,
}
