"""Large state through a kill, savepoints and another parallelism: how long each takes, and whether it is exact.

python bench/recovery.py --state-mb 10000

A job gives each key a value and counts its records, each key comes twice. When it knows nearly all keys, its driver is
killed; it resumes, takes a savepoint, ends with another one, and goes on from that at another parallelism. In the end
each key must have been counted twice, with the value that it was given.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VALUE_BYTES = 2000
#: How often a key comes.
ROUNDS = 2
#: All keys come once as fast as they can, and once in at least so many seconds (for each 1,000 MB of state).
SECONDS = 60
#: Keys are taken in steps of this prime.
STEP = 1_000_003


def value_of(key: int) -> bytes:
    """The value of a key, which does not compress."""
    return hashlib.shake_128(key.to_bytes(8)).digest(VALUE_BYTES)


# ------------------------------------------------------------------ the job, in a process of its own


def run_job(keys: int, parallelism: int, settings: dict[str, str], output: str) -> None:
    """Run the job; write what happens to standard output, do what standard input says."""
    from scurry.common import Configuration, Encoder, Types, WatermarkStrategy
    from scurry.datastream import KeyedProcessFunction, StreamExecutionEnvironment
    from scurry.datastream.connectors import DataGeneratorSource
    from scurry.datastream.connectors.file_system import FileSink
    from scurry.datastream.state import ValueStateDescriptor

    class Keep(KeyedProcessFunction):
        def open(self, runtime_context: Any) -> None:
            self.value = runtime_context.get_state(ValueStateDescriptor("value", Types.PICKLED_BYTE_ARRAY()))
            self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
            self.keys = runtime_context.get_metrics_group().counter("keys")

        def process_element(self, key: int, ctx: Any) -> Iterator[str]:
            held, count = self.value.value(), (self.count.value() or 0) + 1
            if held is None:
                self.value.update(value_of(key))
                self.keys.inc()
            elif held != value_of(key):
                raise ValueError(f"key {key} has the value of another")
            self.count.update(count)
            if count >= ROUNDS:
                yield f"{key} {count}"

    began = time.monotonic()
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    env.set_parallelism(parallelism)
    first = DataGeneratorSource(lambda i: i * STEP % keys, keys, None, Types.LONG())
    again = DataGeneratorSource(
        lambda i: i * STEP % keys, keys, min(keys, 1_000_000_000 / VALUE_BYTES) / SECONDS, Types.LONG()
    )
    numbers = (
        env.from_source(first, WatermarkStrategy.no_watermarks(), "first")
        .uid("first")
        .union(env.from_source(again, WatermarkStrategy.no_watermarks(), "again").uid("again"))
    )
    counted = (
        numbers.key_by(lambda key: key, key_type=Types.LONG()).process(Keep(), Types.STRING()).name("keep").uid("keep")
    )
    counted.sink_to(FileSink.for_row_format(output, Encoder.simple_string_encoder()).build()).uid("sink")
    client: Any = env.execute_async("recovery")

    def tell(**what: Any) -> None:
        print(json.dumps(what), flush=True)

    while not client.execution.totals.batches and not client.execution.failures:
        time.sleep(0.01)
    tell(first_batch=round(time.monotonic() - began, 1))
    while not client.get_job_status().result().is_globally_terminal_state():
        tell(keys=client.get_metrics().result().get("keep.keys", 0))
        told = select.select([sys.stdin], [], [], 0)[0]
        command, _, path = (sys.stdin.readline() if told else "").strip().partition(" ")
        asked = time.monotonic()
        if command == "savepoint":
            saved, metrics = client.trigger_savepoint(path).result(), client.get_metrics().result()
            runs = [metrics.get(f"keep.localRun{what}", 0) for what in ("Hits", "Misses")]
            tell(savepoint=saved, seconds=time.monotonic() - asked, runs=runs)
        elif command == "stop":
            tell(stopped=client.stop_with_savepoint(False, path).result(), seconds=time.monotonic() - asked)
            return
        time.sleep(0.5)
    client.get_job_execution_result().result()
    tell(finished=True)


# ------------------------------------------------------------------ what is done to it


class Job:
    """The job in a process."""

    def __init__(self, place: Path, number: int, keys: int, parallelism: int, **settings: str) -> None:
        self.output = place / f"output-{number}"
        settings = {
            "execution.checkpointing.dir": str(place / f"checkpoint-{number}"),
            "state.backend.rocksdb.localdir": str(place / "local"),
            "spark.local.dir": str(place / "spark"),
            "scurry.progress": "off",
            "restart-strategy.type": "none",
            **settings,
        }
        given = json.dumps([keys, parallelism, settings, str(self.output)])
        self._begun = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--job", given], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def wait_for(self, what: str) -> dict[str, Any]:
        """Wait until the job tells something."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            told: dict[str, Any] = json.loads(line)
            if what in told:
                return told
        raise SystemExit(f"the job ended with status {self.process.wait()} before it told {what!r}")

    def wait_for_keys(self, count: int) -> None:
        """Wait until the job has given values to a number of keys."""
        while int(self.wait_for("keys")["keys"]) < count:
            continue

    def first_batch(self) -> float:
        """Return the seconds from the start of the process to the end of the first micro-batch."""
        self.wait_for("first_batch")
        return time.monotonic() - self._begun

    def tell(self, command: str) -> None:
        """Give the job a command."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        """Kill the driver, as a lack of memory would."""
        self.process.kill()
        self.process.wait()


def size_of(directory: Path) -> str:
    """The size of the files below a directory."""
    return f"{sum(file.stat().st_size for file in directory.rglob('*') if file.is_file()) / 1e6:,.0f} MB"


def check(keys: int, outputs: list[Path], again: bool = False) -> None:
    """Require that each key was counted as often as it came.

    Args:
        keys: The number of keys.
        outputs: What the jobs have written.
        again: Whether a job may have written what another had written already.
    """
    counts: Counter[str] = Counter()
    for output in outputs:
        lines = [line for file in output.rglob("part-*") for line in file.read_text().splitlines()]
        if len(set(lines)) < len(lines):
            raise SystemExit(f"not exact: {output} has {len(lines) - len(set(lines))} lines twice")
        counts.update(lines)
    expected = {f"{key} {ROUNDS}" for key in range(keys)}
    wrong = [line for line, count in counts.items() if line not in expected or (count > 1 and not again)]
    missing = expected.difference(counts)
    if wrong or missing:
        raise SystemExit(f"not exact: {len(wrong)} lines too many ({wrong[:3]}), {len(missing)} keys are missing")
    print(f"exact: each of {keys:,} keys was counted {ROUNDS} times", flush=True)


def run(state_mb: int, place: Path, from_both: bool) -> None:
    """Do everything with a state of a size."""
    keys, begun = state_mb * 1_000_000 // VALUE_BYTES, time.monotonic()
    job = Job(place, 1, keys, 2)
    print(f"first start: first micro-batch after {job.first_batch():.1f} s", flush=True)
    job.wait_for_keys(keys * 99 // 100)
    print(f"{state_mb:,} MB filled in {time.monotonic() - begun:.0f} s ({size_of(place / 'local')} local)", flush=True)
    job.kill()
    job = Job(place, 1, keys, 2)
    print(f"killed, and started again: first micro-batch after {job.first_batch():.1f} s", flush=True)
    job.tell(f"savepoint {place / 'savepoints'}")
    beside = job.wait_for("savepoint")
    hits, misses = beside["runs"]
    print(f"since then {hits:,} runs were on the machine, {misses:,} were not", flush=True)
    print(f"savepoint beside the job: {size_of(Path(beside['savepoint']))} in {beside['seconds']:.1f} s", flush=True)
    job.tell(f"stop {place / 'savepoints'}")
    stopped = job.wait_for("stopped")
    job.process.wait()
    print(f"stopped with a savepoint: {size_of(Path(stopped['stopped']))} in {stopped['seconds']:.1f} s", flush=True)
    first = job.output
    if not from_both:
        shutil.rmtree(beside["savepoint"])
    shutil.rmtree(place / "checkpoint-1")
    for number, savepoint in ((2, stopped["stopped"]), *([(3, beside["savepoint"])] if from_both else ())):
        job = Job(place, number, keys, 3, **{"execution.state-recovery.path": savepoint})
        print(f"started from it at parallelism 3: first micro-batch after {job.first_batch():.1f} s", flush=True)
        job.wait_for("finished")
        job.process.wait()
        print(f"finished after {time.monotonic() - begun:.0f} s", flush=True)
        check(keys, [first, job.output], again=number == 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state-mb", type=int, default=1000)
    parser.add_argument("--place", help="a directory for everything; a temporary one if not given")
    parser.add_argument("--from-both", action="store_true", help="go on from the savepoint beside the job, too")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.job is not None:
        run_job(*json.loads(args.job))
        return
    place = Path(args.place or tempfile.mkdtemp(prefix="scurry-recovery-"))
    try:
        run(args.state_mb, place, args.from_both)
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
