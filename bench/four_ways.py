"""One job over the same history in four ways: stream, BATCH, history then live, BATCH with a savepoint then live.

    python bench/four_ways.py                                       # in-process, 1 M records
    python bench/four_ways.py --records 3000000 --on-spark
    python bench/four_ways.py --pyflink /path/to/venv               # beside PyFlink in thread mode, which has no (d)

The job is bench/jobs/four_ways.py: windows and a total per key, with state, from files to files. Printed are, for each
way, whether its results are those of (a); processor seconds per million records, without the start, which a run of
1,000 records measures; the seconds of the whole process; the peak memory of all its processes, shared pages counted
once; and how many lines of the program only this way has.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from processes import Run, environment_of_scurry, run_process
from results import Fingerprint, fingerprint, lines_of

HERE = Path(__file__).resolve().parent
JOB = HERE / "jobs" / "four_ways.py"
WAYS = {
    "stream": "(a) streaming replay",
    "batch": "(b) BATCH",
    "hybrid": "(c) history, then live",
    "savepoint": "(d) BATCH, savepoint, live",
}
FIRST_TIME, LANES, DIVISION = 1_600_000_000_000, 2, 0.9


def generate(directory: Path, records: int, keys: int) -> Path:
    """Write the records, all and divided: 1,000 per second of event time, out of order by up to 5 s.

    Each lane spans all time, so that no reader is ahead of the other one.
    """
    if directory.exists():
        return directory
    chance = random.Random(1)
    partial = directory.with_name(f"{directory.name}.{os.getpid()}")
    with ExitStack() as files:
        lanes = {
            (part, lane): files.enter_context(_new_file(partial / part / f"{lane}.csv"))
            for part in ("all", "history", "live")
            for lane in range(LANES)
        }
        for number in range(records):
            at = FIRST_TIME + number - chance.randrange(5000)
            line = f"k{chance.randrange(keys)},{at},{chance.randrange(1000)}\n"
            for part in ("all", "history" if number < records * DIVISION else "live"):
                lanes[part, number % LANES].write(line)
    partial.rename(directory)
    return directory


def _new_file(path: Path) -> TextIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    return open(path, "w", encoding="utf-8")


def lines_of_program() -> tuple[dict[str, int], int]:
    """Return how many lines of the job only each way has, and how many all ways share."""
    text = JOB.read_text(encoding="utf-8")
    own: dict[str, int] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name in WAYS:
            body = node.body[1:]  # without the docstring
            own[node.name] = sum((each.end_lineno or each.lineno) - each.lineno + 1 for each in body)
    code = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("#", '"""'))]
    return own, len(code) - sum(own.values()) - 2 * len(own)


@dataclass
class Engine:
    """Who runs the job."""

    name: str
    command: list[str]
    environment: dict[str, str]
    ways: tuple[str, ...] = tuple(WAYS)

    def run(self, way: str, data: Path) -> tuple[Run, Fingerprint]:
        """Run the job in one way; return what was measured, and what it wrote."""
        with tempfile.TemporaryDirectory(prefix="four-ways-") as name:
            place = Path(name)
            arguments = [str(JOB), way, str(data), str(place / "out"), str(place / "savepoints")]
            done = run_process([*self.command, *arguments], self.environment)
            done.result()
            return done, fingerprint(lines_of(place / "out"))


def scurry(on_spark: bool) -> Engine:
    """Return scurry, in-process or on Spark."""
    runner = [] if on_spark else ["--runner", "local"]
    return Engine("scurry", [sys.executable, "-m", "scurry", "run", *runner], environment_of_scurry())


def pyflink(venv: Path) -> Engine:
    """Return PyFlink; its BATCH jobs end in no savepoint."""
    path = f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYFLINK_PYTHON": str(venv / "bin" / "python"), "PYTHONPATH": ""}
    return Engine("PyFlink", [str(venv / "bin" / "python")], environment, ("stream", "batch", "hybrid"))


def measure(engine: Engine, small: Path, large: Path, records: int, expected: Fingerprint | None) -> Fingerprint | None:
    """Run all ways of an engine and print a line for each; return the results of the first one."""
    own, shared = lines_of_program()
    base = 0.0
    for way in engine.ways:
        start = sum(engine.run(way, small)[0].processors.values())
        done, results = engine.run(way, large)
        used = sum(done.processors.values())
        cost = (used - start) / records * 1e6
        base, expected = base or cost, expected or results
        print(
            f"{engine.name:8} {WAYS[way]:28} {'equal' if results == expected else 'DIFFERENT':9} {cost:8.2f} "
            f"{cost / base:6.2f} {used:10.1f} {done.seconds:7.1f} {done.peaks['all']:8,.0f} "
            f"{own[way]:4} of {shared + own[way]}",
            flush=True,
        )
    return expected


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=1000)
    parser.add_argument("--only", default="", help="a regular expression searched for in the names of ways")
    parser.add_argument("--on-spark", action="store_true")
    parser.add_argument("--pyflink", type=Path, metavar="VENV", help="an environment with PyFlink, to run it as well")
    given = parser.parse_args()
    data = Path(os.environ.get("BENCH_DATA", "/tmp/bench-data")) / "four-ways"
    data.mkdir(parents=True, exist_ok=True)
    small, large = (generate(data / f"{n}-{given.keys}", n, given.keys) for n in (1000, given.records))
    print(f"{given.records:,} records, {given.keys:,} keys, {DIVISION:.0%} of them history", flush=True)
    titles = f"{'s per M':>8} {'to (a)':>6} {'processors':>10} {'seconds':>7} {'peak MB':>8}  own lines"
    print(f"{'':37} {'results':9} {titles}", flush=True)
    results: Fingerprint | None = None
    for engine in (scurry(given.on_spark), *([pyflink(given.pyflink)] if given.pyflink else [])):
        engine.ways = tuple(way for way in engine.ways if re.search(given.only, WAYS[way]))
        results = measure(engine, small, large, given.records, results)
    print(f"{results.lines if results else 0:,} results")


if __name__ == "__main__":
    main()
