"""Topics and partitions of an alignment group whose records are a year apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scurry.common import Duration, Types, WatermarkStrategy
from scurry.common.serialization import SimpleStringSchema
from scurry.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from scurry.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaSource
from scurry.datastream.state import ValueStateDescriptor
from support.kafka.broker import Kafka

pytestmark = pytest.mark.kafka

YEAR = 365 * 24 * 3600 * 1000
DRIFT, RECORDS = 60_000, 4_000
#: Milliseconds between the records of a partition.
STEP = 100
#: Records of a partition within the drift, and those that are read before its event time per record is known.
FITTING, TRIAL = DRIFT // STEP, 2 * 16


class Waiting(KeyedProcessFunction):
    """Keep records until their time has come; each emits how many wait."""

    def open(self, context: RuntimeContext) -> None:
        self.number = context.get_state(ValueStateDescriptor("number", Types.LONG()))

    def process_element(self, value: Any, context: Any) -> Iterator[int]:
        number = (self.number.value() or 0) + 1
        self.number.update(number)
        context.timer_service().register_event_time_timer(context.timestamp() + number % 7)
        yield number

    def on_timer(self, timestamp: int, context: Any) -> Iterator[int]:
        self.number.update((self.number.value() or 0) - 1)
        yield from ()


def source(kafka: Kafka, *topics: str) -> Any:
    builder = KafkaSource.builder().set_bootstrap_servers(kafka.address).set_topics(*topics)
    return (
        builder.set_value_only_deserializer(SimpleStringSchema()).set_bounded(KafkaOffsetsInitializer.latest()).build()
    )


@pytest.mark.parametrize("as_one", [True, False])
def test_what_is_a_year_ahead_waits_outside_of_the_job(
    kafka: Kafka, env_of: Callable[..., StreamExecutionEnvironment], as_one: bool
) -> None:
    topics = [kafka.topic(), kafka.topic()]
    for number, topic in enumerate(topics):
        kafka.write(topic, ["x"] * RECORDS, first_timestamp=1_000_000 + number * YEAR, step=STEP)
    env = env_of()
    env.set_parallelism(1)
    strategy: Any = WatermarkStrategy.for_monotonous_timestamps()
    strategy = strategy.with_watermark_alignment("g", Duration.of_millis(DRIFT), Duration.of_millis(200))
    sources = [source(kafka, *topics)] if as_one else [source(kafka, each) for each in topics]
    streams = [env.from_source(each, strategy, f"topic {number}") for number, each in enumerate(sources)]
    stream = streams[0] if as_one else streams[0].union(streams[1])
    with stream.key_by(lambda _: 0).process(Waiting(), Types.LONG()).execute_and_collect() as results:
        waiting = list(results)
    assert len(waiting) == 2 * RECORDS
    assert max(waiting) <= FITTING * 1.2 + TRIAL
