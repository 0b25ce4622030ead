"""A source that is restored with another number of readers makes no record late that was not late before.

The records of each source have times that rise in the order of its splits. Whatever is read before a restore, and at
whichever parallelisms, no reader gets a record with a time below one that it has passed on: then no interleaving of
the readers makes it late. After a restore the readers begin at the lowest watermark of those before, as the gate does;
a reader that speaks later than the others begins at their lowest watermark.
"""

from __future__ import annotations

import importlib
import json
import os
import pickle
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import scurry.connectors
from scurry.connectors.collection import CollectionSource
from scurry.connectors.datagen import DataGeneratorSource
from scurry.connectors.files.formats.stream import TextLineFormat
from scurry.connectors.files.reading.source import FileSource, FileSplits
from scurry.connectors.hybrid import HybridSource
from scurry.connectors.jdbc.options import JdbcConnectionOptions
from scurry.connectors.jdbc.source import JdbcSource, Partitions
from scurry.connectors.kafka.dynamic.enumerator import DynamicKafkaEnumerator
from scurry.connectors.kafka.dynamic.metadata import ClusterMetadata
from scurry.connectors.kafka.enumerator import EnumeratorSettings, KafkaEnumerator
from scurry.connectors.kafka.partitions import KafkaOffsetsInitializer, KafkaTopicPartition
from scurry.connectors.kinesis.streams import KinesisStreams
from scurry.connectors.lakes.enumerator import LakeEnumerator, TableFile, TableLog
from scurry.connectors.pulsar.client import EARLIEST, MessageKey, PulsarService
from scurry.connectors.pulsar.cursors import Cursor, CursorKind
from scurry.connectors.pulsar.source import PulsarEnumerator, PulsarTopics
from scurry.connectors.ranges import NumberSequenceSource
from scurry.connectors.source import BatchLimits, ChunkSizer, Enumerator, Source
from scurry.connectors.split_queues import SplitEnumerator
from scurry.connectors.splits import SplitSource
from scurry.sql.connectors.inline import ArrowSource
from support.cases import cases
from support.connectors.fake_kinesis import FakeKinesis, Shard

END = 1 << 60
LIMITS = BatchLimits(max_bytes=60, max_records=13)


@dataclass
class Ordered:
    """A source with an order.

    Attributes:
        create: Returns its enumerator at a parallelism.
        times: Returns the times of the records of an assignment.
        count: The number of its records.
    """

    create: Callable[[int], Enumerator]
    times: Callable[[Any], Iterable[int]]
    count: int


def of_source(source: Source, count: int) -> Ordered:
    def times(work: Any) -> list[int]:
        return [int(value) for chunk in source.read(work, ChunkSizer()) for value in chunk[0]]  # type: ignore[index]

    return Ordered(lambda parallelism: source.create_enumerator(parallelism, LIMITS), times, count)


def write_files(directory: Path) -> int:
    """Write files with ascending numbers, of different sizes, one after the other; return how many numbers."""
    number = 0
    for index, size in enumerate((9, 30, 1, 14, 25, 3, 17, 8, 21)):
        path = directory / f"{index}.txt"
        path.write_text("".join(f"{each:04}\n" for each in range(number, number + size)))
        os.utime(path, (index, index))
        number += size
    return number


def files(directory: Path, splits: int | None = None) -> Ordered:
    count = write_files(directory)
    return of_source(FileSource(TextLineFormat(), [str(directory)], splits=FileSplits(splits)), count)


def whole_files(directory: Path) -> Ordered:
    """Files that cannot be cut, as compressed ones."""
    import gzip

    count = write_files(directory)
    for path in sorted(directory.iterdir()):
        packed = path.with_suffix(".gz")
        packed.write_bytes(gzip.compress(path.read_bytes()))
        os.utime(packed, (path.stat().st_mtime, path.stat().st_mtime))
        path.unlink()
    return of_source(FileSource(TextLineFormat(), [str(directory)]), count)


class _Log(TableLog):
    def start(self) -> tuple[Any, list[TableFile]]:
        return 1, [TableFile(str(number), 7 + 20 * (number % 3), number) for number in range(15)]

    def after(self, version: Any) -> tuple[Any, list[TableFile]]:
        return version, []


def lake(directory: Path) -> Ordered:
    def create(parallelism: int) -> Enumerator:
        return LakeEnumerator(_Log, parallelism, LIMITS.max_bytes, None)

    return Ordered(create, lambda work: [file.details for file in work], 15)


