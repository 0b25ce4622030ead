"""A registry of the tests' own, and a job in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scurry.rest.client import RemoteProcess
from support.rest.fake_jobs import FakeJob, served


@pytest.fixture(autouse=True)
def own_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of the registry's files."""
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for variable in ("SCURRY_REST_TOKEN", "SCURRY_REST_URL"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path / "run" / "scurry" / "jobs"


@pytest.fixture
def job() -> FakeJob:
    return FakeJob()


@pytest.fixture
def process(job: FakeJob) -> Iterator[RemoteProcess]:
    """The endpoint of `job`."""
    with served(job) as process:
        yield process
