"""A warehouse of files for each test class, as dbt's fixtures want a profile."""

from __future__ import annotations

from importlib.metadata import packages_distributions
from typing import Any

import pytest

# `make test-dbt` has an environment of its own: dbt needs older versions of packages than the other tests.
collect_ignore_glob = [] if "dbt-tests-adapter" in packages_distributions().get("dbt", ()) else ["test_*"]


@pytest.fixture(scope="class")
def dbt_profile_target(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return {"type": "scurry", "threads": 2, "path": str(tmp_path_factory.mktemp("warehouse"))}


@pytest.fixture(scope="class")
def profile_user() -> None:
    """No owner of tables is known."""
