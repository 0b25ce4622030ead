"""Google's emulator of Pub/Sub."""

from __future__ import annotations

import base64
import json
import os
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from support.servers.debian import Unavailable, program
from support.servers.process import ServerProcess

#: Where Google's package of Debian puts the jar.
_PLACES = (
    Path("/usr/lib/google-cloud-sdk/platform/pubsub-emulator/lib"),
    Path("/usr/share/google-cloud-sdk/platform/pubsub-emulator/lib"),
)
_QUIET = "handlers = java.util.logging.ConsoleHandler\n.level = WARNING\n"
PROJECT = "numbers"


class PubSubServer(ServerProcess):
    """The emulator, which keeps nothing when it ends."""

    def prepare(self) -> None:
        self._java = program("java", "default-jre-headless")
        jar = next((jar for place in _PLACES for jar in place.glob("cloud-pubsub-emulator-*-all.jar")), None)
        if jar is None:
            raise Unavailable(
                "the emulator of Pub/Sub is not installed: apt-get install google-cloud-cli-pubsub-emulator, from "
                "https://packages.cloud.google.com/apt"
            )
        self._jar = jar
        (self.directory / "logging.properties").write_text(_QUIET)

    def command(self) -> Sequence[str | Path]:
        logging = f"-Djava.util.logging.config.file={self.directory}/logging.properties"
        memory = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
        return [self._java, *memory, logging, "-jar", self._jar, "--host=127.0.0.1", f"--port={self.port}"]

    def environment(self) -> dict[str, str]:
        return {name: value for name, value in os.environ.items() if name != "PUBSUB_EMULATOR_HOST"}

    def is_ready(self) -> bool:
        try:
            asked(self.port, "GET", "topics")
        except OSError:
            return False
        return True


def asked(port: int, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the emulator's answer to a request."""
    url = f"http://127.0.0.1:{port}/v1/projects/{PROJECT}/{path}"
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, content, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


def make(port: int, name: str, **subscription: Any) -> None:
    """Make a topic, and a subscription of the same name."""
    asked(port, "PUT", f"topics/{name}", {})
    settings = {"topic": f"projects/{PROJECT}/topics/{name}", "ackDeadlineSeconds": 10} | subscription
    asked(port, "PUT", f"subscriptions/{name}", settings)


def publish(port: int, name: str, texts: Sequence[str]) -> None:
    """Publish texts to a topic."""
    for begin in range(0, len(texts), 1000):
        some = [{"data": base64.b64encode(text.encode()).decode()} for text in texts[begin : begin + 1000]]
        asked(port, "POST", f"topics/{name}:publish", {"messages": some})


def taken(port: int, name: str) -> list[str]:
    """Take all messages of a subscription."""
    found: list[str] = []
    while True:
        body = {"maxMessages": 1000, "returnImmediately": True}
        answer = asked(port, "POST", f"subscriptions/{name}:pull", body).get("receivedMessages", [])
        if not answer:
            return found
        ids = [each["ackId"] for each in answer]
        asked(port, "POST", f"subscriptions/{name}:acknowledge", {"ackIds": ids})
        found += [base64.b64decode(each["message"]["data"]).decode() for each in answer]
