"""The states that a program's functions register, found by opening the functions once."""

from __future__ import annotations

from collections.abc import Callable

from scurry.graph.plan import JobPlan
from scurry.runtime.exchange.collector import Collector
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators import RuntimeOperator, create_operator
from scurry.runtime.state.evolution.job import Collected
from scurry.runtime.state.registry import Registered
from scurry.runtime.state.schema import broadcast_name, descriptor_schema, own_schemas


def collect_schemas(load_plan: Callable[[], JobPlan]) -> Collected:
    """Open and close the functions of all stateful operators once, to collect the states that they register.

    Args:
        load_plan: Returns a copy of the plan whose functions may be used.

    Returns:
        Picklable by value: on Spark this runs in a task, where functions find the resources that they open.

    Raises:
        OperatorError: A function's `open` failed.
    """
    plan = load_plan()
    collected: Collected = {}
    for operator in plan.operators.values():
        if operator.input_edges and (operator.operator.keyed or hasattr(operator.operator, "descriptors")):
            settings = plan.settings
            info = TaskInfo(
                0,
                operator.parallelism,
                settings.max_parallelism,
                mode=settings.mode,
                job_parameters=settings.job_parameters,
                job_key=settings.job_key,
            )
            instance = create_operator(operator, Collector(operator), info)
            try:
                instance.open()
                collected[operator.uid] = registered_states(plan, instance)
            finally:
                instance.close()
    return collected


def registered_states(plan: JobPlan, instance: RuntimeOperator) -> dict[str, Registered]:
    """Return the states of an operator whose functions are open."""
    operator = instance.plan
    states = {name: Registered(schema) for name, schema in own_schemas(plan, operator).items()}
    for descriptor in getattr(operator.operator, "descriptors", ()):
        states[broadcast_name(descriptor.name)] = Registered(
            descriptor_schema(descriptor, broadcast=True), descriptor.migration
        )
    return states | instance.states.registry.states
