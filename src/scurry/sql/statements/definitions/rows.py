"""DELETE, UPDATE and TRUNCATE."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.common.recursion import deep_recursion
from scurry.errors import UnsupportedError, ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.catalog.entries import CatalogTable, CatalogView, ContextResolvedTable, QueryView
from scurry.sql.connectors import factories
from scurry.sql.connectors.contract import RowChange, RowChanges, SinkTarget
from scurry.sql.functions.signatures import standard_name
from scurry.sql.plan import builders, calls
from scurry.sql.plan.nodes import Plan, Sink
from scurry.sql.statements.inserts import execute_sinks
from scurry.sql.statements.names import qualified
from scurry.sql.statements.queries import plan_query
from scurry.sql.statements.results import StatementResult, ok
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes
from scurry.sql.types.cast_rules import supports_implicit_cast
from scurry.sql.validator.failures import invalid

_INSTEAD = (
    "the connectors 'jdbc' (with PRIMARY KEY), 'delta' and 'iceberg' delete and update rows; INSERT INTO a table with "
    "a primary key updates its rows by key"
)


def delete(session: TableSession, statement: nodes.Delete) -> StatementResult:
    """Start the job that deletes the rows for which a condition is true, all of them or none.

    Raises:
        ValidationError: The table or the condition is wrong.
        UnsupportedError: The session is one of STREAMING, or the connector cannot delete rows.
    """
    return _changed(session, statement, "DELETE")


def update(session: TableSession, statement: nodes.Update) -> StatementResult:
    """Start the job that sets columns of the rows for which a condition is true, in all of them or none.

    Raises:
        ValidationError: The table, a column, a value or the condition is wrong.
        UnsupportedError: The session is one of STREAMING, or the connector cannot update rows.
    """
    return _changed(session, statement, "UPDATE")


def truncate_table(session: TableSession, statement: nodes.TruncateTable) -> StatementResult:
    """Remove all rows of a table.

    Raises:
        ValidationError: There is no such table.
        UnsupportedError: The session is one of STREAMING, or the connector cannot remove all rows.
    """
    identifier = qualified(session, statement.table)
    found = session.catalogs.find_table(identifier)
    if found is None:
        raise ValidationError(
            f"Cannot find table '{identifier}' in any of the catalogs [{', '.join(session.catalogs.list_catalogs())}], "
            "nor as a temporary table."
        ).with_hint(session.catalogs.similar(identifier.path))
    if session.is_streaming:
        raise UnsupportedError("TRUNCATE TABLE statement is not supported in streaming mode.").with_hint(_IN_BATCH)
    if isinstance(found.table, CatalogView | QueryView):
        raise ValidationError("TRUNCATE TABLE for a view is not allowed")
    assert isinstance(found.table, CatalogTable)
    session.sink(identifier, found.table, SinkTarget())  # reports wrong options
    try:
        factories.truncate(session.context_of(identifier, found.table))
    except UnsupportedError as error:
        raise error.with_hint("the connectors 'jdbc', 'delta' and 'iceberg' can") from None
    return ok()


_IN_BATCH = "rows are deleted and updated in BATCH: EnvironmentSettings.in_batch_mode()"


@deep_recursion()
def _changed(session: TableSession, statement: nodes.Delete | nodes.Update, kind: str) -> StatementResult:
    """Start the job of a DELETE or an UPDATE."""
    found = _target(session, statement.table)
    table = found.table
    assert isinstance(table, CatalogTable)
    assignments = statement.assignments if isinstance(statement, nodes.Update) else ()
    _check_columns(table, assignments)
    if session.is_streaming:
        if kind == "DELETE":
            session.sink(found.identifier, table, SinkTarget())  # reports wrong options
        raise UnsupportedError(f"{kind} statement is not supported for streaming mode now.").with_hint(_IN_BATCH)
    session = session.executing(statement)
    how = factories.row_changes(session.context_of(found.identifier, table))
    change = RowChange(tuple(each.column.last for each in assignments))
    if how is not None:
        _check_key(found, how, change)
        # The sink is made before the source: it knows a version of the table that is not newer than what is read.
        session.sink(found.identifier, table, SinkTarget(change=change))
    plan = _selected(session, statement, assignments, found, how)
    if how is None:
        session.source(found.identifier, table)
        session.sink(found.identifier, table, SinkTarget())  # reports wrong options
        raise UnsupportedError(
            f"Can't perform {kind.lower()} operation of the table {found.identifier.as_summary_string()} because its "
            f"connector cannot {kind.lower()} rows."
        ).with_hint(_INSTEAD)
    sink = Sink(plan, found.identifier.path, ContextResolvedTable(found.identifier, table), row_change=change.columns)
    return execute_sinks(session, [sink])


def _selected(
    session: TableSession,
    statement: nodes.Delete | nodes.Update,
    assignments: Sequence[nodes.Assignment],
    found: ContextResolvedTable,
    how: RowChanges | None,
) -> Plan:
    """Return the rows that the sink is given.

    Raises:
        ValidationError: The condition or a value is wrong.
    """
    table = found.table
    assert isinstance(table, CatalogTable)
    names = [column.name for column in table.schema.get_columns() if column.is_persisted()]
    alias = statement.alias or nodes.Identifier((found.identifier.name,))
    rows = nodes.Alias(nodes.TableReference(statement.table, span=statement.table.span), alias)
    condition, wanted = statement.where, names
    values: dict[str, nodes.Expression] = {name: nodes.Identifier((alias.last, name)) for name in names}
    if how is RowChanges.REPLACING and isinstance(statement, nodes.Update):
        for each in assignments:
            old = values[each.column.last]
            branch = nodes.WhenClause(nodes.BooleanLiteral(True) if condition is None else condition, each.value)
            values[each.column.last] = nodes.Case((branch,), old)
        condition = None
    elif how is RowChanges.REPLACING:
        condition = nodes.BooleanLiteral(False) if condition is None else nodes.IsTest(condition, "TRUE", True)
    elif how is RowChanges.BY_KEY:
        key = table.schema.get_primary_key()
        assert key is not None
        values |= {each.column.last: _value(each, values[each.column.last]) for each in assignments}
        wanted = [*(each.column.last for each in assignments), *key.columns]
    else:
        values |= {each.column.last: _value(each, values[each.column.last]) for each in assignments}
    items = tuple(nodes.SelectItem(values[name]) for name in wanted)
    plan = plan_query(session, nodes.Select(items, rows, condition, span=statement.span))
    types = {column.name: column.data_type for column in table.schema.get_columns()}
    for each in assignments:
        given = plan.schema[wanted.index(each.column.last)].type
        if not supports_implicit_cast(given.nullable(), types[each.column.last].nullable()):
            raise invalid(
                each.value.span,
                f"Cannot assign to target field '{each.column.last}' of type {standard_name(types[each.column.last])} "
                f"from source field 'EXPR$0' of type {standard_name(given)}",
            ).with_hint(f"CAST(... AS {types[each.column.last].as_summary_string()}) converts it")
    functions = session.for_functions()
    columns = [
        calls.converted(builders.column(plan, place), types[name].nullable(), functions)
        for place, name in enumerate(wanted)
    ]
    return builders.project(plan, columns, wanted)


def _value(assignment: nodes.Assignment, column: nodes.Expression) -> nodes.Expression:
    """Return the value of an assignment; NULL as one of the column's type, because a query cannot select it."""
    if not isinstance(assignment.value, nodes.NullLiteral):
        return assignment.value
    return nodes.Case((nodes.WhenClause(nodes.BooleanLiteral(False), column),), assignment.value)


