"""Requests to an address, repeated while the answer may change: statuses, pauses, headers."""

from __future__ import annotations

import re
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field

from scurry._dataclasses import dataclass
from scurry.common.redaction import without_secrets
from scurry.connectors.http.client import HttpAnswer, HttpClient, HttpSettings
from scurry.connectors.sink import COUNTED, RETRIES
from scurry.errors import ArgumentError

#: Longest pause before a retry, in seconds, unless it is configured.
_LONGEST_PAUSE = 60.0
_CODE = re.compile(r"(!?)([1-5])(\d\d|XX)", re.IGNORECASE)


@dataclass(frozen=True)
class Statuses:
    """A set of statuses of HTTP, as `2XX,404,!203`: all from 200 to 299 and 404, without 203.

    Attributes:
        text: The set.
    """

    text: str

    def __post_init__(self) -> None:
        """Check the set.

        Raises:
            ArgumentError: A part of it is no status.
        """
        for part in self._parts():
            if not _CODE.fullmatch(part):
                raise ArgumentError(f"{part!r} is no status of HTTP; expected some as 404, 5XX or !503")

    def __str__(self) -> str:
        """Return the set as it is written."""
        return self.text

    def _parts(self) -> list[str]:
        return [part.strip() for part in self.text.split(",") if part.strip()]

    def __contains__(self, status: int) -> bool:
        """Return whether a status belongs to the set."""
        found = False
        for part in self._parts():
            meant = part.lstrip("!").upper()
            if str(status) == meant or (meant.endswith("XX") and str(status)[0] == meant[0]):
                if part.startswith("!"):
                    return False
                found = True
        return found


@dataclass(frozen=True)
class Retries:
    """Pauses before requests are repeated.

    Attributes:
        count: Number of retries.
        first: Seconds before the first one.
        multiplier: Growth of the pauses.
        longest: The longest pause in seconds.
    """

    count: int = 3
    first: float = 1.0
    multiplier: float = 1.5
    longest: float = _LONGEST_PAUSE

    def pauses(self) -> Iterator[float]:
        """Yield the seconds before each retry."""
        pause = self.first
        for _ in range(self.count):
            yield min(pause, self.longest)
            pause *= self.multiplier


@dataclass(frozen=True)
class HttpRequests:
    """Requests to one address.

    Attributes:
        url: The address, with its path and query.
        method: Of HTTP.
        headers: Headers of each request.
        timeout: Seconds in which the server sends something.
        connect_timeout: Seconds until a connection is there.
        retries: Pauses before retries.
        retried: The statuses after which a request is repeated.
    """

    url: str
    method: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = 30.0
    connect_timeout: float = 4.0
    retries: Retries = Retries()
    retried: Statuses = Statuses("500,503,504")

    def __post_init__(self) -> None:
        """Check the address.

        Raises:
            ArgumentError: It is none of HTTP.
        """
        HttpSettings((self.host,))

    @property
    def _parts(self) -> urllib.parse.SplitResult:
        return urllib.parse.urlsplit(self.url)

    @property
    def host(self) -> str:
        """The address without path and query."""
        return f"{self._parts.scheme}://{self._parts.netloc}"

    @property
    def shown(self) -> str:
        """The address without its query, for messages."""
        return without_secrets(urllib.parse.urlunsplit(self._parts._replace(query="")))

    def path(self, parameters: Mapping[str, str] | None = None) -> str:
        """Return the path with the query of the address and further parameters."""
        query = "&".join(filter(None, [self._parts.query, urllib.parse.urlencode(parameters or {})]))
        path = self._parts.path or "/"
        return f"{path}?{query}" if query else path


class HttpSession:
    """Send requests to one address; for one thread."""

    def __init__(self, requests: HttpRequests, sleep: Callable[[float], object] = time.sleep) -> None:
        """Describe the session; the first request connects."""
        self._requests = requests
        self._client = HttpClient(
            HttpSettings(
                (requests.host,),
                connect_timeout=requests.connect_timeout,
                socket_timeout=requests.timeout,
                reconnect_pauses=(),
            )
        )
        self._sleep = sleep

    def send(
        self,
        body: bytes | None = None,
        parameters: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> HttpAnswer:
        """Return the answer to a request, the last one if it was repeated.

        Raises:
            ConnectionError: The server does not answer, also after all retries.
        """
        requests, pauses = self._requests, self._requests.retries.pauses()
        while True:
            pause = next(pauses, None)
            try:
                sent = {**requests.headers, **(headers or {})}
                answer = self._client.request(requests.method, requests.path(parameters), body, sent)
                if answer.status not in requests.retried or pause is None:
                    return answer
            except ConnectionError:
                if pause is None:
                    raise
            COUNTED.get()(RETRIES, 1)
            self._sleep(pause)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()
