"""SHOW CREATE: the statement that makes a table, a view, a model or a catalog."""

from __future__ import annotations

from collections.abc import Mapping

from scurry.common.redaction import redacted
from scurry.errors import ValidationError
from scurry.sql import types
from scurry.sql.catalog.entries import CatalogTable, CatalogView, ContextResolvedTable, QueryView, TableDistribution
from scurry.sql.catalog.identifier import escape_identifier, escape_text
from scurry.sql.catalog.materialized import CatalogMaterializedTable
from scurry.sql.catalog.schema import Column, ComputedColumn
from scurry.sql.statements.names import qualified
from scurry.sql.statements.results import StatementResult, names_result
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes


def serializable_type(data_type: types.DataType) -> str:
    """Return a type's text: `VARCHAR(2147483647)` for STRING, and so on."""
    return _nullable(data_type) + ("" if data_type.is_nullable else " NOT NULL")


def _nullable(data_type: types.DataType) -> str:
    if isinstance(data_type, types.VarCharType):
        return f"VARCHAR({data_type.length})"
    if isinstance(data_type, types.VarBinaryType):
        return f"VARBINARY({data_type.length})"
    if isinstance(data_type, types.LocalZonedTimestampType):
        return f"TIMESTAMP({data_type.precision}) WITH LOCAL TIME ZONE"
    if isinstance(data_type, types.TimestampType):
        return f"TIMESTAMP({data_type.precision})"
    if isinstance(data_type, types.ArrayType):
        return f"ARRAY<{serializable_type(data_type.element_type)}>"
    if isinstance(data_type, types.MultisetType):
        return f"MULTISET<{serializable_type(data_type.element_type)}>"
    if isinstance(data_type, types.MapType):
        return f"MAP<{serializable_type(data_type.key_type)}, {serializable_type(data_type.value_type)}>"
    if isinstance(data_type, types.RowType):
        fields = [
            f"{escape_identifier(field.name)} {serializable_type(field.data_type)}"
            + (f" {escape_text(field.description)}" if field.description not in (None, "...") else "")
            for field in data_type.fields
        ]
        return f"ROW<{', '.join(fields)}>"
    return data_type.nullable().as_summary_string()


def show_create_table(session: TableSession, statement: nodes.ShowCreateTable) -> StatementResult:
    found = _existing(session, statement.name, "TABLE")
    if isinstance(found.table, CatalogMaterializedTable) or not isinstance(found.table, CatalogTable):
        raise _of_another_kind(found, "table")
    return names_result("result", [create_table_text(found, found.table)])


def show_create_view(session: TableSession, statement: nodes.ShowCreateView) -> StatementResult:
    found = _existing(session, statement.name, "VIEW")
    view = found.table
    if isinstance(view, QueryView):
        raise ValidationError(
            f"SHOW CREATE VIEW is not supported for views registered by Table API: {found.identifier} has no SQL text."
        )
    if not isinstance(view, CatalogView):
        raise _of_another_kind(found, "view")
    columns = ",\n".join(f"  {escape_identifier(name)}" for name in view.schema.get_column_names())
    lines = [f"CREATE {'TEMPORARY ' if found.temporary else ''}VIEW {found.identifier} (", columns, ")"]
    if view.comment:
        lines.append(f"COMMENT {escape_text(view.comment)}")
    lines.append(f"AS {view.expanded_query}")
    return names_result("result", ["\n".join(lines) + "\n"])


def show_create_materialized_table(
    session: TableSession, statement: nodes.ShowCreateMaterializedTable
) -> StatementResult:
    identifier = qualified(session, statement.name)
    found = session.catalogs.find_table(identifier)
    if found is None:
        raise ValidationError(
            f"Could not execute SHOW CREATE MATERIALIZED TABLE {identifier.as_summary_string()}. Materialized table "
            f"with identifier {identifier} does not exist."
        ).with_hint(session.catalogs.similar(identifier.path))
    table = found.table
    if not isinstance(table, CatalogMaterializedTable):
        raise _of_another_kind(found, "materialized table")
    lines = _table_lines(found, table, "MATERIALIZED TABLE")
    lines.append(f"START_MODE = {table.start_mode}")
    lines.append(f"FRESHNESS = {table.freshness}")
    lines.append(f"REFRESH_MODE = {table.refresh_mode.value}")
    lines.append(f"AS {table.expanded_query}")
    return names_result("result", ["\n".join(lines) + "\n"])


