"""Amazon Kinesis: FlinkKinesisConsumer, KinesisStreamsSource, KinesisStreamsSink, KinesisFirehoseSink, builders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

from scurry._dataclasses import dataclass
from scurry.common._api import ApiObject, made_by
from scurry.common.configuration import Configuration
from scurry.common.serialization import DeserializationSchema, SerializationSchema
from scurry.common.typeinfo import TypeInformation
from scurry.connectors.kafka.serializer import KafkaRecordSerializationSchema
from scurry.connectors.kinesis.client import AwsService, botocore
from scurry.connectors.kinesis.records import KinesisRecord
from scurry.connectors.kinesis.settings import consumer_scan, source_scan
from scurry.connectors.kinesis.shards import KinesisShard
from scurry.connectors.kinesis.sink import AwsSink, Batching
from scurry.connectors.messages import Decoder, MessageSource, RecordDecoder, ValueDecoder
from scurry.errors import ArgumentError, ArgumentTypeError, UnsupportedError

__all__ = [
    "FlinkKinesisConsumer",
    "KinesisDeserializationSchema",
    "KinesisFirehoseSink",
    "KinesisFirehoseSinkBuilder",
    "KinesisRecord",
    "KinesisShard",
    "KinesisShardAssigner",
    "KinesisStreamsSink",
    "KinesisStreamsSinkBuilder",
    "KinesisStreamsSource",
    "KinesisStreamsSourceBuilder",
    "PartitionKeyGenerator",
    "WatermarkTracker",
]


class KinesisShardAssigner(ApiObject):
    """Choice of the reader of a shard."""

    def __init__(self, assign: Callable[[KinesisShard, int], int] | None) -> None:
        """Wrap a function; PyFlink has only those of the static methods.

        Args:
            assign: Returns a number for a shard and the number of readers; the reader is its remainder. None for the
                reader that has the fewest shards.
        """
        if assign is not None and not callable(assign):
            raise ArgumentTypeError(f"KinesisShardAssigner takes a function of a shard and a number, got {assign!r}")
        self._assign = assign

    @staticmethod
    def default_shard_assigner() -> KinesisShardAssigner:
        """Return the assigner to the reader that has the fewest shards; children of a shard follow it."""
        return KinesisShardAssigner(None)

    @staticmethod
    def uniform_shard_assigner() -> KinesisShardAssigner:
        """Return the assigner by the middle of a shard's hash keys: equal parts of all keys for each reader."""
        return KinesisShardAssigner(_uniform)


def _uniform(shard: KinesisShard, channels: int) -> int:
    middle = (shard.starting_hash_key + shard.ending_hash_key) // 2
    return middle * channels >> 128


