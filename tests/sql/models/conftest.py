"""Environments of both modes, with a view of three rows."""

from __future__ import annotations

import pytest

from scurry.sql.models import retries
from scurry.table import EnvironmentSettings, TableEnvironment


@pytest.fixture(params=["streaming", "batch"])
def env(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> TableEnvironment:
    monkeypatch.setattr(retries, "_FIRST_DELAY", 0.0)
    settings = EnvironmentSettings.in_batch_mode()
    if request.param == "streaming":
        settings = EnvironmentSettings.in_streaming_mode()
    settings.get_configuration().set_string("scurry.runner", "local").set_string("parallelism.default", "1")
    found = TableEnvironment.create(settings)
    found.execute_sql("CREATE TEMPORARY VIEW v (id, s) AS VALUES (1, 'a'), (2, 'bc'), (3, 'd')")
    return found
