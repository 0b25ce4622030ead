"""Base classes of the nodes of a relational plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

from scurry.sql.plan.schema import Schema


@dataclass(frozen=True)
class Plan:
    """A node: an operation with its inputs."""

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The nodes whose rows this one reads."""
        return ()

    @property
    def schema(self) -> Schema:
        """Names and types of the columns."""
        raise NotImplementedError

    def with_inputs(self, inputs: tuple[Plan, ...]) -> Plan:
        """Return the same operation on other inputs of the same types."""
        return self


@dataclass(frozen=True)
class OneInput(Plan):
    """A node with one input, whose columns it has unless it says otherwise."""

    input: Plan

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return (self.input,)

    @property
    def schema(self) -> Schema:
        return self.input.schema

    def with_inputs(self, inputs: tuple[Plan, ...]) -> Self:
        return self if inputs[0] is self.input else replace(self, input=inputs[0])


@dataclass(frozen=True)
class TwoInputs(Plan):
    left: Plan
    right: Plan

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return (self.left, self.right)

    def with_inputs(self, inputs: tuple[Plan, ...]) -> Self:
        if inputs[0] is self.left and inputs[1] is self.right:
            return self
        return replace(self, left=inputs[0], right=inputs[1])


def walk(plan: Plan) -> Iterator[Plan]:
    """Iterate over a node and all below it, each node before its inputs."""
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.inputs))
