"""How much memory a job of SQL on Spark takes over backlogs of different length: driver, JVM and Python workers.

python bench/backlog_memory.py [rows ...]         # orders in files are aggregated by customer
python bench/backlog_memory.py join [rows ...]    # joined with customers before: all orders are kept in state
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CUSTOMERS, ROWS_PER_FILE = 1_000, 50_000
PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 2**20
SETTINGS = {"parallelism.default": "2", "spark.master": "local[2]", "scurry.batch.max-bytes": str(32 << 20)}


def write(directory: Path, rows: int) -> None:
    """Write the backlog."""
    chance = random.Random(1)
    (directory / "orders").mkdir()
    for start in range(0, rows, ROWS_PER_FILE):
        lines = [
            f'{{"id": {number}, "customer": {chance.randrange(CUSTOMERS)}, "amount": {number % 100}}}\n'
            for number in range(start, min(start + ROWS_PER_FILE, rows))
        ]
        (directory / "orders" / f"f{start:09}.json").write_text("".join(lines))
    (directory / "customers.json").write_text(
        "".join(f'{{"id": {number}, "region": "r{number % 10}"}}\n' for number in range(CUSTOMERS))
    )


JOBS = {
    "": "SELECT CAST(customer AS STRING), COUNT(*), SUM(amount) FROM orders GROUP BY customer",
    "join": "SELECT region, COUNT(*), SUM(amount) FROM orders AS o JOIN customers AS c ON o.customer = c.id "
    "GROUP BY region",
}


def script(directory: Path, job: str) -> Path:
    """Write the job."""
    files = "WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{}')"
    statements = [
        *(f"SET '{key}' = '{value}'" for key, value in SETTINGS.items()),
        f"CREATE TABLE orders (id BIGINT, customer BIGINT, amount BIGINT) {files.format(directory / 'orders')}",
        f"CREATE TABLE customers (id BIGINT, region STRING) {files.format(directory / 'customers.json')}",
        "CREATE TABLE sums (name STRING, orders BIGINT, amount BIGINT) WITH ('connector' = 'blackhole')",
        f"INSERT INTO sums {JOBS[job]}",
    ]
    path = directory / "job.sql"
    path.write_text(";\n".join(statements) + ";\n")
    return path


def resident(session: int) -> dict[str, float]:
    """Return the resident memory of the processes of a session in MB, by their program."""
    found = {"java": 0.0, "python": 0.0}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
            if int(stat.rpartition(")")[2].split()[3]) != session:
                continue
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            shared = int(Path(f"/proc/{pid}/statm").read_text().split()[2])
        except OSError:
            continue
        java = "(java)" in stat
        # Python workers are forks: what they share with each other is there once.
        found["java" if java else "python"] += (pages if java else pages - shared) * PAGE_MB
    return found


def measured(rows: int, job: str) -> dict[str, float]:
    """Return the peaks in MB over a backlog."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        write(directory, rows)
        command = [sys.executable, "-m", "scurry", "run", str(script(directory, job))]
        peaks: dict[str, float] = {}
        with open(directory / "log", "w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
            while process.poll() is None:
                now = resident(process.pid)
                now["all"] = sum(now.values())
                peaks = {key: max(value, peaks.get(key, 0)) for key, value in now.items()}
                time.sleep(0.1)
        assert process.returncode == 0, (directory / "log").read_text()[-2000:]
        return peaks


if __name__ == "__main__":
    arguments = sys.argv[1:]
    job = arguments.pop(0) if arguments and arguments[0] in JOBS else ""
    base: dict[str, float] = {}
    for count in map(int, arguments or ["5000000", "50000000"]):
        begun = time.perf_counter()
        peaks = measured(count, job)
        base = base or peaks
        shown = ", ".join(f"{name} {mb:.0f} MB ({mb / base[name]:.2f}x)" for name, mb in peaks.items())
        print(f"{count:>9} rows: {shown}, in {time.perf_counter() - begun:.0f} s", flush=True)
