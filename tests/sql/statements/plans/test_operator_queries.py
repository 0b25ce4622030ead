"""The queries that stand for the operators of STREAMING, which other tests stop and cut, have all of them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest

from scurry.graph.nodes import Node, OperatorNode
from scurry.sql import operators as streaming
from scurry.sql.operators.changes.lowering import materialized
from scurry.sql.operators.lowering import _LOWERED
from scurry.sql.plan.models import MLPredict, VectorSearch
from scurry.sql.plan.nodes import Plan, Sink, walk
from scurry.sql.statements import planning
from scurry.sql.statements.inserts import plan_insert
from scurry.sql.statements.queries import plan_query
from scurry.sql.statements.streaming_runner import lowering_of
from scurry.sql.syntax.parser import parse
from support.statements.operator_queries import BY_ANOTHER_KEY, QUERIES, SETTINGS
from support.statements.stopped_jobs import tables


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> tuple[set[type[Plan]], set[type]]:
    """Return the kinds of plan nodes that the queries have, and those of the functions of their operators."""
    operations: set[type[Plan]] = set()
    functions: set[type] = set()
    for name, query in QUERIES.items():
        env = tables(tmp_path_factory.mktemp("tables"), False, SETTINGS.get(name, {}))
        plan, rows = lowered(env, name, query)
        operations |= {type(each) for each in walk(plan)}
        functions |= {type(getattr(each.operator, "function", None)) for each in nodes(rows)}
    return operations, functions


def lowered(env: Any, name: str, query: str) -> tuple[Plan, Node]:
    session = env._session
    if name == BY_ANOTHER_KEY:
        env.execute_sql(
            "CREATE TABLE written (k STRING, v INT, s BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH "
            "('connector' = 'jdbc', 'table-name' = 'written', 'url' = 'jdbc:sqlite:/none/w.db')"
        )
        insertion: Any = parse(f"INSERT INTO written {query} ON CONFLICT DO DEDUPLICATE")
        statement = planning.planned(session, [plan_insert(session, insertion)])
    else:
        parsed: Any = parse(query)
        statement = planning.planned(session, [plan_query(session, parsed)])
    (plan,), lowering = statement.plans, lowering_of(statement)
    return plan, materialized(lowering, plan) if isinstance(plan, Sink) else lowering.node(plan)


def nodes(node: Node) -> Iterator[OperatorNode]:
    if isinstance(node, OperatorNode):
        yield node
    for each in node.inputs:
        yield from nodes(each)


#: What statements have of which the other tests do not take the rows: `test_conflicts`.
OF_STATEMENTS = {"CompactingMaterializer"}
#: Calls of models and searches, which keep nothing: their jobs are tested beside them.
WITHOUT_STATE = {MLPredict, VectorSearch}


def functions_with_state() -> Iterator[type]:
    """Yield the classes of functions that get rows by key."""
    for module in pkgutil.walk_packages(streaming.__path__, f"{streaming.__name__}."):
        for each in vars(importlib.import_module(module.name)).values():
            if isinstance(each, type) and each.__module__ == module.name and not each.__subclasses__():
                if hasattr(each, "process") and hasattr(each, "emit_after_timers"):
                    yield each


def test_every_operation_has_a_query(planned: tuple[set[type[Plan]], set[type]]) -> None:
    assert set(_LOWERED) - planned[0] == WITHOUT_STATE


def test_every_function_with_state_has_a_query(planned: tuple[set[type[Plan]], set[type]]) -> None:
    found = set(functions_with_state())
    assert len(found) > 20
    assert {each.__name__ for each in found - planned[1]} == OF_STATEMENTS