def pieces(directory: Path) -> Ordered:
    return Ordered(lambda parallelism: SplitEnumerator(list(range(17)), parallelism), list, 17)


def arrow(directory: Path) -> Ordered:
    rows = [pa.record_batch({"n": [number]}) for number in range(24)]
    source = ArrowSource([[[row] for row in rows[start : start + 5]] for start in range(0, 24, 5)])

    def times(work: Any) -> list[int]:
        return [n for piece in work for rows in source.read(piece, ["n"]) for n in rows.batch.column("n").to_pylist()]

    return Ordered(lambda parallelism: source.create_enumerator(parallelism, LIMITS), times, 24)


def jdbc(directory: Path) -> Ordered:
    options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url("jdbc:sqlite:x.db").build()
    source = JdbcSource("SELECT n FROM t", options, None, Partitions("n", 0, 100, 19))  # type: ignore[arg-type]
    return Ordered(lambda parallelism: source.create_enumerator(parallelism, LIMITS), lambda work: range(*work), 19)


class _Cluster:
    servers = "fake"

    def topics(self) -> dict[str, int]:
        return {"t": 2}

    def earliest(self, partitions: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, int]:
        return dict.fromkeys(partitions, 0)

    def latest(self, partitions: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, int]:
        return {partition: 20 + 30 * partition.partition for partition in partitions}

    def ask_latest(self, partitions: Iterable[KafkaTopicPartition]) -> Any:
        ends = self.latest(partitions)

        class Answer:
            def here(self, seconds: float) -> bool:
                return True

            def result(self) -> dict[KafkaTopicPartition, int]:
                return ends

        return Answer()

    def answered(self) -> None:
        pass

    def close(self) -> None:
        pass


class _Topic:
    topics = ("t",)

    def found(self, topics: dict[str, int], servers: str) -> list[KafkaTopicPartition]:
        return [KafkaTopicPartition("t", number) for number in range(topics["t"])]


def kafka(directory: Path) -> Ordered:
    """Two partitions, each with a reader of its own."""
    earliest, latest = KafkaOffsetsInitializer.earliest(), KafkaOffsetsInitializer.latest()

    def create(parallelism: int) -> Enumerator:
        assign = EnumeratorSettings(parallelism + 1, LIMITS, None, 1.0, False)
        return KafkaEnumerator(_Cluster(), _Topic(), earliest, latest, assign)  # type: ignore[arg-type]

    return Ordered(create, lambda work: [time for _, _, start, end in work for time in range(start, end)], 70)


class _Topics:
    """The topics of a cluster."""

    subscription = _Topic()

    def create_enumerator(self, channels: int, limits: BatchLimits) -> KafkaEnumerator:
        earliest, latest = KafkaOffsetsInitializer.earliest(), KafkaOffsetsInitializer.latest()
        assign = EnumeratorSettings(channels, limits, None, 1.0, False)
        return KafkaEnumerator(_Cluster(), self.subscription, earliest, latest, assign)  # type: ignore[arg-type]


class _TwoClusters:
    discovery_ms, failure_threshold, ends = -1, 1, True

    def clusters(self, first: bool = False) -> dict[str, ClusterMetadata]:
        return dict.fromkeys(("a", "b"), ClusterMetadata(frozenset({"t"}), {"bootstrap.servers": "fake"}))

    def topics_of(self, cluster: ClusterMetadata) -> _Topics:
        return _Topics()

    def range_of(self, name: str, cluster: ClusterMetadata, part: tuple[str, int, int, int]) -> Any:
        return part


def two_clusters(directory: Path) -> Ordered:
    """Two partitions in each of two clusters, each with a reader of its own."""

    def create(parallelism: int) -> Enumerator:
        return DynamicKafkaEnumerator(_TwoClusters(), parallelism + 3, LIMITS)  # type: ignore[arg-type]

    return Ordered(create, lambda work: [time for _, _, start, end in work for time in range(start, end)], 140)


class _PulsarSession:
    """Two partitions, whose messages are entries of one ledger."""

    def __init__(self, scan: Any) -> None:
        pass

    def partitions(self) -> list[str]:
        return ["a", "b"]

    def start(self, topic: str) -> MessageKey:
        return EARLIEST

    def last(self, topic: str) -> MessageKey:
        return MessageKey(-1, 19 if topic == "a" else 49, -1)

    def stop(self, topic: str, at: MessageKey, last: MessageKey) -> MessageKey:
        return last


