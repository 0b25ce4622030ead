"""Requests to Google Pub/Sub or its emulator, and the reasons of their errors."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common._optional import optional_module
from scurry.connectors.http.client import HttpAnswer, HttpClient, HttpSettings
from scurry.errors import ArgumentError, ConnectorError, SinkConnectionError, SourceConnectionError, SourceNotFoundError

#: The variable of Google's clients that names an emulator.
EMULATOR_VARIABLE = "PUBSUB_EMULATOR_HOST"
#: Seconds in which the service has to answer a request that waits for nothing.
ANSWER_SECONDS = 4.0
_SERVICE = "https://pubsub.googleapis.com"
_SCOPES = ("https://www.googleapis.com/auth/pubsub",)
_JSON = {"Content-Type": "application/json"}
#: Statuses after which a request may succeed later.
_BUSY = {408, 429, 499}


class PubSubAway(Exception):
    """The service cannot be reached, or has too much to do.

    Attributes:
        error: The error of the job, if that stays so.
    """

    def __init__(self, error: ConnectorError) -> None:
        super().__init__(str(error))
        self.error = error


def google_auth() -> Any:
    """Return the package `google.auth`.

    Raises:
        ExtraMissingError: It is not installed.
    """
    return optional_module("Pub/Sub", "google-auth", "pubsub", "google.auth", "google.auth.transport.requests")


@dataclass(frozen=True)
class PubSubProject:
    """A project of Google Cloud, or of an emulator; picklable.

    Attributes:
        name: The project's id.
        emulator: `host:port` of an emulator, which wants no credentials; None for the service.
        credentials_file: A file of credentials, on each machine; None for those of the environment.
    """

    name: str
    emulator: str | None = None
    credentials_file: str | None = None

    @staticmethod
    def of(name: str, emulator: str | None, credentials_file: str | None) -> PubSubProject:
        """Return a project; `PUBSUB_EMULATOR_HOST` names an emulator if nothing else is named.

        Raises:
            ArgumentError: The address of the emulator is none, or the file of credentials is not there.
            ExtraMissingError: The service is meant, and google-auth is not installed.
        """
        if emulator is None and credentials_file is None:
            emulator = os.environ.get(EMULATOR_VARIABLE) or None
        found = PubSubProject(name, emulator, credentials_file)
        HttpSettings((found.address,))
        if emulator is None:
            google_auth()
        if credentials_file is not None and not os.path.isfile(credentials_file):
            raise ArgumentError(f"there is no file of credentials {credentials_file!r}")
        return found

    @property
    def address(self) -> str:
        """The address of requests."""
        return _SERVICE if self.emulator is None else f"http://{self.emulator}"

    @property
    def place(self) -> str:
        """Return where it is, for messages."""
        at = f"the emulator at {self.emulator}" if self.emulator is not None else "the service"
        return f"Pub/Sub, project {self.name!r} at {at}"

    def failure(self, why: str, reads: bool) -> ConnectorError:
        """Return the error of a source or a sink."""
        return (SourceConnectionError if reads else SinkConnectionError)(f"{self.place}: {why}")


class PubSubClient:
    """Requests to a project, for one thread."""

    def __init__(self, project: PubSubProject, reads: bool, answer_seconds: float = ANSWER_SECONDS) -> None:
        """Describe the client; the first request connects."""
        self._project, self._reads = project, reads
        self._http = HttpClient(HttpSettings((project.address,), socket_timeout=answer_seconds, reconnect_pauses=()))
        self._credentials: Any = None

    def call(self, kind: str, name: str, verb: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a request.

        Args:
            kind: `topics` or `subscriptions`.
            name: The name of one.
            verb: The method, such as `pull`.
            body: The request.

        Raises:
            PubSubAway: It may succeed later.
            SourceNotFoundError: There is no such subscription.
            SourceConnectionError: The request of a source is refused.
            SinkConnectionError: That of a sink is.
        """
        path = f"/v1/projects/{self._project.name}/{kind}/{name}:{verb}"
        headers = {**_JSON, **self._authorization()}
        try:
            answer = self._http.request("POST", path, json.dumps(body).encode(), headers)
        except ConnectionError as error:
            hint = "check the address of the emulator" if self._project.emulator else "check the network"
            raise PubSubAway(self._failure(f"it does not answer ({error}); {hint}")) from None
        if answer.status == 200:
            found: dict[str, Any] = json.loads(answer.body or b"{}")
            return found
        raise self._refused(kind, name, answer)

    def _refused(self, kind: str, name: str, answer: HttpAnswer) -> Exception:
        what, reason = kind.removesuffix("s"), _reason(answer)
        if answer.status >= 500 or answer.status in _BUSY:
            return PubSubAway(self._failure(f"it has too much to do, or fails (HTTP {answer.status}: {reason})"))
        if answer.status == 404:
            text = f"there is no {what} {name!r} ({reason}); check {what} and project"
            return SourceNotFoundError(f"{self._project.place}: {text}") if self._reads else self._failure(text)
        if answer.status in (401, 403):
            return self._failure(
                f"it refuses the request (HTTP {answer.status}: {reason}); check the credentials, and their rights to "
                f"{what} {name!r}"
            )
        return self._failure(f"{what} {name!r}: HTTP {answer.status}: {reason}; check {what} and project")

    def _failure(self, why: str) -> ConnectorError:
        return self._project.failure(why, self._reads)

    def _authorization(self) -> dict[str, str]:
        if self._project.emulator is not None:
            return {}
        auth = google_auth()
        request = partial(auth.transport.requests.Request(), timeout=ANSWER_SECONDS)
        file = self._project.credentials_file
        try:
            if self._credentials is None:
                self._credentials = auth.default(scopes=_SCOPES)[0] if file is None else _credentials_of(file)
            if not self._credentials.valid:
                self._credentials.refresh(request)
        except (auth.exceptions.GoogleAuthError, OSError, ValueError) as error:
            source = f"the credentials file {file!r}" if file is not None else "GOOGLE_APPLICATION_CREDENTIALS"
            why = " ".join(str(error.args[0] if error.args else error).split())
            raise self._failure(f"there are no credentials: {why}; check {source}") from None
        return {"Authorization": f"Bearer {self._credentials.token}"}

    def interrupt(self) -> None:
        """Let the request fail that another thread waits for."""
        self._http.interrupt()

    def close(self) -> None:
        """Close the connection."""
        self._http.close()


def _credentials_of(file: str) -> Any:
    """Return the credentials of a file, those of a service account or of a user."""
    with open(file, encoding="utf-8") as content:
        kind = json.load(content).get("type")
    if kind == "service_account":
        return import_module("google.oauth2.service_account").Credentials.from_service_account_file(
            file, scopes=_SCOPES
        )
    if kind == "authorized_user":
        return import_module("google.oauth2.credentials").Credentials.from_authorized_user_file(file, scopes=_SCOPES)
    raise ValueError(
        f"its type is {kind!r}, not service_account or authorized_user; name others by GOOGLE_APPLICATION_CREDENTIALS"
    )


def _reason(answer: HttpAnswer) -> str:
    try:
        return str(json.loads(answer.body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return answer.shown
