"""Make the pictures of docs/web-page.md: `python tests/web/pictures.py`, in the project's environment."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from playwright.sync_api import Page, expect

from scurry.common import Configuration
from scurry.rest.history import History
from scurry.rest.session.directory import SessionDirectory
from scurry.rest.session.endpoint import SessionEndpoint
from scurry.rest.session.session import SessionCluster
from scurry.rest.settings import RestSettings
from support.browser import chromium
from support.rest.example_job import SCREENS, example, last_hour
from support.rest.fake_jobs import TOKEN, served

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"


def main() -> None:
    """Write all pictures."""
    job = example()
    points = last_hour()
    History.points = property(lambda history: points)  # type: ignore[assignment]
    with served(job) as process, chromium() as browser:
        page = browser.new_page(viewport={"width": 1000, "height": 600}, locale="en-GB", timezone_id="UTC")
        for name, part in SCREENS.items():
            address = "/jobs" if part is None else f"/jobs/{job.id}{part}"
            opened(page, f"{process.url}/#token={TOKEN}&{address}")
            if name == "state":
                look_up(page)
            page.screenshot(path=PICTURES / f"page-{name}.png")
            if name == "graph":
                page.get_by_role("heading", name="Subtasks").scroll_into_view_if_needed()
                page.locator("summary").nth(1).click()
                page.locator("details").last.scroll_into_view_if_needed()
                page.screenshot(path=PICTURES / "page-subtasks.png")
            page.goto("about:blank")
        opened(page, f"{process.url}/#token={TOKEN}&/endpoint")
        page.screenshot(path=PICTURES / "page-endpoint.png")
        submitted(browser.new_page(viewport={"width": 1000, "height": 600}, locale="en-GB", timezone_id="UTC"))
        without_token = browser.new_page(viewport={"width": 1000, "height": 300}, locale="en-GB")
        without_token.goto(process.url)
        expect(without_token.get_by_label("Token")).to_be_visible()
        without_token.screenshot(path=PICTURES / "page-token.png")


def submitted(page: Page) -> None:
    """A query in the page of a session, with its rows."""
    settings = RestSettings.of(Configuration.from_dict({"scurry.rest": "on", "scurry.rest.token": TOKEN}), "local")
    assert settings is not None
    session = SessionCluster("shop", SessionDirectory.named("shop"), {"scurry.runner": "local"})
    endpoint = SessionEndpoint(settings)
    session.open()
    endpoint.serve(session)
    opened(page, f"{endpoint.url}/#token={TOKEN}&/submit")
    page.get_by_label("Statements").fill(
        "SET 'execution.runtime-mode' = 'batch';\n\nSELECT item, SUM(price) AS revenue\n"
        "FROM (VALUES ('tea', 4.5), ('cake', 3.2), ('tea', 4.5)) AS sales (item, price)\nGROUP BY item;"
    )
    page.get_by_role("button", name="Run the statements").click()
    expect(page.get_by_text("FINISHED")).to_be_visible(timeout=120_000)
    page.screenshot(path=PICTURES / "page-submit.png", full_page=True)
    page.goto("about:blank")
    endpoint.close()
    session.close(cancel=True)


def opened(page: Page, address: str) -> None:
    """Open an address and wait until the page shows what it answers."""
    page.goto(address)
    expect(page.get_by_role("status").first).to_have_text("● live")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    time.sleep(0.3)


def look_up(page: Page) -> None:
    """Ask for the state of a key."""
    page.get_by_label("Operator").fill("sums")
    page.get_by_label("State", exact=True).fill("reduce")
    page.get_by_label("Key").fill("17")
    page.get_by_role("button").last.click()
    time.sleep(0.5)


if __name__ == "__main__":
    import os
    import tempfile

    os.environ["XDG_RUNTIME_DIR"] = os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp()
    main()
