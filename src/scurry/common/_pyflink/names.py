"""Names that PyFlink's modules have because they import them, or had in earlier versions: programs import them."""

from __future__ import annotations

import importlib
from contextlib import suppress
from types import ModuleType
from typing import Any, Final

#: Module of PyFlink 2.3 -> module that defines names -> those that it imports; only modules and names that scurry has.
IMPORTED: Final = {
    "common.watermark_strategy": {
        "common.time": "Duration",
    },
    "datastream.async_data_stream": {
        "common.time": "Time",
        "common.typeinfo": "TypeInformation",
    },
    "datastream.async_retry_strategies": {
        "datastream.functions": "AsyncRetryPredicate AsyncRetryStrategy",
    },
    "datastream.connectors.file_system": {
        "common.time": "Duration",
        "datastream.connectors.base": "Sink Source",
    },
    "datastream.connectors.kafka": {
        "common.typeinfo": "TypeInformation Types",
        "common.types": "Row",
        "datastream.connectors.base": "Sink Source",
        "datastream.functions": "SinkFunction SourceFunction",
    },
    "datastream.connectors.number_seq": {
        "datastream.connectors.base": "Source",
    },
    "datastream.data_stream": {
        "common.execution_config": "ExecutionConfig",
        "common.typeinfo": "RowTypeInfo TypeInformation Types",
        "common.types": "Row",
        "common.watermark_strategy": "TimestampAssigner WatermarkStrategy",
        "datastream.connectors.base": "Sink",
        "datastream.functions": (
            "AggregateFunction AllWindowFunction BroadcastProcessFunction CoFlatMapFunction CoMapFunction "
            "CoProcessFunction FilterFunction FlatMapFunction Function KeySelector KeyedBroadcastProcessFunction "
            "KeyedCoProcessFunction KeyedProcessFunction MapFunction NullByteKeySelector Partitioner "
            "ProcessAllWindowFunction ProcessFunction ProcessWindowFunction ReduceFunction RuntimeContext "
            "SinkFunction WindowFunction"
        ),
        "datastream.output_tag": "OutputTag",
        "datastream.slot_sharing_group": "SlotSharingGroup",
        "datastream.state": (
            "AggregatingStateDescriptor ListStateDescriptor MapStateDescriptor ReducingState "
            "ReducingStateDescriptor StateDescriptor"
        ),
        "datastream.window": (
            "CountSlidingWindowAssigner CountTumblingWindowAssigner CountWindowSerializer GlobalWindowSerializer "
            "MergingWindowAssigner TimeWindowSerializer Trigger WindowAssigner"
        ),
    },
    "datastream.formats.avro": {
        "common.io": "InputFormat",
        "common.serialization": "BulkWriterFactory",
    },
    "datastream.formats.csv": {
        "common.serialization": "DeserializationSchema SerializationSchema",
        "common.typeinfo": "TypeInformation",
        "datastream.connectors.file_system": "StreamFormat",
    },
    "datastream.formats.parquet": {
        "datastream.connectors.file_system": "BulkFormat",
    },
    "datastream.functions": {
        "datastream.state": (
            "AggregatingState AggregatingStateDescriptor BroadcastState ListState ListStateDescriptor MapState "
            "MapStateDescriptor ReadOnlyBroadcastState ReducingState ReducingStateDescriptor ValueState "
            "ValueStateDescriptor"
        ),
        "datastream.time_domain": "TimeDomain",
        "metrics.metricbase": "MetricGroup",
    },
    "datastream.output_tag": {
        "common.typeinfo": "RowTypeInfo TypeInformation Types",
    },
    "datastream.state": {
        "common.time": "Duration Time",
        "common.typeinfo": "TypeInformation",
    },
    "datastream.stream_execution_environment": {
        "common.execution_config": "ExecutionConfig",
        "common.typeinfo": "TypeInformation Types",
        "datastream.checkpoint_config": "CheckpointConfig",
        "datastream.checkpointing_mode": "CheckpointingMode",
        "datastream.connectors.base": "Source",
        "datastream.execution_mode": "RuntimeExecutionMode",
        "datastream.functions": "SourceFunction",
        "datastream.slot_sharing_group": "SlotSharingGroup",
    },
    "datastream.window": {
        "common.time": "Time",
        "common.serializer": "TypeSerializer",
        "common.typeinfo": "Types",
        "datastream.functions": "ReduceFunction RuntimeContext",
        "datastream.output_tag": "OutputTag",
        "datastream.state": "ReducingState ReducingStateDescriptor State StateDescriptor ValueStateDescriptor",
        "metrics.metricbase": "MetricGroup",
    },
    "table.catalog": {
        "table.resolved_expression": "ResolvedExpression",
        "table.schema": "Schema",
        "table.table_schema": "TableSchema",
        "table.types": "DataType",
    },
    "table.compiled_plan": {
        "table.explain_detail": "ExplainDetail",
    },
    "table.expression": {
        "table.types": "DataType DataTypes",
    },
    "table.resolved_expression": {
        "table.expression": "Expression",
        "table.types": "DataType",
    },
    "table.schema": {
        "table.expression": "Expression",
    },
    "table.statement_set": {
        "table.compiled_plan": "CompiledPlan",
        "table.explain_detail": "ExplainDetail",
        "table.table_descriptor": "TableDescriptor",
    },
    "table.table": {
        "table.explain_detail": "ExplainDetail",
        "table.expression": "Expression",
        "table.expressions": "col with_columns without_columns",
        "table.table_descriptor": "TableDescriptor",
        "table.window": "GroupWindow OverWindow",
    },
    "table.table_descriptor": {
        "common.config_options": "ConfigOption",
    },
    "table.table_environment": {
        "common.typeinfo": "TypeInformation",
        "datastream.data_stream": "DataStream",
        "datastream.stream_execution_environment": "StreamExecutionEnvironment",
        "table.catalog": "Catalog CatalogDescriptor",
        "table.changelog_mode": "ChangelogMode",
        "table.compiled_plan": "CompiledPlan",
        "table.expression": "Expression",
        "table.module": "Module ModuleEntry",
        "table.plan_reference": "PlanReference",
        "table.schema": "Schema",
        "table.table_descriptor": "TableDescriptor",
        "table.udf": "AggregateFunction TableAggregateFunction udaf udtaf",
    },
    "table.table_pipeline": {
        "table.catalog": "ObjectIdentifier",
        "table.compiled_plan": "CompiledPlan",
        "table.explain_detail": "ExplainDetail",
    },
    "table.udf": {
        "metrics.metricbase": "MetricGroup",
        "table.expression": "Expression",
    },
}


def add_names(module: ModuleType) -> None:
    """Let a module give the names that PyFlink's module imports, and name replacements of those it had.

    What it gives is imported when a program asks for it.
    """
    imported = IMPORTED.get(module.__name__.removeprefix("scurry."), {})
    sources = {name: f"scurry.{source}" for source, names in imported.items() for name in names.split()}
    own = vars(module).get("__getattr__")

    def found(name: str) -> Any:
        if name in sources:
            return getattr(importlib.import_module(sources[name]), name)
        if own is not None:
            with suppress(AttributeError):
                return own(name)
        from scurry.common._removed import removed

        raise removed(module.__name__, name)

    setattr(module, "__getattr__", found)  # noqa: B010 - no attribute of modules that mypy knows
