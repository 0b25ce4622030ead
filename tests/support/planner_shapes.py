"""Plans in a normal form: what is the same in Flink's plans and in scurry's, written in different ways, becomes equal.

| Flink's plan | normal form | why |
|---|---|---|
| `Reused` | the tree that it refers to | it says which trees are one, not what they do |
| `DataStreamScan`, `LegacyTableSourceScan`, `LegacySink` | `TableSourceScan`, `Sink` | old APIs make them |
| `AsyncCalc`, `PythonCalc` | `Calc` | where functions of users run |
| a `Calc` that only selects or casts columns and constants | nothing | scans and joins may select them as well |
| `Calc`s on a table, below and above its watermark, `filter=[...]` of its scan | one `Calc` | sources may apply them |
| `watermark=[...]` of a scan | `WatermarkAssigner` | sources may make watermarks |
| the parts of an aggregate with `DISTINCT` that is split | the aggregate | the setting has no effect in scurry |
| phases of a window, `GroupWindowAggregate` | `WindowAggregate` | old windows of Flink have one phase |
| `WatermarkAssigner` | nothing if the plan has a `DataStreamScan` | streams have watermarks already |
| `Union` of `Union` | one `Union` | a union has any number of inputs |
| `MiniBatchAssigner` | nothing | micro-batches are the bundles |
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
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
    "GlobalWindowAggregate": "WindowAggregate",
}  # fmt: skip
#: The phases of windows depend on the API that the tables and windows of Flink's tests are made with.
_LEFT_OUT = {"MiniBatchAssigner", "LocalWindowAggregate"}
#: A column or constant, cast or not, with its type or not: Flink's plans have casts where types only differ in whether
#: NULL is in them, and the plans of its tests no types of constants.
_SIZE = r"(?:\(\d+(?:, \d+)?\))?"
_ONE = rf"-?[\w$.]+(?::\w+{_SIZE})?|PROCTIME\(\)"
_TYPE = rf"\w+{_SIZE}(?: CHARACTER SET \"UTF-16LE\")?(?: \*ROWTIME\*)?"
_CAST = rf"(?:CAST|Reinterpret|PROCTIME_MATERIALIZE)\((?:{_ONE})(?: AS {_TYPE})?\)"
_COLUMN = rf"(?:{_ONE}|{_CAST})(?: AS [\w$]+)?"
_SELECTING = re.compile(rf"\w*Calc\(select=\[(?:{_COLUMN}(?:, {_COLUMN})*)?\](?:, changelogMode=\[[A-Z,]*\])?\)")
#: SUM and AVG of OVER, as Flink computes them.
_SUM = re.compile(r"CASE\(\(w\d+\$o\d+ > 0\), (w\d+\$o\d+), null:\w+(?:\(\d+(?:, \d+)?\))?\)")
_AVG = re.compile(r"\((w\d+\$o\d+) / w\d+\$o\d+\)")
_ON_TABLES = {"Calc", "WatermarkAssigner", "DropUpdateBefore", "MiniBatchAssigner"}


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
    left_out = {*_LEFT_OUT, "WatermarkAssigner"} if streams else _LEFT_OUT
    found = Counter(kind for root in roots for kind in _kinds(_without_splits(_without_unions_of_unions(root))))
    return Counter({kind: count for kind, count in found.items() if kind not in left_out})


def _kinds(node: Node) -> Iterator[str]:
    table = _kinds_of_table(node)
    if table is not None:
        yield from table
        return
    if not _selects(node.text):
        yield _NAMES.get(node.name, node.name)
    for each in node.inputs:
        yield from _kinds(each)


def _selects(text: str) -> bool:
    """Say whether an operator only selects or casts columns."""
    return _SELECTING.match(_AVG.sub(r"\1", _SUM.sub(r"\1", text))) is not None


def _kinds_of_table(node: Node) -> list[str] | None:
    """Return the kinds of the operators that read a table and compute its rows; None if others are among them."""
    found, computes = [], False
    while _NAMES.get(node.name, node.name) in _ON_TABLES and len(node.inputs) == 1:
        if not node.name.endswith("Calc"):
            found.append(node.name)
        elif not _selects(node.text):
            computes = True
        (node,) = node.inputs
    if _NAMES.get(node.name, node.name) != "TableSourceScan":
        return None
    if "watermark=[" in node.text:
        found.append("WatermarkAssigner")
    computes |= re.search(r"filter=\[[^\]]", node.text) is not None
    return [*found, *(["Calc"] if computes else []), "TableSourceScan"]


def _without_splits(node: Node) -> Node:
    """Return a plan in which an aggregate of the parts of a split one is that aggregate."""
    inputs = tuple(map(_without_splits, node.inputs))
    if "partialFinalType=[FINAL]" not in node.text or node.name == "LocalGroupAggregate":
        return replace(node, inputs=inputs)
    below = node
    while any("partialFinalType=" in each.text for each in below.walk()):
        (below,) = below.inputs
    while below.name in ("Calc", "Expand", "Exchange") and len(below.inputs) == 1:
        (below,) = below.inputs
    rows: Node = _without_splits(below)
    if node.name == "GlobalGroupAggregate":
        rows = Node("LocalGroupAggregate", "LocalGroupAggregate", (rows,))
    return Node(node.name, node.name, (Node("Exchange", "Exchange", (rows,)),))


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
