"""A browser, a registry of the tests' own, and the page of a job that does what a test says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from support.browser import chromium

# Machines may be busy.
expect.set_options(timeout=30_000)


@pytest.fixture(autouse=True)
def own_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for variable in ("SCURRY_REST_TOKEN", "SCURRY_REST_URL"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A tab, in which nothing may go wrong: no error of a script, no request to another host, none refused."""
    context = browser.new_context(viewport={"width": 1100, "height": 760}, locale="en-GB", timezone_id="UTC")
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.on("request", lambda asked: problems.append(asked.url) if "://127.0.0.1:" not in asked.url else None)
    page.problems = problems  # type: ignore[attr-defined]
    page.set_default_timeout(30_000)
    yield page
    context.close()
    assert problems == []
