"""Tables and jobs of the dynamic source over clusters made of dicts: options, metadata, clusters that come and go."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from scurry.cli.program import run_program
from scurry.common import Configuration, Time, Types, WatermarkStrategy
from scurry.common._process.launch import LaunchOptions
from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.kafka.dynamic.metadata import (
    ClusterMetadata,
    FileMetadataService,
    KafkaMetadataService,
    KafkaStream,
)
from scurry.connectors.kafka.partitions import KafkaTopicPartition
from scurry.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from scurry.datastream.connectors.dynamic_kafka import DynamicKafkaSource, DynamicKafkaSourceBuilder
from scurry.datastream.connectors.kafka import KafkaOffsetsInitializer
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.errors import ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.docs.blocks import PAGES
from support.kafka.fake_cluster import FakeCluster, replace_clusters
from support.statements.tables import rows

COLUMNS = "v STRING, c STRING METADATA FROM 'kafka_cluster' VIRTUAL, o BIGINT METADATA FROM 'offset' VIRTUAL"
#: What Flink needs of a table with one cluster.
SINGLE = {
    "connector": "dynamic-kafka",
    "stream-ids": "t",
    "metadata-service": "single-cluster",
    "metadata-service.cluster-id": "east",
    "properties.bootstrap.servers": "east:1",
    "scan.startup.mode": "earliest-offset",
    "scan.bounded.mode": "latest-offset",
    "format": "raw",
}


class Shop(KafkaMetadataService):
    """A service as a table names it."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self.east = properties["client.rack"]

    def get_all_streams(self) -> Collection[KafkaStream]:
        clusters = {
            "east": ClusterMetadata(frozenset({self.east}), {"bootstrap.servers": "east:1"}),
            "west": ClusterMetadata(frozenset({"u"}), {"bootstrap.servers": "west:1"}),
        }
        return [KafkaStream("shop", clusters)]


class Nothing(KafkaMetadataService):
    def get_all_streams(self) -> Collection[KafkaStream]:
        return []


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch) -> dict[str, FakeCluster]:
    made = {
        "east": FakeCluster({KafkaTopicPartition("t", 0): 2}),
        "west": FakeCluster({KafkaTopicPartition("u", 0): 1}),
    }
    replace_clusters(
        monkeypatch,
        lambda servers: made[servers.partition(":")[0]],
        lambda servers, place, at: f"{servers[0]}{at}".encode(),
    )
    return made


@pytest.fixture
def env() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.get_config().set("scurry.runner", "local")
    return made


def define(env: TableEnvironment, options: Mapping[str, str | None], columns: str = COLUMNS) -> None:
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in options.items() if value is not None)
    env.execute_sql(f"CREATE TABLE t ({columns}) WITH ({listed})")


def test_a_table_of_one_cluster_has_its_id_as_metadata(env: TableEnvironment, clusters: dict[str, FakeCluster]) -> None:
    define(env, SINGLE)
    assert rows(env, "SELECT * FROM t") == [("e0", "east", 0), ("e1", "east", 1)]


def test_a_pattern_reads_all_topics_that_match(env: TableEnvironment, clusters: dict[str, FakeCluster]) -> None:
    clusters["east"].ends[KafkaTopicPartition("tt", 0)] = 1
    clusters["east"].starts[KafkaTopicPartition("tt", 0)] = 0
    clusters["east"].ends[KafkaTopicPartition("__offsets", 0)] = 1
    define(env, {**SINGLE, "stream-ids": None, "stream-pattern": "t+"}, COLUMNS + ", topic STRING METADATA VIRTUAL")
    assert {row[3] for row in rows(env, "SELECT * FROM t")} == {"t", "tt"}


def test_a_service_may_be_a_class_of_python(env: TableEnvironment, clusters: dict[str, FakeCluster]) -> None:
    service = {"stream-ids": "shop", "metadata-service": f"{__name__}.Shop", "properties.client.rack": "t"}
    define(env, {**SINGLE, **service, "metadata-service.cluster-id": None, "properties.bootstrap.servers": None})
    assert rows(env, "SELECT * FROM t") == [("e0", "east", 0), ("e1", "east", 1), ("w0", "west", 0)]


