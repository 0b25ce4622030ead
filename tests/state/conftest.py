from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="module")
def spark() -> Any:
    from scurry.graph.plan import JobPlan
    from scurry.graph.settings import JobSettings
    from scurry.spark.session import session

    return session._session_of_program() or session._create(JobPlan(JobSettings("state", 2)))
