"""Programs on simulated machines: no schedule finds a fault, and each known fault is found within some schedules.

`SCURRY_SCHEDULES` says how many schedules (10,000 in CI), `SCURRY_SEED` where they begin.
Without pytest: `python -m support.simulated.runs` in `tests`. Without a seed it takes new ones and keeps them in the
ledger, `tests/support/simulated/ledger.jsonl`.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from scurry.testing.simulation import KINDS_OF_STORES, FoundFault
from support.mutants import MUTANTS, Mutant
from support.simulated.runs import ledger, outcomes

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SCHEDULES = int(os.environ.get("SCURRY_SCHEDULES", "10000"))
FIRST = int(os.environ.get("SCURRY_SEED", "0"))
#: Schedules within which each mutant is found.
WITHIN = 1000


# They take 260 s of processor time, on machines that do other work, too.
@pytest.mark.timeout(3600)
def test_no_schedule_finds_a_fault() -> None:
    dealt: Counter[str] = Counter()
    for share, had in outcomes(SCHEDULES, FIRST):
        assert had.fault is None, f"{share}, {had.fault}"
        dealt += had.dealt
    assert set(dealt) == set(KINDS_OF_STORES) or SCHEDULES < 400
    print(f"{SCHEDULES} schedules, {dict(dealt)}")


def test_the_ledger_has_the_schedules_that_the_page_claims() -> None:
    claimed = re.search(r"more than ([0-9,]+) of new seeds", (ROOT / "docs" / "claims.md").read_text("utf-8"))
    assert claimed is not None
    assert int(claimed[1].replace(",", "")) <= sum(line["schedules"] for line in ledger())
    firsts = [line["first"] for line in ledger()]
    assert all(later - first >= 20_000 for first, later in pairwise(firsts))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_known_fault_is_found(mutant: Mutant) -> None:
    simulated = mutant.simulation()
    with mutant.applied():
        for seed in range(mutant.first, mutant.first + WITHIN):
            found = simulated.attempt(seed)
            if isinstance(found, FoundFault):
                print(f"{mutant.name}: found by seed {seed}: {found.reason[:200]}")
                return
    pytest.fail(f"{WITHIN} schedules have not found that {mutant.name}")
