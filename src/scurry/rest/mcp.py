"""The server of the Model Context Protocol, through which agents look at running jobs (`scurry mcp`)."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Any
from urllib.parse import quote

from scurry import __version__
from scurry.common._optional import optional_module
from scurry.errors import JobError, ScurryError
from scurry.rest.client import RemoteJob
from scurry.rest.registry import find_job, running_jobs

INSTRUCTIONS = """\
Jobs of scurry: Apache Flink's programming model for Python. Times are milliseconds since the epoch unless they are ISO.
A job is named by its id, the beginning of its id, or its name: list_jobs shows them. If results stay away, look at
watermarks; if a job is slow, at back_pressure; if it was restarted, at failures; if records are missing, at
dead_letters. State is read by the uid of its operator, which describe_job shows, and the name of the state."""

#: Entries of a list, and characters of a text, that an answer has at most.
_MOST_ENTRIES, _MOST_CHARACTERS = 200, 20_000
#: Seconds after which a replayed batch is ended.
_REPLAY_SECONDS = 120
#: The watermark of an input that has ended, and that of one that has not begun.
_ENDED, _NOT_BEGUN = 2**63 - 1, -(2**63)


class JobTools:
    """Tools that ask running jobs; each call is a request to the endpoint of a job.

    Agents see the names and docstrings of the methods.

    Args:
        url: The endpoint of a job or a session on another machine; None for the jobs of this user on this machine.
    """

    def __init__(self, url: str | None = None) -> None:
        self._url = url

    def list_jobs(self) -> list[dict[str, Any]]:
        """List the running jobs: id, name, state, start."""
        shown = ("jid", "name", "state", "start-time", "duration")
        known = [(job.overview(), job.process.url) for job in running_jobs(self._url)]
        return [{**{name: found[name] for name in shown if name in found}, "url": url} for found, url in known]

    def describe_job(self, job: str) -> dict[str, Any]:
        """Describe a job: state, mode, times, and per vertex its operators, parallelism, records and bytes."""
        found = self._of(job).details()
        return {name: value for name, value in found.items() if name != "plan"}

    def explain_plan(self, job: str) -> dict[str, Any]:
        """Return the plan of a job: vertices, how they are connected, and the SQL statements it was made from."""
        found = self._of(job)
        tables = found.ask("GET", "/sql")
        return {**found.ask("GET", "/plan"), "statements": tables["sql"], "plan of the statements": tables["plan"]}

    def metrics(self, job: str, contains: str = "") -> dict[str, str]:
        """Return the metrics of a job whose names contain a text, as Flink names them."""
        found = self._of(job)
        names = [each["id"] for each in found.ask("GET", "/metrics") if contains.lower() in each["id"].lower()]
        values = found.ask("GET", "/metrics", get=",".join(names[:_MOST_ENTRIES])) if names else []
        return {each["id"]: each["value"] for each in values}

    def watermarks(self, job: str) -> list[dict[str, Any]]:
        """Return the watermark of each subtask of each vertex, and how many seconds it is behind the clock."""
        found = self._of(job)
        return [
            {"vertex": each["name"], "subtask": int(one["id"].split(".")[0]), **_watermark(int(one["value"]))}
            for each in found.details()["vertices"]
            for one in found.ask("GET", f"/vertices/{each['id']}/watermarks")
        ][:_MOST_ENTRIES]

    def back_pressure(self, job: str) -> list[dict[str, Any]]:
        """Return how busy each vertex is, and how much it was held back: ratios of the last minute by subtask."""
        found = self._of(job)
        return [
            {
                "vertex": each["name"],
                "level": known["backpressure-level"],
                "held_back": [one["ratio"] for one in known["subtasks"]][:_MOST_ENTRIES],
                "busy": [one["busyRatio"] for one in known["subtasks"]][:_MOST_ENTRIES],
            }
            for each in found.details()["vertices"]
            for known in [found.ask("GET", f"/vertices/{each['id']}/backpressure")]
        ]

    def checkpoints(self, job: str) -> dict[str, Any]:
        """Return the checkpoints and savepoints of a job: counts, durations, sizes, paths, failures."""
        return self._of(job).checkpoints()

    def failures(self, job: str, limit: int = 10) -> list[dict[str, Any]]:
        """Return the latest failures of a job, the latest first: error with the user's line, operator, time."""
        entries = self._of(job).ask("GET", "/exceptions")["exceptionHistory"]["entries"]
        return [{**each, "stacktrace": _cut(each["stacktrace"])} for each in _first(entries, limit)]

    def dead_letters(self, job: str, limit: int = 10) -> dict[str, Any]:
        """Return samples of the records that functions could not process, the latest first, and their number."""
        found = self._of(job).ask("GET", "/dead-letters")
        return {**found, "entries": _first(found["entries"], limit)}

    def events(self, job: str, limit: int = 50) -> list[dict[str, Any]]:
        """Return the latest events of a job's log, the latest first."""
        return _first(self._of(job).ask("GET", "/log")["entries"], limit)

    def state_value(self, job: str, operator: str, state: str, key: str) -> dict[str, Any]:
        """Return the last committed value of a key in the state of an operator.

        The operator is named by its uid. The key is JSON: 42, "a", [1, "a"] for a tuple; other text is a string.
        """
        found: dict[str, Any] = self._of(job).ask(
            "GET", f"/state/{quote(operator, safe='')}/{quote(state, safe='')}", key=key
        )
        return found

    def configuration(self, job: str) -> dict[str, Any]:
        """Return the configuration of a job, with secrets redacted."""
        found: dict[str, Any] = self._of(job).ask("GET", "/config")
        return found

    def printed(self, job: str, characters: int = 4_000) -> str:
        """Return the end of the output of a job in a session, such as the rows of a print table."""
        found = self._of(job)
        wanted = max(1, min(characters, _MOST_CHARACTERS))
        status, content = found.process.exchange("GET", f"/jobs/{found.id}/output?offset=-{wanted}")
        if status >= 400:
            raise JobError(
                f"job {found.name!r} prints to its own terminal; only the output of jobs in a session can be read "
                "(scurry run --session)"
            )
        return content.decode(errors="replace")

    def captured_batches(self, job: str) -> str:
        """List the micro-batches of a job that can be replayed; the job is one of this machine, running or ended."""
        return _replayed(job)

    def replay_batch(self, job: str, batch: int, subtask: int | None = None) -> str:
        """Run a captured micro-batch of a job on this machine again, apart from the job; return its outcome.

        This calls the functions of the program, which may have effects of their own.
        """
        only = [] if subtask is None else ["--subtask", str(subtask)]
        return _replayed(job, "--batch", str(batch), *only)

    # ---------------------------------------------------------------- changes

    def take_savepoint(self, job: str, directory: str | None = None) -> str:
        """Trigger a savepoint of a job and return its path; the job goes on."""
        return self._of(job).savepoint(directory)

    def stop_job(self, job: str, drain: bool = False, directory: str | None = None) -> str:
        """Stop a job with a savepoint and return its path; drain ends event time first, which fires all timers."""
        return self._of(job).stop(drain, directory)

    def cancel_job(self, job: str) -> str:
        """Cancel a job, which keeps its checkpoints, and return its final state."""
        return self._of(job).cancel()

    def rescale_job(self, job: str, parallelism: int) -> str:
        """Change the parallelism of a job and wait until it runs again."""
        self._of(job).rescale(parallelism)
        return f"it runs with parallelism {parallelism}"

    def _of(self, job: str) -> RemoteJob:
        return find_job(job, self._url)


