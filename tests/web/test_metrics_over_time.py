"""The charts of the web page agree with /metrics, and are read by pointer, keys and table, and on a phone."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from scurry.rest.client import RemoteProcess
from scurry.runtime.driver.checkpoint_history import CheckpointInfo
from support.rest.fake_jobs import TOKEN, FakeJob, raw, served

pytestmark = pytest.mark.slow

STYLE = Path(__file__).parents[2] / "src/scurry/rest/page/static/style.css"
SCREENS = [
    "",
    "metrics",
    "checkpoints",
    "exceptions",
    "dead-letters",
    "sql",
    "state",
    "operate",
    "configuration",
    "log",
]


@pytest.fixture
def job() -> FakeJob:
    job = FakeJob()
    job.metrics = {"numbers.numRecordsOut": 1000, "numbers.pendingRecords": 250, "sums.currentOutputWatermark": 5000}
    (numbers,), (sums, _) = job.execution.plan.sources, job.execution.plan.operators
    job.execution.subtasks = {
        numbers: {"backPressuredTimeMsPerSecond": {0: 230, 1: 230}, "busyTimeMsPerSecond": {0: 100}},
        sums: {"stateSize": {0: 3_000_000, 1: 1_000_000}, "busyTimeMsPerSecond": {0: 640}},
    }
    job.taken = [CheckpointInfo(number, 1000 * number, 60, 1, phases={"read": 40, "write": 20}) for number in range(70)]
    return job


@pytest.fixture
def process(job: FakeJob) -> Iterator[RemoteProcess]:
    with served(job) as process:
        yield process


def opened(page: Page, process: RemoteProcess, address: str) -> Page:
    page.goto(f"{process.url}/#token={TOKEN}&{address}")
    expect(page.get_by_role("status").first).to_have_text("● live")
    return page


def scraped(process: RemoteProcess) -> dict[str, list[float]]:
    """Metric -> its values in the text for Prometheus."""
    _, text = raw(process, "/metrics", Authorization=f"Bearer {TOKEN}")
    found: dict[str, list[float]] = {}
    for name, value in re.findall(r"^\w+_(\w+){.*} (\S+)$", text, re.MULTILINE):
        found.setdefault(name, []).append(float(value))
    return found


def chart_says(page: Page, title: str) -> str:
    return page.get_by_role("slider", name=title, exact=True).get_attribute("aria-valuetext") or ""


def test_the_latest_values_are_those_of_metrics(page: Page, process: RemoteProcess, job: FakeJob) -> None:
    opened(page, process, f"/jobs/{job.id}/metrics")
    known = scraped(process)
    expect(page.get_by_role("slider", name="Lag", exact=True)).to_be_visible()
    assert f"pending {sum(known['pendingRecords']):.0f}" in chart_says(page, "Lag")
    load = chart_says(page, "Back pressure and load")
    assert f"held back {max(known['backPressuredTimeMsPerSecond']) / 10:.0f} %" in load
    assert f"busiest operator {max(known['busyTimeMsPerSecond']) / 10:.0f} %" in load
    assert f"state {sum(known['stateSize']) / 1e6:.1f} MB" in chart_says(page, "State")
    page.get_by_text("All values as a table").click()
    newest = page.get_by_role("table", name="Values").get_by_role("row").nth(1)
    expect(newest.get_by_role("cell").first).to_have_text(f"{sum(known['numRecordsOut']):,.0f}")
    expect(newest.locator("time[datetime='1970-01-01T00:00:05.000Z']")).to_be_visible()


def test_throughput_is_the_difference_of_metrics_over_time(page: Page, process: RemoteProcess, job: FakeJob) -> None:
    opened(page, process, f"/jobs/{job.id}/metrics")
    expect(page.get_by_role("slider", name="Throughput")).to_be_visible()
    job.metrics["numbers.numRecordsOut"] += 120_000
    page.get_by_text("All values as a table").click()
    row = (
        page.get_by_role("table", name="Values")
        .get_by_role("row")
        .filter(has=page.get_by_role("cell", name="121,000", exact=True))
        .last
    )
    expect(row).to_be_visible()
    history = process.request("GET", f"/jobs/{job.id}/history")
    at = history["records-in"].index(121_000)
    times = history["timestamps"]
    rate = 120_000 * 1000 / (times[at] - times[at - 1])
    expect(row).to_contain_text(f"{float(f'{rate:.4g}'):,.12g}/s")


def test_micro_batches_are_shown_by_phase(page: Page, process: RemoteProcess, job: FakeJob) -> None:
    opened(page, process, f"/jobs/{job.id}/metrics")
    expect(page.get_by_role("slider", name="Throughput")).to_be_visible()
    job.taken.append(CheckpointInfo(70, 0, 60, 1, phases={"read": 31, "write": 7}))
    expect(page.locator("figure", has_text="Micro-batches").locator(".values")).to_contain_text("read 31 ms write 7 ms")


def test_keys_move_through_a_chart_and_the_pointer_does(page: Page, process: RemoteProcess, job: FakeJob) -> None:
    opened(page, process, f"/jobs/{job.id}/metrics")
    chart = page.get_by_role("slider", name="Lag", exact=True)
    chart.focus()
    page.keyboard.press("Home")
    expect(chart).to_have_attribute("aria-valuenow", "0")
    page.keyboard.press("ArrowRight")
    expect(chart).to_have_attribute("aria-valuenow", "1")
    page.wait_for_timeout(1500)  # new values come meanwhile
    expect(chart).to_have_attribute("aria-valuenow", "1")
    expect(chart).to_be_focused()
    page.keyboard.press("Escape")
    expect(chart).not_to_have_attribute("aria-valuenow", "1")
    chart.hover(position={"x": 1, "y": 40})
    expect(chart).to_have_attribute("aria-valuenow", "0")


def test_checkpoints_have_pages(page: Page, process: RemoteProcess, job: FakeJob) -> None:
    opened(page, process, f"/jobs/{job.id}/checkpoints")
    rows = page.get_by_role("table", name="The latest checkpoints").get_by_role("row")
    expect(rows).to_have_count(21)
    expect(page.get_by_role("navigation", name="Pages")).to_contain_text("1 of 4")
    page.get_by_role("button", name="Older").press("Enter")
    expect(page.get_by_role("navigation", name="Pages")).to_contain_text("2 of 4")
    page.wait_for_timeout(1200)  # and stay there
    expect(page.get_by_role("navigation", name="Pages")).to_contain_text("2 of 4")
    expect(page.get_by_role("button", name="Older")).to_be_focused()


def test_a_busy_operator_is_coloured_and_says_how_busy_it_is(page: Page, process: RemoteProcess, job: FakeJob) -> None:
    opened(page, process, f"/jobs/{job.id}")
    graph = page.get_by_role("img", name="Graph of the job")
    expect(graph.get_by_text("busy 64 %").first).to_be_visible()
    expect(graph.locator("g", has_text="sums").locator("rect.busy-2").first).to_be_visible()


def test_times_are_those_of_the_browsers_zone(browser: Browser, process: RemoteProcess, job: FakeJob) -> None:
    page = browser.new_page(timezone_id="Asia/Tokyo")
    opened(page, process, f"/jobs/{job.id}/checkpoints")
    expect(page.get_by_text("Times are those of Asia/Tokyo.")).to_be_visible()
    first = page.locator("time[datetime='1970-01-01T00:01:09.000Z']").first
    expect(first).to_have_text("1970-01-01 09:01:09")
    expect(first).to_have_attribute("title", "1970-01-01 00:01:09 UTC")
    page.close()


@pytest.mark.parametrize("screen", SCREENS)
def test_a_phone_needs_no_sideways_scrolling(screen: str, page: Page, process: RemoteProcess, job: FakeJob) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    opened(page, process, f"/jobs/{job.id}" + (screen and f"/{screen}"))
    expect(page.get_by_role("heading", name="orders")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_graph_is_readable_on_a_phone(page: Page, process: RemoteProcess, job: FakeJob) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    opened(page, process, f"/jobs/{job.id}")
    graph = page.get_by_role("img", name="Graph of the job")
    expect(graph).to_be_visible()
    scale = graph.evaluate("svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width")
    assert 11 * scale >= 10  # pixels of its smallest letters


@pytest.mark.parametrize("screen", ["", "metrics", "checkpoints", "operate"])
def test_everything_that_can_be_used_is_reached_by_tab(
    screen: str, page: Page, process: RemoteProcess, job: FakeJob
) -> None:
    opened(page, process, f"/jobs/{job.id}" + (screen and f"/{screen}"))
    expect(page.locator("h2").first).to_be_visible()
    page.wait_for_timeout(300)
    page.locator("body").press("Control+Home")
    page.evaluate("document.activeElement.blur()")
    wanted = page.locator("a:visible, button:visible, input:visible, summary:visible, [tabindex='0']:visible").count()
    reached = set()
    for _ in range(3 * wanted):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("[...document.querySelectorAll('*')].indexOf(document.activeElement)"))
    assert len(reached) >= wanted


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_and_lines_have_enough_contrast(scheme: str) -> None:
    """WCAG 2.2 AA: 4.5 for texts, 3 for lines that mean something."""
    colours = palette()[scheme]
    text = [("text", ground) for ground in ("ground", "panel", "box", "busy-1", "busy-2", "busy-3")]
    text += [("dim", ground) for ground in ("ground", "panel", "box", "busy-1", "busy-2", "busy-3")]
    text += [(name, ground) for name in ("accent", "good", "warn", "bad") for ground in ("ground", "panel")]
    lines = [(f"line-{number}", "ground") for number in range(7)]
    poor = {
        pair: round(ratio, 2)
        for pairs, least in ((text, 4.5), (lines, 3.0))
        for pair in pairs
        if (ratio := contrast(colours[pair[0]], colours[pair[1]])) < least
    }
    assert poor == {}


def palette() -> dict[str, dict[str, str]]:
    light, dark = STYLE.read_text(encoding="utf-8").split("prefers-color-scheme: dark", 1)
    first = dict(re.findall(r"--([\w-]+): (#\w+)", light))
    return {"light": first, "dark": {**first, **dict(re.findall(r"--([\w-]+): (#\w+)", dark))}}


def contrast(one: str, other: str) -> float:
    first, second = sorted((luminance(one), luminance(other)), reverse=True)
    return (first + 0.05) / (second + 0.05)


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_history_survives_the_end_of_the_job_in_the_page(page: Page, process: RemoteProcess, job: FakeJob) -> None:
    opened(page, process, f"/jobs/{job.id}/metrics")
    expect(page.get_by_role("slider", name="Lag", exact=True)).to_be_visible()
    from scurry.common import JobStatus

    job.end(JobStatus.FINISHED)
    expect(page.get_by_text("FINISHED")).to_be_visible()
    expect(page.get_by_role("slider", name="Lag", exact=True)).to_be_visible()
    time.sleep(0.5)
    page.problems.clear()  # type: ignore[attr-defined]  # the endpoint is gone
