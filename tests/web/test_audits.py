"""Audits of every screen of the web page, as Lighthouse has them: at a desk and on a phone, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from scurry.common import Configuration
from scurry.rest.client import RemoteProcess
from scurry.rest.history import History
from scurry.rest.session.directory import SessionDirectory
from scurry.rest.session.endpoint import SessionEndpoint
from scurry.rest.session.session import SessionCluster
from scurry.rest.settings import RestSettings
from support.audits import problems_of
from support.rest.example_job import SCREENS, example, last_hour
from support.rest.fake_jobs import TOKEN, served

pytestmark = pytest.mark.slow


def audited(page: Page, address: str) -> dict[str, list[str]]:
    """Return the problems of a screen, by width and colours."""
    page.goto(address)
    expect(page.get_by_role("status").first).to_have_text("● live")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.wait_for_timeout(300)
    for folded in page.locator("summary").all():
        folded.click()
    found = {}
    for width in (1100, 390):
        page.set_viewport_size({"width": width, "height": 800})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.wait_for_timeout(100)
            if problems := problems_of(page):
                found[f"{width} {scheme}"] = problems
    page.goto("about:blank")
    return found


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RemoteProcess]:
    points = last_hour()
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME"):
            patch.setenv(variable, str(tmp_path_factory.mktemp(variable)))
        patch.setattr(History, "points", property(lambda history: points))
        with served(example()) as process:
            yield process


@pytest.mark.parametrize("screen", SCREENS)
def test_a_screen_passes_the_audits(screen: str, page: Page, process: RemoteProcess) -> None:
    job = process.request("GET", "/jobs/overview")["jobs"][0]["jid"]
    part = SCREENS[screen]
    address = "/jobs" if part is None else f"/jobs/{job}{part}"
    assert audited(page, f"{process.url}/#token={TOKEN}&{address}") == {}


@pytest.mark.parametrize("part", ["submit", "jobs", "endpoint"])
def test_a_screen_of_a_session_passes_the_audits(part: str, page: Page, tmp_path: Path) -> None:
    settings = RestSettings.of(Configuration.from_dict({"scurry.rest": "on", "scurry.rest.token": TOKEN}), "local")
    assert settings is not None
    session = SessionCluster("audits", SessionDirectory.named("audits"), {"scurry.runner": "local"})
    endpoint = SessionEndpoint(settings)
    session.open()
    endpoint.serve(session)
    try:
        assert audited(page, f"{endpoint.url}/#token={TOKEN}&/{part}") == {}
    finally:
        endpoint.close()
        session.close(cancel=True)


def test_the_question_for_the_token_passes_the_audits(page: Page, process: RemoteProcess) -> None:
    page.goto(process.url)
    expect(page.get_by_label("Token")).to_be_visible()
    assert problems_of(page) == []
    page.problems.clear()  # type: ignore[attr-defined]  # it was refused without a token


GOOD = """<!doctype html><html lang="en"><head><title>t</title>
<meta name="viewport" content="width=device-width"></head><body><main><h1>One</h1>%s</main></body></html>"""


@pytest.mark.parametrize(("part", "problem"), [
    ("<h3>Three</h3>", "heading after level 1"),
    ("<input>", "no name"),
    ("<input placeholder=name>", "no name"),
    ("<a href=#><img src=data:, alt=''></a>", "no name"),
    ("<img src=data:,>", "no alt"),
    ("<svg width=30 height=30><circle r=9 /></svg>", "no alternative"),
    ("<p id=a></p><p id=a></p>", "id a twice"),
    ("<p aria-labelledby=b>text</p>", "aria-labelledby of nothing"),
    ("<p><button style='padding:0;height:10px'>a</button><button>b</button></p>", "target of"),
    ("<p style='color:#999'>pale</p>", "contrast 2.85"),
    ("<main>another</main>", "not one main landmark"),
    ("<p tabindex=3>text</p>", "tabindex"),
])  # fmt: skip
def test_an_audit_finds_what_it_is_for(part: str, problem: str, page: Page) -> None:
    page.set_content(GOOD % "")
    assert problems_of(page) == []
    page.set_content(GOOD % part)
    found, *_ = problems_of(page)
    assert found.startswith(problem)
    page.problems.clear()  # type: ignore[attr-defined]  # the addresses of pictures