def show_create_catalog(session: TableSession, statement: nodes.ShowCreateCatalog) -> StatementResult:
    name = statement.name.last
    if session.catalogs.find_catalog(name) is None:
        raise ValidationError(f"Cannot obtain metadata information from Catalog {name}.")
    description = session.catalogs.store.get_catalog(name)
    if description is None:
        raise ValidationError(f"Catalog {name} has no description: it was not made by CREATE CATALOG.")
    lines = [f"CREATE CATALOG {escape_identifier(name)}"]
    if description.comment:
        lines.append(f"COMMENT {escape_text(description.comment)}")
    lines += _with(description.options)
    return names_result("result", ["\n".join(lines) + "\n"])


def show_create_model(session: TableSession, statement: nodes.ShowCreateModel) -> StatementResult:
    """Return the CREATE MODEL of a model; secrets among its options are hidden."""
    identifier = qualified(session, statement.name)
    found = session.catalogs.models.find(identifier)
    if found is None:
        raise ValidationError(
            f"Could not execute SHOW CREATE MODEL. Model with identifier {identifier} does not exist."
        ).with_hint(session.catalogs.models.similar(identifier))
    model = found.model
    lines = [f"CREATE {'TEMPORARY ' if found.temporary else ''}MODEL {found.identifier}"]
    for keyword, schema in (("INPUT", model.input_schema), ("OUTPUT", model.output_schema)):
        if columns := schema.get_columns():
            lines.append(f"{keyword} ({', '.join(map(_column, columns))})")
    if model.comment:
        lines.append(f"COMMENT {escape_text(model.comment)}")
    lines += _with(redacted(model.options))
    return names_result("result", ["\n".join(lines) + "\n"])


def create_table_text(found: ContextResolvedTable, table: CatalogTable) -> str:
    kind = f"{'TEMPORARY ' if found.temporary else ''}TABLE"
    return "\n".join(_table_lines(found, table, kind)) + "\n"


def _table_lines(found: ContextResolvedTable, table: CatalogTable, kind: str) -> list[str]:
    schema = table.schema
    parts = list(map(_column, schema.get_columns()))
    parts += [
        f"WATERMARK FOR {escape_identifier(spec.rowtime_attribute)} AS {spec.watermark_expression.text}"
        for spec in schema.get_watermark_specs()
    ]
    key = schema.get_primary_key()
    if key is not None:
        parts.append(key.as_summary_string())
    lines = [f"CREATE {kind} {found.identifier} ("]
    lines += [",\n".join(f"  {part}" for part in parts), ")"]
    if table.comment:
        lines.append(f"COMMENT {escape_text(table.comment)}")
    if table.distribution is not None:
        lines.append(distribution_text(table.distribution))
    if table.partition_keys:
        lines.append(f"PARTITIONED BY ({', '.join(map(escape_identifier, table.partition_keys))})")
    return lines + _with(table.options)


def _column(column: Column) -> str:
    parts = [escape_identifier(column.name)]
    if not isinstance(column, ComputedColumn):
        parts.append(serializable_type(column.data_type))
    if column.extras():
        parts.append(column.extras())
    if column.comment:
        parts.append(f"COMMENT {escape_text(column.comment)}")
    return " ".join(parts)


def distribution_text(distribution: TableDistribution) -> str:
    buckets = "" if distribution.buckets is None else f" INTO {distribution.buckets} BUCKETS"
    if not distribution.columns:
        return f"DISTRIBUTED{buckets}"
    columns = ", ".join(map(escape_identifier, distribution.columns))
    return f"DISTRIBUTED BY {distribution.kind or ''}({columns}){buckets}"


def _with(options: Mapping[str, str]) -> list[str]:
    if not options:
        return []
    listed = ",\n".join(f"  {escape_text(key)} = {escape_text(value)}" for key, value in sorted(options.items()))
    return ["WITH (", listed, ")"]


def _of_another_kind(found: ContextResolvedTable, wanted: str) -> ValidationError:
    if isinstance(found.table, CatalogMaterializedTable):
        kind = "materialized table"
    else:
        kind = "view" if isinstance(found.table, CatalogView | QueryView) else "table"
    return ValidationError(
        f"SHOW CREATE {wanted.upper()} is only supported for {wanted}s, but {found.identifier} is a {kind}. "
        f"Please use SHOW CREATE {kind.upper()} instead."
    )


def _existing(session: TableSession, name: nodes.Identifier, kind: str) -> ContextResolvedTable:
    identifier = qualified(session, name)
    found = session.catalogs.find_table(identifier)
    if found is None:
        what = "Table" if kind == "TABLE" else "View"
        raise ValidationError(
            f"Could not execute SHOW CREATE {kind}. {what} with identifier {identifier} does not exist."
        ).with_hint(session.catalogs.similar(identifier.path))
    return found
