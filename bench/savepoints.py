"""What savepoints cost: the batches of a job while one is taken, and large state saved and restored.

python bench/savepoints.py delay --state-mb 50
python bench/savepoints.py move --state-mb 1000
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.common.job_client import JobClient
from scurry.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from scurry.datastream.connectors import DataGeneratorSource
from scurry.datastream.state import ValueStateDescriptor

VALUE_BYTES = 2000


class Keep(KeyedProcessFunction):
    """Keeps a value that does not compress, as the state of its key, and how often the key came."""

    def open(self, runtime_context: Any) -> None:
        self.value = runtime_context.get_state(ValueStateDescriptor("value", Types.PICKLED_BYTE_ARRAY()))
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Any:
        if self.value.value() is None:
            self.value.update(os.urandom(VALUE_BYTES))
        self.count.update((self.count.value() or 0) + 1)
        yield value


def start(keys: int, after: float, parallelism: int, savepoint: str | None = None, **settings: str) -> JobClient:
    """A job that fills its state as quickly as it can, then gets `after` records per second."""
    configuration = {"execution.checkpointing.dir": tempfile.mkdtemp(), "scurry.progress": "off", **settings}
    if savepoint is not None:
        configuration["execution.state-recovery.path"] = savepoint
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(configuration))
    env.set_parallelism(parallelism)
    fill = DataGeneratorSource(lambda i: i, keys, None, Types.LONG())
    live = DataGeneratorSource(lambda i: i * 7919 % keys, None, after, Types.LONG())
    filled = env.from_source(fill, WatermarkStrategy.no_watermarks(), "fill").uid("fill")
    lived = env.from_source(live, WatermarkStrategy.no_watermarks(), "live").uid("live")
    records = filled.union(lived)
    records.key_by(lambda v: v, key_type=Types.LONG()).process(Keep(), Types.LONG()).uid("keep")
    return env.execute_async("savepoints")


def wait_until_filled(client: Any, keys: int) -> None:
    while client.query_state("keep", "count", keys - 1).result() is None:
        time.sleep(1)


def delay(args: argparse.Namespace) -> None:
    keys = args.state_mb * 1_000_000 // VALUE_BYTES
    settings = {"execution.checkpointing.interval": f"{args.interval} ms"}
    client: Any = start(keys, args.rate, 2, **settings)
    wait_until_filled(client, keys)
    time.sleep(args.seconds)  # the JVM warms up
    spans = []
    for _ in range(args.times):
        time.sleep(args.seconds)
        begun = time.time()
        path = client.trigger_savepoint(tempfile.mkdtemp()).result()
        spans.append((begun, time.time()))
        size = sum(file.stat().st_size for file in Path(path).rglob("*.parquet"))
        print(f"savepoint of {size / 1e6:.0f} MB in {spans[-1][1] - begun:.1f} s", flush=True)
    time.sleep(args.seconds)
    batches = [(each.trigger_timestamp_ms / 1000, each.duration_ms / 1000) for each in client.checkpoints()]
    client.cancel().result()
    first = spans[0][0] - args.seconds
    near = [(begun, took, any(a < begun + took and begun < b for a, b in spans)) for begun, took in batches]
    during = [took for _, took, meanwhile in near if meanwhile]
    usual = [took for begun, took, meanwhile in near if begun > first and not meanwhile]
    for name, some in (("usual", usual), ("during a savepoint", during)):
        print(f"{name}: {len(some)} batches, median {statistics.median(some) * 1000:.0f} ms, "
              f"p90 {sorted(some)[len(some) * 9 // 10] * 1000:.0f} ms, longest {max(some) * 1000:.0f} ms")  # fmt: skip
    ratio = statistics.median(during) / statistics.median(usual)
    print(f"during / usual: median {ratio:.2f}, longest {max(during) / max(usual):.2f}")


def move(args: argparse.Namespace) -> None:
    keys = args.state_mb * 1_000_000 // VALUE_BYTES
    client: Any = start(keys, 100, 2, **{"scurry.batch.max-records": "50000"})
    begun = time.time()
    wait_until_filled(client, keys)
    print(f"filled in {time.time() - begun:.1f} s", flush=True)
    for parallelism in (4, 1):
        begun = time.time()
        path = client.stop_with_savepoint(False, tempfile.mkdtemp()).result()
        size = sum(file.stat().st_size for file in Path(path).rglob("*.parquet"))
        print(f"saved {size / 1e6:.0f} MB in {time.time() - begun:.1f} s", flush=True)
        begun = time.time()
        client = start(keys, 100, parallelism, path)
        count = client.query_state("keep", "count", keys - 1).result()
        print(f"restored at parallelism {parallelism} in {time.time() - begun:.1f} s, count {count}", flush=True)
    client.cancel().result()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("delay")
    one.add_argument("--state-mb", type=int, default=50)
    one.add_argument("--rate", type=float, default=2000)
    one.add_argument("--interval", type=int, default=1000, help="checkpoint interval in ms")
    one.add_argument("--seconds", type=float, default=20)
    one.add_argument("--times", type=int, default=3)
    one.set_defaults(run=delay)
    two = commands.add_parser("move")
    two.add_argument("--state-mb", type=int, default=1000)
    two.set_defaults(run=move)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
