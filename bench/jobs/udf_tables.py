"""The cases of bench/udf.py, in scurry or PyFlink: names of cases and numbers of rows come in, seconds go out."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

try:
    import scurry.pyflink_alias  # noqa: F401

    RUNNER = {"scurry.runner": "local"} if sys.argv[1:] == [] else {"spark.master": sys.argv[1]}
except ImportError:
    RUNNER = {"python.execution-mode": "thread"}

from pyflink.table import AggregateFunction, DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.udf import udf

INSERTS = {
    "built-in": "INSERT INTO numbers SELECT i + k FROM generated",
    "scalar": "INSERT INTO numbers SELECT added(i, k) FROM generated",
    "pandas": "INSERT INTO numbers SELECT added_columns(i, k) FROM generated",
    "aggregate": "INSERT INTO sums SELECT MOD(i, 1000), summed(i) FROM generated GROUP BY MOD(i, 1000)",
    # each key of the inner groups changes a hundred times, and takes a row of the outer groups back each time
    "retraction": (
        "INSERT INTO sums SELECT MOD(g, 100), summed(m) FROM "
        "(SELECT MOD(i, {first}) AS g, MAX(i) AS m FROM generated GROUP BY MOD(i, {first})) GROUP BY MOD(g, 100)"
    ),
}


class Summed(AggregateFunction):
    def create_accumulator(self):
        return [0]

    def accumulate(self, accumulator, value):
        accumulator[0] += value

    def retract(self, accumulator, value):
        accumulator[0] -= value

    def get_value(self, accumulator):
        return accumulator[0]

    def get_result_type(self):
        return DataTypes.BIGINT()

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())


def processor_seconds():
    """The processor time of this process and of those it has started, and they (PyFlink's JVM is one)."""
    of, parent = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        pid = int(stat.parent.name)
        parent[pid], of[pid] = int(fields[1]), int(fields[11]) + int(fields[12])
    own = {os.getpid()}
    while more := {pid for pid, above in parent.items() if above in own} - own:
        own |= more
    return sum(of[pid] for pid in own) / os.sysconf("SC_CLK_TCK")


def create_input(env, rows):
    env.execute_sql("DROP TEMPORARY TABLE IF EXISTS generated")
    env.execute_sql(
        "CREATE TEMPORARY TABLE generated (i BIGINT, k BIGINT) WITH ('connector' = 'datagen', "
        f"'rows-per-second' = '1000000000', 'number-of-rows' = '{rows}', 'fields.i.kind' = 'sequence', "
        f"'fields.i.start' = '1', 'fields.i.end' = '{rows}', 'fields.k.min' = '0', 'fields.k.max' = '999')"
    )


def main():
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for key, value in {"parallelism.default": "1", **RUNNER}.items():
        env.get_config().set(key, value)
    env.execute_sql("CREATE TABLE numbers (x BIGINT) WITH ('connector' = 'blackhole')")
    env.execute_sql("CREATE TABLE sums (k BIGINT, x BIGINT) WITH ('connector' = 'blackhole')")
    env.create_temporary_function("added", udf(lambda a, b: a + b, result_type=DataTypes.BIGINT()))
    columns = udf(lambda a, b: a + b, result_type=DataTypes.BIGINT(), func_type="pandas")
    env.create_temporary_function("added_columns", columns)
    env.create_temporary_function("summed", Summed())
    for line in sys.stdin:
        case, rows = line.split()
        create_input(env, int(rows))
        start, busy = time.perf_counter(), processor_seconds()
        env.execute_sql(INSERTS[case].format(first=max(int(rows) // 100, 1))).wait()
        taken = {"seconds": time.perf_counter() - start, "processor": processor_seconds() - busy}
        print(json.dumps(taken), flush=True)


if __name__ == "__main__":
    main()
