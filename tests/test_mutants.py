"""Each mutant has its place in the code of today: what the simulation finds is in `faults/test_simulated.py`."""

from __future__ import annotations

import pytest

from support.mutants import MUTANTS, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_has_its_place_in_the_code(mutant: Mutant) -> None:
    with mutant.applied():
        pass
