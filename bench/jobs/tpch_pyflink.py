"""TPC-H by PyFlink, for bench/tpch.py: reads names of queries, answers each with a line of JSON: seconds and rows.

    HADOOP_CLASSPATH=HADOOP_JARS python tpch_pyflink.py DATA PARALLELISM PARQUET_JAR TPCH

TPCH is the directory with the queries and `run.py`, which declares the tables. All queries share one MiniCluster, which
saves PyFlink the start of one for each.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

CLUSTER = {
    "taskmanager.memory.managed.size": "2gb",
    "taskmanager.memory.network.min": "256mb",
    "taskmanager.memory.network.max": "256mb",
    "rest.bind-port": "0",
    "rest.port": "0",
}


def cluster(parallelism: int) -> tuple[Any, dict[str, str]]:
    """Start a MiniCluster; return it and what finds it."""
    from pyflink.java_gateway import get_gateway

    jvm = get_gateway().jvm
    mini = jvm.org.apache.flink.runtime.minicluster
    configuration = jvm.org.apache.flink.configuration.Configuration()
    for key, value in CLUSTER.items():
        configuration.setString(key, value)
    builder = mini.MiniClusterConfiguration.Builder().setConfiguration(configuration)
    started = mini.MiniCluster(builder.setNumTaskManagers(1).setNumSlotsPerTaskManager(parallelism).build())
    started.start()
    address = started.getRestAddress().get()
    return started, {
        "execution.target": "remote",
        "rest.address": address.getHost(),
        "rest.port": str(address.getPort()),
    }


def main(data: str, parallelism: str, jar: str, tpch: str) -> None:
    """Answer queries until the input ends."""
    sys.path[:0] = [tpch, str(Path(tpch).parent)]
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    import run as queries  # type: ignore[import-not-found]
    from pyflink.table import EnvironmentSettings, TableEnvironment

    running, address = cluster(int(parallelism))
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    settings = {"parallelism.default": parallelism, "pipeline.jars": f"file://{jar}", **address}
    for key, value in settings.items():
        env.get_config().set(key, value)
    for table, columns in queries.TABLES.items():
        path = f"{data}/{table}.parquet"
        env.execute_sql(
            f"CREATE TABLE {table} ({columns}) WITH ('connector'='filesystem', 'path'='{path}', 'format'='parquet')"
        )
    for line in sys.stdin:
        start = time.perf_counter()
        rows = [list(row) for row in env.execute_sql(queries.query(line.strip())).collect()]
        seconds = time.perf_counter() - start
        print(json.dumps({"seconds": seconds, "rows": rows}, default=str), flush=True)
    running.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
