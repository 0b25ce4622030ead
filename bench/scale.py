"""Curves of scale: how a cost grows with files, partitions, operators, columns, subtasks and jobs.

    python bench/scale.py files [1000 10000 100000]      # listing, and a batch's assignments with its log entry
    python bench/scale.py partitions [10 100 1000]       # the same for partitions of Kafka, on a cluster made of dicts
    python bench/scale.py operators [20 200 400]         # planning of a DataStream job
    python bench/scale.py statements [20 200 400]        # planning of views, calcs, unions and joins in SQL
    python bench/scale.py columns [50 500]               # microseconds per row of SQL and of a stream
    python bench/scale.py subtasks [2 16 64 256]         # a near-empty batch on Spark, without and with timers
    python bench/scale.py cluster [1 2 4]                # a standalone cluster of so many workers of one core
    python bench/scale.py hosts [1 2 4]                  # the same with a network namespace for each worker (as root)
    python bench/scale.py jobs [1 10 100]                # a near-empty batch of each of so many jobs in one process
    python bench/scale.py jobs-on-spark [1 10 100]       # the same in one Spark session

Each line has the seconds, and their exponent against the line before: 1 is linear. All but `subtasks`, `cluster`,
`hosts` and `jobs` are processor time of this process; those of Spark name the processor time of all its processes.
`--history` appends the figures to curves.jsonl, which `curves.py` draws.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from curves import keep

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.connectors.source import BatchLimits
from scurry.datastream import StreamExecutionEnvironment
from scurry.table import EnvironmentSettings, StreamTableEnvironment, TableEnvironment
from scurry.testing import job_plan_of

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

LOCAL = {"scurry.runner": "local"}
Curve = Callable[[int], dict[str, float]]


def seconds(action: Callable[[], Any]) -> float:
    """Processor seconds of a call."""
    begun = time.process_time()
    action()
    return time.process_time() - begun


def local_environment() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(LOCAL))


# ------------------------------------------------------------------ sources


def one_batch(enumerator: Any, limits: BatchLimits) -> None:
    """What the driver does for each micro-batch, the entry of the assignment log included."""
    enumerator.limit(limits, {})
    enumerator.next_batch()
    enumerator.backlog()
    json.dumps(enumerator.position())
    enumerator.committed()


def files(count: int) -> dict[str, float]:
    from scurry.connectors.files.formats.stream import StreamFormat
    from scurry.connectors.files.reading.source import FileSource

    with tempfile.TemporaryDirectory() as root:
        for number in range(count):
            if number % 1000 == 0:
                directory = Path(root) / f"{number // 1000}"
                directory.mkdir()
            (directory / f"part-{number}.txt").write_bytes(b"line\n" * 20)
        source, made = FileSource(StreamFormat.text_line_format(), [root], 1), list[Any]()
        listing = seconds(lambda: made.append(source.create_enumerator(2, BatchLimits())))
        time.sleep(0.01)
        again = seconds(lambda: one_batch(made[0], BatchLimits(max_bytes=100 * count // 50)))
        made[0]._interval = 3600.0
        batches = [seconds(lambda: one_batch(made[0], BatchLimits(max_bytes=100 * count // 50))) for _ in range(10)]
    return {"listing": listing, "batch that lists again": again, "batch": statistics.median(batches)}


def partitions(count: int) -> dict[str, float]:
    import pytest

    from scurry.common.serialization import SimpleStringSchema
    from scurry.connectors.kafka.partitions import KafkaTopicPartition
    from scurry.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaSource
    from scurry.runtime.driver.job import JobExecution
    from scurry.runtime.driver.source_coordinator import SourceCoordinator
    from support.kafka.fake_cluster import FakeCluster, replace_kafka

    cluster = FakeCluster({KafkaTopicPartition("t", number): 1 << 40 for number in range(count)})
    with pytest.MonkeyPatch.context() as patch:
        replace_kafka(patch, cluster, lambda place, at: b"")
        env = local_environment()
        source = KafkaSource.builder().set_bootstrap_servers("fake:1").set_topics("t")
        source.set_starting_offsets(KafkaOffsetsInitializer.earliest())
        source.set_value_only_deserializer(SimpleStringSchema())
        env.from_source(source.build(), WatermarkStrategy.no_watermarks(), "topic").print()
        plan = job_plan_of(env)
        (topic,) = plan.sources.values()
        job = JobExecution(plan)
        coordinator = SourceCoordinator(job, [topic])

        def batch() -> None:
            coordinator.next(topic)
            json.dumps(coordinator.enumerators[topic.id].position())
            coordinator.batch_took(1)
            coordinator.committed()

        first = seconds(batch)
        return {"first batch": first, "batch": statistics.median(seconds(batch) for _ in range(10))}


# ------------------------------------------------------------------ plans


def operators(count: int) -> dict[str, float]:
    """Maps, filters, keys and unions in turn, in one chain."""
    env = local_environment()

    def program() -> None:
        stream = env.from_collection(list(range(10)))
        for number in range(count // 4):
            stream = stream.map(lambda value, number=number: value + number).filter(lambda value: value >= 0)
            stream = stream.union(stream.map(abs)) if number % 10 == 9 else stream.map(abs)
            stream = stream.key_by(lambda value: value % 7).map(lambda value: value) if number % 5 == 4 else stream
        stream.print()

    return {"program": seconds(program), "planning": seconds(lambda: job_plan_of(env))}


def statements(count: int) -> dict[str, float]:
    """Views on views: calcs, and every tenth a union or a join with the table."""
    tables = StreamTableEnvironment.create(local_environment())
    tables.execute_sql("CREATE TABLE t (k INT, v BIGINT, s STRING) WITH ('connector' = 'datagen')")
    tables.execute_sql("CREATE TABLE sink (k INT, v BIGINT) WITH ('connector' = 'blackhole')")

    def views() -> None:
        tables.execute_sql("CREATE VIEW v0 AS SELECT k, v FROM t")
        for number in range(1, count):
            before = f"v{number - 1}"
            query = f"SELECT k, v + {number} AS v FROM {before} WHERE v <> {number}"
            if number % 20 == 10:
                query = f"SELECT k, v FROM {before} UNION ALL SELECT k, v FROM t"
            if number % 20 == 0:
                query = f"SELECT a.k, a.v FROM {before} AS a JOIN t AS b ON a.k = b.k"
            tables.execute_sql(f"CREATE VIEW v{number} AS {query}")

    made = seconds(views)
    insertions = tables.create_statement_set()
    insertions.add_insert_sql(f"INSERT INTO sink SELECT k, v FROM v{count - 1}")
    return {"views": made, "planning": seconds(insertions.attach_as_datastream)}


def columns(count: int) -> dict[str, float]:
    """Processor microseconds per row: a projection and a filter in SQL, and a map over rows of a stream."""
    from scurry.common import Row

    rows, names = 2_000, [f"c{number}" for number in range(count)]
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    tables.get_config().set("scurry.runner", "local")
    declared = ", ".join(f"{name} INT" for name in names)
    tables.execute_sql(f"CREATE TABLE t ({declared}) WITH ('connector' = 'datagen', 'number-of-rows' = '{rows}')")
    tables.execute_sql(f"CREATE TABLE sink ({declared}) WITH ('connector' = 'blackhole')")
    chosen = ", ".join(f"{name} + 1" for name in names)
    sql = seconds(lambda: tables.execute_sql(f"INSERT INTO sink SELECT {chosen} FROM t WHERE c0 <> 7").wait())

    env = local_environment()
    row_type = Types.ROW_NAMED(names, [Types.INT()] * count)
    values = [Row(**{name: number for name in names}) for number in range(rows)]
    stream = env.from_collection(values, row_type).map(lambda row: row, row_type)
    stream.key_by(lambda row: row.c0, Types.INT()).map(lambda row: row.c0, Types.INT()).print()

    def run() -> None:
        with open("/dev/null", "w") as nowhere:
            before, sys.stdout = sys.stdout, nowhere
            try:
                env.execute()
            finally:
                sys.stdout = before

    return {"row of SQL, us": sql / rows * 1e6, "row of a stream, us": seconds(run) / rows * 1e6}


# ------------------------------------------------------------------ jobs


@cache
def warm_session() -> None:
    """Start the session and let its JVM compile: the first count would pay for that."""
    from near_empty import ours

    ours()


def subtasks(count: int) -> dict[str, float]:
    """Near-empty batches in one session: median seconds, and processor seconds of all processes."""
    from near_empty import measured
    from processes import processor_seconds_of_tree

    warm_session()
    found: dict[str, float] = {}
    for what, timed in (("", False), (", timers", True)):
        found[f"batch{what}"], found[f"processor time{what}"] = measured(count, timed, processor_seconds_of_tree)
    return found


#: The jobs of `cluster`: subtasks, records and keys; the one whose worker is killed gets so many records a second.
CLUSTER_SUBTASKS, CLUSTER_RECORDS, CLUSTER_KEYS, CLUSTER_RATE = 8, 2_000_000, 10_000, 2_000
#: The networks of `hosts`: what a packet takes in milliseconds, and the share of those that are lost.
NETWORKS = ((0.0, 0.0), (2.0, 0.001))


def cluster(count: int) -> dict[str, float]:
    """Jobs of the same parallelism on a standalone cluster of so many workers, in a process of their own."""
    return _on_workers(count, "127.0.0.1", [("", ())] * count)


def hosts(count: int) -> dict[str, float]:
    """The same with each worker on a host of its own, on a network without and with delay and loss."""
    from hosts import HERE, Hosts, address

    found: dict[str, float] = {}
    for delay, loss in NETWORKS:
        with Hosts(count, delay, loss) as made:
            places = [(address(number), made.on(number)) for number in range(count)]
            figures = _on_workers(count, HERE, places)
        found |= {f"{what}, {delay:g} ms, {loss:.1%} lost": value for what, value in figures.items()}
    return found


def _on_workers(count: int, host: str, places: Sequence[tuple[str, Sequence[str]]]) -> dict[str, float]:
    from processes import environment_of_scurry, run_process

    from support.faults.standalone_cluster import Cluster

    here = str(Path(__file__).parent)
    with tempfile.TemporaryDirectory() as place, Cluster(Path(place), host=host, PYTHONPATH=here) as made:
        workers = [made.add_worker(*place) for place in places]
        run = run_process(
            [sys.executable, __file__, "--on-cluster", made.url, str(count), str(workers[-1].process.pid)],
            {**environment_of_scurry(), "SCURRY_PROGRESS": "off", "SPARK_LOCAL_IP": host},
        )
    rate, batch, recovery = map(float, run.result())
    return {"us per record": 1e6 / rate, "batch": batch} | ({"a worker killed": recovery} if count > 1 else {})


def on_cluster(url: str, workers: int, killed: int) -> None:
    """Print the records per second of a keyed count, and the seconds of a near-empty batch.

    The last figure is the longest time without a batch after a worker was killed, in seconds.
    """
    import near_empty
    from pyspark.sql import SparkSession

    from scurry.spark.workers.partitioning import task_slots
    from support.faults.job_processes import kill, processes

    os.environ["MASTER"], near_empty.BATCHES = url, 20
    near_empty.ours()
    session: Any = SparkSession._instantiatedSession
    while task_slots(session) < workers:
        time.sleep(0.1)
    reports = _keyed_count(CLUSTER_RECORDS, 1e9, lambda number: None)
    records = sum(count for _, count in reports[1:])  # the first batch starts the workers
    rate, batch, recovery = records / (reports[-1][0] - reports[0][0]), near_empty.ours(CLUSTER_SUBTASKS), 0.0
    if workers > 1:
        at = list[float]()

        def kill_in_the_tenth(number: int) -> None:
            if number == 10:
                at.append(time.monotonic())
                for process in list(processes(killed)):
                    kill(process.pid)

        times = [when for when, _ in _keyed_count(30 * CLUSTER_RATE, CLUSTER_RATE, kill_in_the_tenth)]
        after = [when for when in times if when > at[0]]
        recovery = max(b - a for a, b in itertools.pairwise([at[0], *after]))
    print("RESULT", rate, batch, recovery)


def _keyed_count(records: int, per_second: float, committed: Callable[[int], None]) -> list[tuple[float, int]]:
    """Run a keyed count; return when each batch was committed, and its records."""
    import near_empty

    from scurry.connectors.collect_sink import CollectSink
    from scurry.datastream.connectors import DataGeneratorSource

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(CLUSTER_SUBTASKS)
    source = DataGeneratorSource(lambda number: number, records, per_second, Types.LONG())
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    counts = numbers.key_by(lambda number: number % CLUSTER_KEYS, Types.LONG()).process(near_empty.Count())
    counts._sink(CollectSink(lambda block: None), "drop")
    reports = list[tuple[float, int]]()

    def listener(report: Any) -> None:
        reports.append((time.monotonic(), report.records_in))
        committed(len(reports))

    client: Any = env.execute_async("keyed count")
    client.execution.listeners.append(listener)
    client.get_job_execution_result().result()
    return reports


def jobs(count: int) -> dict[str, float]:
    """Near-empty batches of jobs that run side by side in this process."""
    return _side_by_side(count, local_environment, time.process_time)


def jobs_on_spark(count: int) -> dict[str, float]:
    """The same of jobs in one Spark session, with 20 batches each; the processor time is that of all processes."""
    import near_empty
    from processes import processor_seconds_of_tree

    near_empty.BATCHES = 20
    warm_session()
    return _side_by_side(count, StreamExecutionEnvironment.get_execution_environment, processor_seconds_of_tree)


def _side_by_side(
    count: int, environment: Callable[[], StreamExecutionEnvironment], processor_seconds: Callable[[], float]
) -> dict[str, float]:
    """Return wall time and processor time for each job, and the median seconds of a batch."""
    from near_empty import Count, OneByOne

    from scurry.connectors.collect_sink import CollectSink

    clients, times = list[Any](), list[float]()
    begun, used = time.monotonic(), processor_seconds()
    for _ in range(count):
        env = environment()
        counted = env.from_source(OneByOne(), WatermarkStrategy.no_watermarks(), "one by one")
        results = counted.key_by(lambda n: n % 10).process(Count())
        results._sink(CollectSink(lambda block: None), "drop")
        client: Any = env.execute_async("near empty")
        client.execution.listeners.append(lambda report: times.append(report.seconds))
        clients.append(client)
    for client in clients:
        client.get_job_execution_result().result()
    used = processor_seconds() - used
    return {
        "wall per job": (time.monotonic() - begun) / count,
        "processor time per job": used / count,
        "batch": statistics.median(times or [0.0]),
        "threads": float(threading.active_count()),
    }


CURVES: dict[str, tuple[Curve, list[int]]] = {
    "files": (files, [1_000, 10_000, 100_000]),
    "partitions": (partitions, [10, 100, 1_000]),
    "operators": (operators, [20, 200, 400]),
    "statements": (statements, [20, 200, 400]),
    "columns": (columns, [50, 500]),
    "subtasks": (subtasks, [2, 16, 64, 256]),
    "cluster": (cluster, [1, 2, 4]),
    "hosts": (hosts, [1, 2, 4]),
    "jobs": (jobs, [1, 10, 100]),
    "jobs-on-spark": (jobs_on_spark, [1, 10, 100]),
}


def lines(name: str, counts: list[int], kept: bool) -> Iterator[str]:
    curve, before = CURVES[name][0], dict[str, tuple[int, float]]()
    for count in counts:
        found = curve(count)
        if kept:
            keep(name, count, found)
        for what, value in found.items():
            text = f"{name:10} {count:>8,} {what:24} {value:10.4f}"
            if what in before and value > 0 and before[what][1] > 0:
                last, cost = before[what]
                text += f"   exponent {math.log(value / cost) / math.log(count / last):5.2f}"
            before[what] = count, value
            yield text


if __name__ == "__main__":
    if sys.argv[1:2] == ["--on-cluster"]:
        on_cluster(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
        sys.exit()
    kept = "--history" in sys.argv
    chosen, *counts = [each for each in sys.argv[1:] if each != "--history"] or [""]
    if chosen not in CURVES:
        sys.exit(__doc__)
    for line in lines(chosen, [int(each) for each in counts] or CURVES[chosen][1], kept):
        print(line, flush=True)
