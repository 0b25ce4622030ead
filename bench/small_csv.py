"""A SQL statement over a small CSV file, whole processes: `scurry run` in-process and on Spark next to PyFlink.

    python bench/small_csv.py [--rounds 5] [--clients]

The processes take turns. Printed are medians of the seconds from start to end and of the processor seconds of the
process and all it starts, and how they compare with those of the last one: PyFlink, or with `--clients` Flink's SQL
client with a cluster in its own process (`execution.target=local`), beside `scurry sql -e`.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PYFLINK_VENV = Path(os.environ.get("BENCH_VENVS", "/tmp/venvs")) / "pyflink"
ROWS = 1000
_TICKS = os.sysconf("SC_CLK_TCK")

TABLE = (
    "CREATE TABLE orders (id BIGINT, name STRING, price DECIMAL(10, 2)) "
    "WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')"
)
QUERY = "SELECT name, COUNT(*) AS n, SUM(price) AS total FROM orders GROUP BY name ORDER BY total DESC, name LIMIT 5"
PYFLINK = """
from pyflink.table import EnvironmentSettings, TableEnvironment
env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
env.execute_sql({table!r})
env.execute_sql({query!r}).print()
"""


def programs(directory: Path) -> dict[str, list[str]]:
    """Write the file and the programs; return the command of each peer."""
    path = directory / "orders.csv"
    draw = random.Random(1)
    lines = (f"{each},user{draw.randrange(20)},{draw.randrange(10_000) / 100:.2f}\n" for each in range(ROWS))
    path.write_text("".join(lines))
    table = TABLE.format(path=path)
    script, program = directory / "orders.sql", directory / "orders.py"
    script.write_text(f"SET 'execution.runtime-mode' = 'batch';\n{table};\n{QUERY};\n")
    program.write_text(PYFLINK.format(table=table, query=QUERY))
    scurry = [sys.executable, "-m", "scurry", "run", "--runner"]
    return {
        "scurry in-process": [*scurry, "local", str(script)],
        "scurry on Spark": [*scurry, "spark", str(script)],
        "PyFlink": [str(PYFLINK_VENV / "bin" / "python"), str(program)],
    }


def clients(directory: Path) -> dict[str, list[str]]:
    """Return the commands of the SQL clients, which execute the script of `programs`."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
    import flink_clients

    script = (directory / "orders.sql").read_text()
    tableau = "SET 'sql-client.execution.result-mode' = 'tableau';\n"
    (directory / "flink.sql").write_text(tableau + script)
    home = flink_clients.home(directory / "flink")
    if not flink_clients.PYFLINK.exists():
        sys.exit("SCURRY_PYFLINK has to name the directory of an installed pyflink")
    java = flink_clients.PYFLINK.parents[3] / "bin"
    flink = ["env", f"FLINK_HOME={home}", f"FLINK_CONF_DIR={home}/conf", f"FLINK_LOG_DIR={home}/log",
             f"PATH={java}:{os.environ['PATH']}", str(home / "bin" / "sql-client.sh"), "-Dexecution.target=local",
             "-hist", str(directory / "history"), "-f", str(directory / "flink.sql")]  # fmt: skip
    return {"scurry sql": [sys.executable, "-m", "scurry", "sql", "-e", script], "Flink's SQL client": flink}


def processor_seconds(root: int) -> dict[int, float]:
    """Return what a process and those below it have used so far, by their ids."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:  # it has ended
                continue
            parents[int(entry.name)] = int(fields[1])
            used[int(entry.name)] = (int(fields[11]) + int(fields[12])) / _TICKS

    def is_below(process: int) -> bool:
        while process in parents and process != root:
            process = parents[process]
        return process == root

    return {process: seconds for process, seconds in used.items() if is_below(process)}


def measured(command: list[str]) -> tuple[float, float]:
    """Run a process; return its seconds and its processor seconds."""
    environment = {**os.environ, "PATH": f"{Path(command[0]).parent}{os.pathsep}{os.environ['PATH']}"}
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, text=True)
    used: dict[int, float] = {}
    while process.poll() is None:
        used.update(processor_seconds(process.pid))
        time.sleep(0.1)
    seconds = time.perf_counter() - start
    assert process.stdout is not None
    output = process.stdout.read()
    assert process.returncode == 0 and "5 rows in set" in output, output
    return seconds, sum(used.values())


def main() -> None:
    """Run the processes and print medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clients", action="store_true", help="the SQL clients instead of whole programs")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        commands = programs(Path(directory))
        if arguments.clients:
            commands = clients(Path(directory))
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(arguments.rounds):
            for name, command in commands.items():
                found[name].append(measured(command))
    medians = {name: [statistics.median(each) for each in zip(*times, strict=True)] for name, times in found.items()}
    seconds, used = list(medians.values())[-1]
    for name, (own_seconds, own_used) in medians.items():
        print(f"{name:18} {own_seconds:6.1f} s  {own_seconds / seconds:5.2f}", end="")
        print(f"   processor {own_used:6.1f} s  {own_used / used:5.2f}")


if __name__ == "__main__":
    main()
