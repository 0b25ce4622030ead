"""Functions of users in STREAMING: scurry in-process or on Spark next to PyFlink in thread mode, one processor each.

    python bench/udf.py [--rows 1000000] [--rounds 3] [--with pyflink] [--on-spark]

Each case is an INSERT of generated rows into `blackhole`; peers take turns. Beside PyFlink, whose aggregates take
0.7 ms per row, aggregates get a fiftieth of the rows. Times are whole statements, from text to the end of the job, in
sessions that stay up. Printed are the medians of these and of the processors' time (which holds on a busy machine), and
how many times as fast scurry is.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: Where PyFlink is installed.
PYFLINK_VENV = Path(os.environ.get("BENCH_VENVS", "/tmp/venvs")) / "pyflink"
AGGREGATES = {"aggregate", "retraction"}
FEWER = 50
CASES = ("built-in", "scalar", "pandas", "aggregate", "retraction")


class Peer:
    """A process that runs cases and stays up."""

    def __init__(self, python: str, master: str | None = None) -> None:
        self._process = subprocess.Popen(
            [python, str(HERE / "jobs" / "udf_tables.py"), *([] if master is None else [master])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            # PyFlink starts the `python` that is found first
            env={**os.environ, "PATH": f"{Path(python).parent}{os.pathsep}{os.environ.get('PATH', '')}"},
        )

    def run(self, case: str, rows: int) -> dict[str, float]:
        """Return the seconds that a case takes with so many rows, and those of processors.

        Raises:
            RuntimeError: The process ended.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{case} {rows}\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("{"):
                taken: dict[str, float] = json.loads(line)
                return taken
        raise RuntimeError(f"the peer ended during {case}")

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--with", dest="other", choices=["pyflink"])
    parser.add_argument("--on-spark", action="store_true", help="scurry runs on Spark, with one core")
    options = parser.parse_args()
    peers = {"scurry": Peer(sys.executable, "local[1]" if options.on_spark else None)}
    if options.other is not None:
        peers["pyflink"] = Peer(str(PYFLINK_VENV / "bin" / "python"))
    found: dict[str, dict[str, list[dict[str, float]]]] = {case: {name: [] for name in peers} for case in CASES}
    for turn in range(options.rounds + 1):
        for number, case in enumerate(CASES):
            order = list(peers) if (turn + number) % 2 == 0 else list(peers)[::-1]
            for name in order:
                rows = options.rows // FEWER if case in AGGREGATES and options.other else options.rows
                taken = peers[name].run(case, rows)
                if turn:  # the first round warms up
                    found[case][name].append(taken)
    for peer in peers.values():
        peer.close()
    for case, runs in found.items():
        for measure in ("seconds", "processor"):
            medians = {name: statistics.median(run[measure] for run in each) for name, each in runs.items()}
            compared = f"  {medians['pyflink'] / medians['scurry']:.1f}x" if "pyflink" in medians else ""
            print(f"{case:12} {measure:10}", *(f"{name} {taken:.2f} s" for name, taken in medians.items()), compared)


if __name__ == "__main__":
    main()
