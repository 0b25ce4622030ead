"""Names that scurry does not offer: of earlier versions of PyFlink, or PyFlink's own; and their replacements.

The errors of programs written for PyFlink 1.9 to 1.20 name the replacements. Methods are listed by the class that had
them, for `ApiObject._instead`; names that programs import are found by `removed`.
"""

from __future__ import annotations

_EVENT_TIME = (
    "leave it out: time is event time where a stream has watermarks, from assign_timestamps_and_watermarks(...), and "
    "windows say which time they mean"
)
_CREATE_TABLE = "execute_sql(\"CREATE TABLE ... WITH ('connector' = ...)\") or create_temporary_table(...)"
_DESCRIPTORS = f"connect(...) and its descriptors have been removed: use t_env.{_CREATE_TABLE}"
_CLEANUP = (
    "call set_externalized_checkpoint_retention(ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION), or "
    "DELETE_ON_CANCELLATION"
)
_ONE_PLANNER = "leave it out: there is one planner; call in_streaming_mode() or in_batch_mode(), then build()"
_FROM_FORMATS = "import it from pyflink.datastream.formats.{}"
_BATCH_TABLES = "use TableEnvironment.create(EnvironmentSettings.in_batch_mode())"
_CHECKPOINT_STORAGE = "; where checkpoints are kept is set by get_checkpoint_config().set_checkpoint_storage_dir(...)"
_ROCKS = "use EmbeddedRocksDBStateBackend" + _CHECKPOINT_STORAGE
_HASH_MAP = "use HashMapStateBackend" + _CHECKPOINT_STORAGE
_WATERMARKS = "use WatermarkStrategy.{}().with_timestamp_assigner(...)"

#: Names that programs import -> what to write instead.
_NAMES = {
    "TimeCharacteristic": _EVENT_TIME,
    "ExternalizedCheckpointCleanup": f"use ExternalizedCheckpointRetention, from pyflink.datastream: {_CLEANUP}",
    "RocksDBStateBackend": _ROCKS,
    "FsStateBackend": _HASH_MAP,
    "MemoryStateBackend": _HASH_MAP,
    "ExecutionEnvironment": "the DataSet API has been removed: use StreamExecutionEnvironment with "
    "set_runtime_mode(RuntimeExecutionMode.BATCH)",
    "BatchTableEnvironment": _BATCH_TABLES,
    "BatchTableSink": _BATCH_TABLES,
    "BatchTableSource": _BATCH_TABLES,
    **{name: f"use {_CREATE_TABLE}" for name in ("CsvTableSink", "CsvTableSource", "TableSink", "TableSource")},
    "WriteMode": "choose with INSERT INTO or INSERT OVERWRITE, or execute_insert(name, overwrite=True)",
    "vectorized_udf": "use udf(..., func_type='pandas')",
    "AscendingTimestampExtractor": _WATERMARKS.format("for_monotonous_timestamps"),
    "BoundedOutOfOrdernessTimestampExtractor": _WATERMARKS.format("for_bounded_out_of_orderness"),
    **{
        f"{kind}Row{way}Schema": _FROM_FORMATS.format(kind.lower())
        for kind in ("Avro", "Csv", "Json")
        for way in ("Deserialization", "Serialization")
    },
}

_WRAPS_JAVA = "it wraps an object of Java, and no Java runs behind scurry's API"
_OWN_FUNCTIONS = "PyFlink makes it of a function of the program: pass the function itself"

#: Names that PyFlink 2.3 has for itself -> why they are not offered.
_NOT_OFFERED = {
    **dict.fromkeys(
        ("AssignerWithPeriodicWatermarksWrapper", "JavaFunctionWrapper", "RowDataBulkWriterFactory"), _WRAPS_JAVA
    ),
    **dict.fromkeys(("StreamTransformer", "SupportsPreprocessing"), f"{_WRAPS_JAVA}: derive from scurry's connectors"),
    **dict.fromkeys(("DefaultRollingPolicy", "OnCheckpointRollingPolicy"), "RollingPolicy's methods return it"),
    "VoidNamespaceSerializer": "PyFlink's state is kept with it: state of scurry needs no serializer",
    "AsyncFunctionDescriptor": "PyFlink passes it to Java: call AsyncDataStream.unordered_wait(...) with the function",
    "WindowOperationDescriptor": "PyFlink passes it to Java: call stream.window(...)",
    **dict.fromkeys(("FlinkKafkaConsumerBase", "FlinkKafkaProducerBase"), "use KafkaSource and KafkaSink"),
    "Min": "PyFlink's windows merge timers with it: use Python's min",
    "FunctionWrapper": _OWN_FUNCTIONS,
    "ReduceFunctionWrapper": _OWN_FUNCTIONS,
    **dict.fromkeys(("PassThroughAllWindowFunction", "PassThroughWindowFunction"), _OWN_FUNCTIONS),
    **{
        f"Internal{rows}{process}{every}WindowFunction": _OWN_FUNCTIONS
        for rows in ("Iterable", "SingleValue")
        for process in ("", "Process")
        for every in ("", "All")
    },
    "InternalWindowFunction": _OWN_FUNCTIONS,
    **dict.fromkeys(
        ("InternalProcessAllWindowContext", "InternalProcessWindowContext"), "the context is passed to process(...)"
    ),
    **dict.fromkeys(
        (
            "DelegatingAsyncScalarFunction",
            "DelegatingPandasAggregateFunction",
            "DelegatingScalarFunction",
            "DelegationTableFunction",
            "PandasAggregateFunctionWrapper",
            "UserDefinedAggregateFunctionWrapper",
            "UserDefinedAsyncScalarFunctionWrapper",
            "UserDefinedFunctionWrapper",
            "UserDefinedScalarFunctionWrapper",
            "UserDefinedTableFunctionWrapper",
        ),
        "call udf(...), udtf(...) or udaf(...), whose result is an object of a class of scurry",
    ),
}


