"""Programs on simulated machines: no schedule finds a fault, and each known fault is found within some schedules.

`SCURRY_SCHEDULES` says how many schedules (1,000 in CI), `SCURRY_SEED` where they begin.
Without pytest: `python -m support.simulated.runs` in `tests`.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from scurry.testing.simulation import KINDS, FoundFault, Simulation
from support.mutants import MUTANTS, Mutant
from support.simulated import PROGRAMS
from support.simulated.runs import outcomes

pytestmark = pytest.mark.slow

SCHEDULES = int(os.environ.get("SCURRY_SCHEDULES", "1000"))
FIRST = int(os.environ.get("SCURRY_SEED", "0"))
#: Schedules within which each mutant is found.
WITHIN = 1000


def test_no_schedule_finds_a_fault() -> None:
    dealt: Counter[str] = Counter()
    for share, had in outcomes(SCHEDULES, FIRST):
        assert had.fault is None, f"{share.program}, {had.fault}"
        dealt += had.dealt
    assert set(dealt) == set(KINDS) or SCHEDULES < 400
    print(f"{SCHEDULES} schedules, {dict(dealt)}")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_known_fault_is_found(mutant: Mutant) -> None:
    kinds = {kind: KINDS[kind] for kind in mutant.kinds} or None
    simulated = Simulation(PROGRAMS[mutant.job](), kinds, records=12)
    simulated.schedule(0)  # how many operations there are without the fault
    with mutant.applied():
        for seed in range(WITHIN):
            try:
                simulated.run(simulated.schedule(seed))
            except FoundFault as found:
                print(f"{mutant.name}: found by seed {seed}: {found.reason[:200]}")
                return
    pytest.fail(f"{WITHIN} schedules have not found that {mutant.name}")
