"""Sources of messages have Flink's metrics of lags (FLIP-33), by one implementation that every system goes through."""

from __future__ import annotations

import importlib
import pkgutil
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scurry.common import Configuration, WatermarkStrategy
from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.messages import MessageSource
from scurry.datastream import StreamExecutionEnvironment, connectors
from scurry.datastream.connectors.kafka import KafkaOffsetsInitializer
from scurry.datastream.connectors.log import FileLog, FileLogSource
from scurry.runtime.exchange.wire import MIN_TIME
from scurry.runtime.tasks.source_lags import SourceLags
from scurry.sql.connectors.factories import CONNECTORS
from scurry.sql.connectors.messages.factory import MessageFactory
from scurry.table import EnvironmentSettings, TableEnvironment

LAGS = ("currentFetchEventTimeLag", "currentEmitEventTimeLag")
LATE_MS = 3_600_000


def by_name(metrics: dict[str, Any], source: str) -> dict[str, int]:
    return {name.rpartition(".")[2]: value for name, value in metrics.items() if name.startswith(source)}


@pytest.fixture
def log(tmp_path: Path) -> str:
    made = FileLog(str(tmp_path / "log"))
    made.create_topic("late")
    then = int(time.time() * 1000) - LATE_MS
    for text in (b"1", b"2"):
        made.append("late", [text], timestamps=[then])
    return made.path


def test_a_stream_has_them(log: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))
    builder = FileLogSource.builder().set_path(log).set_topics("late").set_value_only_deserializer(SimpleStringSchema())
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    builder = builder.set_starting_offsets(KafkaOffsetsInitializer.earliest())
    source = builder.set_bounded(KafkaOffsetsInitializer.latest()).build()
    stream = env.from_source(source, strategy, "late")
    stream.map(str).print()
    found = by_name(env.execute().get_metrics(), "late")
    for name in (*LAGS, "watermarkLag"):
        assert LATE_MS <= found[name] < LATE_MS + 600_000, name
    assert found["currentFetchEventTimeLag"] <= found["currentEmitEventTimeLag"]
    assert found["sourceIdleTime"] >= 0


def test_a_table_has_them(log: str) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    where = f"'connector' = 'log', 'path' = '{log}', 'topic' = 'late', 'scan.startup.mode' = 'earliest-offset'"
    env.execute_sql(f"CREATE TABLE t (n INT) WITH ({where}, 'format' = 'csv', 'scan.bounded.mode' = 'latest-offset')")
    env.execute_sql("CREATE TABLE s (n INT) WITH ('connector' = 'blackhole')")
    result = env.execute_sql("INSERT INTO s SELECT n FROM t")
    result.wait()
    job: Any = result.get_job_client()
    found = by_name(job.get_metrics().result(), "TableSourceScan")
    for name in LAGS:
        assert LATE_MS <= found[name] < LATE_MS + 600_000, name


def loaded(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


#: The factories of all tables of messages, but one that only writes.
FACTORIES = {name: loaded(place) for name, place in CONNECTORS.items() if name != "firehose"}
MESSAGES = [name for name, factory in FACTORIES.items() if issubclass(factory, MessageFactory)]


@pytest.mark.parametrize("connector", MESSAGES)
def test_every_table_of_messages_goes_through_it(connector: str) -> None:
    assert FACTORIES[connector].create_source is MessageFactory.create_source
    assert {"kafka", "kinesis", "nats", "redis-stream", "pulsar", "mqtt", "rabbitmq", "pubsub"} <= set(MESSAGES)


def stream_sources() -> dict[str, type[MessageSource]]:
    """All sources of messages that programs may import."""
    names = [each.name for each in pkgutil.iter_modules(connectors.__path__) if not each.name.startswith("_")]
    modules = [importlib.import_module(f"{connectors.__name__}.{name}") for name in names]
    members = [(name, each) for module in modules for name, each in vars(module).items() if isinstance(each, type)]
    return {name: each for name, each in members if issubclass(each, MessageSource) and each is not MessageSource}


@pytest.mark.parametrize("name", sorted(stream_sources()))
def test_every_stream_of_messages_goes_through_it(name: str) -> None:
    source = stream_sources()[name]
    assert source.read is MessageSource.read
    assert source._blocks is MessageSource._blocks


def test_lags_are_those_of_the_last_record() -> None:
    now = [1000]
    lags = SourceLags(lambda: now[0])
    lags.fetched(400)
    now[0] = 1100
    lags.emitted(None)  # rows of a table
    assert lags.values() == {"currentFetchEventTimeLag": 600, "currentEmitEventTimeLag": 700}
    lags.begin()
    lags.fetched(-1)  # Kafka's messages without a time
    lags.emitted([MIN_TIME])
    assert lags.values() == {}
    lags.emitted([900, 1050])
    lags.advanced([SimpleNamespace(last=1000), SimpleNamespace(last=MIN_TIME)])
    assert lags.values() == {"currentEmitEventTimeLag": 50}
    lags.advanced([SimpleNamespace(last=1000)])
    assert lags.values() == {"watermarkLag": 100}
