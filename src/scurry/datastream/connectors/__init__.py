"""Sources and sinks, under PyFlink's names."""

from __future__ import annotations

import importlib
from typing import Any

from scurry.datastream.connectors.base import (
    BufferedWriter,
    Committer,
    DeliveryGuarantee,
    Sink,
    SinkWriter,
    Source,
    SplitSource,
    WriterContext,
)
from scurry.datastream.connectors.datagen import DataGeneratorSource
from scurry.datastream.connectors.file_system import (
    BucketAssigner,
    FileCompactor,
    FileCompactStrategy,
    FileEnumeratorProvider,
    FileSink,
    FileSource,
    FileSourceBuilder,
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
    JdbcLookupFunction,
    JdbcSink,
    JdbcSource,
)
from scurry.datastream.connectors.number_seq import NumberSequenceSource
from scurry.datastream.connectors.socket import SocketSource

__all__ = [
    "BucketAssigner",
    "BufferedWriter",
    "Committer",
    "DataGeneratorSource",
    "DeliveryGuarantee",
    "FileCompactStrategy",
    "FileCompactor",
    "FileEnumeratorProvider",
    "FileSink",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "HybridSource",
    "JdbcConnectionOptions",
    "JdbcExactlyOnceOptions",
    "JdbcExecutionOptions",
    "JdbcLookup",
    "JdbcLookupFunction",
    "JdbcSink",
    "JdbcSource",
    "NumberSequenceSource",
    "OutputFileConfig",
    "RollingPolicy",
    "Sink",
    "SinkWriter",
    "SocketSource",
    "Source",
    "SplitSource",
    "StreamFormat",
    "StreamingFileSink",
    "WriterContext",
]

_SPARK_DOCS = "docs/connectors/spark.md"
_OWN = "write one of your own (docs/connectors/user-defined.md)"
_INSTEAD = {
    **dict.fromkeys(("dynamodb", "sqs"), f"{_OWN} around boto3"),
    "firehose": "KinesisFirehoseSink is in pyflink.datastream.connectors.kinesis (docs/connectors/kinesis.md)",
    "gcp_pubsub": f"{_OWN} around google-cloud-pubsub",
    "hbase": "use env.from_spark(...) and stream.to_spark('org.apache.hadoop.hbase.spark', ...) with HBase's connector "
    f"for Spark ({_SPARK_DOCS}), or {_OWN}",
}


def what_to_use_instead(name: str) -> str | None:
    """Return the replacement for a connector.

    Args:
        name: The module's name below `datastream.connectors`.

    Returns:
        The advice as a sentence, None if PyFlink has no such connector or scurry has it, too.
    """
    instead = _INSTEAD.get(name)
    return instead and f"scurry has no {name} connector: {instead}"


#: PyFlink exports these here too; they are loaded on demand, because their client may not be installed.
_ON_DEMAND = {
    **dict.fromkeys(
        (
            "DynamicKafkaSource",
            "DynamicKafkaSourceBuilder",
            "KafkaMetadataService",
            "KafkaRecordDeserializationSchema",
            "KafkaStreamSetSubscriber",
            "KafkaStreamSubscriber",
            "SingleClusterTopicMetadataService",
            "StreamPatternSubscriber",
        ),
        "dynamic_kafka",
    ),
    **dict.fromkeys(("FlinkKafkaConsumer", "FlinkKafkaProducer", "KafkaSource", "Semantic"), "kafka"),
    **dict.fromkeys(("PulsarSource", "PulsarSourceBuilder", "StartCursor", "StopCursor"), "pulsar"),
    **dict.fromkeys(("RMQConnectionConfig", "RMQSink", "RMQSource"), "rabbitmq"),
}


def __getattr__(name: str) -> Any:
    """Return a class of a connector that needs a client, or raise an error that names the replacement of the module."""
    if name in _ON_DEMAND:
        return getattr(importlib.import_module(f"{__name__}.{_ON_DEMAND[name]}"), name)
    if instead := what_to_use_instead(name):
        raise ModuleNotFoundError(instead, name=f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
