"""What a flood of requests to its endpoint costs a job: micro-batches and memory of the driver, without it and with.

    python bench/endpoint_load.py [--rounds 3] [--seconds 30] [--rate 2000] [--interval 500]

A keyed count on local[1] gets so many records per second, a micro-batch per interval (ms). Rounds without and with the
flood take turns: 200 clients, 160 of which send random requests (of schemathesis, one in five with a wrong token), 20
one byte per second, and 20 a body of a GiB. They are processes of their own under `nice -n 19`: on two cores they would
take the job's processors otherwise, and what is asked for is what answering costs, not what asking does.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.connectors.sink import DiscardSink
from scurry.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from scurry.datastream.connectors import DataGeneratorSource
from scurry.datastream.state import ValueStateDescriptor
from scurry.rest.client import RemoteProcess
from scurry.rest.registry import find_job

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.rest.flood import Flood, random_requests  # noqa: E402

KEYS, WARM_UP_SECONDS = 1_000, 20.0


class Count(KeyedProcessFunction):
    """Counts per key."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Iterator[int]:
        self.count.update((self.count.value() or 0) + 1)
        yield self.count.value()


def started(rate: float, interval: int) -> Any:
    """The job, which runs."""
    settings = {
        "execution.checkpointing.dir": tempfile.mkdtemp(),
        "execution.checkpointing.interval": f"{interval} ms",
        "scurry.progress": "off",
        "scurry.rest": "on",
        "spark.master": "local[1]",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    env.set_parallelism(1)
    source = DataGeneratorSource(lambda i: i % KEYS, None, rate, Types.LONG())
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    numbers.key_by(lambda n: n, key_type=Types.LONG()).process(Count(), Types.LONG())._sink(DiscardSink(), "drop")
    return env.execute_async("endpoint load")


def batches(client: Any, seconds: float) -> list[float]:
    """The durations in ms of the micro-batches that begin within the time to come, without waiting for the next."""
    begun = time.time() * 1000
    time.sleep(seconds)
    known = client.checkpoints()
    assert known[0].trigger_timestamp_ms < begun, "only the latest are kept: take a shorter time or a longer interval"
    return [each.duration_ms for each in known if each.trigger_timestamp_ms > begun]


def resident() -> dict[str, float]:
    """The memory of the driver in MB: this process and the JVM that it has started."""
    children = [pid for task in Path("/proc/self/task").glob("*/children") for pid in task.read_text().split()]
    java = [pid for pid in children if Path(f"/proc/{pid}/comm").read_text() == "java\n"]
    page_mb = os.sysconf("SC_PAGE_SIZE") / 2**20
    found = {"Python": ["self"], "JVM": java}
    return {
        name: sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids) * page_mb
        for name, pids in found.items()
    }


def p95(durations: list[float]) -> float:
    return statistics.quantiles(durations, n=20)[-1]


def of_batches(durations: list[float]) -> str:
    return f"{len(durations)} batches of {statistics.median(durations):.0f} ms (p95 {p95(durations):.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rate", type=float, default=2000)
    parser.add_argument("--interval", type=int, default=500)
    args = parser.parse_args()
    client = started(args.rate, args.interval)
    time.sleep(WARM_UP_SECONDS)
    job_id = str(client.get_job_id())
    endpoint: RemoteProcess = find_job(job_id).process
    requests = random_requests(endpoint, job_id)
    without: list[float] = []
    loaded: list[float] = []
    answers: Counter[int] = Counter()
    memory = resident()
    for _ in range(args.rounds):  # in turns, as machines have moods
        calm = batches(client, args.seconds)
        with Flood(endpoint, requests) as flood:
            flooded = batches(client, args.seconds)
        print(f"{time.strftime('%X')} {of_batches(calm)} without, {of_batches(flooded)} with", flush=True)
        without, loaded, answers = without + calm, loaded + flooded, answers + flood.answers
    after = resident()
    client.cancel().result()
    print(f"all: {of_batches(without)} without, {of_batches(loaded)} with")
    ratios = statistics.median(loaded) / statistics.median(without), p95(loaded) / p95(without)
    print(f"with / without: median {ratios[0]:.2f}, p95 {ratios[1]:.2f}")
    per_second = {status: round(count / args.rounds / args.seconds, 1) for status, count in sorted(answers.items())}
    print(f"answers per second: {sum(per_second.values()):.0f} {per_second}")
    print("driver: " + ", ".join(f"{name} {memory[name]:.0f} MB before, {after[name]:.0f} after" for name in memory))


if __name__ == "__main__":
    main()
