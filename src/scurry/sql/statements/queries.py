"""Queries: validated, optimised, checked, and run as jobs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any

from scurry.common.recursion import deep_recursion
from scurry.errors import EvaluationError
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.schema import ResolvedSchema
from scurry.sql.connectors.contract import Changes
from scurry.sql.plan.nodes import Plan
from scurry.sql.statements.jobs import QueryJob
from scurry.sql.statements.not_null import NotNullEnforcer
from scurry.sql.statements.planning import check_sources, planned
from scurry.sql.statements.results import QueryRows, StatementResult
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser import parse
from scurry.sql.validator import validate_query


@deep_recursion()
def plan_query(session: TableSession, query: nodes.Query) -> Plan:
    """Return the plan of a query, whose tables have sources.

    Raises:
        ValidationError: The query is wrong, or the options of a table are.
    """
    plan = validate_query(query, session.catalog(), session.for_functions())
    check_sources(session, plan)
    return plan


def result_names(session: TableSession, text: str) -> tuple[str, ...]:
    """Return the names of the columns of a query, whose tables need no sources.

    Raises:
        ScurryError: The query is wrong.
    """
    query = parse(text)
    assert isinstance(query, nodes.Query), text
    return validate_query(query, session.catalog(), session.for_functions()).schema.names


@deep_recursion()
def plan_path(session: TableSession, identifier: ObjectIdentifier) -> Plan:
    """Return the plan of a table or view, whose sources are made when it is executed or explained."""
    name = nodes.Identifier((identifier.catalog, identifier.database, identifier.name))
    return validate_query(nodes.ExplicitTable(name), session.catalog(), session.for_functions())


def schema_of(plan: Plan) -> ResolvedSchema:
    return ResolvedSchema.physical(list(plan.schema.names), list(plan.schema.types))


def execute_query(session: TableSession, query: nodes.Query) -> StatementResult:
    session = session.executing(query)
    return execute_plan(session, plan_query(session, query))


@deep_recursion()
def execute_plan(session: TableSession, plan: Plan) -> StatementResult:
    """Run the plan of a query; its rows are computed as they are taken."""
    schema = schema_of(plan)
    job = QueryJob(planned(session, [plan]))
    rows = _rows(job.changes(), NotNullEnforcer.of_query(session, schema).changes)
    return StatementResult(schema, QueryRows(rows, job.cancel), is_query=True, job=job)


def _rows(
    changes: Iterator[Changes], enforce: Callable[[Changes], Changes]
) -> Generator[tuple[int, tuple[Any, ...]], None, None]:
    """Yield the rows of changes; forgetting them ends the job of the changes."""
    try:
        for each in map(enforce, changes):
            kinds = each.kinds if each.kinds is not None else [0] * each.batch.num_rows
            columns = list(map(_values, each.batch.schema.names, each.batch.columns))
            rows = zip(*columns, strict=True) if columns else [()] * each.batch.num_rows
            yield from zip(kinds, rows, strict=True)
    finally:
        close = getattr(changes, "close", None)
        if close is not None:
            close()


def _values(name: str, column: Any) -> list[Any]:
    from scurry.sql.types.values import to_values

    try:
        return to_values(column)
    except EvaluationError as error:
        raise EvaluationError(f"column {name!r}: {error}") from None