def pulsar(directory: Path) -> Ordered:
    """Two partitions, each with a reader of its own."""
    latest = Cursor(CursorKind.LATEST)
    scan = PulsarTopics(PulsarService("pulsar://fake"), ("t",), "s", Cursor(CursorKind.EARLIEST), latest)

    def create(parallelism: int) -> Enumerator:
        found = PulsarEnumerator(scan, parallelism + 1, LIMITS)
        found._session = _PulsarSession(scan)  # type: ignore[assignment]
        return found

    return Ordered(create, lambda work: [time for _, at, end in work for time in range(at[1] + 1, end[1] + 1)], 70)


class _KinesisService:
    """Two shards, the numbers of whose records are their times."""

    place = "fake"

    def __init__(self) -> None:
        shards = [Shard(name, [], is_closed=name == "a") for name in ("a", "b")]
        self.fake = FakeKinesis(*shards)
        for shard, count in zip(shards, (20, 50), strict=True):
            shard.records = [(number, number, b"x") for number in range(count)]

    def ask(self, target: str, reads: bool, request: Callable[[Any], Any]) -> Any:
        return request(self.fake)


def kinesis(directory: Path) -> Ordered:
    """Two shards, each with a reader of its own."""
    scan = KinesisStreams(_KinesisService(), ("orders",), "TRIM_HORIZON", True)  # type: ignore[arg-type]

    def times(work: Any) -> list[int]:
        return [time for part in work for time in range(int(part[3]), int(part[4]) + 1)]

    return Ordered(lambda parallelism: scan.create_enumerator(parallelism + 1, LIMITS), times, 70)


class _TwoSplits(SplitSource):
    def splits(self) -> list[str]:
        return ["a", "b"]

    def advance(self, split: str, position: int, limit: int) -> int:
        return min(position + limit, 40)

    def read_split(self, split: str, start: int, end: int) -> Iterable[int]:
        return range(start, end)

    def channels(self, parallelism: int) -> int:
        return parallelism + 1


class _SilentAtFirst(_TwoSplits):
    """The first of its splits has nothing to read until it has been looked at a few times."""

    bounded = False
    polls = 0

    def splits(self) -> list[str]:
        self.polls += 1
        return super().splits()

    def advance(self, split: str, position: int, limit: int) -> int:
        return position if split == "a" and self.polls < 5 else super().advance(split, position, limit)


class _FourReaders(NumberSequenceSource):
    def channels(self, parallelism: int) -> int:
        return 4


def hybrid(directory: Path) -> Ordered:
    return of_source(HybridSource([NumberSequenceSource(0, 59), NumberSequenceSource(60, 139)]), 140)


def hybrid_with_a_fixed_number(directory: Path) -> Ordered:
    """The number of readers stays, and that of the first source changes."""
    count = write_files(directory)
    first = FileSource(TextLineFormat(), [str(directory)])
    return of_source(HybridSource([_Numbers(first), _FourReaders(count, count + 30)]), count + 31)


class _Numbers(Source):
    """The lines of files, as numbers."""

    def __init__(self, lines: FileSource) -> None:
        self.lines = lines

    @property
    def produced_type(self) -> Any:
        return NumberSequenceSource(0, 1).produced_type

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        return self.lines.create_enumerator(parallelism, limits)

    def read(self, work: Any, sizer: ChunkSizer) -> Any:
        return self.lines.read(work, sizer)


CASES: dict[str, Callable[[Path], Ordered]] = {
    "files": files,
    "files that are split": lambda directory: files(directory, 20),
    "files that cannot be cut": whole_files,
    "files of a lake table": lake,
    "pieces of a table": pieces,
    "one piece, which is the whole of a table": lambda directory: Ordered(
        lambda parallelism: SplitEnumerator([None], parallelism), lambda work: [0 for _ in work], 1
    ),
    "parts of columns in memory": arrow,
    "partitions of a query": jdbc,
    "partitions of a topic": kafka,
    "partitions of topics in two clusters": two_clusters,
    "partitions of a topic of Pulsar": pulsar,
    "shards of a stream of Kinesis": kinesis,
    "numbers": lambda directory: of_source(NumberSequenceSource(0, 99), 100),
    "a collection": lambda directory: of_source(CollectionSource(list(range(3000))), 3000),
    "generated records": lambda directory: of_source(DataGeneratorSource(int, 100), 100),
    "splits of a user's source": lambda directory: of_source(_TwoSplits(), 80),
    "a split that is silent at first": lambda directory: of_source(_SilentAtFirst(), 80),
    "one source after the other": hybrid,
    "one source after the other, at a fixed number of readers": hybrid_with_a_fixed_number,
}

