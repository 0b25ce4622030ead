"""Sources and sinks, under PyFlink's names."""

from __future__ import annotations

from scurry.datastream.connectors.base import (
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
    "WriterContext",
]
