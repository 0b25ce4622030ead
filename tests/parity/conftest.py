"""The runners, as a fixture."""

from __future__ import annotations

import pytest

from support.runners import Runner

RUNNERS = [
    pytest.param(Runner("local", "STREAMING"), id="local streaming"),
    pytest.param(Runner("local", "BATCH"), id="local batch"),
    pytest.param(Runner("spark", "STREAMING"), id="spark streaming", marks=pytest.mark.spark),
    pytest.param(Runner("spark", "BATCH"), id="spark batch", marks=pytest.mark.spark),
]


@pytest.fixture(params=RUNNERS)
def runner(request: pytest.FixtureRequest) -> Runner:
    """Each runner in turn; those on Spark share the session that the first of them starts."""
    chosen: Runner = request.param
    return chosen
