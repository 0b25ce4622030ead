"""Operators, and trees as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from scurry._dataclasses import dataclass
from scurry.sql.plan.nodes import Plan

_Node = TypeVar("_Node")


@dataclass(frozen=True)
class Operator:
    """An operator of a plan as it is executed.

    Attributes:
        text: The operator as EXPLAIN shows it, with its name first.
        plan: The node whose rows it emits.
        drops_before: Whether its updates lose the rows before them later, where those of the node have none.
        distribution: In BATCH, by which columns its rows are together; none if all rows are; None if nothing is known.
    """

    text: str
    plan: Plan
    inputs: tuple[Operator, ...]
    drops_before: bool = False
    distribution: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        """Flink's name of it."""
        return self.text.partition("(")[0]


def tree_text(node: _Node, described: Callable[[_Node], tuple[str, Sequence[_Node]]]) -> str:
    """Return a tree as text.

    Args:
        node: Its root.
        described: Returns the text of a node, and the nodes under it.
    """
    return "\n".join(_lines(node, described))


def indented_text(node: _Node, described: Callable[[_Node], tuple[str, Sequence[_Node]]]) -> str:
    """Return a tree as text without lines between its nodes: that of a query in an expression."""
    text, inputs = described(node)
    below = [line for each in inputs for line in indented_text(each, described).splitlines()]
    return "\n".join([text, *(f"  {line}" for line in below)])


def _lines(node: _Node, described: Callable[[_Node], tuple[str, Sequence[_Node]]]) -> list[str]:
    text, inputs = described(node)
    found = [text]
    for place, each in enumerate(inputs):
        last = place == len(inputs) - 1
        below = _lines(each, described)
        found.append(f"{'+-' if last else ':-'} {below[0]}")
        found += [f"{'   ' if last else ':  '}{line}" for line in below[1:]]
    return found
