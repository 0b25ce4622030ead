"""What the tests of dependencies share."""

from __future__ import annotations

from pathlib import Path

import pytest

from scurry.common._process.directories import cache_directory
from support.dependencies.projects import Project, new_project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with every kind of dependency; what is installed for it goes when the test ends."""
    own = tmp_path / "cache" / "scurry"
    own.mkdir(parents=True)
    for entry in cache_directory().iterdir():
        if entry.name != "environments":  # what lets Spark start sooner stays
            (own / entry.name).symlink_to(entry)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return new_project(tmp_path)