class KinesisDeserializationSchema:
    """Make records of complete records of Kinesis. In PyFlink it wraps an object of Java; here programs derive from it.

    Implement `deserialize(record)` with a `KinesisRecord`, which returns None to skip it, and `get_produced_type()`.
    """

    def deserialize(self, record: KinesisRecord) -> Any:
        """Return the record of a stream's record, None to skip it."""
        raise NotImplementedError(f"{type(self).__name__} has no deserialize(record)")

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the records."""
        raise NotImplementedError(f"{type(self).__name__} has no get_produced_type()")


@made_by("job_manager_watermark_tracker")
class WatermarkTracker(ApiObject):
    """Aligns shards by their watermarks in Flink, if the consumer assigns watermarks; without effect here.

    Use `WatermarkStrategy.with_watermark_alignment`, which aligns all sources of a group.
    """

    def __init__(self, aggregate_name: str = "", log_accumulator_interval_millis: int = -1) -> None:
        """Keep the name of the group."""
        self._aggregate_name = aggregate_name
        self._log_accumulator_interval_millis = log_accumulator_interval_millis

    @staticmethod
    def job_manager_watermark_tracker(
        aggregate_name: str, log_accumulator_interval_millis: int = -1
    ) -> WatermarkTracker:
        """Return a tracker."""
        return WatermarkTracker(aggregate_name, log_accumulator_interval_millis)


def _decoder(schema: Any, what: str) -> Decoder:
    if isinstance(schema, DeserializationSchema):
        return ValueDecoder(schema)
    if all(callable(getattr(schema, name, None)) for name in ("deserialize", "get_produced_type")):
        return RecordDecoder(schema)
    raise ArgumentTypeError(f"{what} takes a DeserializationSchema or a KinesisDeserializationSchema, got {schema!r}")


def _texts(properties: Any, what: str) -> dict[str, str]:
    if isinstance(properties, Configuration):
        return properties.to_dict()
    if not isinstance(properties, Mapping):
        raise ArgumentTypeError(f"{what} takes a dict of properties, got {properties!r}")
    return {str(key): str(value) for key, value in properties.items()}


class FlinkKinesisConsumer(ApiObject, MessageSource):
    """Read streams exactly once: sequence numbers are part of the checkpoint. Resharding is followed.

    The time of a record is when it arrived. Watermarks are made by `assign_timestamps_and_watermarks`.
    """

    def __init__(
        self,
        streams: str | list[str],
        deserializer: DeserializationSchema | KinesisDeserializationSchema,
        config_props: Mapping[str, str],
    ) -> None:
        """Describe the streams.

        Args:
            streams: Their names or ARNs.
            deserializer: Makes records of their records.
            config_props: `aws.region`, `aws.endpoint`, `aws.credentials.provider.*`, `flink.stream.initpos`, ...; see
                docs/connectors/kinesis.md.

        Raises:
            ArgumentError: A property is unknown, or has a wrong value.
            ExtraMissingError: botocore is not installed.
        """
        botocore()
        names = (streams,) if isinstance(streams, str) else tuple(streams)
        if not names or not all(isinstance(name, str) and name for name in names):
            raise ArgumentTypeError(f"FlinkKinesisConsumer takes the name of a stream or several, got {streams!r}")
        scan = consumer_scan(names, _texts(config_props, "FlinkKinesisConsumer"))
        MessageSource.__init__(self, scan, _decoder(deserializer, "FlinkKinesisConsumer"))

    def set_shard_assigner(self, shard_assigner: KinesisShardAssigner) -> FlinkKinesisConsumer:
        """Set which reader reads a shard."""
        object.__setattr__(self, "scan", replace(self.scan, assigner=_assigner(shard_assigner)))  # type: ignore[type-var]
        return self

    def set_periodic_watermark_assigner(self, periodic_watermark_assigner: Any) -> FlinkKinesisConsumer:
        """Raise an error.

        Raises:
            UnsupportedError: Always: such an assigner is an object of Java.
        """
        raise UnsupportedError(
            "a periodic watermark assigner is an object of Java: call assign_timestamps_and_watermarks on the stream"
        )

    def set_watermark_tracker(self, watermark_tracker: WatermarkTracker) -> FlinkKinesisConsumer:
        """Accept a tracker, which has no effect without a periodic watermark assigner, as in Flink."""
        if not isinstance(watermark_tracker, WatermarkTracker):
            raise ArgumentTypeError(f"set_watermark_tracker takes a WatermarkTracker, got {watermark_tracker!r}")
        return self


def _assigner(shard_assigner: Any) -> Callable[[KinesisShard, int], int] | None:
    if not isinstance(shard_assigner, KinesisShardAssigner):
        raise ArgumentTypeError(
            f"shards are assigned by a KinesisShardAssigner, got {shard_assigner!r}; call "
            "KinesisShardAssigner.default_shard_assigner()"
        )
    return shard_assigner._assign


@made_by("builder")
class KinesisStreamsSource(ApiObject, MessageSource):
    """Read a stream exactly once: sequence numbers are part of the checkpoint. Java's class of that name."""

    @staticmethod
    def builder() -> KinesisStreamsSourceBuilder:
        """Return a builder; the ARN of the stream and a deserialization schema must be set."""
        return KinesisStreamsSourceBuilder()