#: The tools that leave jobs as they are, and those that do not.
READING: list[Callable[..., Any]] = [
    JobTools.list_jobs,
    JobTools.describe_job,
    JobTools.explain_plan,
    JobTools.metrics,
    JobTools.watermarks,
    JobTools.back_pressure,
    JobTools.checkpoints,
    JobTools.failures,
    JobTools.dead_letters,
    JobTools.events,
    JobTools.state_value,
    JobTools.configuration,
    JobTools.printed,
    JobTools.captured_batches,
    JobTools.replay_batch,
]
CHANGING: list[Callable[..., Any]] = [
    JobTools.take_savepoint,
    JobTools.stop_job,
    JobTools.cancel_job,
    JobTools.rescale_job,
]


def server_of(tools: JobTools, allow_changes: bool = False) -> Any:
    """Return the server of the tools: an `MCPServer`.

    Args:
        allow_changes: Whether tools that change jobs are among them.

    Raises:
        ExtraMissingError: The extra `scurry[mcp]` is not installed.
    """
    package = optional_module("scurry mcp", "mcp", "mcp", "mcp.server.mcpserver")
    annotations = optional_module("scurry mcp", "mcp", "mcp", "mcp.types").ToolAnnotations
    tool_error = optional_module("scurry mcp", "mcp", "mcp", "mcp.server.mcpserver.exceptions").ToolError
    server = package.MCPServer("scurry", version=__version__, instructions=INSTRUCTIONS)
    for tool in [*READING, *(CHANGING if allow_changes else ())]:
        hints = annotations(
            read_only_hint=tool in READING, destructive_hint=tool in (JobTools.cancel_job, JobTools.stop_job)
        )
        answering = _answering(getattr(tools, tool.__name__), tool_error)
        server.add_tool(answering, annotations=hints, structured_output=False)
    return server


def _answering(tool: Callable[..., Any], error: type[Exception]) -> Callable[..., str]:
    """Return a tool that answers with one text, JSON if it has more than one value; agents see why it has failed."""

    @wraps(tool)
    def answer(*arguments: Any, **named: Any) -> str:
        try:
            found = tool(*arguments, **named)
        except ScurryError as failure:
            raise error(str(failure)) from failure
        return found if isinstance(found, str) else json.dumps(found)

    return answer


def _watermark(value: int) -> dict[str, Any]:
    if value == _ENDED:
        return {"watermark": "the input has ended"}
    if value == _NOT_BEGUN:
        return {"watermark": "none yet"}
    try:
        moment = datetime.fromtimestamp(value / 1000, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return {"watermark": value}
    return {"watermark": moment, "seconds_behind": round(time.time() - value / 1000, 3)}


def _first(entries: list[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    return entries[: max(1, min(limit, _MOST_ENTRIES))]


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}\n... {len(text):,} characters"


def _replayed(*arguments: str) -> str:
    """Return the output of `scurry replay`, which needs a process of its own: functions may do anything to theirs."""
    command = [sys.executable, "-m", "scurry", "replay", *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_REPLAY_SECONDS, stdin=subprocess.DEVNULL, errors="replace"
        )
    except subprocess.TimeoutExpired:
        raise JobError(f"the batch has not ended within {_REPLAY_SECONDS} s") from None
    return _cut("\n".join(text for text in (done.stdout.strip(), done.stderr.strip()) if text))