def removed(module: str, name: str) -> Exception:
    """Return the error for a name that a module does not have.

    Returns:
        An ImportError for a name that earlier versions had, whose text says the replacement, or that PyFlink has
        for itself, else an AttributeError.
    """
    if name in _NOT_OFFERED:
        return ImportError(f"scurry has no {name}: {_NOT_OFFERED[name]}", name=module)
    if name in _NAMES:
        where = module.replace("scurry", "pyflink", 1)
        return ImportError(f"{where} has no {name} in PyFlink 2.3: {_NAMES[name]}", name=module)
    return AttributeError(f"module {module!r} has no attribute {name!r}")


STREAM_ENVIRONMENT = {
    "set_stream_time_characteristic": _EVENT_TIME,
    "get_stream_time_characteristic": _EVENT_TIME,
    "generate_sequence": "call from_source(NumberSequenceSource(1, n), WatermarkStrategy.no_watermarks(), 'numbers')",
    "add_default_kryo_serializer": "leave it out: records are Python's, no serializer of Java sees them",
    "register_type": "leave it out: records are Python's, no serializer of Java sees them",
    "register_type_with_kryo_serializer": "leave it out: records are Python's, no serializer of Java sees them",
    "set_number_of_execution_retries": "set the option restart-strategy.fixed-delay.attempts",
}

EXECUTION_CONFIG = {
    "set_number_of_execution_retries": "set the option restart-strategy.fixed-delay.attempts",
    "set_restart_strategy": "set the options restart-strategy.type and restart-strategy.fixed-delay.attempts",
    "set_execution_mode": "leave it out",
    "set_use_snapshot_compression": "set the option execution.checkpointing.snapshot-compression",
}

CHECKPOINT_CONFIG = {
    "enable_externalized_checkpoints": _CLEANUP,
    "set_externalized_checkpoint_cleanup": _CLEANUP,
    "get_externalized_checkpoint_cleanup": "call get_externalized_checkpoint_retention()",
    "set_force_checkpointing": "leave it out",
    "set_prefer_checkpoint_for_recovery": "leave it out: a job recovers from the latest checkpoint",
    "set_alignment_timeout": "call set_aligned_checkpoint_timeout(...)",
}

STREAM = {
    "time_window": "call window(TumblingEventTimeWindows.of(...)), or SlidingEventTimeWindows.of(...)",
    "time_window_all": "call window_all(TumblingEventTimeWindows.of(...)), or SlidingEventTimeWindows.of(...)",
    "split": "call process(...) with a function that yields (OutputTag, value), then get_side_output(...)",
    "fold": "call reduce(...), or process(...) with state",
    "iterate": "iterations have been removed from Flink's streams",
    **{
        name: "call sink_to(FileSink.for_row_format(path, Encoder.simple_string_encoder()).build())"
        for name in ("write_as_text", "write_as_csv")
    },
}

ENVIRONMENT_SETTINGS = {name: _ONE_PLANNER for name in ("use_blink_planner", "use_old_planner", "use_any_planner")}

TABLE_CONFIG = {
    "set_default_parallelism": "call set('parallelism.default', '4')",
    "set_parallelism": "call set('parallelism.default', '4')",
    "set_idle_state_retention_time": "call set_idle_state_retention(timedelta(...)), which takes one time",
    "set_null_check": "leave it out: nulls are always handled",
    "set_timezone": "call set_local_timezone(...)",
    "set_built_in_catalog_name": "call with_built_in_catalog_name(...) on EnvironmentSettings.new_instance()",
    "set_built_in_database_name": "call with_built_in_database_name(...) on EnvironmentSettings.new_instance()",
}

TABLE_ENVIRONMENT = {
    "connect": _DESCRIPTORS,
    "scan": "call from_path(name)",
    "insert_into": "call table.execute_insert(name), which also runs the job; several at once: create_statement_set()",
    "register_table": "call create_temporary_view(name, table)",
    **{name: f"call {_CREATE_TABLE}" for name in ("register_table_source", "register_table_sink")},
    **{name: f"call {_CREATE_TABLE}" for name in ("from_table_source", "create_temporary_table_source")},
    "register_function": "call create_temporary_system_function(name, function)",
    "register_java_function": "call create_temporary_system_function(name, function) with a function in Python",
    "sql_update": "call execute_sql(...); several insertions in one job: create_statement_set()",
    "execute": "execute_sql('INSERT INTO ...') and table.execute_insert(...) run the job themselves; wait for it with "
    ".wait(). A program of streams calls env.execute()",
    "explain": "call explain_sql(...), table.explain() or create_statement_set().explain()",
    "exec_env": "leave it out",
    "query_config": "call get_config().set_idle_state_retention(timedelta(...))",
    "set_idle_state_retention_time": "call get_config().set_idle_state_retention(timedelta(...))",
}
