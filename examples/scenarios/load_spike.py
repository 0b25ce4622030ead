"""A load spike and how it is worked off: each micro-batch reads a bounded part of what waits, so that memory suffices.

    scurry run --runner local --parallelism 1 load_spike.py DIRECTORY

reads `DIRECTORY/payments` (a number for each payment), adds them up, and writes those that are counted to
`DIRECTORY/counted`. The total can be asked from outside: `GET /jobs/{jobid}/state/total/total?key=0`. `scurry run`
shows the backlog and when it will have gone.

Prints:

    a quiet minute: 10 payments, 55 in all
    a spike of 1000 payments, and a stop in its midst
    micro-batches of the spike are bounded: True
    510555 in all, each payment once: True
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from live_files import add, environment, lines, records_read, until, write, written

from scurry.common import Types
from scurry.common.job_client import JobClient
from scurry.datastream import KeyedProcessFunction
from scurry.datastream.state import ValueStateDescriptor

LIMIT = 300  # bytes: 60 payments of four digits


class Total(KeyedProcessFunction):
    def open(self, runtime_context):
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))

    def process_element(self, payment: int, ctx) -> Iterator[str]:
        self.total.update((self.total.value() or 0) + payment)
        yield str(payment)


def start(directory: Path) -> JobClient:
    env = environment(directory, **{"scurry.batch.max-bytes": f"{LIMIT} b"})
    payments = lines(env, directory / "payments").map(int, Types.LONG())
    write(payments.key_by(lambda _: 0).process(Total(), Types.STRING()).uid("total"), directory / "counted")
    return env.execute_async("load spike")


def show(directory: Path) -> None:
    add(directory / "payments", *map(str, range(1, 11)))
    job = start(directory)
    until(lambda: records_read(job) == 10)
    print("a quiet minute: 10 payments,", job.query_state("total", "total", 0).result(), "in all")

    print("a spike of 1000 payments, and a stop in its midst")
    for first in range(11, 1011, 100):
        add(directory / "payments", *map(str, range(first, first + 100)))
    until(lambda: records_read(job) > 10)
    job.cancel().result()
    batches = [checkpoint.records for checkpoint in job.checkpoints()]
    job = start(directory)
    until(lambda: sum(batches) + records_read(job) == 1010)
    batches += [checkpoint.records for checkpoint in job.checkpoints()]
    print("micro-batches of the spike are bounded:", max(batches) <= LIMIT // len("11\n"))
    once = written(directory / "counted") == sorted(map(str, range(1, 1011)))
    print(job.query_state("total", "total", 0).result(), "in all, each payment once:", once)
    job.cancel().result()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        start(Path(sys.argv[1])).get_job_execution_result().result()
    else:
        with tempfile.TemporaryDirectory() as name:
            show(Path(name))
