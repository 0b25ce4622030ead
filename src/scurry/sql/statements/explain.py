"""EXPLAIN."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from scurry.common.recursion import deep_recursion
from scurry.errors import UnsupportedError
from scurry.sql.plan.nodes import Plan, Sink
from scurry.sql.planner import explain as relational_explain
from scurry.sql.planner.changelog import Changelogs, Update
from scurry.sql.planner.rules import all_selected, as_written, named_by_query
from scurry.sql.statements.inserts import plan_insert
from scurry.sql.statements.planning import planned
from scurry.sql.statements.queries import plan_query
from scurry.sql.statements.results import StatementResult, names_result
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.streaming_runner import execution_plan
from scurry.sql.syntax import nodes


def explain(session: TableSession, statement: nodes.Explain) -> StatementResult:
    """Show the plans of a statement."""
    result = names_result("result", [explain_text(session, statement.statement, statement.details)])
    result.is_text = True
    return result


@deep_recursion()
def explain_text(session: TableSession, statement: nodes.Statement, details: Sequence[str] = ()) -> str:
    """Return the plans of a statement.

    Args:
        details: What to show beside the plans, of which there are CHANGELOG_MODE and PLAN_ADVICE.

    Raises:
        UnsupportedError: It has none, or none with these details: no costs are estimated.
    """
    session = session.planning()
    if isinstance(statement, nodes.Query):
        return explain_plans(session, [plan_query(session, statement)], details, [_root_of(statement)])
    if isinstance(statement, nodes.Insert):
        return explain_plans(session, [_insertion(session, statement)], details)
    if isinstance(statement, nodes.StatementSet):
        return explain_plans(session, [_insertion(session, insert) for insert in statement.inserts], details)
    if isinstance(statement, nodes.Execute):
        return explain_text(session, statement.statement, details)
    if isinstance(statement, nodes.CreateTable) and statement.query is not None:
        from scurry.sql.statements.definitions.create_table_as import plan_create_table_as

        return explain_plans(session, [plan_create_table_as(session, statement)[1]], details)
    raise UnsupportedError(f"EXPLAIN of {type(statement).__name__} is not supported: only of queries and insertions")


def _root_of(query: nodes.Query) -> str:
    """Return `HAVING` for a query with such a clause, `*` for one of all columns; the plan of neither tells it."""
    if not isinstance(query, nodes.Select) or query.windows or query.quantifier:
        return ""
    if query.having is not None:
        return "HAVING"
    (first, *others) = query.items
    is_all = isinstance(first.expression, nodes.Star) and not others and query.group_by is None
    return "*" if is_all else ""


def _insertion(session: TableSession, statement: nodes.Insert) -> Sink:
    sink = plan_insert(session, statement)
    names = sink.input.schema.names
    return replace(sink, target_columns=tuple(names.index(str(column)) for column in statement.columns))


@deep_recursion()
def explain_plans(
    session: TableSession, plans: Sequence[Plan], details: Sequence[str] = (), roots: Sequence[str] = ()
) -> str:
    """Return the explanation of plans.

    Args:
        plans: One per sink, or that of a query.
        details: As for `explain_text`.
        roots: For each plan how its query is written, as `_root_of` returns it; empty if nothing is known.

    Raises:
        UnsupportedError: It has no such details.
    """
    if "ESTIMATED_COST" in details:
        raise UnsupportedError(
            "ESTIMATED_COST: no costs are estimated here, plans follow from rules and, in BATCH on Spark, from Spark's "
            "optimizer; leave it out"
        )
    if "PLAN_ADVICE" in details and not session.is_streaming:
        raise UnsupportedError("EXPLAIN PLAN_ADVICE is not supported under batch mode.")
    plans = [named_by_query(plan) for plan in plans]
    # Nobody asks a query that is only explained for the rows before updates.
    updates = Update.ONLY_AFTER, Update.BEFORE_AND_AFTER
    shown = planned(session, plans, updates, explained=True)
    modes = shown.changelogs.text if session.is_streaming and "CHANGELOG_MODE" in details else None
    functions = session.for_functions()
    written = [as_written(plan, functions) for plan in plans]
    written = [all_selected(plan) if root == "*" else plan for plan, root in zip_longest(written, roots)]
    having = [root == "HAVING" for root in roots] or [False] * len(written)
    advises, reading = "PLAN_ADVICE" in details, shown.reading(plans)
    text = relational_explain.explain(written, shown.plans, reading, modes, advises, having)
    if session.is_streaming and "JSON_EXECUTION_PLAN" in details:
        statement = planned(session, plans, updates)
        job = statement if statement.sinks else replace(statement, changelogs=Changelogs(statement.plans))
        text += f"\n== Physical Execution Plan ==\n{execution_plan(job)}"
    return text