def test_a_service_may_be_a_file(env: TableEnvironment, clusters: dict[str, FakeCluster], tmp_path: Path) -> None:
    write(tmp_path / "streams.json", {"east": "t", "west": "u"})
    path = str(tmp_path / "streams.json")
    service = {"stream-ids": "s", "metadata-service": "file", "metadata-service.path": path}
    define(env, {**SINGLE, **service, "metadata-service.cluster-id": None, "properties.bootstrap.servers": None})
    assert {row[1] for row in rows(env, "SELECT * FROM t")} == {"east", "west"}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"metadata-service": None}, "metadata-service"),
        ({"stream-ids": None}, "Either 'stream-ids' or 'stream-pattern' must be set."),
        ({"stream-pattern": "x"}, "Option 'stream-ids' and 'stream-pattern' shouldn't be set together."),
        ({"stream-ids": ";"}, "Option 'stream-ids' cannot be empty."),
        ({"stream-ids": None, "stream-pattern": "("}, "contains an invalid regular expression."),
        (
            {"metadata-service.cluster-id": None},
            "Option 'metadata-service.cluster-id' is required for 'single-cluster' metadata service.",
        ),
        (
            {"properties.bootstrap.servers": None},
            "Option 'properties.bootstrap.servers' is required for 'single-cluster' metadata service.",
        ),
        ({"metadata-service": "file"}, "Option 'metadata-service.path' is required for 'file' metadata service."),
        ({"metadata-service": "com.shop.Service"}, "neither 'single-cluster' nor 'file', and no class of Python"),
        ({"metadata-service": "Service"}, "neither 'single-cluster' nor 'file', and no class of Python"),
        ({"metadata-service": "pathlib.Path"}, "is no subclass of KafkaMetadataService."),
        (
            {"scan.startup.mode": "specific-offsets"},
            "Dynamic Kafka source does not support 'specific-offsets' startup mode.",
        ),
        (
            {"scan.bounded.mode": "specific-offsets"},
            "Dynamic Kafka source does not support 'specific-offsets' bounded mode.",
        ),
        ({"scan.startup.mode": None}, "Property group.id is required"),
        ({"properties.fetch.min.byte": "1"}, "No such configuration property"),
        ({"stream-metadata-discovery-interval-ms": "1 s"}, "Could not parse value '1 s'"),
    ],
)
def test_options_are_checked_as_flinks_connector_does(
    env: TableEnvironment, changed: dict[str, str | None], message: str
) -> None:
    define(env, {**SINGLE, **changed})
    with pytest.raises(ValidationError) as caught:
        env.execute_sql("SELECT * FROM t")
    assert message in str(caught.value)


def test_a_service_without_arguments_is_made_without(env: TableEnvironment) -> None:
    define(env, {**SINGLE, "stream-ids": None, "stream-pattern": ".*", "metadata-service": f"{__name__}.Nothing"})
    assert rows(env, "SELECT * FROM t") == []


def test_it_is_no_sink(env: TableEnvironment) -> None:
    define(env, SINGLE, "v STRING")
    with pytest.raises(ValidationError, match="'dynamic-kafka' can only be used as a source"):
        env.execute_sql("INSERT INTO t VALUES ('a')")


def write(path: Path, clusters: Mapping[str, str]) -> None:
    """Let a file of metadata have one stream, `s`, in topics of clusters, from one moment to the next."""
    listed = [{"clusterId": name, "bootstrapServers": f"{name}:1", "topics": [it]} for name, it in clusters.items()]
    path.with_suffix(".new").write_text(json.dumps([{"streamId": "s", "clusterMetadataList": listed}]))
    path.with_suffix(".new").replace(path)


