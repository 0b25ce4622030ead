"""Clients of an endpoint, a program of its own: `python -m support.rest.flood_clients`, at the lowest priority.

It reads a line of JSON (`url`, `token`, `requests`, and the numbers of its `clients`) and goes on until its input ends.
Then it prints how many answers of each status there were.
"""

from __future__ import annotations

import http.client
import json
import random
import socket
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit


@dataclass
class Clients:
    """Clients in threads: each goes on as the answers come.

    Attributes:
        url: The endpoint.
        token: Its token.
        requests: The requests to choose from: method, path and body.
        over: Set when they are to end.
        answers: Status -> number of answers.
    """

    url: str
    token: str
    requests: list[tuple[str, str, str | None]]
    over: threading.Event = field(default_factory=threading.Event)
    answers: Counter[int] = field(default_factory=Counter)

    def run(self, number: int) -> None:
        """Be one client: of ten, eight ask, one dawdles and one sends too much."""
        kinds: Sequence[Callable[[random.Random], None]] = [self._ask] * 8 + [self._dawdle, self._send_much]
        once, numbers = kinds[number % len(kinds)], random.Random(number)
        while not self.over.is_set():
            try:
                once(numbers)
            except (OSError, http.client.HTTPException):
                self.over.wait(0.1)  # refused, as dawdlers are

    def _ask(self, numbers: random.Random) -> None:
        """Send a random request, with the token or without."""
        method, path, body = numbers.choice(self.requests)
        token = self.token if numbers.random() < 0.8 else "wrong"
        with closing(http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=60)) as connection:
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            answer.read()
            self.answers[answer.status] += 1

    def _dawdle(self, numbers: random.Random) -> None:
        """Send the head of a request byte by byte, one per second."""
        with self._connected() as opened:
            for byte in f"GET /{'a' * numbers.randrange(1, 1000)}".encode():
                opened.sendall(bytes([byte]))
                if self.over.wait(1):
                    return

    def _send_much(self, numbers: random.Random) -> None:
        """Send a body of a GiB, as much of it as is taken."""
        with self._connected() as opened:
            head = f"POST /jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.token}\r\n"
            opened.sendall(f"{head}Content-Length: {1 << 30}\r\n\r\n".encode())
            while not self.over.is_set():
                opened.sendall(b"x" * 65536)

    def _connected(self) -> socket.socket:
        address = urlsplit(self.url)
        return socket.create_connection((address.hostname or "", address.port or 0), timeout=60)


def main() -> None:
    """Run the clients until the input ends."""
    given: dict[str, Any] = json.loads(sys.stdin.readline())
    clients = Clients(given["url"], given["token"], given["requests"])
    # Daemons: nobody waits for a client whose answer is still to come.
    for number in given["clients"]:
        threading.Thread(target=clients.run, args=(number,), daemon=True).start()
    print("started", flush=True)
    sys.stdin.read()
    clients.over.set()
    print(json.dumps(dict(clients.answers)), flush=True)


if __name__ == "__main__":
    main()