class KinesisStreamsSourceBuilder(ApiObject):
    """Builder of a KinesisStreamsSource."""

    def __init__(self) -> None:
        """Begin with an unbounded source that reads records from now on."""
        self._stream: str | None = None
        self._values: dict[str, str] = {}
        self._decoder: Decoder | None = None
        self._assigner: Callable[[KinesisShard, int], int] | None = None
        self._bounded = False
        self._drop_malformed = False

    def set_stream_arn(self, stream_arn: str) -> Self:
        """Set the ARN of the stream, or its name."""
        self._stream = stream_arn
        return self

    def set_source_config(self, source_config: Configuration | Mapping[str, str]) -> Self:
        """Set the options `aws.*` and `source.*` of docs/connectors/kinesis.md."""
        self._values.update(_texts(source_config, "set_source_config"))
        return self

    def set_deserialization_schema(
        self, deserialization_schema: DeserializationSchema | KinesisDeserializationSchema
    ) -> Self:
        """Set the schema that makes records."""
        self._decoder = _decoder(deserialization_schema, "set_deserialization_schema")
        return self

    def set_kinesis_shard_assigner(self, kinesis_shard_assigner: KinesisShardAssigner) -> Self:
        """Set which reader reads a shard."""
        self._assigner = _assigner(kinesis_shard_assigner)
        return self

    def set_bounded(self) -> Self:
        """End at the records that there are when the job starts. scurry's own."""
        self._bounded = True
        return self

    def drop_malformed_records(self) -> Self:
        """Skip records that the schema fails on, instead of failing; the job's summary counts them. scurry's own."""
        self._drop_malformed = True
        return self

    def build(self) -> KinesisStreamsSource:
        """Return the source.

        Raises:
            ArgumentError: A required setting is missing, or an option has a wrong value.
            ExtraMissingError: botocore is not installed.
        """
        botocore()
        if not self._stream:
            raise ArgumentError("nothing to read: call set_stream_arn")
        if self._decoder is None:
            raise ArgumentError("no schema: call set_deserialization_schema, e.g. with SimpleStringSchema()")
        scan = source_scan((self._stream,), self._values, self._assigner, self._bounded)
        return KinesisStreamsSource(scan, self._decoder, self._bounded, self._drop_malformed)


class PartitionKeyGenerator(ApiObject):
    """Makes the partition keys of records, which choose their shards."""

    def __init__(self, generator: str | Callable[[Any], str]) -> None:
        """Wrap a function of a record, which returns a text of 1 to 256 characters; PyFlink has only the methods."""
        if not callable(generator) and generator not in ("fixed", "random"):
            raise ArgumentTypeError(f"PartitionKeyGenerator takes a function of a record, got {generator!r}")
        self._generator = generator

    @staticmethod
    def fixed() -> PartitionKeyGenerator:
        """Return the generator of one key for each task, its number."""
        return PartitionKeyGenerator("fixed")

    @staticmethod
    def random() -> PartitionKeyGenerator:
        """Return the generator of random keys."""
        return PartitionKeyGenerator("random")


@dataclass
class _Given:
    """Settings of builders of sinks."""

    batching: dict[str, Any]
    properties: dict[str, str]
    schema: SerializationSchema | None = None
    stream: str | None = None
    generator: PartitionKeyGenerator | None = None


class _SinkBuilder(ApiObject):
    """The common part of builders of sinks."""

    def __init__(self) -> None:
        self._given = _Given({}, {})

    def set_serialization_schema(self, serialization_schema: SerializationSchema) -> Self:
        """Set the schema that makes the data of records."""
        if not isinstance(serialization_schema, SerializationSchema):
            raise ArgumentTypeError(
                f"set_serialization_schema takes a SerializationSchema, got {serialization_schema!r}"
            )
        self._given.schema = serialization_schema
        return self

    def set_fail_on_error(self, fail_on_error: bool) -> Self:
        """Set whether a record that the service does not take at once fails the job, instead of being sent again."""
        return self._set("fails", fail_on_error)

    def set_max_batch_size(self, max_batch_size: int) -> Self:
        """Set the largest number of records of a request, 500 by default."""
        return self._set("most_records", max_batch_size)

    def set_max_in_flight_requests(self, max_in_flight_requests: int) -> Self:
        """Accept a number of requests side by side; a task sends one after the other, which keeps their order."""
        return self._checked("set_max_in_flight_requests", max_in_flight_requests)

    def set_max_buffered_requests(self, max_buffered_requests: int) -> Self:
        """Accept a number of records that wait; a task holds those of one request."""
        return self._checked("set_max_buffered_requests", max_buffered_requests)

    def set_max_batch_size_in_bytes(self, max_batch_size_in_bytes: int) -> Self:
        """Set the largest number of bytes of a request's records."""
        return self._set("most_bytes", max_batch_size_in_bytes)

    def set_max_time_in_buffer_ms(self, max_time_in_buffer_ms: int) -> Self:
        """Set the milliseconds that a record waits for others; at most until its micro-batch is committed."""
        return self._set("interval_ms", max_time_in_buffer_ms)

    def set_max_record_size_in_bytes(self, max_record_size_in_bytes: int) -> Self:
        """Set the largest number of bytes of a record, with its partition key; a larger one fails the job."""
        return self._set("most_record_bytes", max_record_size_in_bytes)

    def _set(self, name: str, value: Any) -> Self:
        self._given.batching[name] = value
        return self

    def _checked(self, method: str, value: int) -> Self:
        if value < 1:
            raise ArgumentError(f"{method} takes a number from 1 on, got {value}")
        return self

    def _sink(self, service: str, batching: Batching, method: str) -> tuple[Any, ...]:
        given = self._given
        if not given.stream:
            raise ArgumentError(f"nowhere to write: call {method}")
        if given.schema is None:
            raise ArgumentError("no schema: call set_serialization_schema, e.g. with SimpleStringSchema()")
        botocore()
        return (
            AwsService.of(given.properties, service),
            given.stream,
            KafkaRecordSerializationSchema(given.schema, given.stream),
            None if given.generator is None else given.generator._generator,
            replace(batching, **given.batching),
        )


