"""CREATE VIEW, ALTER VIEW, DROP VIEW."""

from __future__ import annotations

from dataclasses import replace

from scurry.errors import ValidationError
from scurry.sql.catalog.entries import CatalogView, QueryView
from scurry.sql.catalog.identifier import escape_identifier
from scurry.sql.catalog.table_options import explained
from scurry.sql.statements.definitions.expansion import expanded
from scurry.sql.statements.definitions.schemas import at_place
from scurry.sql.statements.names import qualified
from scurry.sql.statements.queries import plan_query, schema_of
from scurry.sql.statements.results import StatementResult, ok
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.text import sql_text
from scurry.sql.syntax import nodes


def create_view(session: TableSession, statement: nodes.CreateView) -> StatementResult:
    identifier = qualified(session, statement.name)
    catalogs = session.catalogs
    existing = catalogs.find_table(identifier)
    if statement.if_not_exists and existing is not None and existing.temporary == statement.temporary:
        return ok()
    view = _view(session, statement.query, [column.last for column in statement.columns], statement.comment)
    if statement.temporary:
        catalogs.create_temporary_table(view, identifier, statement.if_not_exists)
    else:
        catalogs.create_table(view, identifier, statement.if_not_exists)
    return ok()


def _view(session: TableSession, query: nodes.Query, names: list[str], comment: str | None) -> CatalogView:
    try:
        schema = schema_of(plan_query(session, query))
    except ValidationError as error:
        # Flink expands the query of a view before it validates it, without this beginning
        raise explained(error, str(error).removeprefix("SQL validation failed. ")) from None
    columns = schema.get_columns()
    if not names or len(names) == len(columns):
        _refuse_duplicates(query, names or _written_names(query))
    if names:
        if len(names) != len(columns):
            raise ValidationError(
                "VIEW definition and input fields not match:\n"
                f"\tDef fields: [{', '.join(names)}].\n"
                f"\tInput fields: [{', '.join(schema.get_column_names())}]."
            )
        columns = [column.rename(name) for column, name in zip(columns, names, strict=True)]
    resolved = type(schema)(columns)
    return CatalogView(resolved, comment, {}, query.span.source or sql_text(query), expanded(session, query))


def _written_names(query: nodes.Query) -> list[str]:
    """Return the names that a SELECT gives its columns, as far as they are written."""
    names: list[str] = []
    for index, item in enumerate(query.items if isinstance(query, nodes.Select) else ()):
        if isinstance(item.expression, nodes.Star):
            return []
        written = item.expression.names[-1] if isinstance(item.expression, nodes.Identifier) else f"EXPR${index}"
        names.append(written if item.alias is None else item.alias.last)
    return names


def _refuse_duplicates(query: nodes.Query, names: list[str]) -> None:
    twice = next((index for index, name in enumerate(names) if name in names[:index]), None)
    if twice is None:
        return
    first = names.index(names[twice])
    items = query.items if isinstance(query, nodes.Select) else ()
    span = items[first].span if len(items) == len(names) else query.span
    raise ValidationError(
        f"SQL validation failed. A column with the same name {escape_identifier(names[twice])} has been defined"
        f"{at_place(span)}."
    )


def alter_view(session: TableSession, statement: nodes.AlterView) -> StatementResult:
    """Rename a view, or replace its query."""
    identifier = qualified(session, statement.name)
    found = session.catalogs.find_table(identifier)
    if found is None or found.temporary:
        raise ValidationError(f"View {identifier} doesn't exist or is a temporary view.").with_hint(
            "" if found else session.catalogs.similar(identifier.path)
        )
    if not isinstance(found.table, CatalogView | QueryView):
        raise ValidationError("ALTER VIEW for a table is not allowed")
    action = statement.action
    if isinstance(action, nodes.RenameTo):
        session.catalogs.rename_table(identifier, action.name.last)
    elif isinstance(action, nodes.SetQuery):
        view = _view(session, action.query, [], found.table.comment)
        session.catalogs.alter_table(replace(view, options=found.table.options), identifier)
    return ok()


def drop_view(session: TableSession, statement: nodes.DropView) -> StatementResult:
    identifier = qualified(session, statement.name)
    if statement.temporary:
        session.catalogs.drop_temporary(identifier, statement.if_exists, is_view=True)
    else:
        session.catalogs.drop_table(identifier, statement.if_exists, is_view=True)
    return ok()
