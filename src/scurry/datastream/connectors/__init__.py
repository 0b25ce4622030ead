"""Sources and sinks, under PyFlink's names."""

from __future__ import annotations

import importlib
from typing import Any

from scurry.datastream.connectors._elsewhere import what_to_use_instead
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

#: PyFlink exports these here too; they are loaded on demand, because their client may not be installed.
_KAFKA = ("FlinkKafkaConsumer", "FlinkKafkaProducer", "KafkaSource", "Semantic")


def __getattr__(name: str) -> Any:
    """Return a class of the Kafka connector, or raise an error that names the replacement of a missing connector."""
    if name in _KAFKA:
        return getattr(importlib.import_module(f"{__name__}.kafka"), name)
    if instead := what_to_use_instead(name):
        raise ModuleNotFoundError(instead, name=f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
