"""A server of OpenAI's protocol on loopback, which fails, delays and refuses as it is told."""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Behaviour:
    """What the server does.

    Attributes:
        seed: Of the random choices.
        failing: The share of requests that are answered with an error of 500.
        limiting: The share that are refused because there are too many, with `retry-after-ms`.
        dropping: The share whose connection is closed without an answer.
        delay: The most seconds that an answer takes.
        is_delay_fixed: Whether each takes so long.
        together: How many requests are there before any is answered, as long as fewer have been answered.
        answers: Answers for texts: status and body.
    """

    seed: int = 0
    failing: float = 0.0
    limiting: float = 0.0
    dropping: float = 0.0
    delay: float = 0.0
    is_delay_fixed: bool = False
    together: int = 0
    answers: dict[str, tuple[int, Any]] = field(default_factory=dict)


class ModelServer:
    """Answers chat completions with the text in brackets, and embeddings with its length.

    Attributes:
        requests: The bodies of all requests.
        keys: The values of `Authorization`.
        answered: How often each text was answered.
        most: The most requests that were there at a time.
    """

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        self._random = random.Random(behaviour.seed)
        self.requests: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.answered: Counter[str] = Counter()
        self.connections = 0
        self.most = 0
        self._now = 0
        self._all_there = asyncio.Event()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while (head := await reader.readuntil(b"\r\n\r\n")) is not None:
                lines = head.decode().split("\r\n")
                headers = {key.lower(): value for key, _, value in (line.partition(": ") for line in lines[1:])}
                body = json.loads(await reader.readexactly(int(headers["content-length"])))
                self.keys.add(headers["authorization"])
                answer = await self._answer(lines[0].split()[1], body)
                if answer is None:
                    break
                status, more, found = answer
                data = json.dumps(found).encode()
                writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(data)}\r\n{more}\r\n".encode() + data)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, path: str, body: dict[str, Any]) -> tuple[int, str, Any] | None:
        self.requests.append(body)
        self._now += 1
        self.most = max(self.most, self._now)
        try:
            if self.most >= self._behaviour.together:
                self._all_there.set()
            # a minute, so that a test fails and does not hang
            with suppress(TimeoutError):
                await asyncio.wait_for(self._all_there.wait(), 60)
            return await self._chosen(path, body)
        finally:
            self._now -= 1

    async def _chosen(self, path: str, body: dict[str, Any]) -> tuple[int, str, Any] | None:
        behaviour, choice = self._behaviour, self._random.random()
        if behaviour.delay:
            share = 1.0 if behaviour.is_delay_fixed else self._random.random()
            await asyncio.sleep(share * behaviour.delay)
        for share, answer in (
            (behaviour.failing, (500, "", {"error": {"message": "overloaded"}})),
            (behaviour.limiting, (429, "Retry-After-Ms: 1\r\n", {"error": {"message": "too many"}})),
            (behaviour.dropping, None),
        ):
            if choice < share:
                return answer
            choice -= share
        if path.endswith("/embeddings"):
            return 200, "", self._vectors(body)
        text = body["messages"][-1]["content"]
        if text in behaviour.answers:
            status, found = behaviour.answers[text]
            return status, "", found
        self.answered[text] += 1
        choices = [{"index": each, "message": {"content": f"<{text}>"}} for each in range(body.get("n", 1))]
        return 200, "", {"choices": choices}

    def _vectors(self, body: dict[str, Any]) -> Any:
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        self.answered.update(texts)
        found = [{"index": place, "embedding": [len(text), 0.5]} for place, text in enumerate(texts)]
        return {"data": found[::-1]}


@contextmanager
def serving(behaviour: Behaviour | None = None) -> Iterator[ModelServer]:
    """Serve in a thread."""
    loop, ready = asyncio.new_event_loop(), threading.Event()
    server = ModelServer(behaviour or Behaviour())

    async def run() -> None:
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=1024)
        server.port = listening.sockets[0].getsockname()[1]
        ready.set()

    def forever() -> None:
        asyncio.set_event_loop(loop)
        begun = loop.create_task(run())  # not before `run_forever`: a stop in between would be lost
        loop.run_forever()
        assert begun.done()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

    thread = threading.Thread(target=forever, daemon=True)
    thread.start()
    ready.wait()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
