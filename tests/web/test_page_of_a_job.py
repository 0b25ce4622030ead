"""The web page of a job, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from scurry.graph.settings import TableProgram
from scurry.rest.client import RemoteProcess
from scurry.runtime.driver.checkpoint_history import CheckpointInfo
from scurry.runtime.driver.dead_letters import SampledDeadLetter
from support.rest.fake_jobs import TOKEN, FakeJob, served

pytestmark = pytest.mark.slow


@pytest.fixture
def job() -> FakeJob:
    job = FakeJob()
    job.metrics = {"numbers.numRecordsOut": 3, "sums.numRecordsOut": 1200, "sums.numLateRecordsDropped": 4}
    job.state = {42: [1, 2]}
    return job


@pytest.fixture
def process(job: FakeJob) -> Iterator[RemoteProcess]:
    with served(job) as process:
        yield process


def opened(page: Page, process: RemoteProcess, address: str = "/jobs") -> Page:
    page.goto(f"{process.url}/#token={TOKEN}&{address}")
    expect(page.get_by_role("status").first).to_have_text("● live")
    return page


def test_the_list_names_the_job_and_leads_to_its_graph(page: Page, process: RemoteProcess) -> None:
    opened(page, process)
    page.get_by_role("link", name="orders").click()
    expect(page.get_by_role("heading", name="orders")).to_be_visible()
    expect(page.get_by_role("row", name="sums")).to_contain_text("1,200")
    expect(page.get_by_role("img", name="Graph of the job")).to_be_visible()


def test_the_token_of_the_address_is_kept_in_the_tab_and_out_of_the_address(page: Page, process: RemoteProcess) -> None:
    opened(page, process)
    assert TOKEN not in page.url
    page.reload()
    expect(page.get_by_role("link", name="orders")).to_be_visible()


def test_what_changes_is_shown_without_a_reload(page: Page, process: RemoteProcess, job: FakeJob) -> None:
    opened(page, process, f"/jobs/{job.id}")
    expect(page.get_by_role("row", name="sums")).to_contain_text("1,200")
    job.metrics["sums.numRecordsOut"] = 1_201_000
    expect(page.get_by_role("row", name="sums")).to_contain_text("1,201,000")


def test_a_savepoint_is_taken_and_its_place_shown(page: Page, process: RemoteProcess, job: FakeJob) -> None:
    opened(page, process, f"/jobs/{job.id}/operate")
    page.get_by_label("Directory").first.fill("/savepoints")
    page.get_by_role("button", name="Take a savepoint").click()
    job.savepoint.set_result("/savepoints/savepoint-1")
    expect(page.get_by_text("/savepoints/savepoint-1")).to_be_visible()
    assert job.asked == [("savepoint", "/savepoints")]


def test_what_is_typed_stays_while_the_job_goes_on(page: Page, process: RemoteProcess, job: FakeJob) -> None:
    opened(page, process, f"/jobs/{job.id}/operate")
    page.get_by_label("Parallelism").fill("3")
    page.wait_for_timeout(1500)
    expect(page.get_by_label("Parallelism")).to_have_value("3")
    expect(page.get_by_label("Parallelism")).to_be_focused()


def test_a_value_of_a_key_is_looked_up(page: Page, process: RemoteProcess, job: FakeJob) -> None:
    opened(page, process, f"/jobs/{job.id}/state")
    for label, text in (("Operator", "sums"), ("State", "total"), ("Key", "42")):
        page.get_by_label(label, exact=False).last.fill(text) if label == "State" else page.get_by_label(label).fill(
            text
        )
    page.get_by_role("button", name="Look up").click()
    expect(page.get_by_text("[1,2]")).to_be_visible()


def test_every_screen_is_reached_with_the_keyboard(page: Page, process: RemoteProcess, job: FakeJob) -> None:
    opened(page, process, f"/jobs/{job.id}")
    for name in (
        "Checkpoints",
        "Exceptions",
        "Dead letters",
        "SQL",
        "State",
        "Operate",
        "Configuration",
        "Log",
        "Graph",
    ):
        page.get_by_role("navigation", name="Job").get_by_role("link", name=name).press("Enter")
        expect(page.get_by_role("navigation", name="Job").locator("[aria-current]")).to_have_text(name)
        expect(page.locator("#main")).to_be_focused()


def test_dead_letters_are_sampled(page: Page, process: RemoteProcess, job: FakeJob) -> None:
    job.metrics["sums.numDeadLetters"] = 1234
    letter = SampledDeadLetter(1000, "numbers", 1, "'1,x'", "ValueError", "no number", "in.txt", 7)
    job.execution.dead_letters.latest.append(letter)
    opened(page, process, f"/jobs/{job.id}/dead-letters")
    expect(page.get_by_text("1,234 records")).to_be_visible()
    expect(page.get_by_role("row", name="numbers (1)")).to_contain_text("ValueError: no numberin.txt, line 7")


def test_durations_are_shown_by_phase(page: Page, process: RemoteProcess, job: FakeJob) -> None:
    phases = [{"read": 30, "write": 10}, {"read": 30, "write": 30}]
    job.taken = [CheckpointInfo(number, 0, 60, 1, phases=each) for number, each in enumerate(phases)]
    opened(page, process, f"/jobs/{job.id}/checkpoints")
    expect(page.get_by_role("table", name="Durations by phase").get_by_role("row", name="read")).to_contain_text("60")
    expect(page.get_by_role("row", name="COMPLETED").first).to_contain_text("read 30 ms, write 30 ms")


def test_a_job_of_tables_shows_its_statements_and_plan(page: Page, process: RemoteProcess, job: FakeJob) -> None:
    plan = job.execution.plan
    plan.settings = replace(plan.settings, tables=TableProgram("INSERT INTO t SELECT 1", "Sink(table=[t])"))
    opened(page, process, f"/jobs/{job.id}/sql")
    expect(page.get_by_label("Statements")).to_have_text("INSERT INTO t SELECT 1")
    expect(page.get_by_label("Execution plan")).to_have_text("Sink(table=[t])")


def test_state_and_its_skew_are_shown_by_subtask(page: Page, process: RemoteProcess, job: FakeJob) -> None:
    sums = next(iter(job.execution.plan.operators))
    job.execution.subtasks = {sums: {"stateSize": {0: 3_000_000, 1: 1_000_000}, "numRecordsIn": {0: 3000, 1: 1000}}}
    opened(page, process, f"/jobs/{job.id}")
    page.get_by_text("state 4.0 MB, skew 50 %, the largest 1.5 × the mean").click()
    row = page.get_by_role("table", name="Subtasks of sums").get_by_role("row").nth(1)
    expect(row).to_contain_text("3,000")
    expect(row).to_contain_text("3.0 MB")
    expect(row.get_by_role("meter", name="share of state")).to_have_attribute("value", "3000000")


def test_sparks_own_page_is_linked(page: Page, process: RemoteProcess, job: FakeJob) -> None:
    job.execution.spark_ui = "http://driver:4040"
    opened(page, process, f"/jobs/{job.id}")
    expect(page.get_by_role("link", name="http://driver:4040")).to_have_attribute("href", "http://driver:4040")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_colours_of_the_system(scheme: str, page: Page, process: RemoteProcess) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    opened(page, process)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 24, 27)"}[scheme]


def test_without_the_token_the_page_asks_for_it(page: Page, process: RemoteProcess) -> None:
    page.goto(process.url)
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("link", name="orders")).to_be_visible()
    page.problems.clear()  # type: ignore[attr-defined]  # the browser notes the refused request
