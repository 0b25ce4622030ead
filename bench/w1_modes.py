"""W1 in STREAMING and BATCH in turn: records per second, and processor seconds per million records without the start.

    python bench/w1_modes.py [--runs 3] [--n 2000000] [--on-spark]

The program and the data are those of the peer benchmark, see bench/README.md. A job over 20,000 records in each mode
measures the start. Medians are printed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys

from processes import environment_of_scurry, run_process
from run import PEERS

DATA, FEW = "w1_10000", 20_000
MODES = ("STREAMING", "BATCH")


def measure(mode: str, n: int, on_spark: bool) -> tuple[float, float]:
    """Return the processor seconds of all processes of a run, and its records per second."""
    runner = [] if on_spark else ["--runner", "local"]
    program = [str(PEERS / "peers" / "pyflink_w1.py"), DATA, str(n), "thread", mode]
    done = run_process([sys.executable, "-m", "scurry", "run", *runner, *program], environment_of_scurry())
    figures = json.loads(" ".join(done.result()))
    if figures["rows"] != n:
        sys.exit(f"{mode}: {figures['rows']:,} results of {n:,} records")
    return sum(done.processors.values()), n / figures["secs"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--n", type=int, default=2_000_000)
    parser.add_argument("--on-spark", action="store_true")
    given = parser.parse_args()
    for n in (FEW, given.n):
        subprocess.run([sys.executable, str(PEERS / "gen.py"), DATA, str(n)], check=True, stdout=subprocess.DEVNULL)
    costs: dict[str, list[float]] = {mode: [] for mode in MODES}
    rates: dict[str, list[float]] = {mode: [] for mode in MODES}
    for _ in range(given.runs):
        for mode in MODES:
            start = measure(mode, FEW, given.on_spark)[0]
            used, rate = measure(mode, given.n, given.on_spark)
            costs[mode].append((used - start) / (given.n - FEW) * 1e6)
            rates[mode].append(rate)
    for title, found in (("processor s per M records", costs), ("records per second", rates)):
        streaming, batch = (statistics.median(found[mode]) for mode in MODES)
        print(f"{title}: STREAMING {streaming:,.2f}, BATCH {batch:,.2f}: {batch / streaming:.2f}", flush=True)


if __name__ == "__main__":
    main()
