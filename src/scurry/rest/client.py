"""Operate a job that runs in another process through its endpoint."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from scurry._dataclasses import dataclass
from scurry.errors import JobError, JobUnreachableError, RequestRefusedError
from scurry.rest.settings import TOKEN_VARIABLE

#: Final states of a job.
OVER = ("FINISHED", "FAILED", "CANCELED")

_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class RemoteProcess:
    """The process of a job, reached through its endpoint.

    Attributes:
        url: The endpoint, such as `http://127.0.0.1:40123`.
        token: The token for requests, None if unknown.
        timeout: Seconds to wait for an answer.
        pid: The id of the process, if it runs on this machine.
        read_fraction: Makes the value of a number with a fraction in answers.
    """

    url: str
    token: str | None = field(default=None, repr=False)
    timeout: float = _TIMEOUT_SECONDS
    pid: int | None = None
    read_fraction: Callable[[str], Any] = float

    def request(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Send a request and return the JSON of its answer.

        Raises:
            JobUnreachableError: There was no answer.
            RequestRefusedError: The answer was an error.
        """
        try:
            status, content = self._exchange(method, path, body, query)
        except ConnectionRefusedError:
            raise JobUnreachableError(
                f"nothing answers at {self.url}: the job is over, or its process has gone"
            ) from None
        except TimeoutError:
            why = "" if self.pid is None else f": {_condition(self.pid)}"
            raise JobUnreachableError(f"{self.url} has not answered within {self.timeout:g} s{why}") from None
        except OSError as error:
            reason = str(error) or type(error).__name__
            raise JobUnreachableError(f"{self.url} has not answered: {reason}") from None
        return self._content(status, content)

    def exchange(
        self, method: str, target: str, body: bytes = b"", kind: str = "application/json"
    ) -> tuple[int, bytes]:
        """Send a request as it is; return status and body of the answer.

        Args:
            target: Path and query.
            kind: The content type of the body.

        Raises:
            JobUnreachableError: There was no answer.
        """
        try:
            return self._send(method, target, body or None, kind)
        except OSError as error:
            raise JobUnreachableError(f"{self.url} has not answered: {str(error) or type(error).__name__}") from None

    def _exchange(self, method: str, path: str, body: Any, query: dict[str, Any]) -> tuple[int, bytes]:
        target = path + (f"?{urlencode(query)}" if query else "")
        return self._send(method, target, None if body is None else json.dumps(body).encode(), "application/json")

    def _send(self, method: str, target: str, payload: bytes | None, kind: str) -> tuple[int, bytes]:
        import http.client  # loads TLS, and jobs have a registry without sending requests

        # Never through a proxy, as urllib.request would: it would see the token.
        address = urlsplit(self.url)
        protocol = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        connection = protocol(address.hostname or "", address.port, timeout=self.timeout)
        headers = {"Accept": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if payload is not None:
            headers["Content-Type"] = kind
        try:
            connection.request(method, address.path.rstrip("/") + target, payload, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except http.client.HTTPException as error:
            raise OSError(str(error) or type(error).__name__) from error
        finally:
            connection.close()

    def _content(self, status: int, content: bytes) -> Any:
        try:
            answer = json.loads(content, parse_float=self.read_fraction)
        except ValueError:
            raise JobUnreachableError(
                f"{self.url} is no job of scurry: it answers with status {status} and something else than JSON"
            ) from None
        if status < 400:
            return answer
        if status == 401:
            known = f"is not the one in {TOKEN_VARIABLE}" if self.token else f"has to be in {TOKEN_VARIABLE}"
            raise RequestRefusedError(f"{self.url} wants a token, which {known}", status)
        errors = answer.get("errors") if isinstance(answer, dict) else None
        raise RequestRefusedError("; ".join(map(str, errors)) if errors else f"HTTP status {status}", status)


@dataclass(frozen=True)
class RemoteJob:
    """A job that runs in another process.

    Attributes:
        id: Job id, 32 hexadecimal digits.
    """

    id: str
    name: str
    process: RemoteProcess

    def details(self) -> dict[str, Any]:
        """Return all details of the job (`/jobs/{jobid}`)."""
        found: dict[str, Any] = self.ask("GET", "")
        return found

    def overview(self) -> dict[str, Any]:
        """Return the job's state and times (`/jobs/overview`)."""
        answer: dict[str, Any] = self.process.request("GET", "/jobs/overview")
        return next((one for one in answer["jobs"] if one["jid"] == self.id), {})

    def checkpoints(self) -> dict[str, Any]:
        """Return the job's checkpoints (`/jobs/{jobid}/checkpoints`)."""
        found: dict[str, Any] = self.ask("GET", "/checkpoints")
        return found

    def cancel(self) -> str:
        """Cancel the job and wait until it is over.

        Returns:
            The final state; CANCELED also if the job was gone before it could answer.
        """
        self.ask("PATCH", "", mode="cancel")
        for pause in _pauses():
            try:
                state = str(self.details()["state"])
            except JobUnreachableError:
                return "CANCELED"
            if state in OVER:
                return state
            time.sleep(pause)
        raise AssertionError("pauses never end")

    def savepoint(self, directory: str | None) -> str:
        """Trigger a savepoint and return its path.

        Raises:
            JobError: The savepoint failed.
        """
        return self._savepoint("/savepoints", {"target-directory": directory})

    def stop(self, drain: bool, directory: str | None) -> str:
        """Stop the job with a savepoint and return its path.

        Args:
            drain: Whether to end event time first, which fires all timers and windows.
            directory: Where to write the savepoint.

        Raises:
            JobError: The savepoint failed.
        """
        return self._savepoint("/stop", {"targetDirectory": directory, "drain": drain})

    def rescale(self, parallelism: int) -> None:
        """Change the job's parallelism and wait until it runs again.

        Raises:
            JobError: Rescaling failed.
        """
        started = self.ask("PATCH", "/rescaling", parallelism=parallelism)
        self._wait("/rescaling", started["request-id"], "rescaling")

    def _savepoint(self, path: str, body: dict[str, Any]) -> str:
        started = self.ask("POST", path, body)
        return str(self._wait("/savepoints", started["request-id"], "the savepoint").get("location", ""))

    def _wait(self, path: str, trigger_id: str, what: str) -> dict[str, Any]:
        for pause in _pauses():
            try:
                answer = self.ask("GET", f"{path}/{quote(trigger_id)}")
            except JobUnreachableError as error:
                raise JobUnreachableError(
                    f"job {self.name!r} ({self.id}) has gone before it said what became of {what}: {error}"
                ) from None
            if answer["status"]["id"] == "COMPLETED":
                outcome: dict[str, Any] = answer.get("operation") or {}
                if failure := outcome.get("failure-cause"):
                    raise JobError(f"job {self.name!r} ({self.id}): {what} failed: {failure['stack-trace']}")
                return outcome
            time.sleep(pause)
        raise AssertionError("pauses never end")

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Send a request about the job: a path below `/jobs/{jobid}`; return the JSON of its answer."""
        return self.process.request(method, f"/jobs/{self.id}{path}", body, **query)


def _condition(pid: int) -> str:
    """Return a hint about a process that does not answer, from its state in the operating system."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return f"look at process {pid}"
    if status.rpartition(")")[2].split()[0] in "Tt":
        return f"process {pid} is suspended; `kill -CONT {pid}` resumes it"
    return f"process {pid} runs but has no time for requests, or too many clients are connected to it"


def environment_token() -> str | None:
    """Return the token in the environment variable, None if it is not set."""
    return os.environ.get(TOKEN_VARIABLE)


def _pauses() -> Iterator[float]:
    """Yield the seconds to wait before each next request, which grow to one second."""
    pause = 0.02
    while True:
        yield pause
        pause = min(pause * 1.5, 1.0)
