"""What scurry plans for the queries of the tests of Flink's planner, beside what Flink does."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from scurry.errors import ScurryError
from scurry.sql.connectors.factories import CONNECTORS
from scurry.table import EnvironmentSettings, ExplainDetail, TableEnvironment
from support.planner_cases import Case, parsed, tables_of
from support.planner_shapes import kinds, listed, resolved

__all__ = ["Compared", "Planner", "settings_of"]

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
        plan: scurry's plan.
    """

    case: Case
    flinks: tuple[str, ...]
    ours: tuple[str, ...]
    refusal: str | None = None
    flinks_kinds: Counter[str] = field(default_factory=Counter)
    our_kinds: Counter[str] = field(default_factory=Counter)
    plan: str = ""

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

    @property
    def agreement(self) -> tuple[bool, bool]:
        """Whether both have the same operators with the same changes, and the same number of all kinds."""
        return self.agrees, self.refusal is None and not self.differing_kinds


def settings_of(case: Case) -> dict[str, str]:
    """Return the settings of a test, as its name and Flink's plan tell them."""
    settings: dict[str, str] = {}
    if "MiniBatchAssigner" in case.plan or "LocalGroupAggregate" in case.plan:
        settings |= {"table.exec.mini-batch.enabled": "true", "table.exec.mini-batch.allow-latency": "1 s",
                     "table.exec.mini-batch.size": "3"}  # fmt: skip
    phases = re.search(r"aggPhaseEnforcer=(\w+)", case.name)
    if phases is not None:
        settings["table.optimizer.agg-phase-strategy"] = phases[1]
    if "partialFinalType=" in case.plan:
        settings["table.optimizer.distinct-agg.split.enabled"] = "true"
    return settings


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
        """Return the plans of a query: of the tables of its suite those with which they agree most."""
        with_modes = "changelogMode=[" in case.plan
        trees = resolved(parsed(case.plan))
        flinks, flinks_kinds = listed(trees, with_modes), kinds(trees, trees)
        if flinks_kinds["MultiJoin"]:
            return Compared(case, flinks, (), "MultiJoin: joins of more than two inputs are several joins")
        refusal: str | None = None
        best: Compared | None = None
        variants = max((len(each) for each in self._variants.values()), default=1)
        for attempt in range(min(_ATTEMPTS, variants)):
            try:
                text = self._environment(attempt, settings_of(case)).explain_sql(case.sql, ExplainDetail.CHANGELOG_MODE)
            except (ScurryError, AssertionError) as error:
                refusal = refusal or f"{type(error).__name__}: {str(error).splitlines()[0]}"
                continue
            plan = text.partition(f"== {case.section} ==\n")[2].partition("\n== ")[0]
            ours = resolved(parsed(plan))
            found = Compared(case, flinks, listed(ours, with_modes), None, flinks_kinds, kinds(ours, trees), plan)
            if best is None or found.agreement > best.agreement:
                best = found
            if all(best.agreement):
                break
        return Compared(case, flinks, (), refusal) if best is None else best

    def _environment(self, attempt: int, settings: Mapping[str, str]) -> TableEnvironment:
        """Return an environment with one of the statements that create each table."""
        env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        for key, value in settings.items():
            env.get_config().set(key, value)
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
