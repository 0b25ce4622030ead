"""Catching up after downtime: a job stops, its producer goes on, and the next start works off what has waited.

    scurry run --runner local --parallelism 1 catching_up.py DIRECTORY

reads `DIRECTORY/visits` (a name for each visit), and writes `DIRECTORY/counts`. It reads at most 1,200 bytes at once,
300 visits, so that memory suffices however long it was down. The lag after each micro-batch is printed; the rate, on
standard error.

Prints:

    before: ['ann 1', 'bob 1']
    down: 1000 visits wait
    lag after each micro-batch: [700, 400, 100, 0]
    after: 1002 counts, nothing twice: True
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from live_files import add, environment, lines, records_read, until, write, written

from scurry.common import Types
from scurry.common.job_client import JobClient
from scurry.datastream import KeyedProcessFunction
from scurry.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, user: str, ctx) -> Iterator[str]:
        self.count.update((self.count.value() or 0) + 1)
        yield f"{user} {self.count.value()}"


def start(directory: Path) -> JobClient:
    env = environment(directory, **{"scurry.batch.max-bytes": "1200 b"})
    counts = lines(env, directory / "visits").key_by(lambda user: user).process(Count(), Types.STRING()).uid("count")
    write(counts, directory / "counts")
    return env.execute_async("catching up")


def lags(job: JobClient, waiting: int) -> list[int]:
    """Return how many records waited after each micro-batch."""
    found = []
    for checkpoint in job.checkpoints():
        waiting -= checkpoint.records
        if checkpoint.records:
            found.append(waiting)
    return found


def show(directory: Path) -> None:
    add(directory / "visits", "ann", "bob")
    job = start(directory)
    until(lambda: records_read(job) == 2)
    print("before:", written(directory / "counts"))
    job.cancel().result()

    for _ in range(10):
        add(directory / "visits", *["ann", "bob"] * 50)
    print("down: 1000 visits wait")
    begun = time.monotonic()
    job = start(directory)
    until(lambda: records_read(job) == 1000)
    print(f"{1000 / (time.monotonic() - begun):,.0f} visits/s, start included", file=sys.stderr)
    print("lag after each micro-batch:", lags(job, 1000))
    job.cancel().result()
    counts = written(directory / "counts")
    expected = sorted(f"{user} {number}" for user in ("ann", "bob") for number in range(1, 502))
    print(f"after: {len(counts)} counts, nothing twice:", counts == expected)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        start(Path(sys.argv[1])).get_job_execution_result().result()
    else:
        with tempfile.TemporaryDirectory() as name:
            show(Path(name))
