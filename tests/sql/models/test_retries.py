"""Calls of models that fail are repeated after waits that grow up to a limit."""

from __future__ import annotations

import time
from typing import Any

import pytest

from scurry.errors import ModelCallError
from scurry.sql.models.retries import Retries


def test_however_many_attempts_are_made_no_wait_is_longer_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)

    def call() -> Any:
        raise ModelCallError("the server is overloaded")

    with pytest.raises(ModelCallError, match="overloaded"):
        Retries(3000, ignores=False).run(call, [("a text",)])
    assert len(waits) == 3000
    assert 0 < waits[0] <= 0.5
    assert 6.0 <= min(waits[10:]) <= max(waits) <= 8.0
