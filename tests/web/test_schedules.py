"""The page of a session shows the programs that it runs by schedules."""

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
from support.audits import problems_of
from support.rest.fake_jobs import TOKEN

pytestmark = pytest.mark.slow


@pytest.fixture
def process() -> Iterator[RemoteProcess]:
    settings = RestSettings.of(Configuration.from_dict({"scurry.rest": "on", "scurry.rest.token": TOKEN}), "local")
    assert settings is not None
    session = SessionCluster("tests", SessionDirectory.named("tests"), {"scurry.runner": "local"})
    endpoint = SessionEndpoint(settings)
    session.open()
    endpoint.serve(session)
    yield RemoteProcess(endpoint.url, TOKEN)
    endpoint.close()
    session.close(cancel=True)


def test_a_schedule_has_the_state_and_error_of_its_last_run_and_the_time_of_the_next(
    page: Page, process: RemoteProcess, tmp_path: Path
) -> None:
    program = tmp_path / "wrong.py"
    program.write_text("raise ValueError('as always')\n")
    body = {"name": "wrong", "program": str(program), "number": 1, "unit": "SECOND", "lasting": True}
    workflow = process.request("POST", "/workflows", body)["id"]
    page.goto(f"{process.url}/#token={TOKEN}&/jobs")
    schedules = page.get_by_role("table", name="Schedules")
    row = schedules.get_by_role("row").nth(1)
    expect(row).to_contain_text("FAILED")
    expect(row).to_contain_text("as always")
    expect(row).to_contain_text("1 second")
    expect(row.get_by_role("time")).to_have_count(1)  # nothing has succeeded
    assert problems_of(page) == []
    process.request("POST", f"/workflows/{workflow}/suspend")
    expect(row).to_contain_text("SUSPENDED")
    expect(row.get_by_role("time")).to_have_count(0)
    process.request("DELETE", f"/workflows/{workflow}")
    expect(schedules).to_have_count(0)
