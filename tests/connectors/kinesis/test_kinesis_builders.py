"""What PyFlink's programs say of Kinesis, and what is refused; nothing is asked of a service."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration
from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.kinesis.client import AwsService, RequestError
from scurry.connectors.kinesis.credentials import AwsCredentials
from scurry.connectors.source import BatchLimits
from scurry.datastream.connectors.kinesis import (
    FlinkKinesisConsumer,
    KinesisFirehoseSink,
    KinesisShard,
    KinesisShardAssigner,
    KinesisStreamsSink,
    KinesisStreamsSource,
    PartitionKeyGenerator,
    WatermarkTracker,
)
from scurry.errors import (
    ArgumentError,
    ArgumentTypeError,
    ExtraMissingError,
    SinkConnectionError,
    SourceConnectionError,
    UnsupportedError,
)
from support.servers.process import free_ports

SECRET = "szy7wszy7w"
AWS = {
    "aws.region": "eu-west-1",
    "aws.credentials.provider.basic.accesskeyid": "AK",
    "aws.credentials.provider.basic.secretkey": SECRET,
}


def consumer(**properties: str) -> Any:
    return FlinkKinesisConsumer(
        "orders", SimpleStringSchema(), AWS | {k.replace("_", "."): v for k, v in properties.items()}
    )


def test_the_consumer_of_pyflinks_page() -> None:
    made = consumer(flink_stream_initpos="TRIM_HORIZON", flink_shard_discovery_intervalmillis="500")
    made.set_shard_assigner(KinesisShardAssigner.uniform_shard_assigner())
    made.set_watermark_tracker(WatermarkTracker.job_manager_watermark_tracker("tracker"))
    scan = made.scan
    assert (scan.streams, scan.start, scan.discovery_seconds, scan.idle_seconds) == (
        ("orders",),
        "TRIM_HORIZON",
        0.5,
        0.2,
    )
    assert scan.service.credentials == AwsCredentials("BASIC", "AK", SECRET)
    assert "zy7w" not in repr(made)
    several: Any = FlinkKinesisConsumer(["a", "b"], SimpleStringSchema(), AWS)
    assert several.scan.streams == ("a", "b")


def test_a_uniform_assigner_deals_the_hash_keys() -> None:
    quarter = 1 << 126
    shards = [KinesisShard("s", str(n), (), n * quarter, (n + 1) * quarter - 1) for n in range(4)]
    assign = KinesisShardAssigner.uniform_shard_assigner()._assign
    assert assign is not None
    assert [assign(shard, 4) for shard in shards] == [0, 1, 2, 3]
    assert [assign(shard, 2) for shard in shards] == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("1459799926.480", 1459799926480),
        ("2016-04-04T19:58:46.480Z", 1459799926480),
        ("2016-04-04T21:58:46.480+02:00", 1459799926480),
    ],
)
def test_reading_begins_at_a_time(text: str, millis: int) -> None:
    values = Configuration.from_dict(AWS | {"source.init.position": "AT_TIMESTAMP", "source.init.timestamp": text})
    builder = KinesisStreamsSource.builder().set_stream_arn("arn:aws:kinesis:eu-west-1:1:stream/orders")
    made: Any = builder.set_source_config(values).set_deserialization_schema(SimpleStringSchema()).build()
    assert made.scan.start == millis


@pytest.mark.parametrize(
    ("properties", "error", "text"),
    [
        ({"flink.stream.initpos": "FIRST"}, ArgumentError, "'flink.stream.initpos' must be one of LATEST, "),
        ({"flink.stream.initpos": "AT_TIMESTAMP"}, ArgumentError, "needs 'flink.stream.initpos.timestamp'"),
        ({"flink.stream.recordpublisher": "EFO"}, UnsupportedError, "enhanced fan-out .* use POLLING"),
        ({"flink.stream.initpo": "LATEST"}, ArgumentError, "unknown option 'flink.stream.initpo'"),
        ({"flink.shard.discovery.intervalmillis": "often"}, ArgumentError, "has the value 'often'"),
        ({"flink.shard.getrecords.maxrecordcount": "0"}, ArgumentError, "must be 1 to 10000, got 0"),
        ({"aws.regoin": "eu-west-1"}, ArgumentError, "unknown option 'aws.regoin'"),
        ({"aws.credentials.provider": "SYS_PROP"}, UnsupportedError, "exists in Java only; use one of AUTO"),
        ({"aws.credentials.provider": "KEY"}, ArgumentError, "'aws.credentials.provider' must be one of AUTO"),
        ({"aws.credentials.provider": "ASSUME_ROLE"}, ArgumentError, "needs 'aws.credentials.role.arn'"),
        ({"aws.trust.all.certificates": "yes"}, ArgumentError, "is true or false, got 'yes'"),
    ],
)
def test_properties_that_cannot_work_are_refused(properties: dict[str, str], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        FlinkKinesisConsumer("orders", SimpleStringSchema(), AWS | properties)
    assert "zy7w" not in str(caught.value)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="the name of a stream or several"):
        FlinkKinesisConsumer([], SimpleStringSchema(), AWS)
    with pytest.raises(ArgumentTypeError, match="takes a DeserializationSchema or a Kinesis"):
        FlinkKinesisConsumer("orders", object(), AWS)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="assign_timestamps_and_watermarks"):
        consumer().set_periodic_watermark_assigner(object())
    with pytest.raises(ArgumentError, match="call set_partition_key_generator"):
        KinesisStreamsSink.builder().set_stream_name("s").set_serialization_schema(SimpleStringSchema()).build()
    with pytest.raises(ArgumentError, match="nowhere to write: call set_delivery_stream_name"):
        KinesisFirehoseSink.builder().set_serialization_schema(SimpleStringSchema()).build()
    with pytest.raises(ArgumentTypeError, match="set_stream_name takes the name of one stream"):
        KinesisStreamsSink.builder().set_stream_name(["a", "b"])


def test_sinks_have_the_limits_of_their_builders() -> None:
    builder = KinesisStreamsSink.builder().set_stream_name("s").set_serialization_schema(SimpleStringSchema())
    builder.set_kinesis_client_properties(AWS).set_partition_key_generator(PartitionKeyGenerator.fixed())
    builder.set_max_batch_size(20).set_max_in_flight_requests(10).set_max_buffered_requests(100)
    builder.set_max_batch_size_in_bytes(1000).set_max_record_size_in_bytes(500).set_max_time_in_buffer_ms(7)
    made = builder.set_fail_on_error(True).build()
    limits = made.batching
    assert (limits.most_records, limits.most_bytes, limits.most_record_bytes) == (20, 1000, 500)
    assert (limits.interval_ms, limits.fails, made.partitioner) == (7, True, "fixed")
    firehose = KinesisFirehoseSink.builder().set_delivery_stream_name("d").set_firehose_client_properties(AWS)
    delivery = firehose.set_serialization_schema(SimpleStringSchema()).build()
    assert (delivery.service.name, delivery.batching.most_bytes) == ("firehose", 4 << 20)
    assert "zy7w" not in repr((made, delivery))


def test_credentials_of_a_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "keys").write_text(f"[shop]\naws_access_key_id = AK\naws_secret_access_key = {SECRET}\n")
    values = {"aws.credentials.provider": "PROFILE", "aws.credentials.profile.name": "shop"}
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    found = AwsCredentials.of(values | {"aws.credentials.profile.path": str(tmp_path / "keys")})
    assert found.session().get_credentials().secret_key == SECRET


def test_credentials_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    found = AwsCredentials.of({"aws.credentials.provider": "ENV_VAR"})
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY", raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AK")
    with pytest.raises(ArgumentError, match="ENV_VAR needs AWS_SECRET_ACCESS_KEY in the environment"):
        found.session()
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    assert found.session().get_credentials().access_key == "AK"


def test_a_server_that_is_not_there_is_named_with_its_option() -> None:
    address = f"http://127.0.0.1:{free_ports(1)[0]}"
    source = consumer(aws_endpoint=address)
    enumerator = source.create_enumerator(1, BatchLimits())
    with pytest.raises(SourceConnectionError, match=f"{address}.*check aws.endpoint and aws.region") as caught:
        enumerator.next_batch()
    assert "\n" not in str(caught.value) and "zy7w" not in str(caught.value)
    enumerator.close()
    service = AwsService.of(AWS | {"aws.endpoint": address}, "firehose")
    with pytest.raises(RequestError) as failed:
        service.ask("s", False, lambda client: client.list_delivery_streams())
    assert isinstance(failed.value.error, SinkConnectionError)


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "botocore", None)
    with pytest.raises(ExtraMissingError, match=r"pip install 'scurry\[kinesis\]'"):
        consumer()
    with pytest.raises(ExtraMissingError, match=r"pip install 'scurry\[kinesis\]'"):
        AwsService.of(AWS).create()
