"""The dynamic source on two real brokers: streams that move between them, and a job that is killed meanwhile.

`SCURRY_KILLS` says how often it is killed (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from scurry.common import WatermarkStrategy
from scurry.common.serialization import SimpleStringSchema
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.dynamic_kafka import (
    DynamicKafkaSource,
    FileMetadataService,
    SingleClusterTopicMetadataService,
)
from scurry.datastream.connectors.kafka import KafkaOffsetsInitializer
from scurry.errors import SourceNotFoundError
from scurry.table import EnvironmentSettings, TableEnvironment
from support import TESTS
from support.faults.job_directory import Place
from support.kafka.broker import Kafka
from support.kafka.killed_job import KilledJob, count
from support.statements.tables import rows

pytestmark = [pytest.mark.kafka, pytest.mark.nightly]

Environments = Callable[..., StreamExecutionEnvironment]
PROGRAM = TESTS / "support" / "kafka" / "programs" / "copy_streams.py"


@pytest.fixture(scope="module")
def other(kafka: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """A second broker; its topics have other names than those of the first."""
    made = Kafka(tmp_path_factory.mktemp("other"))
    made.broker.start()
    yield made
    made.broker.stop()


def describe(path: Path, stream: str, clusters: Mapping[str, tuple[Kafka, str]]) -> None:
    """Say in a file, from one moment to the next, in which topics of which clusters a stream lies."""
    listed = [
        {"clusterId": name, "bootstrapServers": broker.address, "topics": [topic]}
        for name, (broker, topic) in clusters.items()
    ]
    new = path.with_suffix(".new")
    new.write_text(json.dumps([{"streamId": stream, "clusterMetadataList": listed}]))
    new.replace(path)


def take(results: Iterator[Any], number: int) -> list[Any]:
    return sorted(next(results) for _ in range(number))


@pytest.mark.timeout(180)
def test_a_job_follows_a_stream_from_broker_to_broker(
    kafka: Kafka, other: Kafka, env_of: Environments, tmp_path: Path
) -> None:
    here, there, path = kafka.topic(2), other.topic(2, "there"), tmp_path / "streams.json"
    kafka.write(here, ["a", "b"])
    kafka.write(here, ["c"], partition=1)
    describe(path, "s", {"east": (kafka, here)})
    source = (
        DynamicKafkaSource.builder()
        .set_kafka_metadata_service(FileMetadataService(path))
        .set_stream_ids({"s"})
        .set_group_id("following")
        .set_property("stream-metadata-discovery-interval-ms", "100")
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )
    stream = env_of().from_source(source, WatermarkStrategy.no_watermarks(), "s")
    with stream.execute_and_collect() as results:
        assert take(results, 3) == ["a", "b", "c"]
        other.write(there, ["d", "e"])
        describe(path, "s", {"east": (kafka, here), "west": (other, there)})
        assert take(results, 2) == ["d", "e"]
        kafka.write(here, ["f"])
        assert take(results, 1) == ["f"]
        describe(path, "s", {"west": (other, there)})
        other.write(there, ["g"], partition=1)
        assert take(results, 1) == ["g"]
    assert other.group("following") != {}


def test_topics_of_a_cluster_are_streams(kafka: Kafka, env_of: Environments) -> None:
    first, second = kafka.topic(prefix="single"), kafka.topic(prefix="single")
    kafka.write(first, ["a"])
    kafka.write(second, ["b"])
    builder = DynamicKafkaSource.builder().set_value_only_deserializer(SimpleStringSchema())
    builder.set_kafka_metadata_service(
        SingleClusterTopicMetadataService("east", {"bootstrap.servers": kafka.address})
    ).set_bounded(KafkaOffsetsInitializer.latest())
    source = builder.set_stream_pattern(r"single-\d+").build()
    for mode in ("STREAMING", "BATCH"):
        stream = env_of(mode).from_source(source, WatermarkStrategy.no_watermarks(), "s")
        with stream.execute_and_collect() as results:
            assert sorted(results) == ["a", "b"]


def test_a_topic_that_there_is_not_is_an_error_that_names_the_closest_one(kafka: Kafka, env_of: Environments) -> None:
    topic = kafka.topic()
    service = SingleClusterTopicMetadataService("east", {"bootstrap.servers": kafka.address})
    builder = DynamicKafkaSource.builder().set_kafka_metadata_service(service).set_stream_ids({f"{topic}x"})
    source = builder.set_value_only_deserializer(SimpleStringSchema()).build()
    with pytest.raises(SourceNotFoundError, match=f"did you mean '{topic}'"):
        env = env_of()
        env.from_source(source, WatermarkStrategy.no_watermarks(), "s").print()
        env.execute()


def test_a_table_of_two_brokers_has_their_ids(kafka: Kafka, other: Kafka, tmp_path: Path) -> None:
    here, there, path = kafka.topic(), other.topic(prefix="table"), tmp_path / "streams.json"
    kafka.write(here, ['{"n": 1}'])
    other.write(there, ['{"n": 2}'])
    describe(path, "s", {"east": (kafka, here), "west": (other, there)})
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("scurry.runner", "local")
    env.execute_sql(
        "CREATE TABLE t (n INT, c STRING METADATA FROM 'kafka_cluster' VIRTUAL, topic STRING METADATA VIRTUAL) WITH ("
        f"'connector' = 'dynamic-kafka', 'metadata-service' = 'file', 'metadata-service.path' = '{path}', "
        "'stream-ids' = 's', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset', "
        "'scan.bounded.mode' = 'latest-offset')"
    )
    assert rows(env, "SELECT * FROM t") == [(1, "east", here), (2, "west", there)]


#: A broker is killed with the second job, and with every seventh after it.
KILLS_PER_BROKER = 7


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc")
@pytest.mark.parametrize("options", [["--runner", "local"], ["--master", "local[2]"]], ids=["local", "spark"])
def test_every_record_is_copied_once_though_the_job_is_killed_while_its_stream_moves(
    kafka: Kafka, other: Kafka, tmp_path: Path, options: list[str]
) -> None:
    kills = count("SCURRY_KILLS", 20)
    chance = random.Random(int(os.environ.get("SCURRY_SEED", str(random.SystemRandom().randrange(10**6)))))
    here, there, target = kafka.topic(2), other.topic(2, "moved"), kafka.topic()
    path, place = tmp_path / "streams.json", Place.new(tmp_path, 1, tmp_path)
    describe(path, "numbers", {"east": (kafka, here)})
    job = KilledJob(place, [str(path), kafka.address, target, str(place.checkpoints)], options, PROGRAM)
    written: list[str] = []

    def write(broker: Kafka, topic: str, number: int) -> None:
        values = [f"{len(written) + each:06}" for each in range(number)]
        broker.write(topic, values, partition=chance.randrange(2))
        written.extend(values)

    run = job.start()
    for kill in range(kills):
        write(kafka, here, 100)
        if kill >= kills // 2:
            describe(path, "numbers", {"east": (kafka, here), "west": (other, there)})
            write(other, there, 100)
        assert job.goes_on_for(run, 1, chance.uniform(0, 0.5)), place.log.read_text()[-4000:]
        if kill % KILLS_PER_BROKER == 1:
            broker = (other if kill >= kills // 2 and chance.random() < 0.5 else kafka).broker
            broker.kill()
            broker.start()
        run.kill()
        run = job.start()
    give_up = time.monotonic() + 120
    while len(kafka.read(target)) < len(written):
        assert time.monotonic() < give_up, place.log.read_text()[-4000:]
        time.sleep(0.5)
    run.kill()
    assert kafka.read(target) == sorted(written)
