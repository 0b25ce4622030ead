"""DELETE, UPDATE and TRUNCATE, which no connector supports."""

from __future__ import annotations

from scurry.errors import UnsupportedError, ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.catalog.entries import CatalogTable, CatalogView, ContextResolvedTable, QueryView
from scurry.sql.connectors.contract import SinkTarget
from scurry.sql.statements.names import qualified
from scurry.sql.statements.results import StatementResult
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes
from scurry.sql.validator.failures import invalid

_INSTEAD = (
    "INSERT INTO a table with a primary key updates its rows by key; change or delete other rows with the tools of the "
    "system where they are"
)


def delete(session: TableSession, statement: nodes.Delete) -> StatementResult:
    """Refuse: no connector deletes rows.

    Raises:
        UnsupportedError: Always, if there is such a table.
    """
    return _refuse(session, statement, "DELETE")


def update(session: TableSession, statement: nodes.Update) -> StatementResult:
    """Refuse: no connector changes rows.

    Raises:
        UnsupportedError: Always, if there is such a table.
    """
    return _refuse(session, statement, "UPDATE")


def truncate_table(session: TableSession, statement: nodes.TruncateTable) -> StatementResult:
    """Refuse: no connector removes all rows.

    Raises:
        UnsupportedError: Always, if there is such a table.
    """
    identifier = qualified(session, statement.table)
    found = session.catalogs.find_table(identifier)
    if found is None:
        raise ValidationError(
            f"Cannot find table '{identifier}' in any of the catalogs [{', '.join(session.catalogs.list_catalogs())}], "
            "nor as a temporary table."
        ).with_hint(session.catalogs.similar(identifier.path))
    if session.is_streaming:
        raise UnsupportedError("TRUNCATE TABLE statement is not supported in streaming mode.")
    if isinstance(found.table, CatalogView | QueryView):
        raise ValidationError("TRUNCATE TABLE for a view is not allowed")
    raise UnsupportedError(
        f"TRUNCATE TABLE statement is not supported for the table {identifier.as_summary_string()} since its connector "
        "cannot remove all of its rows."
    ).with_hint(_INSTEAD)


def _refuse(session: TableSession, statement: nodes.Delete | nodes.Update, kind: str) -> StatementResult:
    found = _target(session, statement.table)
    assert isinstance(found.table, CatalogTable)
    names = found.table.schema.get_column_names()
    for each in statement.assignments if isinstance(statement, nodes.Update) else ():
        if str(each.column) not in names:
            hint = did_you_mean(str(each.column), names)
            raise invalid(each.column.span, f"Unknown target column '{each.column}'").with_hint(hint)
    if isinstance(statement, nodes.Delete):
        session.sink(found.identifier, found.table, SinkTarget())  # reports wrong options
    if session.is_streaming:
        raise UnsupportedError(f"{kind} statement is not supported for streaming mode now.").with_hint(_INSTEAD)
    raise UnsupportedError(
        f"Can't perform {kind.lower()} operation of the table {found.identifier.as_summary_string()} because its "
        f"connector cannot {kind.lower()} rows."
    ).with_hint(_INSTEAD)


def _target(session: TableSession, name: nodes.Identifier) -> ContextResolvedTable:
    identifier = qualified(session, name)
    found = session.catalogs.find_table(identifier)
    if found is None:
        hint = session.catalogs.similar(identifier.path)
        raise invalid(name.span, f"Object '{name.last}' not found").with_hint(hint)
    if not isinstance(found.table, CatalogTable):
        raise ValidationError(f"Sink '{identifier.as_summary_string()}' does not exists")
    return found
