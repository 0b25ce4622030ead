"""RemoteExecutor: statements run in a SQL gateway, scurry's or Flink's own."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from scurry.common.types import RowKind
from scurry.errors import ConfigError, GatewayError, JobUnreachableError, RequestRefusedError
from scurry.rest.client import RemoteProcess, environment_token
from scurry.sql.client.executor import Cells
from scurry.sql.gateway.layout import data_type_of
from scurry.sql.types import DataType

_POLL_SECONDS = 0.05
_HEARTBEAT_SECONDS = 60.0
_TRACE = re.compile(r"<Exception on server side:\n(.*)\n\nEnd of exception on server side>", re.DOTALL)


class RemoteExecutor:
    """Executes statements in a session of a gateway."""

    def __init__(
        self,
        url: str,
        settings: Mapping[str, str],
        token: str | None = None,
        read_fraction: Callable[[str], Any] = float,
    ) -> None:
        """Open the session.

        Args:
            url: The gateway, such as `http://127.0.0.1:8083`.
            token: The token for requests; None for that of the environment.
            read_fraction: Makes the value of a number with a fraction in answers in JSON.

        Raises:
            ConfigError: That is no URL.
            GatewayError: The gateway does not answer, or refuses.
        """
        address = url if "://" in url else f"http://{url}"
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"--endpoint {url}: no URL such as http://127.0.0.1:8083")
        self._process = RemoteProcess(address.rstrip("/"), token or environment_token(), read_fraction=read_fraction)
        self._session = self.ask("POST", "/v2/sessions", {"properties": dict(settings)})["sessionHandle"]
        self._over = threading.Event()
        threading.Thread(target=self._stay_alive, name="scurry-sql-heartbeat", daemon=True).start()

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> dict[str, Any]:
        """Send a request and return its answer.

        Raises:
            GatewayError: The gateway does not answer, or refuses.
        """
        try:
            answer: dict[str, Any] = self._process.request(method, path, body, **query)
        except JobUnreachableError as error:
            raise GatewayError(f"no SQL gateway answers at {self._process.url}: {error}") from None
        except RequestRefusedError as error:
            raise _refusal(str(error)) from None
        return answer

    @property
    def path(self) -> str:
        return f"/v2/sessions/{self._session}"

    def execute(self, text: str, script: str = "", line: int = 1) -> RemoteAnswer:
        """Execute a statement.

        Args:
            script: The file that it is from, which the gateway does not know.
            line: The line of the file that it begins in.

        Raises:
            GatewayError: It has failed.
            KeyboardInterrupt: The user does not want to wait; the statement is cancelled.
        """
        operation = self.begin(text)
        try:
            while True:
                first = self.ask("GET", f"{operation}/result/0", rowFormat="PLAIN_TEXT")
                if first["resultType"] != "NOT_READY":
                    return RemoteAnswer(self, operation, first)
                time.sleep(_POLL_SECONDS)
        except KeyboardInterrupt:
            self.ask("POST", f"{operation}/cancel")
            raise

    def begin(self, text: str) -> str:
        """Begin to execute a statement; return the path of its operation."""
        started = self.ask("POST", f"{self.path}/statements", {"statement": text})
        return f"{self.path}/operations/{started['operationHandle']}"

    def page(self, uri: str) -> dict[str, Any]:
        """Return the page that another one names as the next."""
        path, _, query = uri.partition("?")
        return self.ask("GET", path, **dict(part.split("=") for part in query.split("&") if part))

    def complete(self, text: str, position: int) -> list[str]:
        body = {"statement": text, "position": position}
        try:
            return [str(one) for one in self.ask("GET", f"{self.path}/complete-statement", body)["candidates"]]
        except GatewayError:
            return []

    def settings(self) -> dict[str, str]:
        return {str(key): str(value) for key, value in self.ask("GET", self.path)["properties"].items()}

    def close(self) -> None:
        """End the session; jobs of insertions keep running."""
        self.abandon()
        try:
            self.ask("DELETE", self.path)
        except GatewayError:
            pass  # it is gone already

    def abandon(self) -> None:
        """Leave the session to its idle timeout."""
        self._over.set()

    def _stay_alive(self) -> None:
        while not self._over.wait(_HEARTBEAT_SECONDS):
            try:
                self.ask("POST", f"{self.path}/heartbeat")
            except GatewayError:
                pass  # the next statement says it


class RemoteAnswer:
    """The answer of a statement that was executed in a gateway."""

    def __init__(self, executor: RemoteExecutor, operation: str, first: dict[str, Any]) -> None:
        self._executor, self._operation, self._page = executor, operation, first
        self.is_query = bool(first["isQueryResult"])
        self.has_content = first["resultKind"] == "SUCCESS_WITH_CONTENT"
        self.job_id: str | None = first.get("jobID")

    @property
    def columns(self) -> list[tuple[str, DataType]]:
        return [(one["name"], data_type_of(one["logicalType"])) for one in self._page["results"]["columns"]]

    def pages(self) -> Iterator[list[Cells]]:
        """Yield the rows as they come; a page may be empty meanwhile."""
        page = self._page
        while True:
            rows = page["results"]["data"] if "results" in page else []
            yield [(RowKind[row["kind"]].value, row["fields"]) for row in rows]
            following = page.get("nextResultUri")
            if following is None:
                break
            if not rows:
                time.sleep(_POLL_SECONDS)
            page = self._executor.page(following)
        self._close()

    def cancel(self) -> None:
        """Cancel the job of a query; no more rows come."""
        self._close()

    def _close(self) -> None:
        self._executor.ask("DELETE", f"{self._operation}/close")


def _refusal(text: str) -> GatewayError:
    """Return the error of a gateway's answer: its text, without the trace of its exceptions."""
    found = _TRACE.search(text)
    if found is None:
        return GatewayError(text)
    lines = re.sub(r"\n\tat .*|\n\t\.\.\. \d+ more", "", found[1])
    last = lines.rpartition("Caused by: ")[2].strip()
    name, colon, message = last.partition(": ")
    if not colon or not re.fullmatch(r"[\w.$]+", name):
        return GatewayError(last)
    error = GatewayError(message)
    error.kind = name.rpartition(".")[2]
    return error
