"""Base classes of the nodes of a relational plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache
from typing import Any, Self

from scurry._dataclasses import dataclass
from scurry.sql.plan.schema import Schema


@dataclass(frozen=True)
class Plan:
    """A node: an operation with its inputs."""

    def __init_subclass__(cls) -> None:
        """Give a kind of node the hash of all nodes: that of dataclasses hashes all nodes below at each look-up."""
        super().__init_subclass__()
        if "__hash__" not in cls.__dict__:
            cls.__hash__ = Plan.__hash__  # type: ignore[method-assign]

    def __hash__(self) -> int:
        """Hash the node once: plans are deep, and rules look up each of their nodes."""
        found: int | None = self.__dict__.get("_hash")
        if found is None:
            kind: Any = type(self)  # mypy takes the hash of nodes for that of their class
            found = hash(tuple(getattr(self, name) for name in _compared(kind)))
            object.__setattr__(self, "_hash", found)
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Leave out derived values: another process computes another hash."""
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}

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


@cache
def _compared(kind: type[Plan]) -> tuple[str, ...]:
    """Return the names of the fields by which nodes of a kind are compared."""
    return tuple(each.name for each in fields(kind) if (each.compare if each.hash is None else each.hash))


def walk(plan: Plan) -> Iterator[Plan]:
    """Iterate over a node and all below it, each node before its inputs."""
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.inputs))
