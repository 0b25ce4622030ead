"""Scenarios of `examples/scenarios` on topics: stopped while producers go on, started again, asked meanwhile."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Types, WatermarkStrategy
from scurry.common.serialization import SimpleStringSchema
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.datastream.connectors import DeliveryGuarantee
from scurry.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from support import TESTS
from support.faults.standalone_cluster import wait_until
from support.kafka.broker import Kafka

pytestmark = pytest.mark.kafka

LIMIT = 500


@pytest.fixture
def scenario(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    monkeypatch.syspath_prepend(str(TESTS.parent / "examples" / "scenarios"))
    return importlib.import_module


def lines(env: StreamExecutionEnvironment, kafka: Kafka, topic: str) -> DataStream[str]:
    builder = KafkaSource.builder().set_bootstrap_servers(kafka.address).set_topics(topic).set_group_id(topic)
    builder.set_starting_offsets(KafkaOffsetsInitializer.earliest())
    source = builder.set_value_only_deserializer(SimpleStringSchema()).build()
    return env.from_source(source, WatermarkStrategy.no_watermarks(), topic, Types.STRING()).uid(topic)


def write(results: DataStream[str], kafka: Kafka, topic: str) -> None:
    schema = KafkaRecordSerializationSchema.builder().set_topic(topic)
    schema.set_value_serialization_schema(SimpleStringSchema())
    builder = KafkaSink.builder().set_bootstrap_servers(kafka.address).set_record_serializer(schema.build())
    results.sink_to(builder.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).build())


def test_a_job_catches_up_with_what_was_produced_while_it_was_down(
    kafka: Kafka, env_of: Callable[..., StreamExecutionEnvironment], scenario: Callable[[str], Any], tmp_path: Path
) -> None:
    visits, counts = kafka.topic(2), kafka.topic()
    catching_up = scenario("catching_up")

    def start() -> Any:
        env = env_of(execution_checkpointing_dir=tmp_path, scurry_batch_max__records=LIMIT)
        env.set_parallelism(2)
        counted = lines(env, kafka, visits).key_by(lambda user: user).process(catching_up.Count(), Types.STRING())
        write(counted.uid("count"), kafka, counts)
        return env.execute_async("catching up")

    def produce(number: int) -> None:
        for partition, user in enumerate(("ann", "bob")):
            kafka.write(visits, [user] * (number // 2), partition)

    produce(100)
    job = start()
    wait_until(lambda: catching_up.records_read(job) == 100, "the first visits are counted")
    job.cancel().result()
    produce(6_000)
    begun = time.monotonic()
    job = start()
    wait_until(lambda: catching_up.records_read(job) == 6_000, "the job has caught up")
    seconds = time.monotonic() - begun
    lags = catching_up.lags(job, 6_000)
    assert job.query_state("count", "count", "ann").result() == 3_050
    job.cancel().result()
    print(f"lag {lags}, drained in {seconds:.1f} s, {6_000 / seconds:,.0f} records/s")
    assert max(before - after for before, after in zip([6_000, *lags], lags, strict=False)) <= LIMIT
    assert lags[-1] == 0
    assert kafka.read(counts) == sorted(f"{user} {count}" for user in ("ann", "bob") for count in range(1, 3_051))


def test_rules_that_change_hold_for_payments_of_a_job_that_is_started_again(
    kafka: Kafka, env_of: Callable[..., StreamExecutionEnvironment], scenario: Callable[[str], Any], tmp_path: Path
) -> None:
    payments, rules, alerts = kafka.topic(), kafka.topic(), kafka.topic()
    fraud_rules = scenario("fraud_rules")

    def start() -> Any:
        env = env_of(execution_checkpointing_dir=tmp_path)
        env.set_parallelism(1)
        write(fraud_rules.alerts(lines(env, kafka, payments), lines(env, kafka, rules)), kafka, alerts)
        return env.execute_async("fraud rules")

    kafka.write(rules, ["limit,100"])
    job = start()
    wait_until(lambda: fraud_rules.records_read(job) == 1, "the rule is known")
    kafka.write(payments, ["card 1,80", "card 2,60", "card 1,40"])
    wait_until(lambda: fraud_rules.records_read(job) == 4, "payments are read")
    assert job.query_state("detector", "spent", "card 2").result() == 60
    job.cancel().result()
    kafka.write(rules, ["limit,200"])
    job = start()
    wait_until(lambda: fraud_rules.records_read(job) == 1, "the changed rule is known")
    kafka.write(payments, ["card 1,30", "card 1,80"])
    wait_until(lambda: fraud_rules.records_read(job) == 3, "later payments are read")
    job.cancel().result()
    assert kafka.read(alerts) == ["card 1: limit, spent 120 of 100", "card 1: limit, spent 230 of 200"]
