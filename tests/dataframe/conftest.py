"""Every test of DataFrames begins without an environment."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import scurry.dataframe as pf
from scurry.dataframe.dataframe_config import current


def _forget() -> None:
    current.environment, current.buffered = None, {}


@pytest.fixture(autouse=True)
def no_environment() -> Iterator[None]:
    _forget()
    yield
    _forget()


@pytest.fixture(params=["STREAMING", "BATCH"])
def mode(request: pytest.FixtureRequest) -> str:
    """The mode of the environment that the test's first DataFrame creates."""
    pf.config.set("execution.runtime-mode", request.param)
    return str(request.param)


@pytest.fixture
def batch() -> None:
    pf.config.set("execution.runtime-mode", "BATCH")
