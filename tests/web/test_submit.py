"""The web page of a session takes programs and SQL, with the token only, and shows what they print."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from scurry.common import Configuration
from scurry.rest.client import RemoteProcess
from scurry.rest.session.directory import SessionDirectory
from scurry.rest.session.endpoint import SessionEndpoint
from scurry.rest.session.session import SessionCluster
from scurry.rest.settings import RestSettings
from support.rest.fake_jobs import TOKEN, FakeJob, raw, served

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).parents[1] / "session" / "programs" / "job.py"


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RemoteProcess]:
    """A session of the in-process runner."""
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME"):
            patch.setenv(variable, str(tmp_path_factory.mktemp(variable)))
        settings = RestSettings.of(Configuration.from_dict({"scurry.rest": "on", "scurry.rest.token": TOKEN}), "local")
        assert settings is not None
        session = SessionCluster("submit", SessionDirectory.named("submit"), {"scurry.runner": "local"})
        endpoint = SessionEndpoint(settings)
        session.open()
        endpoint.serve(session)
        yield RemoteProcess(endpoint.url, TOKEN)
        endpoint.close()
        session.close(cancel=True)


def opened(page: Page, process: RemoteProcess) -> Page:
    page.goto(f"{process.url}/#token={TOKEN}&/submit")
    expect(page.get_by_role("heading", name="Submit")).to_be_visible()
    return page


def submitted(page: Page, statements: str) -> None:
    page.get_by_label("Statements").fill(statements)
    page.get_by_role("button", name="Run the statements").click()


def test_the_rows_of_a_query_are_a_table(page: Page, process: RemoteProcess) -> None:
    opened(page, process)
    submitted(page, "SET 'execution.runtime-mode' = 'batch';\n"
                    "SELECT * FROM (VALUES ('a|b', 1), ('東京 😀', 20)) AS t (name, amount)")  # fmt: skip
    table = page.get_by_role("region", name="Result").get_by_role("table")
    expect(table.get_by_role("columnheader", name="name")).to_be_visible(timeout=90_000)
    expect(table.get_by_role("cell", name="a|b", exact=True)).to_be_visible()
    expect(table.get_by_role("cell", name="東京 😀", exact=True)).to_be_visible()
    expect(table.get_by_role("cell", name="20", exact=True)).to_be_visible()
    expect(page.get_by_text("FINISHED")).to_be_visible()


def test_a_program_is_uploaded_with_its_arguments_and_its_job_is_linked(page: Page, process: RemoteProcess) -> None:
    opened(page, process)
    page.get_by_label("Python file").set_input_files(PROGRAM)
    page.get_by_label("Arguments").fill("finish")
    page.get_by_label("Parallelism").first.fill("1")
    page.get_by_role("button", name="Run the program").click()
    expect(page.get_by_label("Printed").first).to_contain_text("parallelism 1", timeout=90_000)
    expect(page.get_by_text("FINISHED")).to_be_visible(timeout=90_000)
    page.locator("#main a[href^='#/jobs/']").click()
    expect(page.get_by_role("navigation", name="Job")).to_be_visible()


def test_a_statement_that_is_refused_shows_its_error(page: Page, process: RemoteProcess) -> None:
    opened(page, process)
    submitted(page, "SELECT wrong FROM (VALUES (1)) AS t (right_one)")
    expect(page.get_by_text("FAILED", exact=True)).to_be_visible(timeout=90_000)
    expect(page.get_by_label("Failure")).to_contain_text("Column 'wrong'")


def test_it_is_said_that_programs_run_as_the_user(page: Page, process: RemoteProcess) -> None:
    opened(page, process)
    expect(page.get_by_text("run as the user of this session")).to_be_visible()


@pytest.mark.parametrize("headers", [
    {}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Bearer {TOKEN}", "Origin": "http://elsewhere.example"},
])  # fmt: skip
def test_without_the_token_or_from_another_page_nothing_is_taken(
    headers: dict[str, str], process: RemoteProcess
) -> None:
    for path in ("/jars/upload", "/jars/0/run"):
        status, _ = raw(process, path, "POST", **headers)
        assert status in (401, 403)


def test_a_phone_needs_no_sideways_scrolling(page: Page, process: RemoteProcess) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    opened(page, process)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_endpoint_of_a_job_takes_no_programs(page: Page) -> None:
    with served(FakeJob()) as process:
        opened(page, process)
        expect(page.get_by_text("This is the endpoint of one job.")).to_be_visible()
        expect(page.get_by_role("button")).to_have_count(0)
        page.goto("about:blank")
