"""A real browser for tests of the web page: Playwright's own Chromium, else the one that Debian's package installs.

Nothing is downloaded: a machine without either skips. `playwright install chromium` or `apt-get install chromium`
provides one.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

#: Names of Debian's Chromium, the smaller one first.
_INSTALLED = ("chromium-headless-shell", "chromium", "google-chrome")


@contextmanager
def chromium() -> Iterator[Browser]:
    """A Chromium without a window; a skip if there is none."""
    with sync_playwright() as playwright:
        browser = _launched(playwright)
        try:
            yield browser
        finally:
            browser.close()


def _launched(playwright: Playwright) -> Browser:
    import pathlib

    own = playwright.chromium.executable_path
    path = own if pathlib.Path(own).exists() else next(filter(None, map(shutil.which, _INSTALLED)), None)
    if path is None:
        pytest.skip("no browser: `playwright install chromium` or `apt-get install chromium` provides one")
    # In containers, tests run as root, for whom Chromium has no sandbox.
    return playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
