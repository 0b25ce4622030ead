"""scurry next to PyFlink and Spark: the same scripts, data and checks as the peer benchmark, and the ratios.

    python bench/run.py [--only REGEX] [--runs N] [--n N] [--list]

See bench/README.md for what has to be there.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PEERS = Path(os.environ.get("BENCH_PEERS", HERE.parent.parent / "shared" / "bench"))
VENVS = Path(os.environ.get("BENCH_VENVS", "/tmp/venvs"))


@dataclass(frozen=True)
class Case:
    """One workload on one data set, and whom scurry is compared with."""

    name: str
    workload: str
    data: str | None
    n: int
    options: tuple[str, ...] = ()
    others: tuple[str, ...] = ("pyflink",)


CASES = [
    Case("w1", "w1", "w1_10000", 2_000_000, ("thread",)),
    Case("w2", "w2", "w2", 1_000_000, ("thread",)),
    Case("w3", "w3", "w3", 2_000_000, ("thread",)),
    Case("w4", "w4", "w3", 2_000_000, ("sql",)),
    Case("w1 batch", "w1", "w1_10000", 2_000_000, ("thread", "BATCH")),
    Case("w2 batch", "w2", "w2", 500_000, ("thread", "BATCH")),
    Case("hello", "hello", None, 0),
    Case("lat", "lat", None, 30_000, ("thread",), ("pyflink", "spark")),
]

#: What is measured, and whether more of it is better.
MEASURES = {"secs": False, "rate": True, "whole_secs": False, "p50_ms": False, "p99_ms": False, "peak_mb": False}

_START = """#!{python}
import os, sys
folder, name = os.path.split(sys.argv[1])
workload = name.removeprefix("scurry_")
script = {lat!r} if workload == "lat.py" else os.path.join(folder, "pyflink_" + workload)
os.environ["PYTHONPATH"] = {source!r} + os.pathsep + os.environ.get("PYTHONPATH", "")
os.execv({python!r}, [{python!r}, "-m", "scurry", "run", script, *sys.argv[2:]])
"""


@contextmanager
def peer_benchmark() -> Iterator[Any]:
    """The peer benchmark as a module, with scurry as one more peer: it runs PyFlink's scripts as they are."""
    os.environ["BENCH_VENVS"] = str(VENVS)
    spec = importlib.util.spec_from_file_location("peer_benchmark", PEERS / "run.py")
    if spec is None or spec.loader is None or not (PEERS / "run.py").is_file():
        sys.exit(f"there is no peer benchmark in {PEERS}; set BENCH_PEERS")
    module: Any = importlib.util.module_from_spec(spec)
    arguments, sys.argv = sys.argv, ["run.py", "--only", "(?!)"]  # it runs what it is asked for when loaded: nothing
    try:
        spec.loader.exec_module(module)
    finally:
        sys.argv = arguments
    with tempfile.TemporaryDirectory() as directory:
        start = Path(directory) / "scurry"
        lat, source = str(HERE / "lat.py"), str(HERE.parent / "src")
        start.write_text(_START.format(python=sys.executable, lat=lat, source=source))
        start.chmod(0o755)
        module.PYTHON["scurry"] = str(start)
        # this environment has pyspark, pandas and pyarrow: no other is needed for the Spark peer and for the data
        module.PYTHON["spark"] = sys.executable
        yield module


def measure(benchmark: Any, case: Case, n: int, runs: int) -> dict[str, list[dict[str, Any]]]:
    """Runs everybody in turn, so that whatever else the machine does strikes all alike."""
    if case.data is not None:
        generate = [sys.executable, str(PEERS / "gen.py"), case.data, str(n)]
        subprocess.run(generate, check=True, stdout=subprocess.DEVNULL)
    results: dict[str, list[dict[str, Any]]] = {peer: [] for peer in ("scurry", *case.others)}
    for _ in range(runs):
        for peer, found in results.items():
            options = [] if peer == "spark" else list(case.options)
            result = benchmark.run(peer, case.workload, case.data, n, options)
            found.append(result)
            with open(HERE / "results.jsonl", "a") as out:
                out.write(json.dumps({"case": case.name, **result}) + "\n")
            if not result["ok"]:
                print(f"{case.name} {peer}: WRONG OR UNFINISHED {result.get('tail', '')[-800:]}", file=sys.stderr)
    return results


def report(case: Case, n: int, results: dict[str, list[dict[str, Any]]]) -> None:
    """Prints medians, and how many times better scurry is than each of the others."""
    print(f"\n{case.name}" + (f", {n:,} records" if n else ""))
    for measure_name, more_is_better in MEASURES.items():
        values = {
            peer: statistics.median(result[measure_name] for result in found)
            for peer, found in results.items()
            if all(result["ok"] and measure_name in result for result in found)
        }
        if "scurry" not in values:
            continue
        line = f"  {measure_name:10}" + "".join(f"  {peer} {value:>11,.1f}" for peer, value in values.items())
        for peer in case.others:
            if peer in values:
                ratio = values["scurry"] / values[peer]
                line += f"   {ratio if more_is_better else 1 / ratio:.2f} x {peer}"
        print(line, flush=True)


def main() -> None:
    """Runs the chosen cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a regular expression searched for in the names of cases")
    parser.add_argument("--runs", type=int, default=1, help="runs of each; medians are printed")
    parser.add_argument("--n", type=int, help="records, instead of each case's own number")
    parser.add_argument("--list", action="store_true", help="only list the cases")
    options = parser.parse_args()
    cases = [case for case in CASES if re.search(options.only, case.name)]
    if options.list:
        for case in cases:
            print(f"{case.name:10} {case.n:>10,}  scurry, {', '.join(case.others)}")
        return
    with peer_benchmark() as benchmark:
        for case in cases:
            n = options.n if options.n and case.n else case.n
            report(case, n, measure(benchmark, case, n, options.runs))


if __name__ == "__main__":
    main()
