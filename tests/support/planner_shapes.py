"""Plans in a normal form: what is the same in Flink's plans and in scurry's, written in different ways, becomes equal.

| Flink's plan | normal form | why |
|---|---|---|
| `Reused` | the tree that it refers to | it says which trees are one, not what they do |
| `DataStreamScan`, `LegacyTableSourceScan`, `LegacySink` | `TableSourceScan`, `Sink` | tables of Flink's tests made with old APIs |
| `AsyncCalc`, `PythonCalc` | `Calc` | where functions of users run |
| a `Calc` that only selects columns | nothing | scans, joins and aggregates may select them as well |
| `WatermarkAssigner` | nothing if the plan has a `DataStreamScan` | streams have watermarks already |
| `Union` of `Union` | one `Union` | a union has any number of inputs |
| `MiniBatchAssigner` | nothing | micro-batches are the bundles |
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from support.planner_cases import Node

__all__ = ["kinds", "listed", "resolved"]

#: Operators that say where rows are computed, sent and bundled, not what is computed.
_WITHOUT_STATE = {
    "Calc", "Exchange", "TableSourceScan", "DataStreamScan", "LegacyTableSourceScan", "WatermarkAssigner",
    "MiniBatchAssigner", "DropUpdateBefore", "Sink", "LegacySink", "LocalGroupAggregate",
    "IncrementalGroupAggregate", "LocalWindowAggregate", "Values", "ConstraintEnforcer", "AsyncCalc", "PythonCalc",
}  # fmt: skip
_SAME = {
    "GlobalGroupAggregate": "GroupAggregate", "GlobalWindowAggregate": "WindowAggregate",
    "GroupWindowAggregate": "WindowAggregate",
}  # fmt: skip
_NAMES = {
    "DataStreamScan": "TableSourceScan", "LegacyTableSourceScan": "TableSourceScan", "LegacySink": "Sink",
    "AsyncCalc": "Calc", "PythonCalc": "Calc", "GroupWindowAggregate": "WindowAggregate",
}  # fmt: skip
_SELECTING = re.compile(
    r"Calc\(select=\[(?:[\w$]+(?: AS [\w$]+)?(?:, [\w$]+(?: AS [\w$]+)?)*)?\](?:, changelogMode=\[[A-Z,]*\])?\)"
)


def resolved(roots: Sequence[Node]) -> list[Node]:
    """Return trees in which each part that is used again stands wherever it is used."""
    known = {
        found[1]: node
        for root in roots
        for node in root.walk()
        if (found := re.search(r"\(reuse_id=\[(\d+)\]\)", node.text)) is not None
    }

    def whole(node: Node) -> Node:
        found = re.match(r"Reused\(reference_id=\[(\d+)\]", node.text)
        if found is not None and found[1] in known:
            return whole(known[found[1]])
        return replace(node, inputs=tuple(map(whole, node.inputs)))

    return [whole(root) for root in roots]


def kinds(roots: Sequence[Node], flinks: Sequence[Node]) -> Counter[str]:
    """Return how many operators of each kind a plan has, all of them.

    Args:
        roots: The plan.
        flinks: Flink's plan of the same query.
    """
    streams = any(node.name in ("DataStreamScan", "LegacyTableSourceScan") for root in flinks for node in root.walk())
    left_out = {"MiniBatchAssigner", *(["WatermarkAssigner"] if streams else [])}
    return Counter(
        _NAMES.get(node.name, node.name)
        for root in roots
        for node in _without_unions_of_unions(root).walk()
        if node.name not in left_out and not _SELECTING.match(node.text)
    )


def _without_unions_of_unions(node: Node) -> Node:
    inputs = [_without_unions_of_unions(each) for each in node.inputs]
    if node.name == "Union":
        inputs = [below for each in inputs for below in (each.inputs if each.name == "Union" else (each,))]
    return replace(node, inputs=tuple(inputs))


def listed(roots: Sequence[Node], with_modes: bool) -> tuple[str, ...]:
    """Return the operators of a plan that keep state or make changes, from the sink down, with their changes."""
    found = []
    for root in roots:
        # Splitting of distinct aggregates repeats rows for the aggregates that it splits.
        is_split = any("partialFinalType=[PARTIAL]" in node.text for node in root.walk())
        for node in root.walk():
            if node.name in _WITHOUT_STATE or "partialFinalType=[PARTIAL]" in node.text:
                continue
            if node.name == "Expand" and is_split:
                continue
            name = _SAME.get(node.name, node.name)
            kind = re.search(r"joinType=\[(\w+)\]", node.text)
            shown = f"{name}:{kind[1]}" if kind is not None and name.endswith("Join") else name
            found.append(f"{shown}[{node.mode}]" if with_modes and node.mode is not None else shown)
    return tuple(found)
