"""Queries: validated, optimised, checked, and run as jobs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scurry.catalog.entries import CatalogTable, ContextResolvedTable
from scurry.catalog.schema import ResolvedSchema
from scurry.connectors.tables.factories import create_source
from scurry.errors import ValidationError
from scurry.relational import plan as relational
from scurry.relational.plan import Plan
from scurry.sql import nodes
from scurry.sql.validator import validate_query
from scurry.statements.catalog_reader import SessionCatalog
from scurry.statements.changes import executable
from scurry.statements.jobs import TableJob, run_query
from scurry.statements.not_null import NotNullEnforcer
from scurry.statements.results import StatementResult
from scurry.statements.session import TableSession

__all__ = ["check_sources", "execute_plan", "execute_query", "is_bounded", "plan_query", "schema_of"]


def plan_query(session: TableSession, query: nodes.Query, allows_null: bool = False) -> Plan:
    """Return the plan of a query, whose tables have sources.

    Args:
        session: The session.
        query: The query.
        allows_null: Whether NULL may stand alone in the result, as in INSERT, which knows the types.

    Raises:
        ValidationError: The query is wrong, or the options of a table are.
    """
    plan = validate_query(query, SessionCatalog(session), session.for_functions(), allows_null)
    check_sources(session, plan)
    return plan


def check_sources(session: TableSession, plan: Plan) -> None:
    """Make the source of every table once, so that wrong options are reported before anything runs.

    Raises:
        ValidationError: There is none.
    """
    for node in relational.walk(plan):
        if isinstance(node, relational.Scan):
            found, table = scanned_table(node)
            source = create_source(session.context_of(found.identifier, table, dict(node.options)))
            if not (session.is_streaming or source.bounded):
                raise ValidationError(
                    f"Querying an unbounded table '{found.identifier.as_summary_string()}' in batch mode is not "
                    "allowed. The table source is unbounded."
                )
            if not (session.is_streaming or source.insert_only):
                raise ValidationError(
                    "Querying a table in batch mode is currently only possible for INSERT-only table sources. But the "
                    f"source for table '{found.identifier.as_summary_string()}' produces other changelog messages than "
                    "INSERT."
                )


def is_bounded(session: TableSession, plan: Plan) -> bool:
    """Say whether the input of a plan ends."""
    for node in relational.walk(plan):
        if isinstance(node, relational.Scan):
            found, table = scanned_table(node)
            if not create_source(session.context_of(found.identifier, table, dict(node.options))).bounded:
                return False
    return True


def scanned_table(node: relational.Scan) -> tuple[ContextResolvedTable, CatalogTable]:
    """Return the table that a scan reads."""
    found = node.table
    assert isinstance(found, ContextResolvedTable) and isinstance(found.table, CatalogTable)
    return found, found.table


def schema_of(plan: Plan) -> ResolvedSchema:
    """Return the columns of a plan."""
    return ResolvedSchema.physical(list(plan.schema.names), list(plan.schema.types))


def execute_query(session: TableSession, query: nodes.Query) -> StatementResult:
    """Run a query."""
    return execute_plan(session, plan_query(session, query))


def execute_plan(session: TableSession, plan: Plan) -> StatementResult:
    """Run the plan of a query; its rows are computed as they are taken."""
    schema = schema_of(plan)
    changes = run_query(session, executable(session, plan))
    job = TableJob(getattr(changes, "cancel", None))
    rows = _rows(map(NotNullEnforcer.of_query(session, schema).changes, changes))
    return StatementResult(schema, job.tracking(rows), is_query=True, job=job)


def _rows(changes: Iterator[Any]) -> Iterator[tuple[int, tuple[Any, ...]]]:
    from scurry.logical_types.values import to_values

    for each in changes:
        kinds = each.kinds if each.kinds is not None else [0] * each.batch.num_rows
        columns = list(map(to_values, each.batch.columns))
        rows = zip(*columns, strict=True) if columns else [()] * each.batch.num_rows
        yield from zip(kinds, rows, strict=True)
