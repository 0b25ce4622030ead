"""Ids of a program's jobs where the first one is configured, as in a session."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.common import Configuration
from scurry.datastream import StreamExecutionEnvironment
from scurry.runtime import submit

FIRST = "0123456789abcdef0123456789abcdef"


def ids_of_a_run(monkeypatch: pytest.MonkeyPatch, **settings: Any) -> list[str]:
    """The ids of two jobs in a process that has just begun."""
    monkeypatch.setattr(submit, "_jobs_with_id", type(submit._jobs_with_id)())
    configured = {"scurry.runner": "local", "$internal.pipeline.job-id": FIRST, **settings}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(configured))
    ids = []
    for _ in range(2):
        env.from_collection([1]).print()
        ids.append(str(env.execute().get_job_id()))
    return ids


def test_each_job_has_the_same_id_in_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = ids_of_a_run(monkeypatch)
    assert first == FIRST != second
    assert ids_of_a_run(monkeypatch) == [first, second]
