"""Types, rows, time, watermarks, configuration and job handles, shared by the programs of every API."""

from __future__ import annotations

import importlib
from typing import Any

from scurry.common.completable_future import CompletableFuture
from scurry.common.config_options import ConfigOption, ConfigOptions
from scurry.common.configuration import Configuration
from scurry.common.execution_config import ExecutionConfig
from scurry.common.input_dependency_constraint import InputDependencyConstraint
from scurry.common.job_client import JobClient
from scurry.common.job_execution_result import JobExecutionResult
from scurry.common.job_id import JobID
from scurry.common.job_status import JobStatus
from scurry.common.output_tag import DeadLetter
from scurry.common.restart_strategy import RestartStrategies, RestartStrategyConfiguration
from scurry.common.serialization import (
    ByteArraySchema,
    DeserializationSchema,
    Encoder,
    SerializationSchema,
    SimpleStringSchema,
)
from scurry.common.serializer import TypeSerializer
from scurry.common.time import Duration, Instant, Time
from scurry.common.typeinfo import TypeInformation, Types
from scurry.common.types import Row, RowKind
from scurry.common.watermark_strategy import WatermarkStrategy

__all__ = [
    "ByteArraySchema",
    "CompletableFuture",
    "ConfigOption",
    "ConfigOptions",
    "Configuration",
    "DeadLetter",
    "DeserializationSchema",
    "Duration",
    "Encoder",
    "ExecutionConfig",
    "InputDependencyConstraint",
    "Instant",
    "JobClient",
    "JobExecutionResult",
    "JobID",
    "JobStatus",
    "RestartStrategies",
    "RestartStrategyConfiguration",
    "Row",
    "RowKind",
    "SerializationSchema",
    "SimpleStringSchema",
    "Time",
    "TypeInformation",
    "TypeSerializer",
    "Types",
    "WatermarkStrategy",
]

#: PyFlink exports these here too; they belong to a higher layer and are loaded on demand.
_FORMATS = {
    "AvroRowDeserializationSchema": "scurry.datastream.formats.avro",
    "AvroRowSerializationSchema": "scurry.datastream.formats.avro",
    "CsvRowDeserializationSchema": "scurry.datastream.formats.csv",
    "CsvRowSerializationSchema": "scurry.datastream.formats.csv",
    "JsonRowDeserializationSchema": "scurry.datastream.formats.json",
    "JsonRowSerializationSchema": "scurry.datastream.formats.json",
}


def __getattr__(name: str) -> Any:
    """Return a message format that PyFlink also offers under `pyflink.common`."""
    if name in _FORMATS:
        return getattr(importlib.import_module(_FORMATS[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