@made_by("builder")
class KinesisStreamsSink(ApiObject, AwsSink):
    """Write records to a stream, at least once."""

    @staticmethod
    def builder() -> KinesisStreamsSinkBuilder:
        """Return a builder; a stream, a serialization schema and a generator of partition keys must be set."""
        return KinesisStreamsSinkBuilder()


class KinesisStreamsSinkBuilder(_SinkBuilder):
    """Builder of a KinesisStreamsSink."""

    def set_stream_name(self, stream_name: str | list[str]) -> Self:
        """Set the name of the stream, which must exist."""
        if not isinstance(stream_name, str) or not stream_name:
            raise ArgumentTypeError(f"set_stream_name takes the name of one stream, got {stream_name!r}")
        self._given.stream = stream_name
        return self

    def set_stream_arn(self, stream_arn: str) -> Self:
        """Set the ARN of the stream; Java's method of that name."""
        return self.set_stream_name(stream_arn)

    def set_partition_key_generator(self, partition_key_generator: PartitionKeyGenerator) -> Self:
        """Set the generator of partition keys."""
        if not isinstance(partition_key_generator, PartitionKeyGenerator):
            raise ArgumentTypeError(
                f"set_partition_key_generator takes a PartitionKeyGenerator, got {partition_key_generator!r}; call "
                "PartitionKeyGenerator.random() or pass a function to it"
            )
        self._given.generator = partition_key_generator
        return self

    def set_kinesis_client_properties(self, kinesis_client_properties: Mapping[str, str]) -> Self:
        """Set the options `aws.*` of docs/connectors/kinesis.md."""
        self._given.properties = _texts(kinesis_client_properties, "set_kinesis_client_properties")
        return self

    def build(self) -> KinesisStreamsSink:
        """Return the sink.

        Raises:
            ArgumentError: A required setting is missing, or has a wrong value.
            ExtraMissingError: botocore is not installed.
        """
        if self._given.generator is None:
            raise ArgumentError("no partition keys: call set_partition_key_generator(PartitionKeyGenerator.random())")
        return KinesisStreamsSink(*self._sink("kinesis", Batching(), "set_stream_name"))


@made_by("builder")
class KinesisFirehoseSink(ApiObject, AwsSink):
    """Write records to a delivery stream of Firehose, at least once."""

    @staticmethod
    def builder() -> KinesisFirehoseSinkBuilder:
        """Return a builder; a delivery stream and a serialization schema must be set."""
        return KinesisFirehoseSinkBuilder()


class KinesisFirehoseSinkBuilder(_SinkBuilder):
    """Builder of a KinesisFirehoseSink."""

    def set_delivery_stream_name(self, delivery_stream_name: str) -> Self:
        """Set the name of the delivery stream, which must exist."""
        self._given.stream = delivery_stream_name
        return self

    def set_firehose_client_properties(self, firehose_client_properties: Mapping[str, str]) -> Self:
        """Set the options `aws.*` of docs/connectors/kinesis.md."""
        self._given.properties = _texts(firehose_client_properties, "set_firehose_client_properties")
        return self

    def build(self) -> KinesisFirehoseSink:
        """Return the sink.

        Raises:
            ArgumentError: A required setting is missing, or has a wrong value.
            ExtraMissingError: botocore is not installed.
        """
        limits = Batching(most_bytes=4 << 20, most_record_bytes=1000 << 10)
        return KinesisFirehoseSink(*self._sink("firehose", limits, "set_delivery_stream_name"))