#: Enumerators without an order that a restore could change.
WITHOUT = {
    "_SocketEnumerator": "one reader",
    "ReceivingEnumerator": "one reader",
    "CdcEnumerator": "rows of tables have no order, and one reader has the log",
    "_PatientEnumerator": "a PositionEnumerator that waits for a server that is restarted",
    "_PipelineEnumerator": "a CdcEnumerator that knows the columns of its tables",
    "_SimulatedEnumerator": "simulations rescale it, tests/faults/test_simulated.py",
    "_OneBatch": "everything is assigned at once",
    "_Files": "everything is assigned at once, in BATCH",
}


class Reading:
    """Read a source, with restores in between."""

    def __init__(self, source: Ordered, parallelism: int) -> None:
        self.source, self.parallelism = source, parallelism
        self.enumerator = source.create(parallelism)
        #: the highest time of each reader; a reader that is not there has read nothing since the last restore
        self.watermarks: dict[int, int] = {}
        self.lowest = -1
        self.final: set[int] = set()
        self.seen: list[int] = []
        self.kinds: set[str] = set()

    def batch(self) -> int:
        """Read a batch; return the number of assignments."""
        for kind in (self.enumerator, getattr(self.enumerator, "_current", None)):
            self.kinds.add(type(kind).__name__)
        assignments = self.enumerator.next_batch()
        # a reader without an assignment since it is there does not hold the others' time back
        together = min((time for time in self.watermarks.values() if time < END), default=self.lowest)
        for each in assignments:
            assert each.channel not in self.final, "a reader that has ended got more"
            before = self.watermarks.get(each.channel, together)
            for time in self.source.times(pickle.loads(pickle.dumps(each.work))) if each.work is not None else ():
                assert time >= before, f"reader {each.channel} is at {before} and gets {time}: late"
                before = time
                self.seen.append(time)
            self.watermarks[each.channel] = END if each.final else before
            if each.final:
                self.final.add(each.channel)
        return len(assignments)

    def restore(self, parallelism: int) -> None:
        position = json.loads(json.dumps(self.enumerator.position()))
        channels = position.get("channels", len(position.get("pending", ()))) or self.parallelism
        self.enumerator = self.source.create(parallelism)
        self.enumerator.restore(position)
        after = self.enumerator.position()
        if (after.get("channels", len(after.get("pending", ()))) or parallelism) != channels:
            self.lowest = min([*self.watermarks.values()] or [self.lowest])
            self.watermarks, self.final = {}, set()
        self.parallelism = parallelism


@pytest.mark.parametrize("name", CASES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=cases(40))
@given(
    parallelism=st.integers(1, 4),
    restores=st.lists(st.tuples(st.integers(0, 4), st.integers(1, 4)), max_size=10),
)
@example(parallelism=3, restores=[(1, 2), (1, 1)])
@example(parallelism=2, restores=[(2, 3), (1, 2), (1, 4), (2, 1)])
@example(parallelism=1, restores=[(1, 2), (1, 1), (0, 2)])
def test_no_record_is_late_after_restores_at_other_parallelisms(
    tmp_path_factory: pytest.TempPathFactory, name: str, parallelism: int, restores: list[tuple[int, int]]
) -> None:
    source = CASES[name](tmp_path_factory.mktemp("source"))
    reading = Reading(source, parallelism)
    for batches, then in restores:
        for _ in range(batches):
            reading.batch()
        reading.restore(then)
    for _ in range(1000):
        if len(reading.seen) >= source.count:
            break
        reading.batch()
    assert len(reading.seen) == source.count


def test_every_enumerator_is_one_of_these(tmp_path_factory: pytest.TempPathFactory) -> None:
    for module in pkgutil.walk_packages(scurry.__path__, "scurry."):
        # Beam has an environment of its own
        if module.name != "scurry.__main__" and not module.name.startswith("scurry.beam."):
            importlib.import_module(module.name)
    tried = set(WITHOUT)
    for case in CASES.values():
        kinds = type(case(tmp_path_factory.mktemp("source")).create(1)).__mro__
        tried.update(kind.__name__ for kind in kinds)
    there, todo = set(), list(Enumerator.__subclasses__())
    while todo:
        kind = todo.pop()
        todo += kind.__subclasses__()
        if kind.__module__.startswith("scurry."):
            there.add(kind.__name__)
    assert there - tried == set()
