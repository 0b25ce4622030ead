"""SHOW and DESCRIBE."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.errors import ValidationError
from scurry.sql.catalog.entries import ContextResolvedTable
from scurry.sql.catalog.materialized import CatalogMaterializedTable
from scurry.sql.catalog.schema import Column, ResolvedSchema
from scurry.sql.statements.materialized.described import describe_refreshing
from scurry.sql.statements.modules import module_functions
from scurry.sql.statements.names import filtered, qualified
from scurry.sql.statements.results import BOOLEAN, STRING, StatementResult, names_result, table_result
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes
from scurry.sql.types import DataType, LocalZonedTimestampType, TimestampType


def show_catalogs(session: TableSession, statement: nodes.ShowCatalogs) -> StatementResult:
    return names_result("catalog name", filtered(session.catalogs.list_catalogs(), statement.like))


def show_databases(session: TableSession, statement: nodes.ShowDatabases) -> StatementResult:
    """List the databases of a catalog."""
    catalogs = session.catalogs
    name = catalogs.current_catalog if statement.scope is None else statement.scope.name.last
    return names_result("database name", filtered(catalogs.catalog(name).list_databases(), statement.like))


def show_tables(session: TableSession, statement: nodes.ShowTables) -> StatementResult:
    """List the tables and views of a database."""
    names = session.catalogs.list_tables(*_database(session, statement.scope))
    return names_result("table name", filtered(names, statement.like))


def show_views(session: TableSession, statement: nodes.ShowViews) -> StatementResult:
    """List the views of a database."""
    names = session.catalogs.list_views(*_database(session, statement.scope))
    return names_result("view name", filtered(names, statement.like))


def show_models(session: TableSession, statement: nodes.ShowModels) -> StatementResult:
    """List the permanent models of a database."""
    if statement.scope is not None and len(statement.scope.name.names) > 2:
        raise ValidationError(
            f"SHOW MODELS from/in identifier [ {statement.scope.name} ] format error, it should be "
            "[catalog_name.]database_name."
        )
    names = session.catalogs.models.list_models(*_database(session, statement.scope))
    return names_result("model name", filtered(names, statement.like))


def describe_model(session: TableSession, statement: nodes.DescribeModel) -> StatementResult:
    """List the columns that a model takes and returns."""
    identifier = qualified(session, statement.name)
    found = session.catalogs.models.find(identifier)
    if found is None:
        raise ValidationError(f"Model with the identifier '{identifier.as_summary_string()}' doesn't exist.").with_hint(
            session.catalogs.models.similar(identifier)
        )
    sides = ((found.model.input_schema, True), (found.model.output_schema, False))
    columns = [(column, is_input) for schema, is_input in sides for column in schema.get_columns()]
    header = [("name", STRING), ("type", STRING), ("null", BOOLEAN), ("is input", BOOLEAN)]
    rows = [
        (each.name, each.data_type.nullable().as_summary_string(), each.data_type.is_nullable, is_input, each.comment)
        for each, is_input in columns
    ]
    if any(column.comment for column, _ in columns):
        return table_result([*header, ("comment", STRING)], rows)
    return table_result(header, [row[:-1] for row in rows])


def show_materialized_tables(session: TableSession, statement: nodes.ShowMaterializedTables) -> StatementResult:
    """List the materialized tables of a database."""
    names = session.catalogs.list_materialized_tables(*_database(session, statement.scope))
    return names_result("materialized table", filtered(names, statement.like))


def _database(session: TableSession, scope: nodes.Scope | None) -> tuple[str, str]:
    if scope is None:
        return session.catalogs.current_catalog, session.catalogs.current_database
    return session.catalogs.qualify_database(scope.name.names)


def show_functions(session: TableSession, statement: nodes.ShowFunctions) -> StatementResult:
    """List the functions that users registered, and the built-in ones unless only the former are asked for."""
    registry = session.catalogs.functions
    names = registry.list_user_functions(*_database(session, statement.scope))
    if not statement.user:
        from scurry.sql.statements.listing.built_in import built_in_functions

        built_in = built_in_functions() if "core" in session.modules else ()
        names = sorted({*names, *built_in, *module_functions(session.modules)})
    return names_result("function name", filtered(names, statement.like))


def show_modules(session: TableSession, statement: nodes.ShowModules) -> StatementResult:
    """List the modules in use, or all that are loaded."""
    if not statement.full:
        return names_result("module name", session.modules)
    rest = [name for name in session.loaded_modules if name not in session.modules]
    rows = [(name, True) for name in session.modules] + [(name, False) for name in rest]
    return table_result([("module name", STRING), ("used", BOOLEAN)], rows)


def show_jars(session: TableSession, statement: nodes.ShowJars) -> StatementResult:
    """List the jars of ADD JAR."""
    return names_result("jars", session.jars)


def show_current_catalog(session: TableSession, statement: nodes.ShowCurrentCatalog) -> StatementResult:
    return names_result("current catalog name", [session.catalogs.current_catalog])


def show_current_database(session: TableSession, statement: nodes.ShowCurrentDatabase) -> StatementResult:
    return names_result("current database name", [session.catalogs.current_database])


def describe_table(session: TableSession, statement: nodes.DescribeTable) -> StatementResult:
    """List the columns of a table or view; EXTENDED shows the refreshing of a materialized table."""
    found = _existing(session, statement.name)
    if statement.extended and isinstance(found.table, CatalogMaterializedTable):
        return describe_refreshing(session, found.identifier, found.table)
    schema = found.table.schema
    return _columns(session, schema, schema.get_columns())


def show_columns(session: TableSession, statement: nodes.ShowColumns) -> StatementResult:
    """List the columns of a table or view whose names LIKE accepts."""
    if statement.scope is None:
        raise ValidationError("SHOW COLUMNS needs a table: SHOW COLUMNS FROM table")
    schema = _existing(session, statement.scope.name).table.schema
    accepted = set(filtered(schema.get_column_names(), statement.like))
    return _columns(session, schema, [column for column in schema.get_columns() if column.name in accepted])


def _existing(session: TableSession, name: nodes.Identifier) -> ContextResolvedTable:
    identifier = qualified(session, name)
    found = session.catalogs.find_table(identifier)
    if found is None:
        raise ValidationError(
            f"Tables or views with the identifier '{identifier.as_summary_string()}' doesn't exist."
        ).with_hint(session.catalogs.similar(identifier.path))
    return found


def _columns(session: TableSession, schema: ResolvedSchema, columns: Sequence[Column]) -> StatementResult:
    key = schema.get_primary_key()
    watermarks = {spec.rowtime_attribute: spec.watermark_expression.text for spec in schema.get_watermark_specs()}
    rows = [
        (
            column.name,
            _type_text(column.data_type, session.is_streaming),
            column.data_type.is_nullable,
            f"PRI({', '.join(key.columns)})" if key is not None and column.name in key.columns else None,
            column.extras() or None,
            watermarks.get(column.name),
            column.comment,
        )
        for column in columns
    ]
    header: list[tuple[str, DataType]] = [
        ("name", STRING),
        ("type", STRING),
        ("null", BOOLEAN),
        ("key", STRING),
        ("extras", STRING),
        ("watermark", STRING),
    ]
    if any(column.comment for column in schema.get_columns()):
        return table_result([*header, ("comment", STRING)], rows)
    return table_result(header, [row[:-1] for row in rows])


def _type_text(kind: DataType, is_streaming: bool) -> str:
    # Event time is an attribute of a column in STREAMING only.
    if isinstance(kind, TimestampType | LocalZonedTimestampType) and kind.is_rowtime and not is_streaming:
        kind = kind.as_time_attribute(None)
    return kind.nullable().as_summary_string()


def describe_catalog(session: TableSession, statement: nodes.DescribeCatalog) -> StatementResult:
    """List the options that a catalog was created with."""
    name = statement.name.last
    if session.catalogs.find_catalog(name) is None:
        raise ValidationError(f"Cannot obtain metadata information from Catalog {name}.")
    description = session.catalogs.store.get_catalog(name)
    options = {"type": "generic_in_memory"} if description is None else dict(description.options)
    comment = None if description is None else description.comment
    rows: list[tuple[str, str | None]] = [("name", name), ("type", options.get("type")), ("comment", comment)]
    if statement.extended:
        rows += [(f"option:{key}", value) for key, value in sorted(options.items()) if key != "type"]
    return table_result([("info name", STRING), ("info value", STRING)], rows)
