"""Processor time of BATCH next to STREAMING, for the same jobs over the same files.

    python bench/batch_cost.py [--records 3000000 ...] [--keys 1000 ...] [--only REGEX] [--runs 1] [--on-spark]

Each number of records is run with each number of keys; `--keys half` is half as many as records, so that a key has two.

A job reads lines, parses them and writes lines. Its processor seconds are those of all its processes; those of the job
over 1,000 records are subtracted, so that no start is counted. The results of both modes must be equal: all of them
for windows, timers and joins, and the last of each key for a rolling reduce, which emits each value in STREAMING.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from results import Fingerprint, fingerprint, lines_of

FILES = 4
BASE = 1_600_000_000_000


def job(name: str, mode: str, source: str, target: str) -> None:
    """Run a job; print its processor seconds."""
    from scurry.common import Configuration, Duration, Encoder, Time, Types, WatermarkStrategy
    from scurry.common.watermark_strategy import TimestampAssigner
    from scurry.datastream import KeyedProcessFunction, RuntimeExecutionMode, StreamExecutionEnvironment
    from scurry.datastream.connectors.file_system import FileSink, FileSource, StreamFormat
    from scurry.datastream.functions import ProcessJoinFunction
    from scurry.datastream.state import ValueStateDescriptor
    from scurry.datastream.window import SlidingEventTimeWindows, TumblingEventTimeWindows

    class Second(TimestampAssigner):
        def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
            return int(value[1])

    class Timed(KeyedProcessFunction):
        def open(self, runtime_context: Any) -> None:
            self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

        def process_element(self, value: Any, ctx: Any) -> None:
            self.sum.update((self.sum.value() or 0) + value[2])
            ctx.timer_service().register_event_time_timer((value[1] // 60_000 + 1) * 60_000)

        def on_timer(self, timestamp: int, ctx: Any) -> Iterator[str]:
            yield f"{ctx.get_current_key()},{timestamp},{self.sum.value() % 1}"

    class Pairs(ProcessJoinFunction):
        def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[str]:
            yield f"{left[0]},{left[2] + right[2]}"

    def parsed(line: str) -> tuple[str, int, int]:
        key, at, amount = line.split(",")
        return key, int(at), int(amount)

    def added(one: Any, other: Any) -> tuple[str, int, int]:
        return one[0], other[1], one[2] + other[2]

    record = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])
    ordered = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5)).with_timestamp_assigner(Second())
    settings = Configuration().set_string("scurry.runner", os.environ["BATCH_COST_RUNNER"])
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_runtime_mode(RuntimeExecutionMode[mode])
    env.set_parallelism(2)

    def keyed(path: str) -> Any:
        files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), path).build()
        lines = env.from_source(files, WatermarkStrategy.no_watermarks(), "files")
        records = lines.map(parsed, record).assign_timestamps_and_watermarks(ordered)
        return records.key_by(lambda each: each[0], Types.STRING())

    stream, text = keyed(source), Types.STRING()
    if name == "windows":
        sums = stream.window(TumblingEventTimeWindows.of(Time.seconds(10))).reduce(added)
        results = sums.map(lambda each: f"{each[0]},{each[2]}", text)
    elif name == "sliding":
        sums = stream.window(SlidingEventTimeWindows.of(Time.seconds(60), Time.seconds(10))).reduce(added)
        results = sums.map(lambda each: f"{each[0]},{each[2]}", text)
    elif name == "reduce":
        results = stream.reduce(added).map(lambda each: f"{each[0]},{each[2]}", text)
    elif name == "timers":
        results = stream.process(Timed(), text)
    else:
        other = keyed(source + "-other")
        results = stream.interval_join(other).between(Time.seconds(-2), Time.seconds(2)).process(Pairs(), text)
    results.sink_to(FileSink.for_row_format(target, Encoder.simple_string_encoder()).build())
    begun = time.time()
    env.execute(name)
    print("RESULT", processor_seconds(), time.time() - begun)


def processor_seconds() -> float:
    """Return the processor seconds of this process, of those that it started, and of those that these did."""
    ticks, parents = {}, {}
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                fields = (each / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(each.name)] = int(fields[1])
            ticks[int(each.name)] = sum(map(int, fields[11:15]))  # its own and those of children that have ended
    own = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in own} - own:
        own |= more
    return sum(ticks[pid] for pid in own) / os.sysconf("SC_CLK_TCK")


def generate(path: Path, records: int, keys: int, seed: int) -> None:
    """Write lines `key,time,amount`: 1,000 records per second of event time, out of order by up to 5 s."""
    if path.exists():
        return
    random.seed(seed)
    path.mkdir(parents=True)
    for part in range(FILES):
        with open(path / f"{part}.csv", "w", encoding="utf-8") as out:
            for number in range(records * part // FILES, records * (part + 1) // FILES):
                at = BASE + number - random.randrange(5000)
                out.write(f"k{random.randrange(keys)},{at},{random.randrange(1000)}\n")


def run(name: str, mode: str, source: Path, on_spark: bool) -> tuple[float, float, Fingerprint]:
    """Return the processor seconds, the seconds and the results of a job."""
    target = tempfile.mkdtemp(prefix="batch-cost-")
    environment = {**os.environ, "BATCH_COST_RUNNER": "spark" if on_spark else "local"}
    command = [sys.executable, __file__, "--job", name, mode, str(source), target]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    line = next((line for line in done.stdout.splitlines() if line.startswith("RESULT ")), None)
    if line is None:
        sys.exit(done.stdout[-3000:])
    results = fingerprint(final(name, lines_of(Path(target))))
    shutil.rmtree(target)
    used, seconds = map(float, line.split()[1:])
    return used, seconds, results


def final(name: str, lines: Iterable[str]) -> Iterable[str]:
    """Return the results that both modes have in common."""
    if name != "reduce":
        return lines
    greatest: dict[str, int] = {}
    for line in lines:  # amounts are not negative
        key, amount = line.split(",")
        greatest[key] = max(greatest.get(key, 0), int(amount))
    return [f"{key},{amount}" for key, amount in greatest.items()]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[3_000_000])
    parser.add_argument("--keys", nargs="+", default=["1000"])
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--on-spark", action="store_true")
    parser.add_argument("--job", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        job(*given.job)
        return
    for records in given.records:
        for keys in given.keys:
            count = records // 2 if keys == "half" else int(keys)
            print(f"{records:,} records, {count:,} keys", flush=True)
            for name in ("windows", "sliding", "reduce", "timers", "join"):
                if re.search(given.only, name):
                    compare(name, records, count, given.runs, given.on_spark)


def compare(name: str, records: int, keys: int, runs: int, on_spark: bool) -> None:
    """Run a job in both modes; print what a record costs in each."""
    data = Path(os.environ.get("BENCH_DATA", "/tmp/bench-data")) / "batch-cost"
    sizes = (1000, records)
    for size in sizes:
        generate(data / f"{size}-{keys}", size, keys, 1)
        generate(data / f"{size}-{keys}-other", size, keys, 2)
    costs, results, walls = {}, {}, {}
    some: dict[str, list[float]] = {"STREAMING": [], "BATCH": []}
    for _ in range(runs):
        for mode, found in some.items():
            start = run(name, mode, data / f"{sizes[0]}-{keys}", on_spark)[0]
            used, walls[mode], results[mode] = run(name, mode, data / f"{sizes[1]}-{keys}", on_spark)
            found.append(used - start)
    read = records * (2 if name == "join" else 1)
    for mode, found in some.items():
        costs[mode] = statistics.median(found) / read * 1e6
    equal = "equal" if results["STREAMING"] == results["BATCH"] else "DIFFERENT"
    print(
        f"{name:10} processor s per M records: STREAMING {costs['STREAMING']:5.2f}, BATCH {costs['BATCH']:5.2f}: "
        f"{costs['BATCH'] / costs['STREAMING']:.2f}; {walls['STREAMING']:.1f} and {walls['BATCH']:.1f} s; "
        f"{results['BATCH'].lines:,} results, {equal}",
        flush=True,
    )


if __name__ == "__main__":
    main()