def source(path: Path) -> DynamicKafkaSourceBuilder:
    return (
        DynamicKafkaSource.builder()
        .set_kafka_metadata_service(FileMetadataService(path))
        .set_stream_ids({"s"})
        .set_property("stream-metadata-discovery-interval-ms", "20")
        .set_value_only_deserializer(SimpleStringSchema())
    )


def take(results: Iterator[Any], count: int) -> list[Any]:
    return sorted(next(results) for _ in range(count))


def streaming() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))


@pytest.mark.timeout(60)
def test_a_job_reads_clusters_that_come_and_go(clusters: dict[str, FakeCluster], tmp_path: Path) -> None:
    path = tmp_path / "streams.json"
    write(path, {"east": "t"})
    stream = streaming().from_source(source(path).build(), WatermarkStrategy.no_watermarks(), "s")
    with stream.execute_and_collect() as results:
        assert take(results, 2) == ["e0", "e1"]
        write(path, {"east": "t", "west": "u"})
        assert take(results, 1) == ["w0"]
        write(path, {"west": "u"})
        clusters["west"].ends[KafkaTopicPartition("u", 0)] = 3
        assert take(results, 2) == ["w1", "w2"]


#: How many records of each cluster were mapped.
FIRST_LETTERS: Counter[str] = Counter()


def paired(text: str) -> tuple[str, int]:
    FIRST_LETTERS[text[0]] += 1
    return text[0], 1


@pytest.mark.timeout(60)
def test_a_cluster_that_is_removed_does_not_hold_event_time_back(
    clusters: dict[str, FakeCluster], tmp_path: Path
) -> None:
    clusters["west"].ends[KafkaTopicPartition("u", 0)] = 2001
    path = tmp_path / "streams.json"
    write(path, {"east": "t", "west": "u"})
    built = source(path).set_property("scurry.channels", "2").build()
    records = streaming().from_source(built, WatermarkStrategy.for_monotonous_timestamps(), "s")
    FIRST_LETTERS.clear()
    pairs = records.map(paired, output_type=Types.TUPLE([Types.STRING(), Types.INT()]))
    windows = pairs.key_by(lambda pair: pair[0]).window(TumblingEventTimeWindows.of(Time.milliseconds(1000)))
    counts = windows.reduce(lambda one, other: (one[0], one[1] + other[1]))
    with counts.execute_and_collect() as results:
        while FIRST_LETTERS["e"] < 2:
            time.sleep(0.01)
        write(path, {"west": "u"})
        found = take(results, 3)
    assert found == [("e", 2), ("w", 1000), ("w", 1000)]


def test_a_bounded_source_is_read_in_batch(clusters: dict[str, FakeCluster], tmp_path: Path) -> None:
    path = tmp_path / "streams.json"
    write(path, {"east": "t", "west": "u"})
    env = streaming()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    built = source(path).set_bounded(KafkaOffsetsInitializer.latest()).build()
    with env.from_source(built, WatermarkStrategy.no_watermarks(), "s").execute_and_collect() as results:
        assert sorted(results) == ["e0", "e1", "w0"]


def test_the_page_is_right(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page = PAGES["connectors/dynamic-kafka.md"]
    (metadata,) = re.findall(r"^```json\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (program,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "streams.json").write_text(metadata)
    (tmp_path / "program.py").write_text(program)
    made = {
        "east": FakeCluster({KafkaTopicPartition("orders", 0): 2}),
        "west": FakeCluster({KafkaTopicPartition(topic, 0): 1 for topic in ("orders-eu", "orders-uk")}),
    }
    replace_clusters(
        monkeypatch,
        lambda servers: made[servers.partition(":")[0]],
        lambda servers, place, at: f"{servers} {place.topic} {at}".encode(),
    )
    monkeypatch.chdir(tmp_path)
    status = run_program(tmp_path / "program.py", [], LaunchOptions(runner="local", parallelism=1), debug=False)
    shown = capfd.readouterr()
    assert status == 0, shown.err
    assert sorted(shown.out.splitlines()) == [
        "east:9092 orders 0",
        "east:9092 orders 1",
        "west:9092 orders-eu 0",
        "west:9092 orders-uk 0",
    ]
