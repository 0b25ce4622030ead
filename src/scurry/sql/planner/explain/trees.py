"""Trees as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

_Node = TypeVar("_Node")


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
