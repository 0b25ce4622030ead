"""How far scurry's plans are those of the tests of Flink's planner: `python -m support.planner_report`.

With the name of a file, what is found is kept there, and a run that was interrupted goes on.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from support.planner_cases import cases
from support.planner_plans import Compared, Planner

__all__ = ["Found", "found_of_all", "report"]


@dataclass(frozen=True)
class Found:
    """What was found of a query.

    Attributes:
        name: Its suite and name.
        refusal: Why scurry has no plan; None if it has one.
        cause: Which operators that keep rows, or changes, only one of the plans has; empty if they agree.
        kinds: Of which kinds of operators one plan has more; empty if they agree.
    """

    name: str
    refusal: str | None
    cause: str
    kinds: str

    @classmethod
    def of(cls, compared: Compared) -> Found:
        """Return what was found by a comparison."""
        name = f"{compared.case.suite}.{compared.case.name}"
        if compared.refusal is not None:
            return cls(name, compared.refusal, "", "")
        return cls(name, None, "" if compared.agrees else compared.cause, compared.differing_kinds)

    @property
    def agrees(self) -> bool:
        """Whether scurry has a plan, and all of it is as Flink's."""
        return self.refusal is None and not self.cause and not self.kinds


def found_of_all(kept: Path | None = None) -> Iterator[Found]:
    """Compare all queries.

    Args:
        kept: Where to keep what is found, and to find what is known; None to compare all of them.
    """
    lines = kept.read_text(encoding="utf-8").splitlines() if kept is not None and kept.exists() else []
    known = {each.name: each for each in (Found(**json.loads(line)) for line in lines)}
    planners: dict[str, Planner] = {}
    for case in cases():
        found = known.get(f"{case.suite}.{case.name}")
        if found is None:
            planner = planners.get(case.suite) or planners.setdefault(case.suite, Planner(case.suite))
            found = Found.of(planner.compared(case))
            if kept is not None:
                with kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(found)) + "\n")
        yield found


def report(found: Iterable[Found]) -> str:
    """Return the figures, and what differs by cause."""
    everything = list(found)
    planned = [each for each in everything if each.refusal is None]
    state = [each for each in planned if each.cause]
    kinds = [each for each in planned if each.kinds]
    lines = [
        f"{len(everything)} queries, {len(planned)} of them planned",
        f"operators that keep rows, and changes: {len(planned) - len(state)} agree",
        f"all kinds of operators: {len(planned) - len(kinds)} agree",
        f"both: {sum(each.agrees for each in planned)} agree",
        *_by_cause("Not planned", [each for each in everything if each.refusal is not None], _refusal),
        *_by_cause("Other operators that keep rows, or other changes", state, lambda each: each.cause),
        *_by_cause("Other kinds of operators", kinds, lambda each: each.kinds),
    ]
    return "\n".join(lines)


def _refusal(found: Found) -> str:
    return re.sub(r"(At|From) line \d+, column \d+( to line \d+, column \d+)?: ", "", found.refusal or "")


def _by_cause(title: str, found: list[Found], cause: Callable[[Found], str]) -> Iterator[str]:
    names: dict[str, list[str]] = defaultdict(list)
    for one in found:
        names[cause(one)].append(one.name)
    yield f"\n{title}: {len(found)}"
    for each, some in sorted(names.items(), key=lambda item: (-len(item[1]), item[0])):
        yield f"{len(some):5} {each}  ({some[0]})"


if __name__ == "__main__":
    print(report(found_of_all(Path(sys.argv[1]) if len(sys.argv) > 1 else None)))
