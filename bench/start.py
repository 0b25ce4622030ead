"""The start: whole processes that do next to nothing, in turn, beside the floor under each of them.

    python bench/start.py [--only REGEX] [--runs 7] [--modules] [--history]

For each: processor seconds of all its processes, and seconds from its start to its end, both as the median and the
least of all runs. On a busy machine only processor time and the least time say something. `--modules` prints how many
modules the programs in one process load, and the packages that take longest. `--history` appends the ratios to
bench/history.jsonl.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import history

#: The program of docs/quickstart.md.
WORDS = """\
from scurry.common import Types
from scurry.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
words = env.from_collection(["to be", "or not to be"]).flat_map(str.split, Types.STRING())
words.map(lambda word: (word, 1)).key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1])).print()
env.execute("words")
"""
#: What every program on Spark needs: a session, and workers that answer once.
BARE = """\
import os
import sys

from pyspark.sql import SparkSession

os.environ["PYSPARK_PYTHON"] = sys.executable
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
print(builder.getOrCreate().range(1).{rows}.collect())
"""
_PYTHON_ROWS = 'mapInArrow(lambda batches: batches, "id long")'
_SET_CHILD_SUBREAPER = 36  # prctl(2)


@dataclass(frozen=True)
class Case:
    """A command, the seconds it may take, and the case that is its floor."""

    name: str
    command: list[str]
    limit: float | None = None
    floor: str = "python -c pass"


def cases(directory: Path) -> list[Case]:
    """Return the cases, whose programs are in a directory."""
    python, scurry = sys.executable, [sys.executable, "-m", "scurry"]
    words = str(directory / "words.py")
    columns = "import numpy, pyarrow.compute"
    return [
        Case("python -c pass", [python, "-c", "pass"]),
        Case("hello world, in-process", [*scurry, "run", "--runner", "local", "--parallelism", "1", words], 0.3),
        Case("numpy and pyarrow", [python, "-c", columns]),
        Case("scurry sql -e, in-process", [*scurry, "sql", "-e", "SELECT 1 + 1"], 0.5, "numpy and pyarrow"),
        Case("a session and a row of Spark", [python, str(directory / "jvm.py")]),
        Case("a session and a row of Python workers", [python, str(directory / "workers.py")]),
        Case(
            "hello world, on Spark",
            [*scurry, "run", "--parallelism", "1", words],
            2.5,
            "a session and a row of Python workers",
        ),
    ]


def own_what_outlives() -> None:
    """Let processes that outlive a command become children of this process, so that `run` can count them."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed scurry is compiled


def run(command: list[str]) -> tuple[float, float]:
    """Run a command; return the processor seconds of all its processes, and the seconds until it ended."""
    return run_program(command)[:2]


def run_program(command: list[str], environment: dict[str, str] | None = None) -> tuple[float, float, str]:
    """Run a command as `run` does; return what it has printed, too."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment)
    seconds = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    while True:  # those that outlive it, such as a JVM, have become children of this process
        try:
            os.wait()
        except ChildProcessError:
            break
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, seconds, done.stdout


def print_modules(case: Case) -> None:
    """Print what a Python program loads, by the least time of three runs."""
    least: dict[str, int] = {}
    command = [case.command[0], "-X", "importtime", *case.command[1:]]
    for _ in range(3):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        for found in re.finditer(r"^import time: +(\d+) \| +\d+ \| +(\S+)", done.stderr, re.MULTILINE):
            least[found[2]] = min(int(found[1]), least.get(found[2], sys.maxsize))
    packages: collections.Counter[str] = collections.Counter()
    for name, micros in least.items():
        packages[".".join(name.split(".")[: 3 if name.startswith("scurry.") else 1])] += micros
    print(f"\n{case.name}: {len(least)} modules, {sum(least.values()) / 1e3:.0f} ms")
    print("  " + ", ".join(f"{name} {micros / 1e3:.1f}" for name, micros in packages.most_common(15)))


def main() -> None:
    """Measure the cases in turn, and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a regular expression searched for in the names of cases")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--modules", action="store_true")
    parser.add_argument("--history", action="store_true", help="append to bench/history.jsonl")
    options = parser.parse_args()
    own_what_outlives()
    with tempfile.TemporaryDirectory() as directory:
        for name, text in (
            ("words", WORDS),
            ("jvm", BARE.format(rows='selectExpr("id")')),
            ("workers", BARE.format(rows=_PYTHON_ROWS)),
        ):
            Path(directory, f"{name}.py").write_text(text)
        found = cases(Path(directory))
        chosen = [case for case in found if re.search(options.only, case.name)]
        needed = [case for case in found if case in chosen or any(case.name == each.floor for each in chosen)]
        measured: dict[str, list[tuple[float, float]]] = {case.name: [] for case in needed}
        for case in needed:
            run(case.command)  # compiles, and fills caches of files
        for _ in range(options.runs):
            for case in needed:
                measured[case.name].append(run(case.command))
        if options.modules:
            for case in chosen:
                if "in-process" in case.name:
                    print_modules(case)
    print(f"\n{'':38} {'processor s':>16} {'s':>16}  at most  above the floor")
    least = {name: min(cpu for cpu, _ in runs) for name, runs in measured.items()}
    for case in needed:
        cpu, wall = zip(*measured[case.name], strict=True)
        figures = [f"{statistics.median(each):8.2f} {min(each):7.2f}" for each in (cpu, wall)]
        above = f"{least[case.name] - least[case.floor]:8.2f}" if case.limit else ""
        print(f"{case.name:38} {figures[0]:>16} {figures[1]:>16}  {case.limit or '':>7} {above:>8}")
    if options.history:
        history.append(
            {
                "case": f"start: {case.name}",
                "beside": case.floor,
                "ratio": round(least[case.floor] / least[case.name], 3),
            }
            for case in chosen
            if case.limit
        )


if __name__ == "__main__":
    main()
