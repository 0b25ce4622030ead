"""The two layouts of the state of a key group."""

from __future__ import annotations

import pytest

from scurry.runtime.state import writing


@pytest.fixture
def in_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """No group has so many pages that it is in runs."""
    monkeypatch.setattr(writing, "RUN_PAGES", 1 << 30)


@pytest.fixture(params=[writing.RUN_PAGES, 0], ids=["pages", "runs"])
def layout(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups are in runs from the usual number of pages on, and at once."""
    monkeypatch.setattr(writing, "RUN_PAGES", request.param)
