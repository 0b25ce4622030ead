"""The tasks of BATCH jobs on Spark are counted while Spark runs."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from scurry.spark import interrupting


class Context:
    """A context of Spark whose tasks cannot be counted."""

    def __init__(self, running: bool) -> None:
        self._jsc = object() if running else None

    def statusTracker(self) -> Any:
        raise AttributeError("'NoneType' object has no attribute 'statusTracker'")


def watch(context: Any) -> None:
    job: Any = SimpleNamespace(stopping=threading.Event())
    interrupting._watch(job, context, "tag", None, threading.Event())


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupting, "_COUNT_SECONDS", 0)


def test_counting_ends_quietly_when_somebody_has_stopped_spark() -> None:
    watch(Context(running=False))


def test_other_failures_of_counting_are_seen() -> None:
    with pytest.raises(AttributeError):
        watch(Context(running=True))
