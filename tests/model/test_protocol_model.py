"""Spin explores the models of the protocol: all runs keep records, state and order, and each known fault is found."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from support.model.spin import Unavailable, Verifier, mutants

pytestmark = pytest.mark.slow

#: Model -> what a check explores, by its name; none takes many seconds.
CHECKS: dict[str, dict[str, Mapping[str, int]]] = {
    "in_process": {
        "crashes": {"PARTS": 2, "RECORDS": 4, "CRASHES": 3, "CHANGES": 2},
        "two drivers": {"PARTS": 2, "DRIVERS": 2, "CRASHES": 1},
    },
    "spark": {
        "crashes": {},
        "large origins": {"PARTS": 2, "CRASHES": 1},
        "messages": {"MESSAGES": 1, "CRASHES": 1, "RECORDS": 2},
        "lost entries": {"LOSSES": 1, "CRASHES": 1, "RECORDS": 3},
        "damaged files": {"DAMAGES": 1, "CRASHES": 1, "RECORDS": 4},
        "a lease that is taken over": {"DRIVERS": 2, "TAKEOVERS": 1, "CRASHES": 1, "RECORDS": 2},
    },
}
#: The checks that find a mutant; the first otherwise.
FOUND_BY = {
    "NO_LOCK": "two drivers",
    "RESTORES_HALF": "large origins",
    "LEASE_UNCHECKED": "a lease that is taken over",
    "ROLLED_BACK_AS_ONE": "damaged files",
    "NOTE_OF_ROLLED_BACK_KEPT": "damaged files",
    "MOVES_WHAT_IS_ROLLED_BACK": "damaged files",
    "NOTE_KEPT_WITHOUT_ENTRY": "lost entries",
    "STOPS_WITH_WHAT_IS_ROLLED_BACK": "lost entries",
}


@pytest.fixture(scope="session")
def verifiers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verifier]:
    try:
        return {name: Verifier.of(name, tmp_path_factory.mktemp(name)) for name in CHECKS}
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize(("model", "check"), [(model, check) for model in CHECKS for check in CHECKS[model]])
def test_the_protocol_holds_in_all_runs_within_bounds(
    verifiers: dict[str, Verifier], model: str, check: str, tmp_path: Path
) -> None:
    answer = verifiers[model].explore(CHECKS[model][check], tmp_path)
    print(f"{model}, {check}: {answer.states:,} states, depth {answer.depth}")
    assert answer.refuted is None
    assert answer.states > 10_000


@pytest.mark.parametrize(("model", "mutant"), [(model, mutant) for model in CHECKS for mutant in mutants(model)])
def test_a_known_fault_is_refuted(verifiers: dict[str, Verifier], model: str, mutant: str, tmp_path: Path) -> None:
    checks = CHECKS[model]
    bounds = checks.get(FOUND_BY.get(mutant, ""), next(iter(checks.values())))
    answer = verifiers[model].explore({**bounds, "MUTANT": mutants(model)[mutant]}, tmp_path)
    print(f"{model}, {mutant}: {answer.refuted}, after {answer.states:,} states")
    assert answer.refuted is not None


def test_the_models_have_their_mutants() -> None:
    assert {model: len(mutants(model)) for model in CHECKS} == {"in_process": 12, "spark": 22}
