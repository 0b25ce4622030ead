"""A property that fails does not keep CI waiting."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import engine

WITHOUT_EXPLANATION = set(Phase) - {Phase.explain}


def runs_until_shrunk() -> int:
    runs = 0

    @settings(database=None, derandomize=True, phases=WITHOUT_EXPLANATION, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.integers(), min_size=20))
    def fails(numbers: list[int]) -> None:
        nonlocal runs
        runs += 1
        assert sum(numbers) < 10_000

    with pytest.raises(AssertionError):
        fails()
    return runs


@pytest.mark.filterwarnings("ignore")
def test_shrinking_ends_after_its_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    assert engine.MAX_SHRINKING_SECONDS == 30
    whole = runs_until_shrunk()
    monkeypatch.setattr(engine, "MAX_SHRINKING_SECONDS", 0)
    assert runs_until_shrunk() < whole / 2
