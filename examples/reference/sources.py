"""What the engine asks of sources, formats and assigners: for tests of your own."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from scurry.common import Row, SimpleStringSchema, TypeInformation, Types, WatermarkStrategy
from scurry.common.serialization import Encoder
from scurry.connectors.files.filesystem import file_system
from scurry.connectors.source import BatchLimits, ChunkSizer, MalformedRecords, Source
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import SplitSource
from scurry.datastream.connectors.file_system import BucketAssigner, FileSink, FileSource, RollingPolicy, StreamFormat
from scurry.datastream.connectors.hybrid_source import HybridSource, SourceSwitchContext
from scurry.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcSource
from scurry.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSource,
    KafkaTopicPartition,
)
from scurry.datastream.connectors.number_seq import NumberSequenceSource
from scurry.datastream.formats.parquet import ParquetColumnarRowInputFormat
from scurry.table import DataTypes


def records_of(source: Source) -> list[Any]:
    """Read a source as a job does: micro-batch by micro-batch, until all readers have their last assignment."""
    enumerator = source.create_enumerator(source.channels(1), BatchLimits())
    found: list[Any] = []
    while assignments := enumerator.next_batch():
        for assignment in assignments:
            if assignment.work is not None:
                for chunk in source.read(assignment.work, ChunkSizer()):
                    assert not isinstance(chunk, MalformedRecords)
                    found += chunk[0]
    return found


# A source of your own


class Letters(SplitSource):
    """Each split is a text; the position within it is a number of letters."""

    def __init__(self) -> None:
        self.published: Mapping[str, int] = {}

    @property
    def produced_type(self) -> TypeInformation:
        return Types.STRING()

    def splits(self) -> Sequence[str]:
        return ["ab", "cd"]

    def start(self, split: str) -> int:
        return 1 if split == "ab" else 0  # the first letter is no letter of ours

    def advance(self, split: str, position: int, limit: int) -> int:
        return min(position + limit, len(split))

    def read_split(self, split: str, start: int, end: int) -> Sequence[str]:
        return list(split[start:end])

    def committed(self, positions: Mapping[str, int]) -> None:
        self.published = positions


letters = Letters()
assert records_of(letters) == ["b", "c", "d"]
assert not letters.meets_malformed_records
letters.committed({"ab": 2})

# Those of scurry

env = StreamExecutionEnvironment.get_execution_environment()
with env.add_source(NumberSequenceSource(1, 3)).execute_and_collect() as sent:
    assert sorted(sent) == [1, 2, 3]

numbers = NumberSequenceSource(1, 3)
assert records_of(numbers) == [1, 2, 3]
assert (numbers.produced_type, numbers.meets_malformed_records) == (Types.LONG(), False)

both = HybridSource.builder(numbers).add_source(NumberSequenceSource(4, 5)).build()
assert records_of(both) == [1, 2, 3, 4, 5]
assert (both.produced_type, both.meets_malformed_records) == (Types.LONG(), False)


def after(context: SourceSwitchContext) -> Source:
    """A source that depends on where the one before it has ended."""
    assert not context.get_previous_enumerator().next_batch()
    return NumberSequenceSource(4, 5)


later = HybridSource.builder(numbers).add_source(after, bounded=True).build()
assert records_of(later) == [1, 2, 3, 4, 5]
ended = numbers.create_enumerator(1, BatchLimits())
ended.next_batch()
switch = SourceSwitchContext(numbers, ended.position(), lambda: ended)
assert records_of(later.made(1, switch, 1)) == [4, 5]

Path("words.txt").write_text("to\nbe\n")
lines = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "words.txt").build()
assert records_of(lines) == ["to", "be"]
assert (lines.produced_type, lines.meets_malformed_records) == (Types.STRING(), False)

pq.write_table(pa.table({"word": ["to", "be"]}), "words.parquet")
word = Types.ROW_NAMED(["word"], [Types.STRING()])
columns = ParquetColumnarRowInputFormat(DataTypes.ROW([DataTypes.FIELD("word", DataTypes.STRING())]))
assert [row.word for row in records_of(FileSource.for_bulk_file_format(columns, "words.parquet").build())] == [
    "to",
    "be",
]

shop = sqlite3.connect("shop.db")
shop.executescript("CREATE TABLE prices (item text PRIMARY KEY, price integer); INSERT INTO prices VALUES ('tea', 3);")
options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url("jdbc:sqlite:shop.db").build()
price = Types.ROW_NAMED(["price"], [Types.LONG()])
prices = (
    JdbcSource.builder()
    .set_connection_options(options)
    .set_sql("SELECT price FROM prices")
    .set_type_information(price)
    .build()
)
assert records_of(prices) == [Row(price=3)]
assert (prices.splits, prices.produced_type, prices.meets_malformed_records) == (1, price, False)

messages = (
    KafkaSource.builder()
    .set_bootstrap_servers("localhost:9092")
    .set_topics("words")
    .set_property("scurry.channels", "2")
    .set_bounded(KafkaOffsetsInitializer.latest())
    .set_value_only_deserializer(SimpleStringSchema())
    .build()
)
assert (messages.channels(1), messages.produced_type) == (2, Types.STRING())
assert messages.meets_malformed_records  # a deserializer may fail


class Offsets:
    """What a broker knows of the partitions."""

    def earliest(self, partitions: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, int]:
        return dict.fromkeys(partitions, 0)

    def latest(self, partitions: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, int]:
        return dict.fromkeys(partitions, 9)

    def at(self, partitions: Iterable[KafkaTopicPartition], timestamp: int) -> dict[KafkaTopicPartition, int]:
        return dict.fromkeys(partitions, 5)

    def committed(self, partitions: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, int]:
        return {}


partition = KafkaTopicPartition("words", 0)
by_time, of_the_group = (
    KafkaOffsetsInitializer.timestamp(1_767_225_600_000),
    KafkaOffsetsInitializer.committed_offsets(),
)
assert by_time.resolve([partition], Offsets()) == {partition: 5}
assert by_time.stops([partition], Offsets()) == {partition: 5}
assert by_time.can_stop
assert of_the_group.needs_group

# Formats of files

(fs, path), size = file_system("words.txt"), Path("words.txt").stat().st_size
text = StreamFormat.text_line_format()
assert [block for block in text.read(fs, path, 0, size, size)] == [["to", "be"]]
assert (text.produced_type, text.meets_malformed_records, text.cut_anywhere) == (Types.STRING(), False, True)
assert text.splittable("words.txt")
assert not text.splittable("words.txt.gz")

size = Path("words.parquet").stat().st_size
(block,) = columns.read(fs, "words.parquet", 0, size, size)
assert not isinstance(block, MalformedRecords)
assert [row.word for row in block] == ["to", "be"]
assert (columns.produced_type, columns.meets_malformed_records, columns.cut_anywhere) == (word, True, True)
assert columns.splittable("words.parquet")

# Where and when a file sink begins a file


class ByFirstLetter(BucketAssigner):
    def get_bucket_id(self, element: str, context: Any) -> str:
        return element[0]


assert dict(ByFirstLetter().assign(["to", "be", "tea"], None, now_ms=0)) == {"t": ["to", "tea"], "b": ["be"]}
words = FileSink.for_row_format("words", Encoder.simple_string_encoder()).build()
assert words.names("sink") == words.names("sink") != words.names("another sink")
rolling = RollingPolicy.default_rolling_policy(part_size=100, rollover_interval=60_000)
assert rolling.full(101)
assert rolling.old(opened_ms=0, written_ms=59_000, now_ms=60_000)

# A message of a record, and the watermarks of a strategy

serializer = (
    KafkaRecordSerializationSchema.builder()
    .set_topic("words")
    .set_value_serialization_schema(SimpleStringSchema())
    .build()
)
assert [value for _, _, value, _, _ in serializer.records(["to", "be"], None)] == [b"to", b"be"]
strategy = WatermarkStrategy.for_monotonous_timestamps()
assert strategy.generates_watermarks
assert strategy.create_generator() is not None

# Values as a type has them

pairs = Types.TUPLE([Types.LONG(), Types.DOUBLE()])
assert pairs.converter()((1, 2)) == (1, 2.0)
assert pairs.block_converter()([(1, 2)]) == [(1, 2.0)]
