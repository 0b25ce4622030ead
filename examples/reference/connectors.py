"""Sources and sinks: files, databases, Kafka, one after another, your own."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scurry.common import Row, SimpleStringSchema, Time, TypeInformation, Types, WatermarkStrategy
from scurry.common.serialization import Encoder
from scurry.datastream import DataStream, RuntimeExecutionMode, StreamExecutionEnvironment
from scurry.datastream.connectors import (
    BufferedWriter,
    Committer,
    DeliveryGuarantee,
    Sink,
    SinkWriter,
    SplitSource,
)
from scurry.datastream.connectors.file_system import (
    BucketAssigner,
    FileCompactor,
    FileCompactStrategy,
    FileEnumeratorProvider,
    FileSink,
    FileSource,
    FileSplitAssignerProvider,
    OutputFileConfig,
    RollingPolicy,
    StreamFormat,
    StreamingFileSink,
)
from scurry.datastream.connectors.hybrid_source import HybridSource
from scurry.datastream.connectors.jdbc import (
    JdbcConnectionOptions,
    JdbcExactlyOnceOptions,
    JdbcExecutionOptions,
    JdbcLookup,
    JdbcSink,
    JdbcSource,
)
from scurry.datastream.connectors.kafka import (
    ConsumerRecord,
    KafkaOffsetsInitializer,
    KafkaRecordDeserializationSchema,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    KafkaTopicPartition,
    KafkaTopicSelector,
)
from scurry.datastream.connectors.number_seq import NumberSequenceSource
from scurry.datastream.formats.avro import AvroBulkWriters, AvroInputFormat, AvroSchema, GenericRecordAvroTypeInfo
from scurry.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
from scurry.table import EnvironmentSettings, TableEnvironment
from scurry.table.connectors import FormatColumn, Options, RecordFactory, TableOption, register_connector

env = StreamExecutionEnvironment.get_execution_environment()
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
no_watermarks = WatermarkStrategy.no_watermarks()


def results(stream: DataStream[Any]) -> list[Any]:
    with stream.execute_and_collect() as records:
        return list(records)


# Dataclasses in files


@dataclass
class Order:
    customer: str
    amount: int


orders = [Order("ann", 2), Order("bob", 3)]
env.from_collection(orders).write_json("json", Order)
env.from_collection(orders).write_csv("csv", Order)
env.from_collection(orders).write_parquet("parquet", Order)
env.execute()
assert results(env.read_json("json", Order)) == orders
assert results(env.read_csv("csv", Order)) == orders
assert results(env.read_parquet("parquet", Order)) == orders

# Files, option by option

Path("in").mkdir()
Path("in", "words.txt").write_text("to\nbe\n")
lines = (
    FileSource.for_record_stream_format(StreamFormat.text_line_format(), "in")
    .process_static_file_set()
    .set_file_enumerator(FileEnumeratorProvider.default_splittable_file_enumerator())
    .set_split_assigner(FileSplitAssignerProvider.locality_aware_split_assigner())
    .build()
)
assert sorted(results(env.from_source(lines, no_watermarks, "lines"))) == ["be", "to"]
whole_files = FileEnumeratorProvider.default_non_splittable_file_enumerator()
followed = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "in").set_file_enumerator(whole_files)
assert followed.monitor_continuously(Time.seconds(1)).build() is not None  # new files are read when they come

schema = CsvSchema.builder().add_string_column("word").add_number_column("n").build()
Path("table.csv").write_text("to,1\nbe,not a number\n")
table = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(schema), "table.csv").drop_malformed_records()
assert [row.word for row in results(env.from_source(table.build(), no_watermarks, "table"))] == ["to"]

names = OutputFileConfig.builder().with_part_prefix("words").with_part_suffix(".txt").build()
assert (names.get_part_prefix(), names.get_part_suffix()) == ("words", ".txt")
sink = (
    FileSink.for_row_format("words", Encoder.simple_string_encoder())
    .with_output_file_config(names)
    .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    .with_bucket_check_interval(Time.minutes(1))
    .with_rolling_policy(RollingPolicy.default_rolling_policy())
    .build()
)
env.from_collection(["to", "be"], Types.STRING()).sink_to(sink)
rows = env.from_collection([Row("to", 1)], Types.ROW_NAMED(["word", "n"], [Types.STRING(), Types.LONG()]))
small_files = FileCompactStrategy.builder().set_size_threshold(1024).enable_compaction_on_checkpoint(5)
merged = FileSink.for_bulk_format("rows", CsvBulkWriters.for_schema(schema)).enable_compact(
    small_files.set_num_compact_threads(1).build(), FileCompactor.concat_file_compactor()
)
rows.sink_to(merged.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).disable_compact().build())
env.execute()
assert [file.read_text() for file in Path("words").rglob("words*.txt")] == ["to\nbe\n"]
assert FileCompactor.identical_file_compactor() is not None
assert FileCompactor.record_wise_file_compactor(StreamFormat.text_line_format()) is not None


class ByFirstLetter(BucketAssigner):
    def get_bucket_id(self, element: str, context: Any) -> str:
        return element[0]


by_letter = FileSink.for_row_format("letters", Encoder.simple_string_encoder()).with_bucket_assigner(ByFirstLetter())
by_hour = StreamingFileSink.for_row_format("hours", Encoder.simple_string_encoder())
by_day = StreamingFileSink.for_bulk_format("days", CsvBulkWriters.for_schema(schema))
words = env.from_collection(["to", "be"], Types.STRING())
words.sink_to(by_letter.build())
words.add_sink(by_hour.with_rolling_policy(RollingPolicy.default_rolling_policy()).build())
rows.add_sink(by_day.with_bucket_assigner(BucketAssigner.date_time_bucket_assigner("yyyy-MM-dd")).build())
env.execute()
assert sorted(bucket.name for bucket in Path("letters").iterdir() if bucket.is_dir() and len(bucket.name) == 1) == [
    "b",
    "t",
]

# Databases

shop = sqlite3.connect("shop.db")
shop.executescript("CREATE TABLE prices (item text PRIMARY KEY, price integer); INSERT INTO prices VALUES ('tea', 3);")
builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url("jdbc:sqlite:shop.db")
builder.with_driver_name("org.sqlite.JDBC").with_user_name("ann").with_password("secret")
options = builder.build()
assert options.get_db_url() == options.shown_url == "jdbc:sqlite:shop.db"
assert options.get_driver_name() == "org.sqlite.JDBC"
assert (options.get_user_name(), options.get_password()) == ("ann", "secret")
batches = JdbcExecutionOptions.builder().with_batch_size(100).with_batch_interval_ms(200).with_max_retries(3).build()
assert (batches.get_batch_size(), batches.get_batch_interval_ms(), batches.get_max_retries()) == (100, 200, 3)
assert JdbcExecutionOptions.defaults().get_batch_size() == 5000

item_and_price = Types.ROW_NAMED(["item", "price"], [Types.STRING(), Types.LONG()])
prices = (
    JdbcSource.builder()
    .set_connection_options(options)
    .set_sql("SELECT item, price FROM prices")
    .set_type_information(item_and_price)
    .set_partitions("price", 1, 10, 2)
    .set_result_set_fetch_size(1000)
    .build()
)
assert [tuple(row) for row in results(env.from_source(prices, no_watermarks, "prices"))] == [("tea", 3)]
new = env.from_collection([Row("jam", 5)], item_and_price)
new.add_sink(JdbcSink.sink("INSERT INTO prices VALUES (?, ?)", item_and_price, options, batches))
env.execute()
lookup = JdbcLookup("SELECT price FROM prices WHERE item = ?", options)
assert lookup.one("jam").price == 5
assert [row.price for row in lookup.rows("tea")] == [3]
lookup.close()
once = JdbcExactlyOnceOptions.builder().with_commit_table("commits").with_staging_table("staged").build()
assert once != JdbcExactlyOnceOptions.defaults()
exactly_once = JdbcSink.exactly_once_sink("INSERT INTO prices VALUES (?, ?)", item_and_price, options, batches, once)
assert exactly_once is not None

# Kafka: what is built here needs a broker only when the job runs

source = (
    KafkaSource.builder()
    .set_bootstrap_servers("localhost:9092")
    .set_group_id("shop")
    .set_client_id_prefix("shop-1")
    .set_topics("orders", "returns")
    .set_starting_offsets(KafkaOffsetsInitializer.earliest())
    .set_bounded(KafkaOffsetsInitializer.latest())
    .set_value_only_deserializer(SimpleStringSchema())
    .drop_malformed_records()
    .set_property("fetch.min.bytes", "1")
    .set_properties({"fetch.max.bytes": "1000000"})
    .build()
)
assert env.from_source(source, no_watermarks, "orders").get_name()
by_pattern = KafkaSource.builder().set_topic_pattern("orders-.*").set_unbounded(KafkaOffsetsInitializer.latest())
one_partition = KafkaSource.builder().set_partitions([KafkaTopicPartition("orders", 0)])
from_a_time = KafkaOffsetsInitializer.timestamp(1_767_225_600_000)
from_offsets = KafkaOffsetsInitializer.offsets({KafkaTopicPartition("orders", 0): 42})
from_the_group = KafkaOffsetsInitializer.committed_offsets()


class ByLanguage(KafkaTopicSelector):
    def apply(self, data: str) -> str:
        return f"words-{data[:2]}"


assert ByLanguage().apply("en:to") == "words-en"
serializer = (
    KafkaRecordSerializationSchema.builder()
    .set_topic_selector(ByLanguage())
    .set_key_serialization_schema(SimpleStringSchema())
    .set_value_serialization_schema(SimpleStringSchema())
    .set_header_provider(lambda word: [("language", b"en")])
    .build()
)
fixed = KafkaRecordSerializationSchema.builder().set_topic("words")
fixed.set_value_serialization_schema(SimpleStringSchema()).build()
kafka_sink = (
    KafkaSink.builder()
    .set_bootstrap_servers("localhost:9092")
    .set_record_serializer(serializer)
    .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    .set_transactional_id_prefix("words")
    .set_property("linger.ms", "5")
    .build()
)
other = StreamExecutionEnvironment.get_execution_environment()
other.from_collection(["en:to"], Types.STRING()).sink_to(kafka_sink)
other.from_collection(orders).write_kafka("localhost:9092", "orders", Order)
other.read_kafka("localhost:9092", "orders", Order)


class WithKey(KafkaRecordDeserializationSchema):
    """Key and value of a message; None skips messages without a key."""

    def deserialize(self, record: ConsumerRecord) -> tuple[str, str] | None:
        return None if record.key is None else (record.key.decode(), (record.value or b"").decode())

    def get_produced_type(self) -> TypeInformation:
        return Types.TUPLE([Types.STRING(), Types.STRING()])


whole = KafkaSource.builder().set_bootstrap_servers("localhost:9092").set_topics("orders").set_deserializer(WithKey())
assert other.from_source(whole.build(), no_watermarks, "whole").get_type() == WithKey().get_produced_type()
message = ConsumerRecord("orders", 0, 42, 1_767_225_600_000, b"ann", b"tea", ())
assert WithKey().deserialize(message) == ("ann", "tea")
assert KafkaRecordDeserializationSchema.value_only(SimpleStringSchema()).deserialize(message) == "tea"

# One source after another

first, then = NumberSequenceSource(1, 2), NumberSequenceSource(3, 4)
both = HybridSource.builder(first).add_source(lambda context: then, bounded=True).build()
assert sorted(results(env.from_source(both, no_watermarks, "both"))) == [1, 2, 3, 4]

# Your own


class Letters(SplitSource):
    """Each split is a text; the position within it is a number of letters."""

    def splits(self) -> Sequence[str]:
        return ["ab", "cd"]

    def advance(self, split: str, position: int, limit: int) -> int:
        return min(position + limit, len(split))

    def read_split(self, split: str, start: int, end: int) -> Sequence[str]:
        return list(split[start:end])


class ToOneFile(Sink):
    def connect(self) -> None:
        Path("letters.txt").touch()

    def create_writer(self, context: Any) -> SinkWriter:
        return Collected()

    def create_committer(self, sink_id: str) -> Committer:
        return Append()


class Collected(SinkWriter):
    def __init__(self) -> None:
        self.values: list[Any] = []

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        self.values += values

    def prepare_commit(self) -> list[Any]:
        return self.values

    def abort(self) -> None:
        self.values.clear()


class Append(Committer):
    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        with open("letters.txt", "a", encoding="utf-8") as file:
            file.writelines(committables)

    def restarted(self) -> None:
        pass

    def finish(self) -> None:
        pass


writer, committer = Collected(), Append()
writer.write(["a"])
writer.abort()  # the attempt failed: nothing of it is committed
committer.restarted()
assert writer.prepare_commit() == []

letters = env.from_source(Letters(), no_watermarks, "letters")
letters.sink_to(ToOneFile())
env.execute()
assert sorted(Path("letters.txt").read_text()) == ["a", "b", "c", "d"]

# Files of Avro

sale = AvroSchema.parse_string('{"type": "record", "name": "Sale", "fields": [{"name": "item", "type": "string"}]}')
sold = env.from_collection([{"item": "tea"}], GenericRecordAvroTypeInfo(sale))
sold.sink_to(FileSink.for_bulk_format("sold", AvroBulkWriters.for_generic_record(sale)).build())
env.execute()
with env.create_input(AvroInputFormat("sold", sale)).execute_and_collect() as found:
    assert list(found) == [{"item": "tea"}]

# Your own, for streams and tables

SALES, PRICES = [("tea", 3), ("cup", 1)], {"tea": 2, "cup": 7}


class Sales(SplitSource):
    def splits(self) -> Sequence[str]:
        return ["all"]

    def advance(self, split: str, position: int, limit: int) -> int:
        return min(position + limit, len(SALES))

    def read_split(self, split: str, start: int, end: int) -> Sequence[tuple[str, int]]:
        return SALES[start:end]


class ToTotals(Sink):
    def create_writer(self, context: Any) -> SinkWriter:
        return Requests(max_records=100, interval_ms=1000)


class Requests(BufferedWriter):
    """One request writes many records."""

    def prepared(self, values: list[Any]) -> list[Any]:
        return [f"{row['item']} {row['n']}\n" for row in values]

    def flush(self, records: list[Any]) -> None:
        with open("totals.txt", "a", encoding="utf-8") as file:
            file.writelines(records)

    def close(self) -> None:
        Path("totals.done").touch()


class Prices:
    def find(self, key: Mapping[str, Any]) -> Sequence[tuple[str, int]]:
        return [(item, price) for item, price in PRICES.items() if item == key["item"]]


class Places:
    def search(self, vector: Sequence[float], top_k: int) -> Sequence[tuple[Any, float]]:
        scores = {"tea": vector[0], "cup": vector[1]}
        return [((item, None), scores[item]) for item in sorted(scores, key=lambda item: -scores[item])[:top_k]]


class ShopFactory(RecordFactory):
    identifier = "shop"

    def table_options(self) -> Sequence[TableOption[Any]]:
        return [TableOption("currency", str, "EUR", "The currency of prices.")]

    def source(self, options: Options, columns: Sequence[FormatColumn]) -> SplitSource:
        return Sales()

    def sink(self, options: Options, columns: Sequence[FormatColumn], key: Sequence[str]) -> Sink:
        return ToTotals()

    def finder(self, options: Options, columns: Sequence[FormatColumn], key: Sequence[str]) -> Prices:
        return Prices()

    def vector_finder(self, options: Options, columns: Sequence[FormatColumn], column: str) -> Places:
        return Places()


register_connector(ShopFactory)
tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
tables.execute_sql("CREATE TABLE sales (item STRING, n INT, t AS PROCTIME()) WITH ('connector' = 'shop')")
tables.execute_sql("CREATE TABLE shop (item STRING, n INT) WITH ('connector' = 'shop')")
joined = "SELECT s.item, s.n * p.n FROM sales AS s JOIN shop FOR SYSTEM_TIME AS OF s.t AS p ON s.item = p.item"
tables.execute_sql(f"INSERT INTO shop {joined}").wait()
assert Path("totals.done").exists()
assert sorted(Path("totals.txt").read_text().splitlines()) == ["cup 7", "tea 6"]
assert list(Prices().find({"item": "tea"})) == [("tea", 2)]
tables.execute_sql("CREATE TABLE places (item STRING, place ARRAY<DOUBLE>) WITH ('connector' = 'shop')")
nearest = "LATERAL TABLE(VECTOR_SEARCH(TABLE places, DESCRIPTOR(place), ARRAY[0.5, 2.0], 1))"
assert [tuple(row) for row in tables.execute_sql(f"SELECT item, score FROM {nearest}").collect()] == [("cup", 2.0)]
