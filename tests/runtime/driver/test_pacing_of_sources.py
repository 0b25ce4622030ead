"""What real sources read per batch, limited in records, in bytes and by time; their readers measure a sample of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from scurry.common import Configuration, WatermarkStrategy
from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.kafka.partitions import KafkaTopicPartition
from scurry.connectors.source import Assignment
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import FileSource, StreamFormat
from scurry.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaSource
from scurry.graph.plan import JobPlan, SourcePlan
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.source_coordinator import SourceCoordinator
from scurry.runtime.exchange.wire import REPORT, SEQ_BITS, unpack
from scurry.runtime.tasks.source_task import SourceTask
from scurry.table import StreamTableEnvironment
from scurry.testing import job_plan_of
from support.kafka.fake_cluster import FakeCluster, replace_kafka

TARGET = 5.0
OVERHEAD = 0.3
PARTITIONS = 4
#: The bytes of a record; where keys are skewed, one partition or file has most records, and ones of this size.
SIZE, LARGE = 100, 2000
#: After the first batches costs are known; in these the sink takes ten times as long.
KNOWN, SLOW = 6, range(10, 18)
BATCHES = 24
#: Links to one large file.
MANY = 400

RECORDS, BYTES = 1000, 64_000
LIMITS = {
    "no limit": {},
    "records": {"scurry.batch.max-records": str(RECORDS)},
    "bytes": {"scurry.batch.max-bytes": str(BYTES)},
    "both": {"scurry.batch.max-records": str(RECORDS), "scurry.batch.max-bytes": str(BYTES)},
}


def record(size: int) -> bytes:
    """A row of a table in JSON, or a line without its end."""
    return b'{"k": 1, "text": "%s"}' % (b"x" * (size - 21))


def content(place: KafkaTopicPartition, skewed: bool) -> bytes:
    return record(LARGE if skewed and place.partition == 0 else SIZE)


def ends(skewed: bool) -> dict[KafkaTopicPartition, int]:
    few = 5_000 if skewed else 1 << 40
    return {KafkaTopicPartition("t", number): few if number else 1 << 40 for number in range(PARTITIONS)}


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    """Files of lines, by whether they are skewed; links to the same one make a large backlog."""
    found = {}
    for skewed in (False, True):
        root, size = tmp_path_factory.mktemp("lines"), LARGE if skewed else SIZE
        (root / "0").write_bytes((record(size - 1) + b"\n") * (32_000_000 // size))
        for number in range(1, MANY):
            os.link(root / "0", root / str(number))
        if skewed:
            for number in range(MANY, MANY + 3):
                (root / str(number)).write_bytes((record(SIZE - 1) + b"\n") * 5_000)
        found[skewed] = root
    return found


def messages(env: StreamExecutionEnvironment) -> None:
    builder = KafkaSource.builder().set_bootstrap_servers("fake:1").set_topics("t")
    source = builder.set_starting_offsets(KafkaOffsetsInitializer.earliest()).set_value_only_deserializer(
        SimpleStringSchema()
    )
    env.from_source(source.build(), WatermarkStrategy.no_watermarks(), "messages").print()


def lines(env: StreamExecutionEnvironment, path: Path) -> None:
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(path)).build()
    env.from_source(source, WatermarkStrategy.no_watermarks(), "lines").print()


def rows(env: StreamExecutionEnvironment, connector: str) -> None:
    tables = StreamTableEnvironment.create(env)
    tables.execute_sql(f"CREATE TABLE t (k INT, text STRING) WITH ({connector}, 'format' = 'json')")
    tables.to_data_stream(tables.sql_query("SELECT text FROM t WHERE k = 1")).print()


def plan_of_source(kind: str, limits: dict[str, str], path: Path) -> JobPlan:
    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration.from_dict({"scurry.runner": "local", **limits})
    )
    env.set_parallelism(PARTITIONS)
    if kind in ("messages", "messages and lines"):
        messages(env)
    if kind in ("lines", "messages and lines"):
        lines(env, path)
    if kind == "rows of messages":
        rows(
            env,
            "'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'fake:1', "
            "'scan.startup.mode' = 'earliest-offset'",
        )
    if kind == "rows of files":
        rows(env, f"'connector' = 'filesystem', 'path' = '{path}'")
    return job_plan_of(env)


@dataclass
class Read:
    """What a source read in a batch."""

    records: float
    bytes: float


class Job:
    """A job whose batches take a modelled time; the tasks of its sources read the beginnings of their assignments."""

    def __init__(self, plan: JobPlan, skewed: bool, per_record: float) -> None:
        self._skewed, self._per_record = skewed, per_record
        self._job = JobExecution(plan)
        self._coordinator = SourceCoordinator(self._job, plan.sources.values())
        self._tasks: dict[tuple[int, int], SourceTask] = {}

    def run(self) -> Iterator[tuple[float, list[Read]]]:
        """Yield the seconds that each batch takes, and what each source reads."""
        for batch in range(BATCHES):
            reads = []
            for source in self._job.plan.sources.values():
                assignments = self._coordinator.next(source)
                reads.append(self._read(assignments))
                for each in assignments:
                    if each.work and (batch < 3 or batch % 6 == 0):
                        self._measure(source, each, batch)
            slower = 10 if batch in SLOW else 1
            seconds = OVERHEAD + sum(each.records for each in reads) * self._per_record * slower
            self._coordinator.batch_took(seconds)
            self._coordinator.committed()
            yield seconds, reads

    def _read(self, assignments: Sequence[Assignment]) -> Read:
        read = Read(0, 0)
        for path, partition_or_start, start_or_end, end in (part for each in assignments for part in each.work or ()):
            if path == "t":
                size = len(content(KafkaTopicPartition("t", partition_or_start), self._skewed))
                records = end - start_or_end
            else:
                size = LARGE if self._skewed and int(Path(path).name) < MANY else SIZE
                records = (start_or_end - partition_or_start) / size
            read.records += records
            read.bytes += records * size
        return read

    def _measure(self, source: SourcePlan, assignment: Assignment, batch: int) -> None:
        """Let a task read the first records of an assignment and report their size."""
        key = (source.id, assignment.channel)
        if key not in self._tasks:
            self._tasks[key] = SourceTask(self._job.plan, source, assignment.channel)
        sample = [
            (path, a, min(b, a + 20_000), end) if path != "t" else (path, a, b, min(end, b + 10))
            for path, a, b, end in assignment.work
        ]
        for some in self._tasks[key].run(batch << SEQ_BITS, [sample], False, batch):
            for row in some:
                if row.kind == REPORT:
                    report = unpack(row.block)
                    self._job.totals.add(replace(report, counters={}))


KINDS = ("messages", "lines", "rows of messages", "rows of files", "messages and lines")


@pytest.mark.parametrize("skewed", [False, True], ids=["even", "skewed"])
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("kind", KINDS)
def test_batches_are_as_large_as_limits_and_time_allow(
    kind: str, limit: str, skewed: bool, directories: dict[bool, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_kafka(monkeypatch, FakeCluster(ends(skewed)), lambda place, at: content(place, skewed))
    plan = plan_of_source(kind, LIMITS[limit], directories[skewed])
    most_records = RECORDS if limit in ("records", "both") else 10_000_000
    most_bytes = BYTES if limit in ("bytes", "both") else 1 << 30
    for batch, (seconds, reads) in enumerate(Job(plan, skewed, 2e-5 if limit == "no limit" else 4e-3).run()):
        if batch:
            for read in reads:
                assert read.records <= most_records * 1.01 + PARTITIONS
                assert read.bytes <= most_bytes * 1.01 + PARTITIONS * LARGE
        if batch >= KNOWN and batch != SLOW.stop:
            least = min(max(read.records / most_records, read.bytes / most_bytes) for read in reads)
            assert max(least, seconds / TARGET) >= 0.5, f"batch {batch}: {seconds} s, {reads}"
        if batch > 1 and batch != SLOW.start:  # right after it, a mixture of records is another one than before
            times = 2 if batch == SLOW.start + 1 else 1.5
            assert seconds <= TARGET * times, f"batch {batch}: {reads}"
