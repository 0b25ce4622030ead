"""A load twenty times the usual one for a while, or a sink ten times slower: how long micro-batches take meanwhile.

    python bench/burst.py [--in-process] [--burst-seconds 10]
    python bench/burst.py --slow-sink [--in-process] [--burst-seconds 60]

A writer adds lines to a directory at a steady rate; a job counts them by key and writes each count to files. After a
steady phase, the writer is twenty times as fast, or the step before the sink takes ten times as long for each record.
In the end, each line must have been counted once. Prints the longest micro-batch of each phase and how the lag went.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scurry.common import Configuration, Encoder, Types, WatermarkStrategy
from scurry.common.time import Duration
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import FileSink, FileSource, StreamFormat
from scurry.datastream.functions import KeyedProcessFunction, RuntimeContext
from scurry.datastream.state import ValueStateDescriptor

STEADY_RATE, TIMES = 20_000, 20
KEYS = 10_000
#: Lines are added so often.
STEP_SECONDS = 0.25
#: Seconds that the step before the sink waits for a record, and for how many at once.
WAIT_SECONDS, WAITS_FOR = 0.000_04, 250
TARGET_SECONDS = 5.0


class Count(KeyedProcessFunction):
    """Counts per key; waits as a sink does that is slow while a file exists."""

    def __init__(self, slow: str | None) -> None:
        self.slow = slow

    def open(self, runtime_context: RuntimeContext) -> None:
        """Get the state."""
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.seen = 0

    def process_element(self, value: str, ctx: Any) -> Iterator[str]:
        """Count one line."""
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        self.seen += 1
        if self.slow is not None and self.seen % WAITS_FOR == 0:
            time.sleep(WAIT_SECONDS * WAITS_FOR * (10 if Path(self.slow).exists() else 1))
        yield f"{value},{count}"


class Writer(threading.Thread):
    """Adds lines to a directory at a rate that may change."""

    def __init__(self, directory: Path) -> None:
        super().__init__(daemon=True)
        self.directory, self.rate, self.written, self.ended = directory, STEADY_RATE, 0, False
        chooser = random.Random(1)
        self.lines = [f"key-{chooser.randrange(KEYS)}\n" for _ in range(STEADY_RATE * TIMES)]

    def run(self) -> None:
        """Add files, each by renaming."""
        due, number = time.monotonic(), 0
        while not self.ended:
            count = int(self.rate * STEP_SECONDS)
            hidden = self.directory / f".{number}"
            hidden.write_text("".join(self.lines[:count]))
            hidden.rename(self.directory / f"lines-{number:06}")
            self.written, number, due = self.written + count, number + 1, due + STEP_SECONDS
            time.sleep(max(0.0, due - time.monotonic()))


def check(output: Path, expected: int) -> None:
    """Require that each key was counted from 1 to its number of lines."""
    lines = [line for file in output.rglob("part-*") for line in file.read_text().splitlines()]
    if len(lines) != expected or len(set(lines)) != expected:
        raise SystemExit(f"not exact: {expected:,} lines in, {len(lines):,} out, {len(set(lines)):,} different")
    print(f"exact: {expected:,} lines were counted once", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slow-sink", action="store_true")
    parser.add_argument("--in-process", action="store_true")
    parser.add_argument("--steady-seconds", type=int, default=25)
    parser.add_argument("--burst-seconds", type=int, default=10)
    args = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="scurry-burst-"))
    try:
        run(args, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def run(args: argparse.Namespace, place: Path) -> None:
    """Run the job through the phases."""
    (place / "in").mkdir()
    settings = {"scurry.progress": "off", "execution.checkpointing.dir": str(place / "checkpoint")}
    if args.in_process:
        settings["scurry.runner"] = "local"
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    env.set_parallelism(2)
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(place / "in"))
    lines = env.from_source(
        source.monitor_continuously(Duration.of_millis(200)).build(), WatermarkStrategy.no_watermarks(), "lines"
    )
    slow = place / "slow"
    counted = lines.key_by(lambda line: line, Types.STRING()).process(
        Count(str(slow) if args.slow_sink else None), Types.STRING()
    )
    counted.sink_to(FileSink.for_row_format(str(place / "out"), Encoder.simple_string_encoder()).build())
    writer = Writer(place / "in")
    writer.start()
    client: Any = env.execute_async("burst")
    batches: list[tuple[float, float, int]] = []
    read = 0

    def add(report: Any) -> None:
        nonlocal read
        read += report.records_in
        batches.append((time.monotonic(), report.seconds, report.records_in))

    client.execution.listeners.append(add)

    def longest(since: float) -> str:
        within = [(seconds, count) for at, seconds, count in batches if at >= since]
        seconds, count = max(within, default=(0.0, 0))
        return f"{len(within)} micro-batches, the longest {seconds:.1f} s ({count:,} lines)"

    while not batches:
        time.sleep(0.1)
    time.sleep(args.steady_seconds)
    print(f"steady, {STEADY_RATE:,} lines/s: {longest(time.monotonic() - args.steady_seconds / 2)}", flush=True)
    begun = time.monotonic()
    if args.slow_sink:
        slow.touch()
    else:
        writer.rate = STEADY_RATE * TIMES
    time.sleep(args.burst_seconds)
    slow.unlink(missing_ok=True)
    writer.rate = STEADY_RATE
    lag, ended = writer.written - read, time.monotonic()
    print(f"after {args.burst_seconds} s of it: {lag:,} lines behind", flush=True)
    while writer.written - read > 2 * STEADY_RATE and time.monotonic() < ended + 600:
        time.sleep(0.1)
    print(f"caught up after {time.monotonic() - ended:.1f} s", flush=True)
    time.sleep(5)
    print(f"since it began: {longest(begun)}", flush=True)
    for at, seconds, count in batches:
        if at >= begun:
            print(f"  {at - begun:6.1f} s: {seconds:5.1f} s, {count:,} lines", flush=True)
    writer.ended = True
    writer.join()
    while read < writer.written:
        time.sleep(0.1)
    client.stop_with_savepoint(True, str(place / "savepoint")).result()
    check(place / "out", writer.written)
    worst = max(seconds for at, seconds, _ in batches if at >= begun)
    print(f"longest {worst:.1f} s, {worst / TARGET_SECONDS:.2f} of the target", flush=True)


if __name__ == "__main__":
    main()
