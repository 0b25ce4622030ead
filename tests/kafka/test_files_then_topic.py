"""HybridSource with a topic behind files: where the topic is taken up."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Time, Types, WatermarkStrategy
from scurry.common.serialization import SimpleStringSchema
from scurry.common.watermark_strategy import TimestampAssigner
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import FileSource, HybridSource, StreamFormat
from scurry.datastream.connectors.hybrid_source import SourceSwitchContext
from scurry.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaSource, KafkaTopicPartition
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.errors import SourceNotFoundError
from scurry.testing import plan_of
from support.kafka.broker import Kafka

pytestmark = pytest.mark.kafka

Environments = Callable[..., StreamExecutionEnvironment]

#: A reading for every 10 ms; the files end here, in the middle of a window of a second.
SWITCH, END = 5500, 9000


class Milliseconds(TimestampAssigner):
    def extract_timestamp(self, value: str, record_timestamp: int) -> int:
        return int(value)


@pytest.fixture
def history(tmp_path: Path) -> FileSource:
    directory = tmp_path / "history"
    directory.mkdir()
    for end in (3000, SWITCH):
        numbers = range(1000 if end == 3000 else 3000, end, 10)
        (directory / f"{end}.txt").write_text("".join(f"{number}\n" for number in numbers))
    return FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(directory)).build()


@pytest.fixture
def topic(kafka: Kafka) -> str:
    """Two partitions with all readings from 2000 on, also those that are in the files."""
    name = kafka.topic(2)
    for partition in range(2):
        numbers = range(2000 + partition * 10, END, 20)
        kafka.write(name, [str(number) for number in numbers], partition, first_timestamp=numbers[0], step=20)
    return name


def live(address: str, topic: str, start: KafkaOffsetsInitializer) -> KafkaSource:
    builder = KafkaSource.builder().set_bootstrap_servers(address).set_topics(topic).set_starting_offsets(start)
    builder.set_value_only_deserializer(SimpleStringSchema())
    return builder.set_bounded(KafkaOffsetsInitializer.latest()).build()


def by_position(address: str, topic: str) -> Any:
    skipped = (SWITCH - 2000) // 20
    return live(address, topic, KafkaOffsetsInitializer.offsets({
        KafkaTopicPartition(topic, partition): skipped for partition in range(2)
    }))  # fmt: skip


def by_time(address: str, topic: str) -> Any:
    return live(address, topic, KafkaOffsetsInitializer.timestamp(SWITCH))


def by_function(address: str, topic: str) -> Any:
    def make(context: SourceSwitchContext) -> KafkaSource:
        _, newest = context.previous_position["newest"]
        return live(address, topic, KafkaOffsetsInitializer.timestamp(int(Path(newest).stem)))

    return make


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize("second", [by_position, by_time, by_function])
def test_every_reading_is_counted_once_in_windows_that_span_the_switch(
    kafka: Kafka, env_of: Environments, history: FileSource, topic: str, second: Callable[..., Any], mode: str
) -> None:
    builder, after = HybridSource.builder(history), second(kafka.address, topic)
    if second is by_function:
        builder.add_source(after, bounded=True, channels=2)
    else:
        builder.add_source(after)
    env = env_of(mode, **{"scurry_batch_max__records": 70, "scurry_batch_max__bytes": 300})
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Milliseconds())
    stream = env.from_source(builder.build(), strategy, "history, then live")
    pairs = stream.map(lambda value: (int(value) // 1000, 1), output_type=Types.TUPLE([Types.INT(), Types.INT()]))
    windows = pairs.key_by(lambda pair: pair[0]).window(TumblingEventTimeWindows.of(Time.seconds(1)))
    with windows.reduce(lambda one, other: (one[0], one[1] + other[1])).execute_and_collect() as results:
        assert sorted(results) == [(second, 100) for second in range(1, 9)]


def test_a_missing_topic_behind_files_is_one_clear_error_before_anything_is_read(
    kafka: Kafka, env_of: Environments, history: FileSource
) -> None:
    source = HybridSource.builder(history).add_source(by_time(kafka.address, "no-such-topic")).build()
    stream = env_of().from_source(source, WatermarkStrategy.no_watermarks(), "history, then live")
    with pytest.raises(SourceNotFoundError, match="there is no topic 'no-such-topic'"), stream.execute_and_collect():
        pass


@pytest.mark.parametrize(("page", "stream"), [("kafka", "words"), ("hybrid", "readings")])
def test_the_examples_of_the_documentation_can_be_built(page: str, stream: str, tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "connectors" / f"{page}.md").read_text()
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    program = program.replace("s3://archive/readings", str(tmp_path)).replace("env.execute(", "str(")
    namespace: dict[str, Any] = {}
    exec(compile(program, f"{page}.md", "exec"), namespace)
    assert plan_of(namespace[stream]).name == stream
