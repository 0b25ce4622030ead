"""A session whose directory has a damaged file starts, runs all other jobs and answers all requests."""

from __future__ import annotations

import asyncio
import functools
import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from scurry.cli.sessions import history
from scurry.errors import ArgumentError, SessionError
from scurry.rest.internal import answer
from scurry.rest.session import session as sessions
from scurry.rest.session.app import session_application
from scurry.rest.session.directory import Program, SessionDirectory
from scurry.rest.session.job_process import JobProcess
from scurry.rest.session.session import SessionCluster

OVER, RUNS, ALSO_RUNS = ("a" * 32, "b" * 32, "c" * 32)
JAR = "5b8ff0ba-0000-4000-8000-000000000000_job.py"


class Started:
    """Stands for the processes of jobs."""

    def __init__(self) -> None:
        self.jobs: list[str] = []

    def __call__(self, submission: Any, *_: Any) -> Any:
        self.jobs.append(submission.id)
        return type("Process", (), {"pid": -1, "kill": lambda self: None})()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    started = Started()
    monkeypatch.setattr(sessions, "JobProcess", started)
    return started


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of a session that was killed: a job is over, two run."""
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    directory = SessionDirectory.named("tests")
    directory.hold()
    directory.release()
    program = {"id": JAR, "name": "job.py", "path": str(tmp_path / "job.py"), "uploaded_ms": 5, "own": False}
    (directory.programs / JAR).mkdir()
    (directory.programs / JAR / "program.json").write_text(json.dumps(program))
    for number, (job, state) in enumerate([(OVER, "FINISHED"), (RUNS, None), (ALSO_RUNS, None)]):
        submission = {
            "id": job, "program": program["path"], "name": "job.py", "submitted_ms": 1000 + number, "arguments": ["x"],
            "directory": str(tmp_path), "module": None, "configuration": {"a": "b"}, "state": state,
            "ended_ms": 2000 if state else None, "reason": None,
        }  # fmt: skip
        (directory.jobs / f"{job}.json").write_text(json.dumps(submission))
        directory.output(job).write_text("printed\n")
    overview = {
        "jid": OVER, "name": "the job", "state": "FINISHED", "start-time": 1000, "end-time": 2000, "duration": 1000,
        "last-modification": 2000, "tasks": {"total": 1},
    }  # fmt: skip
    answers = {"/jobs/overview": {"jobs": [overview]}, f"/jobs/{OVER}": {"jid": OVER, "vertices": []}}
    archive = {"archive": [{"path": path, "json": json.dumps(content)} for path, content in answers.items()]}
    (directory.archive / OVER).write_text(json.dumps(archive))
    return directory.path


def opened(place: Path) -> SessionCluster:
    session = SessionCluster("tests", SessionDirectory(place), {"scurry.runner": "local"})
    session.open()
    return session


@functools.cache
def served() -> tuple[Any, list[str]]:
    """The application of sessions, and all paths without names of operators and the like."""
    application: Any = session_application(cast(Any, None), lambda: None)
    described = [
        path.replace("{jobid}", job).replace("{jarid}", JAR)
        for path, methods in application.openapi()["paths"].items()
        if "get" in methods and not path.endswith("/plan")  # which runs the program
        for job in (OVER, RUNS)
    ]
    details = ("", "/status", "/exceptions", "/vertices", "/checkpoints")
    of_jobs = [f"/jobs/{job}{path}" for job in (OVER, RUNS, ALSO_RUNS) for path in details]
    return application, [path for path in dict.fromkeys([*described, *of_jobs]) if "{" not in path]


def statuses(session: SessionCluster) -> dict[str, int]:
    """Path -> status of the answer."""
    application, paths = served()
    application.state.session = session

    async def asked(path: str) -> int:
        try:
            return (await answer(application, path))[0]
        except Exception:  # the server says so in its log, and answers 500
            return 500

    async def all_asked() -> dict[str, int]:
        return {path: await asked(path) for path in paths}

    return asyncio.run(all_asked())


def damages() -> Iterator[tuple[str, Callable[[Path], object]]]:
    """Ways to damage a file."""

    def text(content: str) -> Callable[[Path], object]:
        return lambda file: file.write_text(content)

    def directory(file: Path) -> None:
        file.unlink()
        file.mkdir()

    def link(file: Path) -> None:
        file.unlink()
        file.symlink_to(file)

    yield from {
        "missing": Path.unlink,
        "empty": text(""),
        "cut": lambda file: file.write_bytes(file.read_bytes()[:-7]),
        "zeros": lambda file: file.write_bytes(bytes(100)),
        "no UTF-8": lambda file: file.write_bytes(b"\xff\xfe" + file.read_bytes()),
        "a directory": directory,
        "a link to itself": link,
        "not readable": lambda file: file.chmod(0),
        "deep": text("[" * 100_000),
        "NaN": text("NaN"),
        "half a character": text('{"archive": "\\ud800"}'),
        **{f"{content}": text(content) for content in ("{}", "[]", "null", "1", '"x"', '{"archive": [{}]}', "[[]]")},
    }.items()  # fmt: skip


def changed(content: Any, random: random.Random) -> Any:
    """The content with one value in it replaced, or one entry more or less."""
    if isinstance(content, str) and content[:1] == "{":
        return json.dumps(changed(json.loads(content), random))
    if not isinstance(content, dict | list) or not content or random.random() < 0.2:
        odd: list[Any] = [None, True, -1, 10**18, 1.5, float("nan"), "", "\ud800", "../x", [], {}, [[]], {"a": None}]
        return random.choice([one for one in odd if one != content])
    keys = list(content) if isinstance(content, dict) else range(len(content))
    key = random.choice(keys)
    copy: Any = dict(content) if isinstance(content, dict) else list(content)
    way = random.random()
    if way < 0.15:
        del copy[key]
    elif way < 0.3 and isinstance(copy, dict):
        copy["a field of later versions"] = 1
    else:
        copy[key] = changed(content[key], random)
    return copy


def check(place: Path, started: Started, damaged: Path) -> None:
    session = opened(place)
    try:
        others = {RUNS, ALSO_RUNS} - {damaged.stem}
        assert others <= set(started.jobs), damaged
        assert set(started.jobs) <= {RUNS, ALSO_RUNS, OVER}
        found = statuses(session)
        assert not [path for path, status in found.items() if status >= 500], damaged
        assert found["/jobs/overview"] == found["/jars"] == 200
    finally:
        session.close(cancel=False)
    history(name="tests", as_json=True)
    history(name="tests")


FILES = [f"jobs/{RUNS}.json", f"jobs/{OVER}.json", f"jobs/{RUNS}.log", f"archive/{OVER}", f"jars/{JAR}/program.json"]


@pytest.mark.parametrize("file", FILES, ids=["runs", "over", "output", "archive", "program"])
@pytest.mark.parametrize("damage", [pytest.param(damage, id=name) for name, damage in damages()])
def test_a_damaged_file_stops_nothing_else(
    place: Path, started: Started, file: str, damage: Callable[[Path], object]
) -> None:
    damage(place / file)
    check(place, started, place / file)


@pytest.mark.parametrize("seed", range(25))
def test_a_file_with_any_value_changed_stops_nothing_else(place: Path, started: Started, seed: int) -> None:
    chance = random.Random(seed)
    for file in (f"jobs/{RUNS}.json", f"archive/{OVER}", f"jars/{JAR}/program.json"):
        whole = (place / file).read_text()
        (place / file).write_text(json.dumps(changed(json.loads(whole), chance)))
        check(place, started, place / file)
        (place / file).write_text(whole)
        started.jobs.clear()


@pytest.mark.parametrize("content", ["", "[]", '{"id": 3}'])
def test_a_job_whose_file_is_damaged_has_failed_for_that_reason_and_the_file_stays(
    place: Path, started: Started, content: str
) -> None:
    (place / "jobs" / f"{RUNS}.json").write_text(content)
    session = opened(place)
    job = session.job(RUNS)
    assert job is not None and job.state == "FAILED"
    assert f"its file {place / 'jobs' / RUNS}.json is damaged: " in (job.reason or "")
    session.close(cancel=False)
    assert (place / "jobs" / f"{RUNS}.json").read_text() == content


def test_a_job_of_a_later_version_has_failed_and_names_the_field(place: Path, started: Started) -> None:
    file = place / "jobs" / f"{RUNS}.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "priority": 3}))
    session = opened(place)
    job = session.job(RUNS)
    assert job is not None and "it has a field 'priority', which this version of scurry does not know" in str(
        job.reason
    )
    session.close(cancel=False)


def test_a_job_whose_directory_is_gone_has_failed_and_is_not_tried_again(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    file = place / "jobs" / f"{RUNS}.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "directory": str(tmp_path / "gone")}))
    shutil.rmtree(tmp_path / "gone")
    started = Started()

    def process(submission: Any, *rest: Any) -> Any:
        return JobProcess(submission, *rest) if submission.id == RUNS else started(submission)

    monkeypatch.setattr(sessions, "JobProcess", process)
    session = opened(place)
    job = session.job(RUNS)
    assert started.jobs == [ALSO_RUNS]
    assert job is not None and job.state == "FAILED" and str(tmp_path / "gone") in str(job.reason)
    session.close(cancel=False)
    assert json.loads(file.read_text())["state"] == "FAILED"


def test_a_program_cannot_be_run_in_a_directory_that_is_gone(place: Path, started: Started) -> None:
    session = opened(place)
    program = session.directory.program(JAR)
    assert program is not None
    with pytest.raises(ArgumentError, match="there is no directory /gone, in which the program is to run"):
        session.submit(program, arguments=[], configuration={}, directory="/gone")
    with pytest.raises(SessionError, match="the program could not be started"):
        session.plan(Program(JAR, "x.py", "/gone/x.py", 0), arguments=[], configuration={})
    assert len(session.jobs()) == 3
    session.close(cancel=False)
