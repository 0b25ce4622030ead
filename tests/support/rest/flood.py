"""A flood of requests to the endpoint of a job."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.core.result import Ok

from scurry.rest.client import RemoteProcess
from support import TESTS

CLIENTS, PROCESSES = 200, 4
#: Random requests per path and mode, to choose from.
CASES = 10

#: Method, path and body of a request.
Request = tuple[str, str, str | None]


class Flood:
    """200 clients that send random, slow and huge requests until the end of a `with` block.

    They have processes of their own and the lowest priority (`nice -n 19`): on other machines they would not take the
    job's processors either.

    Args:
        endpoint: The endpoint.
        requests: The requests to choose from.

    Attributes:
        answers: Status -> number of answers, after the end.
    """

    def __init__(self, endpoint: RemoteProcess, requests: list[Request]) -> None:
        self._given: dict[str, Any] = {"url": endpoint.url, "token": endpoint.token, "requests": requests}
        self._processes: list[subprocess.Popen[str]] = []
        self.answers: Counter[int] = Counter()

    def __enter__(self) -> Flood:
        command = ["nice", "-n", "19", sys.executable, "-m", "support.rest.flood_clients"]
        for number in range(PROCESSES):
            process = subprocess.Popen(command, cwd=TESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self._processes.append(process)
            assert process.stdin is not None
            clients = list(range(number, CLIENTS, PROCESSES))
            process.stdin.write(json.dumps(self._given | {"clients": clients}) + "\n")
            process.stdin.flush()
        for process in self._processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
        return self

    def __exit__(self, *failure: object) -> None:
        with ExitStack() as ended:
            for process in self._processes:
                ended.enter_context(process)
                ended.callback(process.kill)
            for process in self._processes:
                text, _ = process.communicate(timeout=60)
                self.answers.update({int(status): count for status, count in json.loads(text).items()})


def random_requests(endpoint: RemoteProcess, job_id: str) -> list[Request]:
    """Return random requests after an endpoint's own description, sensible or not, and some of nonsense.

    Those that read are about the job; those that would change it are about one that is not there.
    """
    raw = endpoint.request("GET", "/openapi.json")
    vertex = endpoint.request("GET", f"/jobs/{job_id}")["vertices"][0]["id"]
    names = {"jobid": [job_id], "vertexid": [vertex]}
    for path, methods in raw["paths"].items():
        if path.endswith("/yarn-cancel"):  # changes the job with GET
            continue
        # none of the others can change the job; random paths are those of no savepoint
        assert "get" in methods or "{jobid}" in path or path == "/savepoint-disposal"
        for parameter in methods.get("get", {}).get("parameters", ()):
            if parameter["name"] in names:
                parameter["schema"] = {"type": "string", "enum": names[parameter["name"]]}
    description = schemathesis.openapi.from_dict(raw)
    description.config.update(base_url=endpoint.url)
    found: list[Request] = []
    for operation in description.get_all_operations():
        assert isinstance(operation, Ok)
        for mode in GenerationMode:
            found += _cases_of(operation.ok(), mode, endpoint.url)
    numbers = random.Random(1)
    nonsense = ["".join(chr(numbers.randrange(33, 127)) for _ in range(numbers.randrange(200))) for _ in range(200)]
    return found + [("GET", f"/{path}", None) for path in nonsense]


def _cases_of(operation: Any, mode: GenerationMode, url: str) -> list[Request]:
    found: list[Request] = []

    @settings(
        max_examples=CASES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode))
    def keep(case: schemathesis.Case[Any]) -> None:
        request = requests.Request(**case.as_transport_kwargs(base_url=url)).prepare()
        body: Any = request.body
        body = body.encode() if isinstance(body, str) else body
        # A character for each byte, as the clients send it.
        found.append((request.method or "", request.path_url, None if body is None else body.decode("latin-1")))

    try:
        keep()
    except Unsatisfiable:
        pass  # there is nothing in it to break
    return found
