"""TPC-H in BATCH on Spark: scurry's Flink SQL next to Spark's own SQL and PyFlink on the same Parquet files.

    tpchgen-cli parquet -s 1 --output-dir=DATA        (PyPI: tpchgen-cli)
    python bench/tpch.py DATA [QUERY ...] [--rounds 3] [--with pyflink]

All run in sessions of their own that stay up, and take turns query by query; who begins changes from query to query and
from round to round. Times are whole queries, from text to rows in Python. Rows are compared.
Printed are the medians of the rounds, their sums, and how they compare with scurry's.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PEERS = Path(os.environ.get("CONFORMANCE", HERE.parents[1] / "shared" / "conformance"))
sys.path[:0] = [str(PEERS / "sql" / "tpch"), str(PEERS / "sql")]

import run as tpch  # type: ignore[import-not-found]  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

from scurry.table import EnvironmentSettings, TableEnvironment  # noqa: E402

#: Where PyFlink is installed.
PYFLINK_VENV = Path(os.environ.get("BENCH_VENVS", "/tmp/venvs")) / "pyflink"
CENTRAL = "https://repo1.maven.org/maven2"
_PARQUET = "org/apache/flink/flink-sql-parquet/2.3.0/flink-sql-parquet-2.3.0.jar"
_PARQUET_DIGEST = "f30617f4a5a6d437750f155ff72178ab34439aec91df64d96621c260559ba5fd"

#: Runs a query; returns seconds and rows.
Peer = Callable[[str], tuple[float, list[Any]]]


def scurry_peer(data: str) -> Peer:
    """Return what runs a query by scurry on Spark; Spark is started."""
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("parallelism.default", str(os.cpu_count()))
    for table, columns in tpch.TABLES.items():
        path = f"{data}/{table}.parquet"
        env.execute_sql(
            f"CREATE TABLE {table} ({columns}) WITH ('connector'='filesystem', 'path'='{path}', 'format'='parquet')"
        )
    list(env.execute_sql("SELECT COUNT(*) FROM region").collect())
    return lambda name: timed(lambda: [list(row) for row in env.execute_sql(tpch.query(name)).collect()])


def spark_peer(data: str) -> Peer:
    """Return what runs a query by Spark's own SQL, in the JVM that is running."""
    # Spark's side gets the settings a user gets: those of a session of its own, not scurry's
    spark = SparkSession.getActiveSession() or SparkSession._instantiatedSession
    assert spark is not None, "scurry has started Spark"
    spark = spark.newSession()
    spark.conf.set("spark.sql.codegen.wholeStage", "true")
    spark.conf.set("spark.sql.adaptive.enabled", "true")
    spark.conf.set("spark.sql.shuffle.partitions", str(os.cpu_count()))
    for table in tpch.TABLES:
        spark.read.parquet(f"{data}/{table}.parquet").createOrReplaceTempView(table)
    return lambda name: timed(lambda: [list(row) for row in spark.sql(tpch.query(name)).collect()])


def pyflink_peer(data: str) -> Peer:
    """Return what runs a query by PyFlink, in a process that stays up."""
    jars = Path(str(importlib.util.find_spec("pyspark").submodule_search_locations[0])) / "jars"  # type: ignore[union-attr,index]
    hadoop = os.pathsep.join(map(str, jars.glob("hadoop-client-*.jar")))  # Flink's Parquet needs Hadoop's classes
    process = subprocess.Popen(
        [
            *(str(PYFLINK_VENV / "bin" / "python"), str(HERE / "jobs" / "tpch_pyflink.py"), data),
            *(str(os.cpu_count()), str(parquet_jar()), str(PEERS / "sql" / "tpch")),
        ],
        env={**os.environ, "HADOOP_CLASSPATH": hadoop},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )

    def run(name: str) -> tuple[float, list[Any]]:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(f"{name}\n")
        process.stdin.flush()
        for line in process.stdout:
            if line.startswith("{"):
                answer = json.loads(line)
                return answer["seconds"], answer["rows"]
        raise RuntimeError(f"PyFlink ended during {name}")

    run("q6")  # its JVM has run a query, as Spark's has
    return run


def parquet_jar() -> Path:
    """Return Flink's Parquet format, fetched if it is not there yet."""
    jar = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "scurry" / Path(_PARQUET).name
    if not jar.exists():
        jar.parent.mkdir(parents=True, exist_ok=True)
        with urllib.request.urlopen(f"{CENTRAL}/{_PARQUET}", timeout=120) as answer:
            content = answer.read()
        if hashlib.sha256(content).hexdigest() != _PARQUET_DIGEST:
            raise ValueError(f"{CENTRAL}/{_PARQUET} is not the jar that is expected")
        partial = jar.with_suffix(f".{os.getpid()}")
        partial.write_bytes(content)
        partial.rename(jar)
    return jar


def timed(query: Callable[[], list[Any]]) -> tuple[float, list[Any]]:
    """Return how long a query takes, and its rows."""
    start = time.perf_counter()
    rows = query()
    return time.perf_counter() - start, rows


def texts(rows: list[Any]) -> list[list[str]]:
    """Return rows as comparable texts."""
    return tpch.rows_of([[None if value is None else str(value) for value in row] for row in rows])  # type: ignore[no-any-return]


def measure(peers: dict[str, Peer], names: list[str], rounds: int) -> dict[str, dict[str, float]]:
    """Run the queries; return the median seconds of each peer, by query."""
    found: dict[str, dict[str, list[float]]] = {name: {peer: [] for peer in peers} for name in names}
    for turn in range(rounds):
        for number, name in enumerate(names):
            order = list(peers) if (turn + number) % 2 == 0 else list(peers)[::-1]
            answers = {peer: peers[peer](name) for peer in order}
            for peer, (seconds, rows) in answers.items():
                found[name][peer].append(seconds)
                if texts(rows) != texts(answers["scurry"][1]):
                    print(f"{name}: the rows of {peer} are DIFFERENT", flush=True)
            print(f"{turn} {name:4}", *(f"{peer} {answers[peer][0]:.2f} s" for peer in peers), file=sys.stderr)
    return {
        name: {peer: statistics.median(times) for peer, times in by_peer.items()} for name, by_peer in found.items()
    }


def report(medians: dict[str, dict[str, float]]) -> None:
    """Print seconds, and how long scurry takes in relation to each of the others."""
    peers = list(next(iter(medians.values())))
    sums = {peer: sum(times[peer] for times in medians.values()) for peer in peers}
    others = [peer for peer in peers if peer != "scurry"]
    print("     ", *(f"{peer + ' s':>9}" for peer in peers), *(f"{'/ ' + peer:>10}" for peer in others))
    for name, times in [*medians.items(), ("sum", sums)]:
        seconds = (f"{times[peer]:9.2f}" for peer in peers)
        print(f"{name:5}", *seconds, *(f"{times['scurry'] / times[peer]:10.2f}" for peer in others))


def main() -> None:
    """Run the queries and print seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("queries", nargs="*", metavar="QUERY")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--with", dest="peers", action="append", choices=["pyflink"], default=[])
    arguments = parser.parse_args()
    peers = {"scurry": scurry_peer(arguments.data), "spark": spark_peer(arguments.data)}
    if "pyflink" in arguments.peers:
        peers["pyflink"] = pyflink_peer(arguments.data)
    report(measure(peers, arguments.queries or tpch.NAMES, arguments.rounds))


if __name__ == "__main__":
    main()