def _check_key(found: ContextResolvedTable, how: RowChanges, change: RowChange) -> None:
    """Refuse changes by a primary key that there is not, or that changes itself.

    Raises:
        ValidationError: The table has no primary key, or a column of it is set.
    """
    assert isinstance(found.table, CatalogTable)
    key, name = found.table.schema.get_primary_key(), found.identifier.as_summary_string()
    if how is not RowChanges.BY_KEY:
        return
    if key is None:
        raise ValidationError(
            f"Rows of the table {name} are deleted and updated by their primary key, and it declares none."
        ).with_hint("declare it: PRIMARY KEY (column) NOT ENFORCED")
    changed = [each for each in change.columns if each in key.columns]
    if changed:
        raise ValidationError(
            f"UPDATE cannot set '{changed[0]}' of the table {name}: it belongs to the primary key, by which rows are "
            "updated."
        ).with_hint("INSERT the rows with their new keys, and DELETE those with the old ones")


def _check_columns(table: CatalogTable, assignments: Sequence[nodes.Assignment]) -> None:
    names = [column.name for column in table.schema.get_columns() if column.is_persisted()]
    seen: set[str] = set()
    for each in assignments:
        column = str(each.column)
        if column not in names:
            hint = did_you_mean(column, names)
            raise invalid(each.column.span, f"Unknown target column '{column}'").with_hint(hint)
        if column in seen:
            raise invalid(each.column.span, f"Target column '{column}' is assigned more than once")
        seen.add(column)


def _target(session: TableSession, name: nodes.Identifier) -> ContextResolvedTable:
    identifier = qualified(session, name)
    found = session.catalogs.find_table(identifier)
    if found is None:
        hint = session.catalogs.similar(identifier.path)
        raise invalid(name.span, f"Object '{name.last}' not found").with_hint(hint)
    if not isinstance(found.table, CatalogTable):
        raise ValidationError(f"Sink '{identifier.as_summary_string()}' does not exists")
    return found
