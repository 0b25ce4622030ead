"""Programs on simulated machines: no schedule finds a fault, and each known fault is found within some schedules.

`SCURRY_SCHEDULES` says how many schedules (1,000 in CI), `SCURRY_SEED` where they begin.
"""

from __future__ import annotations

import os

import pytest

from scurry.testing import simulation
from scurry.testing.simulation import KINDS, FoundFault, Simulation
from support.mutants import MUTANTS, Mutant

pytestmark = pytest.mark.slow

PROGRAMS = ("counts", "timers", "windows", "sessions")
SCHEDULES = int(os.environ.get("SCURRY_SCHEDULES", "1000"))
FIRST = int(os.environ.get("SCURRY_SEED", "0"))
#: Schedules within which each mutant is found.
WITHIN = 200


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_schedule_finds_a_fault(program: str) -> None:
    runs = Simulation(getattr(simulation, program)(), records=20).check(SCHEDULES // len(PROGRAMS), FIRST)
    dealt = {fault.kind for run in runs for fault in run.dealt}
    assert dealt == set(KINDS) or len(runs) < 100


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_known_fault_is_found(mutant: Mutant) -> None:
    kinds = {kind: KINDS[kind] for kind in mutant.kinds} or None
    simulated = Simulation(getattr(simulation, mutant.job)(), kinds, records=12)
    simulated.schedule(0)  # how many operations there are without the fault
    with mutant.applied():
        for seed in range(WITHIN):
            try:
                simulated.run(simulated.schedule(seed))
            except FoundFault as found:
                print(f"{mutant.name}: found by seed {seed}: {found.reason[:200]}")
                return
    pytest.fail(f"{WITHIN} schedules have not found that {mutant.name}")
