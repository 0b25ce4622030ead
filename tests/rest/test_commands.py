"""The commands for running jobs, with jobs that do what the tests tell them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from scurry import __version__ as version
from scurry.cli.commands import app
from scurry.common import Configuration
from scurry.common._process.launch import LaunchOptions
from scurry.rest.client import RemoteProcess
from scurry.rest.registry import JobEntry, register
from scurry.rest.settings import RestSettings
from scurry.runtime.savepoint.entries import write_entries
from scurry.runtime.savepoint.format import Entry, OperatorState, SavepointMetadata, SourceState
from scurry.runtime.savepoint.reading import complete_savepoint
from support.rest.fake_jobs import TOKEN, FakeJob, served


@dataclass
class Done:
    status: int
    out: str
    err: str


def scurry(*arguments: str) -> Done:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


NO_JOBS = "no running jobs; jobs in one process are listed if they run at a terminal, or with -D scurry.rest=on\n"


class TestList:
    def test_jobs_are_shown_with_state_and_url(self, job: FakeJob, process: RemoteProcess) -> None:
        header, line = scurry("list").out.splitlines()
        assert header.split() == ["id", "name", "state", "started", "url"]
        assert [line.split()[n] for n in (0, 1, 2, -1)] == [str(job.id), "orders", "RUNNING", process.url]

    def test_programs_read_json(self, job: FakeJob, process: RemoteProcess) -> None:
        (found,) = json.loads(scurry("list", "--json").out)
        assert (found["jid"], found["state"], found["url"]) == (str(job.id), "RUNNING", process.url)

    def test_no_jobs_are_no_error(self) -> None:
        assert scurry("list") == Done(0, "", NO_JOBS)

    def test_why_an_endpoint_does_not_answer_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("scurry.cli.operate._LIST_PATIENCE", 0.2)
        sleeper = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        with socket.create_server(("127.0.0.1", 0)) as silent, sleeper:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}"
            register(JobEntry("0" * 32, "orders", sleeper.pid, url, 0, token=TOKEN))
            running = scurry("list")
            sleeper.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, sleeper.pid, os.WSTOPPED)
            suspended = scurry("list")
            sleeper.kill()
        assert "UNREACHABLE" in running.out
        assert running.err.startswith(
            f"orders ({'0' * 32}): {url} has not answered within 0.2 s: process {sleeper.pid} runs"
        )
        assert f"`kill -CONT {sleeper.pid}` resumes it" in suspended.err

    def test_a_token_is_not_shown(self, process: RemoteProcess) -> None:
        assert TOKEN not in scurry("list").out + scurry("list", "--json").out


class TestCancel:
    def test_a_job_is_cancelled(self, job: FakeJob, process: RemoteProcess) -> None:
        done = scurry("cancel", "orders")
        assert (done.status, done.err) == (0, f"cancelling orders ({job.id})\ncancelled\n")
        assert job.asked == [("cancel",)]

    def test_an_unknown_job_is_an_error(self, process: RemoteProcess) -> None:
        done = scurry("cancel", "order")
        assert done.status == 1
        assert done.err.startswith("error: no running job has the id or name 'order': did you mean 'orders'")


class TestSavepoint:
    def test_its_path_is_all_of_the_output(self, job: FakeJob, process: RemoteProcess) -> None:
        job.savepoint.set_result("/s/savepoint-1")
        assert scurry("savepoint", "orders", "/s").out == "/s/savepoint-1\n"
        assert job.asked == [("savepoint", "/s")]

    def test_the_directory_may_be_left_to_the_job(self, job: FakeJob, process: RemoteProcess) -> None:
        job.savepoint.set_result("/s/savepoint-1")
        scurry("savepoint", str(job.id)[:8])
        assert job.asked == [("savepoint", None)]

    def test_a_relative_directory_is_one_of_this_shell(
        self, job: FakeJob, process: RemoteProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        job.savepoint.set_result("")
        scurry("savepoint", "orders", "s")
        assert job.asked == [("savepoint", str(tmp_path / "s"))]

    def test_a_uri_is_left_alone(self, job: FakeJob, process: RemoteProcess) -> None:
        job.savepoint.set_result("")
        scurry("savepoint", "orders", "s3://bucket/s")
        assert job.asked == [("savepoint", "s3://bucket/s")]

    def test_one_that_fails_says_why(self, job: FakeJob, process: RemoteProcess) -> None:
        job.savepoint.set_exception(OSError("disk full"))
        done = scurry("savepoint", "orders")
        assert (done.status, done.out) == (1, "")
        assert done.err.endswith(f"error: job 'orders' ({job.id}): the savepoint failed: disk full\n")

    def test_options_may_come_first(self, job: FakeJob, process: RemoteProcess) -> None:
        job.savepoint.set_result("/s/1")
        assert scurry("savepoint", "--url", process.url, "orders").out == "/s/1\n"


class TestStop:
    def test_a_job_stops_with_a_savepoint(self, job: FakeJob, process: RemoteProcess) -> None:
        job.savepoint.set_result("/s/savepoint-1")
        assert scurry("stop", "orders").out == "/s/savepoint-1\n"
        assert job.asked == [("stop", False, None)]

    def test_it_may_drain_into_a_directory(self, job: FakeJob, process: RemoteProcess) -> None:
        job.savepoint.set_result("/s/savepoint-1")
        scurry("stop", "--drain", "-p", "/s", "orders")
        assert job.asked == [("stop", True, "/s")]


def test_a_job_is_rescaled(job: FakeJob, process: RemoteProcess) -> None:
    job.rescaled.set_result(None)
    assert scurry("rescale", "orders", "--parallelism", "4").err.endswith("rescaled\n")
    assert job.asked == [("rescale", 4)]


@dataclass
class Checkpoint:
    checkpoint_id: int
    trigger_timestamp_ms: int = 1_700_000_000_000
    duration_ms: int = 250
    state_size_bytes: int | None = 2048
    source_positions: dict[str, Any] = field(default_factory=dict)
    phases: dict[str, int] = field(default_factory=dict)
    states: dict[int, Any] = field(default_factory=dict)


class TestCheckpoints:
    def test_the_latest_comes_first(self, job: FakeJob, process: RemoteProcess) -> None:
        job.taken = [Checkpoint(1), Checkpoint(2, source_positions={"lines": {"offset": 7}})]
        lines = scurry("checkpoints", "orders").out.splitlines()
        assert [line.split()[:2] for line in lines[1:]] == [["2", "COMPLETED"], ["1", "COMPLETED"]]
        assert "250 ms" in lines[1] and "2.0 KiB" in lines[1] and lines[1].endswith("lines: {'offset': 7}")

    def test_programs_read_flinks_json(self, job: FakeJob, process: RemoteProcess) -> None:
        job.taken = [Checkpoint(1), Checkpoint(2, duration_ms=350, state_size_bytes=None)]
        found = json.loads(scurry("checkpoints", "--json", "orders").out)
        assert found["counts"] == {"restored": 0, "total": 2, "in_progress": 0, "completed": 2, "failed": 0}
        durations = found["summary"]["end_to_end_duration"]
        assert (durations["min"], durations["max"], durations["avg"]) == (250, 350, 300)
        assert found["latest"]["completed"]["id"] == 2


class TestToken:
    def test_a_jobs_own_token_is_printed(self, process: RemoteProcess) -> None:
        assert scurry("token", "orders").out == f"{TOKEN}\n"

    def test_one_that_was_configured_is_kept_elsewhere(self, job: FakeJob) -> None:
        with served(job, RestSettings("127.0.0.1", (0,), "127.0.0.1", TOKEN)):
            done = scurry("token", "orders")
        assert (done.status, done.out) == (1, "")
        assert "kept elsewhere" in done.err


class TestOpen:
    def test_without_a_browser_the_address_is_printed(
        self, process: RemoteProcess, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for variable in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
            monkeypatch.delenv(variable, raising=False)
        assert scurry("open", "orders").out == f"{process.url}/#token={TOKEN}\n"

    def test_a_browser_gets_a_file_of_this_user_that_leads_to_the_page(
        self, process: RemoteProcess, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        opened: list[str] = []
        monkeypatch.setenv("DISPLAY", ":0")

        def browser(url: str) -> bool:
            opened.append(url)
            return True

        monkeypatch.setattr("webbrowser.open", browser)
        assert scurry("open", "orders").err.startswith("opened the page of orders")
        assert TOKEN not in opened[0]
        file = Path(opened[0].removeprefix("file://"))
        assert file.stat().st_mode & 0o777 == 0o600
        assert f"url={process.url}/#token={TOKEN}" in file.read_text()


def test_the_version_is_printed() -> None:
    assert scurry("--version").out == f"scurry {version}\n"


class TestInspect:
    @pytest.fixture
    def savepoint(self, tmp_path: Path) -> str:
        path = str(tmp_path / "savepoint-abc123-0")
        (tmp_path / "savepoint-abc123-0").mkdir()
        page = b"no pickle to load".ljust(40)
        write_entries(path, [Entry("sums", "page", 0, 1, page), Entry("sums", "meta", 1, 0, b"12"),
                             Entry("rules", "broadcast", 0, 0, b"1234")])  # fmt: skip
        metadata = SavepointMetadata(
            created_ms=1_700_000_000_000, scurry_version="0.1.0", job_id="ab" * 16, job_name="orders",
            max_parallelism=128, batch_id=7, watermark=5000,
            operators={"sums": OperatorState("sums of orders", 2, "Reduce", 3, {"total": {}}),
                       "rules": OperatorState("rules", 3, "Broadcast", 1)},
            sources={"lines": SourceState("orders", 1, "FileSource", 2, {"file": "a.csv", "offset": 17})},
        )  # fmt: skip
        complete_savepoint(path, metadata)
        return path

    def test_operators_are_shown_with_states_and_sizes(self, savepoint: str) -> None:
        out = scurry("savepoint", "inspect", savepoint).out
        line = next(line for line in out.splitlines() if line.startswith("sums of orders"))
        assert line.split() == ["sums", "of", "orders", "sums", "Reduce", "3", "42", "B", "total"]

    def test_sources_are_shown_with_positions(self, savepoint: str) -> None:
        assert "file: a.csv, offset: 17" in scurry("savepoint", "inspect", savepoint).out

    def test_versions_are_shown(self, savepoint: str) -> None:
        assert "scurry 0.1.0, format version 3" in scurry("savepoint", "inspect", savepoint).out

    def test_programs_read_json(self, savepoint: str) -> None:
        found = json.loads(scurry("savepoint", "inspect", savepoint, "--json").out)
        assert {uid: one["bytes"] for uid, one in found["operators"].items()} == {"sums": 42, "rules": 4}
        assert found["bytes"] == 46 and found["watermark"] == 5000

    def test_those_in_a_directory_are_listed_with_damaged_ones(self, savepoint: str, tmp_path: Path) -> None:
        (tmp_path / "damaged").mkdir()
        (tmp_path / "damaged" / "metadata.json").write_text("{")
        (tmp_path / "other").mkdir()
        found = json.loads(scurry("savepoint", "list", str(tmp_path), "--json").out)
        assert [(one["path"], "error" in one) for one in found] == [
            (savepoint, False), (str(tmp_path / "damaged"), True),
        ]  # fmt: skip
        assert "orders" in scurry("savepoint", "list", str(tmp_path)).out
        assert "there is no directory" in scurry("savepoint", "list", str(tmp_path / "gone")).err

    def test_two_are_compared_by_operator_and_source(self, savepoint: str, tmp_path: Path) -> None:
        other = str(tmp_path / "other")
        write_entries(other, [Entry("sums", "page", 0, 1, b"x" * 40), Entry("new", "page", 0, 1, b"y")])
        metadata = SavepointMetadata(
            created_ms=1_700_000_000_001, scurry_version="0.1.0", job_id="ab" * 16, job_name="orders",
            max_parallelism=128, batch_id=9, watermark=5000,
            operators={"sums": OperatorState("sums of orders", 2, "Reduce", 3, {"total": {}, "count": {}}),
                       "new": OperatorState("new", 3, "Reduce", 1)},
            sources={"lines": SourceState("orders", 1, "FileSource", 2, {"file": "a.csv", "offset": 17})},
        )  # fmt: skip
        complete_savepoint(other, metadata)
        found = json.loads(scurry("savepoint", "diff", savepoint, other, "--json").out)
        what = {one["what"]: (one["first"], one["second"]) for one in found}
        assert what["batch_id"] == ("7", "9")
        assert what["operator rules"][1] is None and what["operator new"][0] is None
        assert what["operator sums"][1].endswith("40 bytes: total, count")
        assert "source lines" not in what
        assert json.loads(scurry("savepoint", "diff", savepoint, savepoint, "--json").out) == []

    def test_one_is_deleted_with_its_files_alone(self, savepoint: str) -> None:
        mine = Path(savepoint) / "mine.txt"
        mine.write_text("x")
        assert scurry("savepoint", "dispose", savepoint) == Done(0, "", f"deleted {savepoint}\n")
        assert list(Path(savepoint).rglob("*")) == [mine]
        assert scurry("savepoint", "dispose", savepoint).status == 1

    def test_another_directory_is_no_savepoint(self, tmp_path: Path) -> None:
        done = scurry("savepoint", "inspect", str(tmp_path))
        assert done.status == 1 and "is no savepoint" in done.err


def test_launch_options_of_savepoints_are_configuration() -> None:
    options = LaunchOptions(from_savepoint="/s/1", allow_non_restored_state=True, final_savepoint="/s")
    assert options.overrides() == {
        "execution.state-recovery.path": "/s/1",
        "execution.state-recovery.ignore-unclaimed-state": "true",
        "scurry.final-savepoint.dir": "/s",
    }


@pytest.mark.parametrize(("terminal", "runner", "has_one"), [
    (True, "local", True), (False, "local", False), (False, "spark", True),
])  # fmt: skip
def test_jobs_in_one_process_have_an_endpoint_at_a_terminal(
    terminal: bool, runner: str, has_one: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal, raising=False)
    assert (RestSettings.of(Configuration(), runner) is not None) is has_one
