"""`scurry mcp`: the tools that agents have, asked by the public client of the protocol."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import TextContent

import scurry
from scurry.rest.client import RemoteProcess
from scurry.rest.mcp import CHANGING, READING, JobTools, server_of
from scurry.rest.settings import RestSettings
from support.rest.fake_jobs import TOKEN, FakeJob, served

PROGRAM = Path(__file__).parent / "programs" / "counting.py"
PAGE = Path(__file__).parents[2] / "docs" / "agents.md"


def asked(server: Any, *questions: tuple[str, dict[str, Any]]) -> list[str]:
    """Return the answers to calls of tools, `error: ` before those that are none."""

    async def ask() -> list[str]:
        async with Client(server, read_timeout_seconds=120) as client:
            found = []
            for tool, arguments in questions:
                result = await client.call_tool(tool, arguments)
                (content,) = result.content
                assert isinstance(content, TextContent)
                found.append(("error: " if result.is_error else "") + content.text)
            return found

    return asyncio.run(ask())


def tools_of(server: Any) -> dict[str, Any]:
    async def ask() -> dict[str, Any]:
        async with Client(server) as client:
            return {tool.name: tool for tool in (await client.list_tools()).tools}

    return asyncio.run(ask())


@pytest.fixture
def url(process: RemoteProcess, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("SCURRY_REST_TOKEN", TOKEN)
    return process.url


def test_tools_that_change_jobs_are_asked_for() -> None:
    reading, every = tools_of(server_of(JobTools())), tools_of(server_of(JobTools(), allow_changes=True))
    assert list(reading) == [tool.__name__ for tool in READING]
    assert list(every) == [tool.__name__ for tool in [*READING, *CHANGING]]
    assert [name for name, tool in every.items() if not tool.annotations.read_only_hint] == [
        tool.__name__ for tool in CHANGING
    ]
    assert all(tool.description for tool in every.values())


def test_a_tool_that_was_not_allowed_is_not_there(url: str, job: FakeJob) -> None:
    (answer,) = asked(server_of(JobTools(url)), ("cancel_job", {"job": "orders"}))
    assert answer.startswith("error: Unknown tool") and job.asked == []


def test_jobs_are_listed(url: str, job: FakeJob) -> None:
    (answer,) = asked(server_of(JobTools(url)), ("list_jobs", {}))
    ((name, state),) = [(each["name"], each["state"]) for each in json.loads(answer)]
    assert (name, state) == ("orders", "RUNNING")


def test_a_name_that_is_wrong_is_answered_with_the_right_one(url: str) -> None:
    (answer,) = asked(server_of(JobTools(url)), ("describe_job", {"job": "order"}))
    assert answer.startswith("error: ") and "did you mean 'orders'" in answer


def test_without_a_token_nothing_is_answered(job: FakeJob) -> None:
    with served(job, RestSettings("127.0.0.1", (0,), "127.0.0.1", TOKEN)) as process:
        questions = [(tool.__name__, {"job": "orders"}) for tool in (JobTools.describe_job, JobTools.events)]
        for answer in asked(server_of(JobTools(process.url)), ("list_jobs", {}), *questions):
            assert answer.startswith("error: ") and "wants a token, which has to be in SCURRY_REST_TOKEN" in answer


def test_watermarks_are_moments(url: str, job: FakeJob) -> None:
    sums = next(iter(job.execution.plan.operators))
    job.execution.subtasks = {sums: {"currentOutputWatermark": {0: 5000, 1: 2**63 - 1}}}
    (answer,) = asked(server_of(JobTools(url)), ("watermarks", {"job": "orders"}))
    first, second = json.loads(answer)
    assert (first["vertex"], first["subtask"], first["watermark"]) == ("sums", 0, "1970-01-01T00:00:05+00:00")
    assert second["watermark"] == "the input has ended"


def test_a_savepoint_is_taken_if_changes_are_allowed(url: str, job: FakeJob) -> None:
    job.savepoint.set_result("/savepoints/one")
    server = server_of(JobTools(url), allow_changes=True)
    assert asked(server, ("take_savepoint", {"job": "orders", "directory": "/savepoints"})) == ["/savepoints/one"]
    assert job.asked == [("savepoint", "/savepoints")]


def test_the_output_of_a_job_at_a_terminal_cannot_be_read(url: str) -> None:
    (answer,) = asked(server_of(JobTools(url)), ("printed", {"job": "orders"}))
    assert answer.startswith("error: ") and "job 'orders' prints to its own terminal" in answer


# ---------------------------------------------------------------- a real job


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Run a job; return the environment of those who find it."""
    home = tmp_path_factory.mktemp("agents")
    source = str(Path(scurry.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": source, "PYTHONUNBUFFERED": "1", "XDG_RUNTIME_DIR": str(home)}
    command = [sys.executable, "-m", "scurry", "run", "--runner", "local", "-D", "scurry.rest=on", str(PROGRAM)]
    out = home / "out"
    with out.open("w") as printed, subprocess.Popen(command, stdout=printed, env=environment) as process:
        deadline = time.monotonic() + 120
        while not out.read_text():
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        yield environment
        process.kill()


@pytest.mark.slow
def test_ten_questions_about_a_running_job_are_answered(running: dict[str, str]) -> None:
    server = StdioServerParameters(command=sys.executable, args=["-m", "scurry", "mcp"], env=running)
    of = {"job": "counting"}
    jobs, details, plan, metrics, pressure, checkpoints, failures, letters, events, state = map(
        json.loads,
        asked(
            server,
            ("list_jobs", {}),
            ("describe_job", of),
            ("explain_plan", of),
            ("metrics", {**of, "contains": "numrecordsout"}),
            ("back_pressure", of),
            ("checkpoints", of),
            ("failures", of),
            ("dead_letters", of),
            ("events", of),
            ("state_value", {**of, "operator": "counts", "state": "count", "key": "1"}),
        ),
    )
    assert [each["name"] for each in jobs] == ["counting"]
    assert [each["uid"] for each in details["vertices"]][:2] == ["numbers", "counts"]
    assert [each["description"] for each in plan["plan"]["nodes"]]
    assert int(metrics["counts.numRecordsOut"]) > 0
    assert {each["vertex"] for each in pressure} >= {"numbers", "counts"}
    assert checkpoints["counts"]["failed"] == 0
    assert failures == [] and letters["count"] == 0
    assert events[-1]["event"] == "started"
    assert state["value"] > 0


@pytest.mark.slow
def test_the_program_of_the_page_asks_a_job(running: dict[str, str]) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    path = os.pathsep.join([str(Path(sys.executable).parent), running["PATH"]])
    command = [sys.executable, "-c", program.replace("orders", "counting")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**running, "PATH": path})
    assert "held_back" in done.stdout, done.stderr
