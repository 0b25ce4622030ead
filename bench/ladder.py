"""A ladder of latencies: the job of bench/lat.py in each mode, 1,000 records/s, from emit to standard output.

    python bench/ladder.py                          # all rungs; some six minutes
    python bench/ladder.py --only in-process

Lines go to the job through a socket at an even rate; the first ten seconds do not count. "BATCH by hand" gathers lines
in a file while a BATCH job works, and then starts the next one over that file: no state, each line in one job.
"""

from __future__ import annotations

import argparse
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from processes import environment_of_scurry

JOB = Path(__file__).resolve().parent / "lat.py"
RATE, WARM_UP = 1000, 10.0
#: In options: a directory that is there while the job runs.
DIRECTORY = "{directory}"
LOCAL = ["--runner", "local"]


def interval(text: str) -> list[str]:
    """Return the option that sets the interval of micro-batches."""
    return ["-D", f"execution.checkpointing.interval={text}"]


def kept(text: str) -> list[str]:
    """Return the options of a job in this process that commits at an interval: it needs a directory for that."""
    return [*LOCAL, *interval(text), "-D", f"execution.checkpointing.dir={DIRECTORY}"]


#: rung -> options of `scurry run`, and the seconds that are measured
STREAMING = {
    "in-process": (LOCAL, 20),
    "in-process, every 100 ms": (kept("100 ms"), 20),
    "in-process, every 1 s": (kept("1 s"), 30),
    "in-process, every 10 s": (kept("10 s"), 60),
    "Spark, micro-batches without a pause": ([], 30),
    "Spark, every 100 ms": (interval("100 ms"), 30),
    "Spark, every 1 s": (interval("1 s"), 30),
    "Spark, every 10 s": (interval("10 s"), 60),
}
BY_HAND = {"BATCH by hand, in-process": (LOCAL, 30), "BATCH by hand, Spark": ([], 60)}


def feed(server: socket.socket, seconds: float) -> None:
    """Send lines "key,emit time" to whoever connects."""
    connection, _ = server.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    start = time.time()
    with connection:
        for number in range(int(seconds * RATE)):
            time.sleep(max(0.0, start + number / RATE - time.time()))
            try:
                connection.sendall(b"%d,%.6f\n" % (number % 100, time.time()))
            except OSError:
                return


def streamed(options: list[str], seconds: float) -> list[float]:
    """Return the latencies of a STREAMING job, in seconds."""
    with socket.create_server(("localhost", 0)) as server, tempfile.TemporaryDirectory(prefix="ladder-") as name:
        port = str(server.getsockname()[1])
        threading.Thread(target=feed, args=(server, WARM_UP + seconds), daemon=True).start()
        found = latencies([*(option.replace(DIRECTORY, name) for option in options), str(JOB), port])
    first = min(sent for sent, _ in found)
    return [late for sent, late in found if sent - first >= WARM_UP]


def by_hand(options: list[str], seconds: float) -> list[float]:
    """Return the latencies of BATCH jobs that are started one after the other, in seconds."""
    found: list[float] = []
    end = time.time() + seconds
    since = time.time() - 1
    with tempfile.TemporaryDirectory() as name:
        gathered = Path(name) / "gathered.csv"
        while time.time() < end:
            now = time.time()
            lines = (f"{number % 100},{since + number / RATE:.6f}\n" for number in range(int((now - since) * RATE)))
            gathered.write_text("".join(lines))
            since = now
            found += [late for _, late in latencies([*options, "--mode", "batch", str(JOB), str(gathered)])]
    return found


def latencies(arguments: list[str]) -> list[tuple[float, float]]:
    """Run the job to its end; return for each line when it was sent, and how much later its result came."""
    found = []
    with started([sys.executable, "-m", "scurry", "run", *arguments]) as output:
        for line in output:
            if (at := line.find("LAT ")) >= 0:
                sent = float(line[at + 4 :])
                found.append((sent, time.time() - sent))
    return found


@contextmanager
def started(command: list[str]) -> Iterator[Iterator[str]]:
    """A process; yields its lines."""
    process = subprocess.Popen(command, env=environment_of_scurry(), text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)  # fmt: skip
    assert process.stdout is not None
    try:
        yield process.stdout
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a regular expression searched for in the names of rungs")
    only = parser.parse_args().only
    ways: list[tuple[Callable[[list[str], float], list[float]], dict[str, tuple[list[str], int]]]] = [
        (streamed, STREAMING), (by_hand, BY_HAND)
    ]  # fmt: skip
    for way, rungs in ways:
        for rung, (options, seconds) in rungs.items():
            if re.search(only, rung):
                late = sorted(way(options, seconds))
                p50, p99 = (1000 * late[len(late) * share // 100] for share in (50, 99))
                print(f"{rung:38} {len(late):7,} records  p50 {p50:8,.1f} ms  p99 {p99:8,.1f} ms", flush=True)


if __name__ == "__main__":
    main()
