"""Calls of a model that overlap against calls one by one, and a server that fails at random.

PYTHONPATH=src:tests python bench/models.py [ROWS] [CAPACITY] [RUNNER] [MODE]

The server answers in a process of its own. First it takes 100 ms for each answer; then it fails, refuses, drops
connections and delays at random, and each row has to come once, in order where that is asked for.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scurry.table import EnvironmentSettings, TableEnvironment
from support.models.server import Behaviour, serving


def _serve(behaviour: Behaviour, connection: Any) -> None:
    with serving(behaviour) as server:
        connection.send(server.url)
        connection.recv()
        connection.send(len(server.requests))


@contextmanager
def server(behaviour: Behaviour, requests: list[int] | None = None) -> Iterator[str]:
    here, there = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(behaviour, there))
    process.start()
    yield here.recv()
    here.send(None)
    found = here.recv()
    if requests is not None:
        requests.append(found)
    process.join()


def predicted(url: str, rows: int, capacity: int, runner: str, mode: str, output: str) -> tuple[list[Any], float]:
    settings = EnvironmentSettings.in_batch_mode() if mode == "batch" else EnvironmentSettings.in_streaming_mode()
    settings.get_configuration().set_string("scurry.runner", runner).set_string("scurry.progress", "off")
    settings.get_configuration().set_string("parallelism.default", "1")
    env = TableEnvironment.create(settings)
    env.execute_sql(
        f"CREATE MODEL m INPUT (a STRING) OUTPUT (b STRING) WITH ('provider' = 'openai', 'model' = 'm', "
        f"'endpoint' = '{url}/chat/completions', 'api-key' = 'k')"
    )
    env.execute_sql(
        "CREATE TABLE numbers (id BIGINT) WITH ('connector' = 'datagen', 'fields.id.kind' = 'sequence', "
        f"'fields.id.start' = '1', 'fields.id.end' = '{rows}', 'number-of-rows' = '{rows}', "
        "'rows-per-second' = '10000000')"
    )
    query = (
        "SELECT id, b FROM ML_PREDICT((SELECT id, CAST(id AS STRING) AS s FROM numbers), MODEL m, DESCRIPTOR(s), "
        f"MAP['max-concurrent-operations', '{capacity}', 'output-mode', '{output}'])"
    )
    start = time.monotonic()
    found = [tuple(row) for row in env.execute_sql(query).collect()]
    return found, time.monotonic() - start


def main(rows: int = 10_000, capacity: int = 100, runner: str = "local", mode: str = "streaming") -> None:
    with server(Behaviour(delay=0.1, is_delay_fixed=True)) as url:
        few = max(rows // capacity, 50)
        predicted(url, 1, 1, runner, mode, "ORDERED")  # Spark starts
        _, first = predicted(url, 1, 1, runner, mode, "ORDERED")
        _, seconds = predicted(url, few, 1, runner, mode, "ORDERED")
        one_by_one = (few - 1) / (seconds - first)
        print(f"one by one      {one_by_one:8,.1f} rows/s")
        for output in ("ORDERED", "ALLOW_UNORDERED"):
            _, seconds = predicted(url, rows, capacity, runner, mode, output)
            rate = rows / (seconds - first)
            print(f"{output:15} {rate:8,.1f} rows/s, {rate / one_by_one:.0f} times as many")
    expected = [(number, f"<{number}>") for number in range(1, rows + 1)]
    for output in ("ORDERED", "ALLOW_UNORDERED"):
        requests: list[int] = []
        with server(Behaviour(seed=3, failing=0.05, limiting=0.05, dropping=0.02, delay=0.05), requests) as url:
            found, seconds = predicted(url, rows, capacity, runner, mode, output)
        is_right = (found if output == "ORDERED" else sorted(found)) == expected
        shown = f"{requests[0] - rows} failed calls, {seconds:.0f} s, in order: {found == expected}"
        print(f"{output:15} each row once: {is_right}; {shown}")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(*map(int, arguments[:2]), *arguments[2:])
