"""DELETE, UPDATE and TRUNCATE, which no connector supports."""

from __future__ import annotations

from scurry.catalog.entries import CatalogTable, CatalogView, ContextResolvedTable, QueryView
from scurry.connectors.tables.contract import SinkTarget
from scurry.connectors.tables.factories import create_sink
from scurry.errors import UnsupportedError, ValidationError
from scurry.sql import nodes
from scurry.sql.validator.failures import invalid
from scurry.statements.names import qualified
from scurry.statements.results import StatementResult
from scurry.statements.session import TableSession

__all__ = ["delete", "truncate_table", "update"]

_ABILITIES = "org.apache.flink.table.connector.sink.abilities"


def delete(session: TableSession, statement: nodes.Delete) -> StatementResult:
    """Refuse: no connector deletes rows.

    Raises:
        UnsupportedError: Always, if there is such a table.
    """
    return _refuse(session, statement, "DELETE", "SupportsRowLevelDelete")


def update(session: TableSession, statement: nodes.Update) -> StatementResult:
    """Refuse: no connector changes rows.

    Raises:
        UnsupportedError: Always, if there is such a table.
    """
    return _refuse(session, statement, "UPDATE", "SupportsRowLevelUpdate")


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
        )
    if session.is_streaming:
        raise UnsupportedError("TRUNCATE TABLE statement is not supported in streaming mode.")
    if isinstance(found.table, CatalogView | QueryView):
        raise ValidationError("TRUNCATE TABLE for a view is not allowed")
    raise UnsupportedError(
        f"TRUNCATE TABLE statement is not supported for the table {identifier.as_summary_string()} since the table "
        f"hasn't implemented the interface {_ABILITIES}.SupportsTruncate."
    )


def _refuse(session: TableSession, statement: nodes.Delete | nodes.Update, kind: str, ability: str) -> StatementResult:
    found = _target(session, statement.table)
    assert isinstance(found.table, CatalogTable)
    names = found.table.schema.get_column_names()
    for each in statement.assignments if isinstance(statement, nodes.Update) else ():
        if str(each.column) not in names:
            raise invalid(each.column.span, f"Unknown target column '{each.column}'")
    if isinstance(statement, nodes.Delete):
        create_sink(session.context_of(found.identifier, found.table), SinkTarget())  # reports wrong options
    if session.is_streaming:
        raise UnsupportedError(f"{kind} statement is not supported for streaming mode now.")
    raise UnsupportedError(
        f"Can't perform {kind.lower()} operation of the table {found.identifier.as_summary_string()} because the "
        f"corresponding dynamic table sink has not yet implemented {_ABILITIES}.{ability}."
    )


def _target(session: TableSession, name: nodes.Identifier) -> ContextResolvedTable:
    identifier = qualified(session, name)
    found = session.catalogs.find_table(identifier)
    if found is None:
        raise invalid(name.span, f"Object '{name.last}' not found")
    if not isinstance(found.table, CatalogTable):
        raise ValidationError(f"Sink '{identifier.as_summary_string()}' does not exists")
    return found
