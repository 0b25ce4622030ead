"""A Kafka cluster that does not answer: a line while it is waited for, then which source needs it."""

from __future__ import annotations

import logging
import re

import pytest

from scurry.common import Configuration
from scurry.common.serialization import SimpleStringSchema
from scurry.common.watermark_strategy import WatermarkStrategy
from scurry.connectors.kafka import client, cluster
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.kafka import KafkaSource
from scurry.errors import SourceConnectionError

pytest.importorskip("confluent_kafka")


def reading_from(servers: str) -> StreamExecutionEnvironment:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))
    builder = KafkaSource.builder().set_bootstrap_servers(servers).set_topics("orders")
    source = builder.set_value_only_deserializer(SimpleStringSchema()).build()
    env.from_source(source, WatermarkStrategy.no_watermarks(), "orders").print()
    return env


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> tuple[str, list[str]]:
    """The error of a job whose broker does not answer, and what was logged meanwhile."""
    monkeypatch.setattr(cluster, "FIRST_ANSWER_SECONDS", 3.0)
    monkeypatch.setattr(client, "SILENCE_SECONDS", 0.2)
    with caplog.at_level(logging.WARNING, logger="scurry"), pytest.raises(SourceConnectionError) as caught:
        reading_from("127.0.0.1:1").execute("doomed")
    return caught.value.report(), [record.getMessage() for record in caplog.records]


def test_the_source_and_the_users_lines_are_named_and_the_wait_is_announced_once(report: tuple[str, list[str]]) -> None:
    text, logged = report
    first, source, place = text.splitlines()
    assert first == (
        "the Kafka cluster at 127.0.0.1:1 cannot be read: 127.0.0.1:1/bootstrap: Connect to ipv4#127.0.0.1:1 failed: "
        "Connection refused; is a broker running there, and can this machine reach it?"
    )
    assert re.match(r"  in source 'orders' built at .*test_unreachable_broker\.py:\d+: env\.from_source\(", source), (
        text
    )
    assert re.search(r"test_unreachable_broker\.py:\d+: reading_from\(.*execute", place), text
    assert logged == ["waiting up to 3 s for the Kafka broker 127.0.0.1:1"]


def test_without_logging_configured_the_wait_is_announced_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(logging.getLogger("scurry.kafka"), "propagate", False)
    client.announce_wait("127.0.0.1:1", 15.0)
    assert capsys.readouterr().err == "waiting up to 15 s for the Kafka broker 127.0.0.1:1\n"
