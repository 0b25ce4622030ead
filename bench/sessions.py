"""Session windows, scurry and PyFlink in turn: `bench/jobs/session_windows.py` on the data of W2.

    python bench/sessions.py [N] [RUNS]

The sum over all sessions must be that of the input. PyFlink's is not: it loses state when a record out of order joins
two sessions, which Flink's Java API and scurry do not.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PEERS = Path(os.environ.get("BENCH_PEERS", HERE.parent.parent / "shared" / "bench"))
VENVS = Path(os.environ.get("BENCH_VENVS", "/tmp/venvs"))
DATA = Path(os.environ.get("BENCH_DATA", "/tmp/bench-data"))
JOB = str(HERE / "jobs" / "session_windows.py")
COMMANDS = {
    "scurry": [sys.executable, "-m", "scurry", "run", JOB],
    "pyflink": [str(VENVS / "pyflink" / "bin" / "python"), JOB],
}


def seconds(peer: str, n: int) -> float:
    """Runs the job; returns its net run time."""
    paths = [str(HERE.parent / "src"), str(PEERS / "peers"), str(PEERS)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths if peer == "scurry" else paths[1:])}
    environment["PATH"] = os.path.dirname(COMMANDS[peer][0]) + os.pathsep + environment["PATH"]
    command = [*COMMANDS[peer], "w2", str(n), "thread"]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    line = next((line for line in done.stdout.splitlines() if line.startswith("RESULT ")), None)
    if line is None:
        sys.exit(done.stdout[-3000:])
    result = json.loads(line[7:])
    expected = json.loads((DATA / f"w2-{n}" / "meta.json").read_text())["sum"]
    print(f"  {peer}: {result['secs']:.1f} s, {result['rows']:,} sessions, sum {result['sum']:,}", flush=True)
    if result["sum"] != expected:
        print(f"    WRONG: the sum over all records is {expected:,}", flush=True)
    return float(result["secs"])


def main() -> None:
    """Measures and prints the ratio of the medians."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    subprocess.run([sys.executable, str(PEERS / "gen.py"), "w2", str(n)], check=True, stdout=subprocess.DEVNULL)
    found: dict[str, list[float]] = {peer: [] for peer in COMMANDS}
    for _ in range(runs):
        for peer, times in found.items():
            times.append(seconds(peer, n))
    median = {peer: statistics.median(times) for peer, times in found.items()}
    ratio = median["pyflink"] / median["scurry"]
    print(f"{n:,} records: scurry {n / median['scurry']:,.0f}/s, pyflink {n / median['pyflink']:,.0f}/s: {ratio:.1f} x")


if __name__ == "__main__":
    main()
