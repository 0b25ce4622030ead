"""Flink's own dashboard, as Maven Central has it, shows the jobs of a session."""

from __future__ import annotations

import mimetypes
import os
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from scurry.common import Configuration
from scurry.rest.client import RemoteProcess
from scurry.rest.plan_json import vertex_id
from scurry.rest.session.directory import SessionDirectory
from scurry.rest.session.endpoint import SessionEndpoint
from scurry.rest.session.session import SessionCluster
from scurry.rest.settings import RestSettings
from support.maven import fetched

pytestmark = pytest.mark.nightly

VERSION = "2.3.0"
JAR = f"org/apache/flink/flink-runtime-web/{VERSION}/flink-runtime-web-{VERSION}.jar"
DIGEST = "c5476003a9357e6ce876a19d1daa7e37b573ad9fada6448fe665de8bad7162e8"
PROGRAM = Path(__file__).parents[1] / "session" / "programs" / "job.py"
COUNTS = vertex_id("counts")


@pytest.fixture(scope="session")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dashboard's files; SCURRY_FLINK_WEB names a jar, else it is fetched, or the tests are skipped."""
    directory = tmp_path_factory.mktemp("dashboard")
    jar = Path(os.environ["SCURRY_FLINK_WEB"]) if "SCURRY_FLINK_WEB" in os.environ else fetched(JAR, DIGEST)
    with zipfile.ZipFile(jar) as packed:
        packed.extractall(directory, [name for name in packed.namelist() if name.startswith("web/")])
    return directory / "web"


@pytest.fixture
def process() -> Iterator[RemoteProcess]:
    """A session of the in-process runner, for clients that cannot send a token."""
    settings = RestSettings.of(Configuration.from_dict({"scurry.rest": "on"}), "local")
    assert settings is not None
    session = SessionCluster("dashboard", SessionDirectory.named("dashboard"), {"scurry.runner": "local"})
    endpoint = SessionEndpoint(settings, no_token=True)
    session.open()
    endpoint.serve(session)
    yield RemoteProcess(endpoint.url)
    endpoint.close()
    session.close(cancel=False)


@pytest.fixture
def job(process: RemoteProcess) -> str:
    jar = process.request("POST", "/jars/register", {"path": str(PROGRAM)})["filename"]
    return str(process.request("POST", f"/jars/{jar}/run", {"programArgsList": ["run"]})["jobid"])


@pytest.fixture
def shown(page: Page, process: RemoteProcess, dashboard: Path, job: str) -> Iterator[Page]:
    """A tab with the dashboard; no request that it sends is refused."""

    def serve(route: Route) -> None:
        path = urlsplit(route.request.url).path
        file = dashboard / ("index.html" if path == "/" else path.lstrip("/"))
        if file.is_file():
            kind = mimetypes.guess_type(file.name)[0] or "text/plain"
            route.fulfill(status=200, body=file.read_bytes(), content_type=kind)
        else:
            asked.append(path)
            route.continue_()

    asked: list[str] = []
    failed: list[str] = []
    page.route("**/*", serve)
    page.on("response", lambda answer: failed.append(answer.url) if answer.status >= 400 else None)
    wait_for_state(process, job)
    yield page
    page.goto("about:blank")
    assert asked != [] and failed == []
    page.problems.clear()  # type: ignore[attr-defined]  # its scripts are not ours


def wait_for_state(process: RemoteProcess, job: str) -> None:
    import time

    deadline = time.monotonic() + 120
    while not process.request("GET", f"/jobs/{job}")["vertices"]:
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_overview_and_lists(shown: Page, process: RemoteProcess) -> None:
    shown.goto(f"{process.url}/#/overview")
    expect(shown.get_by_text("Running Application List")).to_be_visible()
    expect(shown.get_by_text("run", exact=True)).to_be_visible()
    shown.goto(f"{process.url}/#/job/running")
    expect(shown.get_by_text("run", exact=True)).to_be_visible()


def test_a_job_its_graph_and_its_numbers(shown: Page, process: RemoteProcess, job: str) -> None:
    shown.goto(f"{process.url}/#/job/running/{job}/overview")
    expect(shown.get_by_text("KeyedProcess")).to_be_visible()
    expect(shown.get_by_text("Backpressured (max): 0%")).to_be_visible()
    sent = shown.get_by_role("row", name="numbers").get_by_role("cell").nth(5)
    expect(sent).not_to_have_text("0")
    assert int((sent.text_content() or "").strip().replace(",", "")) > 0


@pytest.mark.parametrize("part", ["detail", "subtasks", "taskmanagers", "watermarks", "accumulators", "backpressure",
                                  "metrics"])  # fmt: skip
def test_the_tabs_of_a_vertex(part: str, shown: Page, process: RemoteProcess, job: str) -> None:
    with shown.expect_response(lambda answer: f"/vertices/{COUNTS}" in answer.url):
        shown.goto(f"{process.url}/#/job/running/{job}/overview/{COUNTS}/{part}")
    shown.wait_for_load_state("networkidle")


def test_checkpoints(shown: Page, process: RemoteProcess, job: str) -> None:
    shown.goto(f"{process.url}/#/job/running/{job}/checkpoints")
    expect(shown.get_by_text("Latest Completed Checkpoint")).to_be_visible()
    expect(shown.get_by_text("Checkpoint Counts")).to_be_visible()
    shown.wait_for_load_state("networkidle")


def test_a_checkpoint_and_its_subtasks(shown: Page, process: RemoteProcess, job: str) -> None:
    shown.goto(f"{process.url}/#/job/running/{job}/checkpoints")
    shown.get_by_role("tab", name="History").click()
    shown.locator(".ant-table-row-expand-icon:visible").first.click()
    with shown.expect_response(lambda answer: answer.url.endswith(f"/subtasks/{COUNTS}")):
        shown.get_by_role("row", name=re.compile("^counts")).get_by_role("button").click()
    expect(shown.get_by_text("Checkpointed Data Size").last).to_be_visible()
    shown.wait_for_load_state("networkidle")


@pytest.mark.parametrize("part", ["exceptions", "timeline", "configuration"])
def test_the_tabs_of_a_job(part: str, shown: Page, process: RemoteProcess, job: str) -> None:
    with shown.expect_response(lambda answer: f"/jobs/{job}" in answer.url):
        shown.goto(f"{process.url}/#/job/running/{job}/{part}")
    shown.wait_for_load_state("networkidle")


@pytest.mark.parametrize("part", ["metrics", "config", "logs", "stdout", "log", "thread-dump"])
def test_the_job_manager(part: str, shown: Page, process: RemoteProcess) -> None:
    with shown.expect_response(lambda answer: "/jobmanager/" in answer.url):
        shown.goto(f"{process.url}/#/job-manager/{part}")
    shown.wait_for_load_state("networkidle")
