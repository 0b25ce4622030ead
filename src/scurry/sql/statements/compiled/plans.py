"""Compiled plans: insertions are compiled, written as JSON, read again and executed as compiled."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import scurry
from scurry.common.configuration import Configuration
from scurry.common.recursion import deep_recursion
from scurry.errors import CompiledPlanError, ConfigError, ScurryError, ValidationError
from scurry.sql.plan.nodes import Plan, Sink
from scurry.sql.planner.changelog import Changelogs
from scurry.sql.planner.explain import explain_executed, physical_text
from scurry.sql.statements.compiled.catalog_objects import FunctionNames, kept_table, restored_table, secrets_of_model
from scurry.sql.statements.compiled.encoding import Decoder, Encoder
from scurry.sql.statements.inserts import plan_insert, started
from scurry.sql.statements.planning import PlannedStatement, planned
from scurry.sql.statements.results import StatementResult
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes

#: Raised whenever plans of before cannot be read any more.
_FORMAT: Final = 1
_KEPT_SETTINGS: Final = ("table.exec.", "table.optimizer.")
_OF_THE_CLUSTER: Final = "table.exec.resource."


class CompiledStatement:
    """Insertions as they are executed, independent of later versions of the optimiser.

    Attributes:
        sinks: The plans, after all rules.
        numbers: The number of each of their nodes, which is the beginning of the identity of its operators.
        text: The plan as JSON.
        version: The version of scurry that has compiled it.
    """

    def __init__(self, session: TableSession, sinks: Sequence[Sink], numbers: Mapping[Plan, int], text: str) -> None:
        """Create a statement from the parts of a plan; use `compile_statement` or `read_plan`."""
        self._session = session
        self.sinks = list(sinks)
        self.numbers = numbers
        self.text = text
        self.version = str(json.loads(text).get("scurryVersion"))

    @deep_recursion()
    def execute(self) -> StatementResult:
        """Start the job.

        Raises:
            ValidationError: A table has no source or no sink any more.
        """
        with _damaged("the plan"):
            session = self._session.for_execution(self._session.statement)
            statement = PlannedStatement.of_executed(session, self.sinks)
        return started(statement, self.numbers)

    @deep_recursion()
    def explain(self) -> str:
        """Return the plan as text."""
        with _damaged("the plan"):
            changelogs = Changelogs(self.sinks if self._session.is_streaming else ())
            return explain_executed(self.sinks, PlannedStatement(self._session, self.sinks, changelogs).reading())


def compile_statement(session: TableSession, statement: nodes.Insert | nodes.StatementSet) -> CompiledStatement:
    """Compile an INSERT or a statement set.

    Raises:
        ValidationError: It is wrong, or has something that no plan can keep.
    """
    session = session.planning()
    inserts = [statement] if isinstance(statement, nodes.Insert) else statement.inserts
    return compiled_sinks(session, [plan_insert(session, each) for each in inserts])


@deep_recursion()
def compiled_sinks(session: TableSession, sinks: Sequence[Sink]) -> CompiledStatement:
    """Compile insertions.

    Raises:
        ConfigError: A job of them would end in a savepoint.
        ValidationError: They have something that no plan can keep.
    """
    if session.for_insertions() is not session:
        raise ConfigError("scurry.final-savepoint.dir: a plan is compiled in STREAMING, of which it is the savepoint")
    ready = planned(session, sinks).sinks
    settings = {
        key: value
        for key, value in sorted(session.configuration.to_dict().items())
        if key.startswith(_KEPT_SETTINGS) and not key.startswith(_OF_THE_CLUSTER)
    }
    encoder = Encoder(lambda table: kept_table(session, encoder, table), FunctionNames(session).name_of)
    written: list[dict[str, Any]] = []
    for sink in ready:
        _number(sink, encoder, written)
    plan = {
        "scurryVersion": scurry.__version__,
        "planFormat": _FORMAT,
        "mode": "STREAMING" if session.is_streaming else "BATCH",
        "configuration": settings,
        "nodes": written,
        "sinks": [encoder.numbers[sink] for sink in ready],
    }
    return CompiledStatement(session, ready, encoder.numbers, json.dumps(plan, indent=2, ensure_ascii=False))


def _number(plan: Plan, encoder: Encoder, written: list[dict[str, Any]]) -> None:
    """Add a node after those below it; equal nodes are one."""
    waiting = [(plan, False)]
    while waiting:
        node, are_inputs_written = waiting.pop()
        if node in encoder.numbers:
            continue
        if not are_inputs_written:
            waiting += [(node, True), *((each, False) for each in reversed(node.inputs))]
            continue
        number = len(written) + 1
        properties = encoder.properties(node)
        written.append(
            {"id": number, "type": type(node).__name__, "description": physical_text(node), "properties": properties}
        )
        encoder.numbers[node] = number


@deep_recursion()
def read_plan(session: TableSession, text: str) -> CompiledStatement:
    """Return the plan of a text that `CompiledStatement.text` was.

    Raises:
        CompiledPlanError: It is no such text, is damaged, was compiled for another mode or by a later version, or its
            tables or functions cannot be found.
    """
    plan = _parsed(text)
    with _damaged("it"):
        return _restored(session, plan, text)


#: Exceptions of Python that damaged plans raise.
_SYMPTOMS: Final = (
    LookupError,
    TypeError,
    AttributeError,
    ValueError,
    ArithmeticError,
    AssertionError,
    RecursionError,
)


@contextmanager
def _damaged(what: str) -> Iterator[None]:
    """Raise errors of Python as those of a plan that is damaged."""
    try:
        yield
    except ScurryError:
        raise
    except _SYMPTOMS as error:
        reason = f"{type(error).__name__}: {error}"
        raise CompiledPlanError(f"{what} is damaged ({reason:.300}): compile the statement again") from error


def _restored(session: TableSession, plan: dict[str, Any], text: str) -> CompiledStatement:
    mode = "STREAMING" if session.is_streaming else "BATCH"
    if plan["mode"] != mode:
        raise CompiledPlanError(f"the plan was compiled in {plan['mode']}, and the environment is in {mode}")
    configuration = Configuration(session.configuration)
    for key, value in plan["configuration"].items():
        if not key.startswith(_KEPT_SETTINGS) or not isinstance(value, str):
            raise CompiledPlanError(f"it has the setting {key!r:.100}, which plans do not have")
        configuration.set_string(key, value)
    session = replace(session, configuration=configuration)
    decoder = Decoder(
        lambda kept: restored_table(session, decoder, kept),
        FunctionNames(session).function,
        lambda path, keys: secrets_of_model(session, path, keys),
    )
    for node in plan["nodes"]:
        name = f"node {node['id']!r} ({node['type']!r:.100})"
        try:
            with _damaged(name):
                made = decoder.made(node["type"], node["properties"])
                if not isinstance(made, Plan):
                    raise CompiledPlanError(f"{name} is no operation")
                _ = made.schema, physical_text(made)  # which refer to the nodes below
        except CompiledPlanError:
            raise
        except ValidationError as error:
            raise CompiledPlanError(f"{name}: {error}") from error
        decoder.nodes[node["id"]] = made
    sinks = [decoder.nodes[number] for number in plan["sinks"]]
    if not sinks or not all(isinstance(each, Sink) for each in sinks):
        raise CompiledPlanError(f"its sinks {plan['sinks']!r:.100} are none")
    numbers = {node: number for number, node in decoder.nodes.items()}
    return CompiledStatement(session, [each for each in sinks if isinstance(each, Sink)], numbers, text)


def _parsed(text: str) -> dict[str, Any]:
    try:
        plan = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CompiledPlanError(f"it is no JSON: {error}") from error
    if not isinstance(plan, dict) or "planFormat" not in plan:
        hint = "; plans of Flink cannot be read: compile the statement again" if "flinkVersion" in str(plan) else ""
        raise CompiledPlanError(f"it is no plan that scurry has compiled{hint}")
    if type(plan["planFormat"]) is not int or plan["planFormat"] > _FORMAT:
        raise CompiledPlanError(
            f"scurry {plan.get('scurryVersion')} has compiled it in format {plan['planFormat']}, and version "
            f"{scurry.__version__} reads formats up to {_FORMAT}"
        )
    return plan
