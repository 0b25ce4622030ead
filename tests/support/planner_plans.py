"""What scurry plans for the queries of the tests of Flink's planner, beside what Flink does."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from scurry.connectors.tables.factories import CONNECTORS
from scurry.errors import ScurryError
from scurry.table import EnvironmentSettings, ExplainDetail, TableEnvironment
from support.planner_cases import Case, Node, parsed, tables_of

__all__ = ["Compared", "Planner"]

#: Operators that say where rows are computed, sent and bundled, not what is computed.
_LEFT_OUT = {
    "Calc", "Exchange", "TableSourceScan", "DataStreamScan", "LegacyTableSourceScan", "WatermarkAssigner",
    "MiniBatchAssigner", "DropUpdateBefore", "Reused", "Sink", "LegacySink", "LocalGroupAggregate",
    "IncrementalGroupAggregate", "LocalWindowAggregate", "Values", "ConstraintEnforcer", "AsyncCalc", "PythonCalc",
}  # fmt: skip
_SAME = {
    "GlobalGroupAggregate": "GroupAggregate", "GlobalWindowAggregate": "WindowAggregate",
    "GroupWindowAggregate": "WindowAggregate",
}  # fmt: skip
#: Operators that differ by the API that the tables of Flink's tests are made with.
_SOURCES = {
    "DataStreamScan": "TableSourceScan", "LegacyTableSourceScan": "TableSourceScan", "LegacySink": "Sink",
    "AsyncCalc": "Calc", "PythonCalc": "Calc", "GroupWindowAggregate": "WindowAggregate",
}  # fmt: skip
_CREATED = re.compile(r"\s*create\s+(?:temporary\s+)?(table|view)\s+(?:if\s+not\s+exists\s+)?`?(\w+)`?", re.IGNORECASE)
_ATTEMPTS = 6


@dataclass(frozen=True)
class Compared:
    """The operators of a query with their changes, as Flink plans it, and as scurry does.

    Attributes:
        case: The query.
        flinks: The operators of Flink's plan that keep state or make changes, from the sink down.
        ours: Those of scurry's; empty if it has none.
        refusal: Why scurry has no plan.
        flinks_kinds: How many operators of each kind Flink's plan has, all of them.
        our_kinds: The same of scurry's.
    """

    case: Case
    flinks: tuple[str, ...]
    ours: tuple[str, ...]
    refusal: str | None = None
    flinks_kinds: Counter[str] = field(default_factory=Counter)
    our_kinds: Counter[str] = field(default_factory=Counter)

    @property
    def differing_kinds(self) -> str:
        """The kinds of operators, all of them, of which one plan has more: `Calc -1` if scurry has one less."""
        kinds = sorted({*self.flinks_kinds, *self.our_kinds})
        counts = ((kind, self.our_kinds[kind] - self.flinks_kinds[kind]) for kind in kinds)
        return ", ".join(f"{kind} {count:+d}" for kind, count in counts if count)

    @property
    def cause(self) -> str:
        """The operators that only one of the plans has, without those that are left out."""
        flinks, ours = Counter(self.flinks), Counter(self.ours)
        only = (f"Flink: {', '.join(sorted((flinks - ours).elements())) or 'nothing'}",
                f"scurry: {', '.join(sorted((ours - flinks).elements())) or 'nothing'}")  # fmt: skip
        return "; ".join(only) if flinks != ours else "another order"

    @property
    def agrees(self) -> bool:
        """Whether both have the same operators with the same changes."""
        return self.refusal is None and self.flinks == self.ours


class Planner:
    """Plan the queries of a suite."""

    def __init__(self, suite: str) -> None:
        CONNECTORS["values"] = "support.planner_tables:ValuesFactory"
        self._variants: dict[str, list[str]] = defaultdict(list)
        for statement in tables_of(suite):
            found = _CREATED.match(statement)
            if found is not None:
                self._variants[found[2]].append(statement)

    def compared(self, case: Case) -> Compared:
        """Return the plans of a query."""
        with_modes = "changelogMode=[" in case.plan
        trees = parsed(case.plan)
        flinks, flinks_kinds = _listed(trees, with_modes), _kinds(trees)
        if flinks_kinds["MultiJoin"]:
            return Compared(case, flinks, (), "MultiJoin: joins of more than two inputs are several joins")
        refusal: str | None = None
        first: Compared | None = None
        for attempt in range(_ATTEMPTS):
            try:
                text = self._environment(attempt).explain_sql(case.sql, ExplainDetail.CHANGELOG_MODE)
            except (ScurryError, AssertionError) as error:
                refusal = refusal or f"{type(error).__name__}: {str(error).splitlines()[0]}"
                text = ""
            plan = text.partition("== Optimized Physical Plan ==\n")[2].partition("\n== Optimized Exec")[0]
            ours = parsed(plan)
            found = Compared(case, flinks, _listed(ours, with_modes), None, flinks_kinds, _kinds(ours))
            if text and (found.agrees or first is None):
                first = found
            if found.agrees or attempt + 1 >= max((len(each) for each in self._variants.values()), default=1):
                break
        return Compared(case, flinks, (), refusal) if first is None else first

    def _environment(self, attempt: int) -> TableEnvironment:
        """Return an environment with one of the statements that create each table."""
        env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        chosen = [each[min(attempt, len(each) - 1)] for each in self._variants.values()]
        waiting = sorted(chosen, key=lambda each: "view" in each[:40].lower())
        for _ in range(2):
            failed: list[str] = []
            for statement in waiting:
                try:
                    env.execute_sql(statement)
                except (ScurryError, AssertionError):
                    failed.append(statement)
            waiting = failed
        return env


def _kinds(roots: Sequence[Node]) -> Counter[str]:
    return Counter(_SOURCES.get(node.name, node.name) for root in roots for node in root.walk())


def _listed(roots: Sequence[Node], with_modes: bool) -> tuple[str, ...]:
    found = []
    for root in roots:
        # Splitting of distinct aggregates repeats rows for the aggregates that it splits.
        is_split = any("partialFinalType=[PARTIAL]" in node.text for node in root.walk())
        for node in root.walk():
            if node.name in _LEFT_OUT or "partialFinalType=[PARTIAL]" in node.text:
                continue
            if node.name == "Expand" and is_split:
                continue
            name = _SAME.get(node.name, node.name)
            kind = re.search(r"joinType=\[(\w+)\]", node.text)
            shown = f"{name}:{kind[1]}" if kind is not None and name.endswith("Join") else name
            found.append(f"{shown}[{node.mode}]" if with_modes and node.mode is not None else shown)
    return tuple(found)
