"""`from_pandas` and `to_pandas` of many rows: scurry, in this process and on Spark, next to PyFlink.

    python bench/to_pandas.py [--rows 5000000] [--rounds 3] [--with spark] [--with pyflink]

A frame of a BIGINT and a DOUBLE becomes a table, and the table a frame again, in STREAMING; the values are compared.
Each peer begins once before it is measured. Printed are the medians of the rounds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

#: Where PyFlink is installed.
PYFLINK_VENV = Path(os.environ.get("BENCH_VENVS", "/tmp/venvs")) / "pyflink"
PROGRAM = """
import sys, time
import numpy as np, pandas as pd
from {package}.table import EnvironmentSettings, TableEnvironment

rows, rounds = int(sys.argv[1]), int(sys.argv[2])
env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
env.get_config().set("parallelism.default", "1")
{settings}
env.from_pandas(pd.DataFrame({{"a": [1], "b": [0.5]}})).to_pandas()
frame = pd.DataFrame({{"a": np.arange(rows), "b": np.random.rand(rows)}})
for _ in range(rounds):
    start = time.perf_counter()
    back = env.from_pandas(frame).to_pandas()
    seconds = time.perf_counter() - start
    assert (back["a"].values == frame["a"].values).all() and (back["b"].values == frame["b"].values).all()
    print("SECONDS", seconds, flush=True)
"""


def measure(name: str, rows: int, rounds: int) -> float:
    """Return the median seconds of a peer."""
    is_flink = name == "pyflink"
    python = str(PYFLINK_VENV / "bin" / "python") if is_flink else sys.executable
    runner = "local" if name == "scurry" else name
    settings = "" if is_flink else f'env.get_config().set("scurry.runner", "{runner}")'
    program = PROGRAM.format(package="pyflink" if is_flink else "scurry", settings=settings)
    path = os.pathsep.join([str(Path(python).parent), os.environ["PATH"]])
    answer = subprocess.run(
        [python, "-c", program, str(rows), str(rounds)],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    found = [float(line.split()[1]) for line in answer.stdout.splitlines() if line.startswith("SECONDS")]
    if len(found) != rounds:
        raise RuntimeError(f"{name} ended: {answer.stderr[-2000:]}")
    return statistics.median(found)


def main() -> None:
    """Measure the peers and print seconds, and how long each takes in relation to scurry in this process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--with", dest="peers", action="append", choices=["pyflink", "spark"], default=[])
    arguments = parser.parse_args()
    found = {name: measure(name, arguments.rows, arguments.rounds) for name in ["scurry", *arguments.peers]}
    for name, seconds in found.items():
        print(f"{name:8} {seconds:8.2f} s   {seconds / found['scurry']:6.1f}")


if __name__ == "__main__":
    main()
